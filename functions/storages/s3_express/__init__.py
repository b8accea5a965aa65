"""Amazon S3 Express One Zone as a storage of a matrix."""
