"""Statistics of a fleet's samples, and their uncertainty: one module for each question."""
