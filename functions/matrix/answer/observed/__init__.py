"""Observe an existing volume or file system: its use and its cost.

`asking` has the queries to CloudWatch, `tracks` interprets the answers, and `document` has what is printed.
"""
