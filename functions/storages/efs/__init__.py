"""Amazon EFS as a storage of a matrix."""
