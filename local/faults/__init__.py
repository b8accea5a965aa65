"""Faults that tests ask the cloud to play."""
