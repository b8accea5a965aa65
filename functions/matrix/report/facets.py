"""Filters of the page: storages, workloads, fleets; each is a number in the page's marks."""

from collections.abc import Sequence
from dataclasses import dataclass

# More combinations of a workload's parameters than this are no more chosen one by one.
MAX_LABELS = 12
Marks = dict[str, str]


@dataclass(frozen=True)
class Facets:
    """The choices of the filters, in reading order."""

    storages: Sequence[str]
    workloads: Sequence[str]
    fleets: Sequence[str]
    is_by_label: bool  # whether each combination of a workload's parameters is a choice

    @classmethod
    def of(cls, storages: Sequence[str], points: Sequence[tuple[str, str]], fleets: Sequence[str]) -> "Facets":
        """Return the facets of a run; points are pairs of workload and label."""
        labelled = list(dict.fromkeys(_workload(*point) for point in points))
        is_by_label = len(labelled) <= MAX_LABELS
        workloads = labelled if is_by_label else list(dict.fromkeys(workload for workload, _ in points))
        return cls(list(dict.fromkeys(storages)), workloads, sorted(set(fleets), key=_size), is_by_label)

    def marks(self, *, storage: str = "", workload: str = "", label: str = "", fleet: str = "") -> Marks:
        """Return the filter attributes of an element about these; facets without a value have no attribute."""
        named = {
            "data_s": (self.storages, storage),
            "data_w": (self.workloads, _workload(workload, label) if self.is_by_label else workload),
            "data_f": (self.fleets, fleet),
        }
        return {mark: str(names.index(name)) for mark, (names, name) in named.items() if name in names}

    def to_document(self) -> dict[str, list[str]]:
        """Return the names by mark, from which the page's script makes chips, if there is a choice."""
        named = {"s": self.storages, "w": self.workloads, "f": self.fleets}
        return {mark: list(names) for mark, names in named.items() if len(names) > 1}


def _size(fleet: str) -> tuple[str, int]:
    """Return the sort key of fleets: their instance type, then their number of instances."""
    count, _, kind = fleet.partition(" × ")
    return kind, int(count) if count.isdecimal() else 0


def _workload(workload: str, label: str) -> str:
    return f"{workload}, {label}" if label else workload
