"""What storages in directory buckets of S3 Express One Zone have in common: zones, names, making, finding, deleting."""
