"""The machine an agent runs on: counters, caches, clock, metadata, traffic."""
