"""An existing NFS export as a storage of a matrix."""
