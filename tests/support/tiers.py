"""Which cases of a test belong to `make test`, and which to `make test-all` only."""

from collections.abc import Iterable
from typing import Any

import pytest


def first_is_quick(values: Iterable[Any]) -> list[Any]:
    """The first case stays in every tier; the others, which take as long and find as much, are slow."""
    first, *others = values
    return [first, *(pytest.param(value, marks=pytest.mark.slow) for value in others)]
