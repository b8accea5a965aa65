"""Storages that a run would create without the stack's key, although the key is to encrypt all data."""

from matrix.input.matrix import Matrix
from matrix.terms.problems import Problem, Problems


def problems(matrix: Matrix) -> Problems:
    """Yield a problem for each storage that a run would create with S3's own key."""
    for path, storage in matrix.located("storage"):
        if storage.lacks_own_key:
            rule = "would keep its data under S3's own key, and the stack has a key for all data (KmsKeyArn)"
            fix = "measure it with a stack without KmsKeyArn, or take S3 Standard"
            yield Problem(f"{path}.type", storage.type, rule, fix)
