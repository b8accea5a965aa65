"""A cell's samples read, its storage observed, its result written."""
