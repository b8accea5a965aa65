"""The documents of a run and their types. docs/run.md says where each is.

A `NotRequired` key is missing if it has no value, or if the document is older than the key.
"""
