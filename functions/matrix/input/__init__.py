"""The input: models of the matrix, workloads, fleets and images, and limits of AWS."""
