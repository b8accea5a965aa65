"""A run under way: watched, drawn live, interrupted."""
