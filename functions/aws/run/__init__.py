"""Calls about a run as a whole: executions, failures, budget, resuming."""
