"""Observe an existing volume or file system: its use, and storages that would carry this load, with their cost.

`asking` has the queries to CloudWatch, `tracks` interprets the answers, `carrying` finds other storages, and `document`
combines them.
"""
