"""EBS as a storage of a matrix."""
