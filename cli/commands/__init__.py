"""The commands of `matrix`, one per file."""
