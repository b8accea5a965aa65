"""Check a matrix: all problems with their paths, before anything is created."""
