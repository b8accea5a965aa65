"""Where a command works: a stack on AWS or the local cloud, and the folder that keeps results."""
