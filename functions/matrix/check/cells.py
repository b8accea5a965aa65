"""Expand the axes to cells: every combination, without excluded and with included cells."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from pydantic import BaseModel, ValidationError

from matrix.input.fleet import Fleet
from matrix.input.matrix import Matrix
from matrix.input.workloads import Workload
from matrix.terms.problems import Path, path_text
from storages.contracts.model import Storage


@dataclass(frozen=True)
class Combination:
    """One storage, one workload, one fleet, and their paths in the input."""

    storage: Storage
    workload: Workload
    fleet: Fleet
    path: Path = ()


def has_values(part: BaseModel, wanted: dict[str, Any]) -> bool:
    """Return whether `part` has each of the values, which are read as the part's own fields are."""
    names = {field.alias or name: name for name, field in type(part).model_fields.items()}
    extra = part.__pydantic_extra__ or {}
    for key, value in wanted.items():
        if key in extra:
            if extra[key] != value or isinstance(extra[key], bool) != isinstance(value, bool):
                return False
            continue
        name = names.get(key)
        if name is None:
            return False
        try:
            read = type(part).__pydantic_validator__.validate_assignment(part.model_copy(), name, value)
        except ValidationError:
            return False
        if getattr(read, name) != getattr(part, name):
            return False
    return True


class Expansion:
    """The combinations of the axes and the matches of each `exclude` entry. Computed once, on first use."""

    def __init__(self, matrix: Matrix) -> None:
        """Expand nothing yet: the first rule checks whether there are too many cells."""
        self._matrix = matrix

    @cached_property
    def _fleets(self) -> list[tuple[int, Fleet]]:
        return [(i, fleet) for i, axis in enumerate(self._matrix.fleet) for fleet in axis.fleets()]

    @cached_property
    def _matches(self) -> list["_Match"]:
        matrix = self._matrix
        return [
            _Match(
                _matching(selector.storage, matrix.storage),
                _matching(selector.workload, matrix.workload),
                _matching(selector.fleet, [fleet for _, fleet in self._fleets]),
            )
            for selector in matrix.exclude
        ]

    def unmatched_exclusions(self) -> list[int]:
        """Return the indices of `exclude` entries that leave nothing out."""
        return [i for i, match in enumerate(self._matches) if not (match.storages and match.workloads and match.fleets)]

    @cached_property
    def cells(self) -> list[Combination]:
        """The cells as written: the axes' product without the excluded, then the included."""
        included = [
            Combination(added.storage, added.workload, added.fleet, ("include", i))
            for i, added in enumerate(self._matrix.include)
        ]
        return [*self._kept(), *included]

    def _kept(self) -> Iterator[Combination]:
        for s, storage in enumerate(self._matrix.storage):
            for w, workload in enumerate(self._matrix.workload):
                here = [match.fleets for match in self._matches if s in match.storages and w in match.workloads]
                for f, (axis, fleet) in enumerate(self._fleets):
                    if not any(f in fleets for fleets in here):
                        yield Combination(storage, workload, fleet, ("fleet", axis))


def path_of_workload(matrix: Matrix, cell: Combination) -> str:
    """Return the path of a cell's workload in the input, in an axis or an inclusion: `workload[0]`."""
    for i, workload in enumerate(matrix.workload):
        if workload is cell.workload:
            return f"workload[{i}]"
    return f"{path_text(cell.path)}.workload"


@dataclass(frozen=True)
class _Match:
    storages: frozenset[int]
    workloads: frozenset[int]
    fleets: frozenset[int]


def _matching(wanted: dict[str, Any] | None, parts: Sequence[BaseModel]) -> frozenset[int]:
    return frozenset(i for i, part in enumerate(parts) if wanted is None or has_values(part, wanted))
