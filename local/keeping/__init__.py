"""Data that outlive the local cloud: every object and row of a run is on disk as soon as the cloud accepts it."""
