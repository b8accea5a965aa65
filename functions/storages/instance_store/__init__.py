"""The disks of an instance as a storage of a matrix."""
