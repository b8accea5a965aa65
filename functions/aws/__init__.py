"""The edge: the only place among the functions that talks to AWS."""
