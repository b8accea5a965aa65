"""Communication of a fleet's agents through the bucket: job, ready marks, gates, heartbeats."""
