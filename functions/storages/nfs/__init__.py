"""An NFS export that exists as a storage of a matrix."""
