"""Amazon S3 as a storage of a matrix."""
