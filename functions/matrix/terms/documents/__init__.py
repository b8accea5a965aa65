"""The documents of a run, each with its type: who writes what, who may rely on it.

docs/documents.md lists them. A key that is `NotRequired` is left out where it says nothing, or is newer than runs whose
documents are still read.
"""
