"""The end of a run: deletions, the sweep, the receipt."""
