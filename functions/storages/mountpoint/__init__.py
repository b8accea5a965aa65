"""A bucket of Amazon S3 that Mountpoint mounts, as a storage of a matrix."""
