"""Which cells, when, where and for how much."""
