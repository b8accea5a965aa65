"""The storages that a matrix may name: a module for each type, without AWS."""
