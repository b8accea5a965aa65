"""What agents of a fleet tell each other through the bucket: job, ready marks, gates, heartbeats."""
