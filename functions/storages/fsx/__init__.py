"""Shared by all kinds of Amazon FSx: finding, waiting, checking, deleting, and metrics."""
