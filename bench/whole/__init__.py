"""A whole run without instances: the real definition and functions in virtual time, on a cloud of made-up answers."""
