"""Each function that grows with a fleet, at its MemorySize and Timeout, on a blackboard of 200 and 1,000 instances."""
