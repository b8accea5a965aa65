"""What others measured: their figures, as runs and beside ours."""
