"""The input: models of the matrix, workloads and images; times and deadlines."""
