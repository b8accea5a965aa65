"""Shared code of storages in directory buckets of S3 Express One Zone: zones, names, creation, lookup, deletion."""
