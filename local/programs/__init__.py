"""Processes that the local cloud starts and ends."""
