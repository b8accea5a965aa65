"""Amazon S3 Files as a storage of a matrix."""
