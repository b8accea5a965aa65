"""The data of a report's charts and tables: the summary, with single values if a result has them."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple, cast

from matrix.answer.decision.questions import storages_of
from matrix.input.storage_names import NOT_AWS, brief_names
from matrix.report.facets import Facets, Marks
from matrix.statistics.sample_size import has_enough_samples
from matrix.terms.documents.plan import PlanDocument
from matrix.terms.documents.result import MetricResult, PointResult, ResultDocument, SampleColumns
from matrix.terms.documents.summary import Candidate, Decision, Question, SummaryDocument
from matrix.terms.grouping import grouped
from matrix.terms.measured import Measured, judged_metrics
from matrix.terms.names import describe_placement, fleet_label, reading_order, workload_names_of
from matrix.text.decisions import describe_limit

# Fields of a point that a summary leaves out, or has without bins.
GROWING = ("samples", "latency", "over_time")


@dataclass(frozen=True)
class Entry(Measured):
    """One point of one cell with the metric that it is judged by, as charts draw it."""

    storage: str
    style: int

    @property
    def title(self) -> str:
        """The title of the metric's axis: its readable name and its unit."""
        return f"{self.quantity} ({self.unit})" if self.unit else self.quantity

    @property
    def higher_is_better(self) -> bool:
        """Whether the metric is a rate and not a duration."""
        return bool(self.metric.get("higher_is_better"))

    @property
    def samples(self) -> SampleColumns | None:
        """The single values of the point in columns; None if the result has none."""
        columns = self.point.get("samples")
        return columns if columns and columns.get("instance") else None

    @property
    def launches(self) -> list[int]:
        """In which launch each single value was measured; empty of a cell that was launched once."""
        return self.samples.get("launch", []) if self.samples else []

    def interval(self, name: str = "p50") -> tuple[float | None, float | None]:
        """The ends of a percentile's interval."""
        ends = self.metric.get("intervals", {}).get(name)
        return (ends["low"], ends["high"]) if ends else (None, None)


class TailPercentile(NamedTuple):
    """The tail percentile of a point, which the decision reads."""

    level: float
    value: float | None


