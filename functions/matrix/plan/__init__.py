"""Plan a run: its cells, their order, place and cost."""
