"""What the stack gives every function: environment, clients, clock, tags, network."""
