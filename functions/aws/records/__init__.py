"""Records of a run: its rows in the table, its objects in the bucket, its plan, metrics and agent package."""
