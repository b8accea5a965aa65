"""The documents of a run and their types. docs/documents.md lists their writers and readers.

A `NotRequired` key is missing if it has no value, or if the document is older than the key.
"""
