"""Amazon FSx for Lustre as a storage of a matrix."""
