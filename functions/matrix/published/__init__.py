"""Published benchmarks of others: their figures as runs, and beside our own."""
