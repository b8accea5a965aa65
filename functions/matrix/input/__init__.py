"""What may be asked: the models of storages, workloads, fleets and images, with their limits."""
