"""The cases of a test that belong to `make test`, and those that only `make test-all` runs."""

from collections.abc import Callable, Iterable
from typing import Any

import pytest


def first_is_quick(values: Iterable[Any]) -> list[Any]:
    """The first case stays in every tier; the others, which take as long and find as much, are slow."""
    first, *others = values
    return [first, *(pytest.param(value, marks=pytest.mark.slow) for value in others)]


def each_with_the_first(rows: Iterable[Any], columns: Iterable[Any], ids: Callable[[Any], str]) -> list[Any]:
    """Pair the first row with all columns, which is quick, and each other row with the first column, which is slow.

    For two independent things, such as the damage of a file and the command that reads it: both come together in one
    function that reads files, so all pairs find no more than these.
    """
    (first, *others), columns = rows, list(columns)
    return [
        *(pytest.param(first, column, id=f"{first}-{ids(column)}") for column in columns),
        *(pytest.param(row, columns[0], id=f"{row}-{ids(columns[0])}", marks=pytest.mark.slow) for row in others),
    ]
