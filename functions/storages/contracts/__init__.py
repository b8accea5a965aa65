"""The interfaces of a storage: its model for plans, its metrics for analysis, its cloud calls for the functions."""
