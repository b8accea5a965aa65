"""What outlives the cloud: every object and row of a run, on disk at the moment at which the cloud takes it."""
