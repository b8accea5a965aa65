"""Fleets: launched, baked for, watched."""
