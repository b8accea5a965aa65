"""Resources of a run, found by their tags."""
