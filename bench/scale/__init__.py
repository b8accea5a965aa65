"""Each function whose work grows with a fleet, at its MemorySize and Timeout, for 200 and 1,000 instances."""
