"""The stack's part of every function: environment, clients, clock, tags, network."""
