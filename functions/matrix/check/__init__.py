"""What is wrong with a matrix: every problem, with its path, before anything is created."""
