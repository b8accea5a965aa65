"""Lambda functions as processes with AWS's own runtime client."""
