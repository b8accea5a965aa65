"""Processes that the cloud starts and ends."""
