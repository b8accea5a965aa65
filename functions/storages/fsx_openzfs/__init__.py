"""Amazon FSx for OpenZFS as a storage of a matrix."""
