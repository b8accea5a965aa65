"""A run as text, for machines and people. Pure: takes the summary document (summary.json), returns text.

The functions and the command line share it.
"""