@dataclass(frozen=True)
class View:
    """A run as a report sees it."""

    summary: SummaryDocument
    results: Mapping[str, ResultDocument]
    plan: PlanDocument | None
    decision: Decision

    @cached_property
    def cells(self) -> list[ResultDocument]:
        """The cells in reading order, with single values and histograms if the results have them."""
        return [self._full(cell) for cell in reading_order(self.summary.get("cells") or [])]

    def _full(self, cell: ResultDocument) -> ResultDocument:
        result = self.results.get(cell["id"])
        if not result:
            return cell
        measured = {point["id"]: point for point in result["points"]}
        points = [
            _joined(point, measured[point["id"]]) if point["id"] in measured else point for point in cell["points"]
        ]
        full: ResultDocument = {**cell, "points": points}
        if "provenance" in result and "provenance" not in cell:
            full["provenance"] = result["provenance"]
        return full

    @cached_property
    def storages(self) -> dict[str, str]:
        """The brief name of each file system.

        If all are emulated, the names leave that out: the answer and each saved chart state it once.
        """
        storages = dict(storages_of(self.summary))
        are_marked = not all(storage.get("emulated") for storage in storages.values())
        return brief_names(storages.items(), mark=NOT_AWS if are_marked else "")

    @cached_property
    def curves(self) -> list[str]:
        """The storages as decisions name them, each placement separately, in reading order."""
        return list(dict.fromkeys(self.curve(cell) for cell in self.cells))

    @cached_property
    def entries(self) -> list[Entry]:
        """Every measured point with its primary metric."""
        return list(self._entries())

    def _entries(self) -> Iterator[Entry]:
        # A cell without figures takes no colour, since readers can distinguish only eight.
        order = list(dict.fromkeys(self.curve(cell) for cell in self.cells if cell["points"]))
        for each in judged_metrics(self.cells):
            curve = self.curve(each.cell)
            yield Entry(**vars(each), storage=curve, style=order.index(curve))

    @cached_property
    def workloads(self) -> dict[str, str]:
        """The name of each cell's workload, by the cell's id."""
        return workload_names_of(self.cells)

    @property
    def questions(self) -> list[Question]:
        """The comparisons of the decision."""
        return list(self.decision.get("questions") or [])

    @cached_property
    def only_workload(self) -> str:
        """The workload if a run has only one; else empty."""
        types = {entry.workload for entry in self.entries}
        return types.pop() if len(types) == 1 else ""

    @cached_property
    def facets(self) -> Facets:
        """The choices of the page's filters."""
        points = [(entry.workload, entry.label) for entry in self.entries]
        points += [(question["workload"], question["label"]) for question in self.questions]
        known = [storage for storage in self.curves if storage in {entry.storage for entry in self.entries}]
        return Facets.of(known or self.curves, points, [fleet_label(cell["fleet"]) for cell in self.cells])

    def marks(self, about: Measured | None) -> Marks:
        """Return the marks of an element about one point of one cell; none for an element about no point."""
        if about is None:
            return {}
        storage = self.curve(about.cell)
        return self.facets.marks(storage=storage, workload=about.workload, label=about.label, fleet=about.fleet)

    @cached_property
    def points(self) -> dict[tuple[str, str, str], Entry]:
        """The entries by cell, point and metric."""
        return {(entry.cell["id"], entry.point["id"], entry.name): entry for entry in self.entries}

    @cached_property
    def _brief(self) -> tuple[dict[str, str], dict[str, str]]:
        """The storages as charts name them, by cell and by the name that a decision gives them."""
        by_cell = {cell["id"]: self.curve(cell) for cell in self.cells}
        candidates = [candidate for question in self.questions for candidate in question["candidates"]]
        return by_cell, {each["storage"]: by_cell[each["cell"]] for each in candidates if each["cell"] in by_cell}

    def called(self, candidate: Candidate) -> str:
        """The name of a candidate's storage in charts."""
        by_cell, by_name = self._brief
        return by_cell.get(candidate["cell"]) or by_name.get(candidate["storage"]) or str(candidate["storage"])

    def called_by_name(self, storage: str) -> str:
        """The name in charts of a storage that a decision names."""
        return self._brief[1].get(storage, storage)

    def curve(self, cell: ResultDocument) -> str:
        """The curve that a cell belongs to: its storage, and its placement if the matrix names one."""
        return ", ".join(filter(None, [self.storages[_system(cell)], describe_placement(cell["fleet"])]))

    def by(self, *names: str) -> dict[tuple[Any, ...], list[Entry]]:
        """Group the entries by the values of these attributes, in reading order."""
        return grouped((tuple((getattr(entry, name) for name in names)), entry) for entry in self.entries)

    @cached_property
    def tail_percentiles(self) -> Mapping[tuple[str, str, str], TailPercentile]:
        """The tail percentile of each point from the decision, by cell, point and metric."""
        return {
            (candidate["cell"], candidate["point"], question["metric"]): TailPercentile(
                question["level"], candidate["value"]
            )
            for question in self.questions
            for candidate in question["candidates"]
        }

    def limit(self, entry: Entry) -> tuple[float, str] | None:
        """The objective's limit and its label, if the objective is about this entry's metric."""
        objective = self.decision.get("objective") or {}
        if objective.get("metric") != entry.name:
            return None
        upper = objective.get("atMost")
        return float(upper if upper is not None else objective["atLeast"]), describe_limit(objective, entry.unit)

    def tail(self, entry: Entry) -> float | None:
        """The tail percentile of a point if it has enough samples; else charts have none, as tables have a dash."""
        end = self.tail_percentile(entry)
        return end.value if end and _has_enough_samples(entry.metric, end.level) else None

    def tail_name(self, entries: Iterable[Entry]) -> str:
        """Name the tail percentile of the points that have one: `P90`; empty if none has."""
        ends = [end for each in entries if self.tail(each) is not None and (end := self.tail_percentile(each))]
        levels = dict.fromkeys(f"P{end.level:g}" for end in ends)
        return " or ".join(levels)

    def tail_percentile(self, entry: Entry) -> TailPercentile | None:
        """The tail percentile of a point; None if the decision was about another metric."""
        return self.tail_percentiles.get((entry.cell["id"], entry.point["id"], entry.name))


def _has_enough_samples(metric: MetricResult, level: float) -> bool:
    """Whether a percentile may be shown. P10 of a rate needs as many samples as P90 of a duration."""
    carried = metric.get("carried")
    if carried is None and metric.get(f"p{level:g}") is None:
        return False
    mirrored = f"p{max(level, 100 - level):g}"
    if carried and mirrored in carried:
        return bool(carried[mirrored])
    count = metric.get("n") if metric.get("independent_n") is None else metric["independent_n"]
    return count is None or has_enough_samples(level, int(count))


def _joined(point: PointResult, measured: PointResult) -> PointResult:
    """Return a summary's point with the result's additions: single values, curves, and the bins of latencies."""
    grown = {name: value for name, value in measured.items() if name in GROWING}
    return cast("PointResult", {**measured, **point, **grown})


def _system(cell: ResultDocument) -> str:
    return str(cell.get("file_system") or cell["id"])
