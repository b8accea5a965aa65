"""Amazon FSx for NetApp ONTAP as a storage of a matrix."""
