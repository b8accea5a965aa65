"""A run as it goes: watched, drawn live, interrupted."""
