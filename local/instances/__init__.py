"""EC2 instances as processes, or as emulated machines."""
