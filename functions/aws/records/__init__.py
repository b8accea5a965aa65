"""What a run keeps: its rows in the table, its objects in the bucket, its plan, metrics and agent package."""
