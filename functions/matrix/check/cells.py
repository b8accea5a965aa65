"""Expand the axes to cells: every combination, without excluded and with included cells."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from pydantic import BaseModel, ValidationError

from matrix.fields.fleet import Fleet
from matrix.input.matrix import Matrix
from matrix.input.storage_names import brief_names
from matrix.input.workloads import Workload
from matrix.storages.base import Storage
from matrix.terms.grouping import grouped
from matrix.terms.problems import Path, path_text


@dataclass(frozen=True)
class Combination:
    """One storage, one workload, one fleet, and their paths in the input, such as `storage[0]`."""

    storage: Storage
    workload: Workload
    fleet: Fleet
    storage_path: str
    workload_path: str
    fleet_path: str
    storage_name: str
    """What the plan and all results call the storage, such as `EBS gp3`."""

    @property
    def comparison(self) -> tuple[str, str]:
        """Workload and fleet: cells of different storages that share them are compared."""
        return self.workload.fingerprint, self.fleet.slug


@dataclass(frozen=True)
class Unmatched:
    """A field of an exclusion with a value that no part of the matrix has."""

    path: str
    """Such as `exclude[0].storage.volumeType`."""
    key: str
    value: Any
    parts: Sequence[BaseModel]
    """The parts of the matrix that have the values of the exclusion's fields before it."""


def _has_value(part: BaseModel, key: str, value: Any) -> bool:
    """Return whether a field of `part` has a value, which is read as the part's own fields are."""
    extra = part.__pydantic_extra__ or {}
    if key in extra:
        # Options of fio, which are held as lists.
        return bool(extra[key] == (value if isinstance(value, list) else [value]))
    names = {field.alias or name: name for name, field in type(part).model_fields.items()}
    if (name := names.get(key)) is None:
        return False
    try:
        read = type(part).__pydantic_validator__.validate_assignment(part.model_copy(), name, value)
    except ValidationError:
        return False
    return bool(getattr(read, name) == getattr(part, name))


class ParsedMatrix:
    """A matrix with the path of each of its parts in the input. Its cells are made on first use.

    If the input has type errors, it holds the parts that could be read, and `is_whole` is false.
    """

    def __init__(self, matrix: Matrix, read: Mapping[str, Sequence[int]] | None = None) -> None:
        """`read` has the indices in the input of each list's entries. Default: all of them could be read."""
        self.matrix = matrix
        self.is_whole = read is None
        self._read = read or {}

    def parts(self, name: str) -> list[tuple[str, Any]]:
        """Return the entries of one of the matrix's lists, each with its path such as `storage[0]`."""
        entries = getattr(self.matrix, name)
        indices = self._read.get(name, range(len(entries)))
        return [(f"{name}[{i}]", entry) for i, entry in zip(indices, entries, strict=True)]

    @cached_property
    def storages(self) -> list[tuple[str, Storage]]:
        """Each storage of the axis and of the inclusions with its path."""
        return [*self.parts("storage"), *((f"{path}.storage", added.storage) for path, added in self.parts("include"))]

    def name_of(self, storage: Storage) -> str:
        """Return what the plan and all results call a storage, such as `EBS gp3`."""
        return self._names[storage.fingerprint]

    @cached_property
    def _names(self) -> dict[str, str]:
        keys = {storage.fingerprint: storage.name or storage.slug for _, storage in self.storages}
        names = brief_names((keys[storage.fingerprint], storage.document) for _, storage in self.storages)
        return {fingerprint: names[key] for fingerprint, key in keys.items()}

    @cached_property
    def workloads(self) -> list[tuple[str, Workload]]:
        """Each workload of the axis and of the inclusions with its path."""
        added = [(f"{path}.workload", added.workload) for path, added in self.parts("include")]
        return [*self.parts("workload"), *added]

    @cached_property
    def _fleets(self) -> list[tuple[str, Fleet]]:
        return [(path, fleet) for path, axis in self.parts("fleet") for fleet in axis.fleets()]

    @cached_property
    def _matches(self) -> list["_Match"]:
        matrix = self.matrix
        return [
            _Match(
                _matching(selector.storage, matrix.storage),
                _matching(selector.workload, matrix.workload),
                _matching(selector.fleet, [fleet for _, fleet in self._fleets]),
            )
            for selector in matrix.exclude
        ]

    def unmatched_exclusions(self) -> Iterator[Unmatched]:
        """Yield the fields for which an exclusion leaves nothing out."""
        fleets = [fleet for _, fleet in self._fleets]
        for i, (selector, match) in enumerate(zip(self.matrix.exclude, self._matches, strict=True)):
            axes = (
                ("storage", selector.storage, self.matrix.storage, match.storages),
                ("workload", selector.workload, self.matrix.workload, match.workloads),
                ("fleet", selector.fleet, fleets, match.fleets),
            )
            for axis, wanted, parts, matching in axes:
                if not matching:
                    yield _first_unmatched(("exclude", i, axis), wanted or {}, parts)

    @cached_property
    def cells(self) -> list[Combination]:
        """The cells as written: the axes' product without the excluded, then the included."""
        included = [
            Combination(
                *(added.storage, added.workload, added.fleet),
                *(f"{path}.storage", f"{path}.workload", f"{path}.fleet", self.name_of(added.storage)),
            )
            for path, added in self.parts("include")
        ]
        return [*self._combined(), *included]

    @cached_property
    def by_size(self) -> list[list[Combination]]:
        """The cells of each storage with each workload, from the smallest fleet to the largest."""
        pairs = grouped(((cell.storage_path, cell.workload_path), cell) for cell in self.cells)
        return [sorted(cells, key=lambda cell: cell.fleet.count) for cells in pairs.values()]

    def _combined(self) -> Iterator[Combination]:
        for s, (storage_path, storage) in enumerate(self.parts("storage")):
            for w, (workload_path, workload) in enumerate(self.parts("workload")):
                excluded = [match.fleets for match in self._matches if s in match.storages and w in match.workloads]
                for f, (fleet_path, fleet) in enumerate(self._fleets):
                    if not any(f in fleets for fleets in excluded):
                        paths = storage_path, workload_path, fleet_path
                        yield Combination(storage, workload, fleet, *paths, self.name_of(storage))


@dataclass(frozen=True)
class _Match:
    storages: frozenset[int]
    workloads: frozenset[int]
    fleets: frozenset[int]


def _first_unmatched(path: Path, wanted: dict[str, Any], parts: Sequence[BaseModel]) -> Unmatched:
    # The type first: it decides which fields there are.
    for key in sorted(wanted, key=lambda key: key != "type"):
        matching = [part for part in parts if _has_value(part, key, wanted[key])]
        if not matching:
            return Unmatched(path_text((*path, key)), key, wanted[key], parts)
        parts = matching
    return Unmatched(path_text(path), "", wanted, parts)


def _matching(wanted: dict[str, Any] | None, parts: Sequence[BaseModel]) -> frozenset[int]:
    return frozenset(
        i for i, part in enumerate(parts) if all(_has_value(part, *each) for each in (wanted or {}).items())
    )
