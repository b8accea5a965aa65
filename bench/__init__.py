"""The project's engines beside reference tools, in one run on one machine: only ratios are valid on other machines."""
