"""The target of a command: a stack on AWS or the local cloud, and the folder that keeps results."""
