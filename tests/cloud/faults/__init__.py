"""Faults that tests inject into the local cloud."""
