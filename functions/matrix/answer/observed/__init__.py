"""Observe an existing volume or file system: its use, and storages that could serve this load, with their cost.

`asking` has the queries to CloudWatch, `tracks` interprets the answers, and `document` finds other storages.
"""
