"""What the charts and tables of a report are made from: the summary, and the single values where they are kept."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from matrix.answer.decision.questions import storages_of
from matrix.terms.figures import quantity
from matrix.terms.names import fleet_label, placement_words, point_labels, primary_metric, reading_order
from matrix.terms.storages import brief_names

Document = Mapping[str, Any]


@dataclass(frozen=True)
class Entry:
    """One point of one cell with the metric that it is judged by."""

    cell: Document
    point: Document
    label: str
    storage: str
    style: int
    name: str
    metric: Document

    @property
    def workload(self) -> str:
        """The kind of work."""
        return str((self.cell.get("workload") or {}).get("type", "workload"))

    @property
    def instances(self) -> int:
        """How many measured together."""
        return int(self.cell["fleet"].get("count") or 1)

    @property
    def fleet(self) -> str:
        """Instances and their type."""
        return fleet_label(dict(self.cell["fleet"]))

    @property
    def type(self) -> str:
        """The instance type."""
        return str(self.cell["fleet"].get("instanceType", "instances"))

    @property
    def unit(self) -> str:
        """Of the metric."""
        return str(self.metric.get("unit", ""))

    @property
    def title(self) -> str:
        """Of an axis."""
        return f"{self.name} ({self.unit})" if self.unit else self.name

    @property
    def higher_is_better(self) -> bool:
        """Whether it is a rate."""
        return bool(self.metric.get("higher_is_better"))

    @property
    def samples(self) -> Document | None:
        """The single values of the point in columns, where they are kept."""
        found = self.point.get("samples")
        return found if found and found.get("instance") else None

    def interval(self, name: str = "p50") -> tuple[float | None, float | None]:
        """The ends of a percentile's interval."""
        found = (self.metric.get("intervals") or {}).get(name) or {}
        return found.get("low"), found.get("high")


@dataclass(frozen=True)
class View:
    """A run as a report sees it."""

    summary: Document
    results: Mapping[str, Document]
    plan: Document | None
    decision: Document

    @cached_property
    def cells(self) -> list[Document]:
        """The cells in reading order, with single values and histograms where there are any."""
        return [self._full(cell) for cell in reading_order([dict(cell) for cell in self.summary.get("cells") or []])]

    def _full(self, cell: Document) -> Document:
        result = self.results.get(cell["id"]) or {}
        found = {point["id"]: point for point in result.get("points") or []}
        points = [{**found.get(point["id"], {}), **point, **_kept(found, point)} for point in cell.get("points") or []]
        return {"provenance": result.get("provenance"), **cell, "points": points}

    @cached_property
    def storages(self) -> dict[str, str]:
        """The brief name of each file system."""
        return brief_names(storages_of(self.summary))

    @cached_property
    def entries(self) -> list[Entry]:
        """Every measured point with its primary metric."""
        return list(self._entries())

    def _entries(self) -> Iterator[Entry]:
        # Only what has figures takes a colour; there are eight that one can tell apart.
        order = list(dict.fromkeys(self._curve(cell) for cell in self.cells if cell["points"]))
        for cell in self.cells:
            labels = point_labels([dict(point) for point in cell["points"]])
            curve = self._curve(cell)
            for point in cell["points"]:
                found = primary_metric(dict(point))
                if found is not None:
                    label, style = labels[point["id"]], order.index(curve)
                    yield Entry(cell, point, label, curve, style, *found)

    def _curve(self, cell: Document) -> str:
        """A storage, and where its fleet was put if the matrix says so: fleets put differently are no one curve."""
        return ", ".join(filter(None, [self.storages[_system(cell)], placement_words(dict(cell["fleet"]))]))

    def by(self, *names: str) -> dict[tuple[Any, ...], list[Entry]]:
        """Group the entries by attributes of theirs, in reading order."""
        groups: dict[tuple[Any, ...], list[Entry]] = {}
        for entry in self.entries:
            groups.setdefault(tuple(getattr(entry, name) for name in names), []).append(entry)
        return groups

    @cached_property
    def slow_ends(self) -> Mapping[tuple[str, str, str], Document]:
        """The slow end of each point as the decision has it, by cell, point and metric."""
        return {
            (one["cell"], one["point"], question["metric"]): {**one, "level": question["level"]}
            for question in self.decision.get("questions") or []
            for one in question["candidates"]
        }

    def limit(self, entry: Entry) -> tuple[float, str] | None:
        """The objective's limit, if it is about this metric, with what to write beside its line."""
        objective = self.decision.get("objective") or {}
        if objective.get("metric") != entry.name:
            return None
        upper = objective.get("atMost")
        value = float(upper if upper is not None else objective["atLeast"])
        return value, f"{'at most' if upper is not None else 'at least'} {quantity(value, entry.unit)}"

    def slow_end(self, entry: Entry) -> Document:
        """The slow end of a point; empty if the decision was about another metric."""
        return self.slow_ends.get((entry.cell["id"], entry.point["id"], entry.name), {})


def _kept(found: Mapping[str, Document], point: Document) -> dict[str, Any]:
    """The summary's point has latencies without their bins: those of the result have them."""
    return {
        name: found[point["id"]][name] for name in ("samples", "latency", "rates") if name in found.get(point["id"], {})
    }


def _system(cell: Document) -> str:
    return str(cell.get("file_system") or cell["id"])
