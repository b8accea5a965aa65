"""A file server of ours on an instance as a storage of a matrix."""
