"""Peers in the same run: what others measure with, beside our engines, on the same storage."""
