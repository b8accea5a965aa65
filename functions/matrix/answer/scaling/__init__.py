"""Scaling of a storage with its fleet: series over fleet size, the laws that fit them, predictions."""
