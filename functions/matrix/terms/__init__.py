"""Shared terms: ids, keys, units, metrics, problems, errors, labels, documents. Imports no other package here."""
