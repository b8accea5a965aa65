"""Published benchmarks: their figures as runs, and beside the figures of this project's runs."""
