"""What a run has created, found by its tags."""
