"""What ends a run: deletions, the sweep, the receipt."""
