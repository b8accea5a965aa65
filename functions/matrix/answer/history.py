"""Cells over time: the results of each cell in all its runs, and its significant changes."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise

from matrix.answer.changes import Changed, Facts, what_changed
from matrix.answer.comparing import MeasuredPoint, NotComparable, compare, measured_points
from matrix.answer.values import values_of
from matrix.input.storage_names import cell_names
from matrix.terms.documents.beside import Beside
from matrix.terms.documents.compared import ComparedPair
from matrix.terms.documents.result import ResultDocument
from matrix.terms.documents.summary import SummaryDocument
from matrix.terms.documents.values import ValuesDocument

# The threshold of `matrix compare` for its exit code; here a smaller significant difference is a change too.
THRESHOLD = 0.05
CHANGED = ("slower", "faster")
UNDECIDED = "cannot tell"


@dataclass(frozen=True)
class KeptRun:
    """A run: its summary, and the results of its cells by id.

    `references` are published figures of the same points, from `matrix.published.beside`.
    """

    summary: SummaryDocument
    results: Mapping[str, ResultDocument]
    references: Sequence[Beside] = ()

    @property
    def name(self) -> str:
        """The run's name."""
        return self.summary["run"]

    @cached_property
    def values(self) -> ValuesDocument:
        """The values that its points are judged by."""
        return values_of(self.summary, self.results)

    @property
    def environment(self) -> str:
        """The environment of the measurement: figures of two environments are not comparable."""
        return str(self.summary.get("environment"))


@dataclass(frozen=True)
class Measured:
    """One cell's point in one run."""

    run: int  # its place among all runs
    p50: float | None
    low: float | None
    high: float | None
    n: int | None
    cell: str = ""  # its id in that run


@dataclass(frozen=True)
class Change:
    """A significant difference between a figure and that of the run before."""

    run: int
    before: int
    verdict: str
    words: str
    changed: Sequence[Changed]


@dataclass
class Track:
    """One point of one cell over all runs of one environment that measured it."""

    storage: str
    workload: str
    fleet: str
    point: str
    metric: str
    unit: str
    environment: str
    higher_is_better: bool
    measured: list[Measured] = field(default_factory=list)
    changes: list[Change] = field(default_factory=list)
    undecided: int = 0  # pairs of successive runs without a verdict
    published: float | None = None  # published median of the same point
    objections: Sequence[str] = ()  # why that does not compare


def history(runs: Sequence[KeptRun]) -> list[Track]:
    """Return the tracks of all runs, which come in the order of their time.

    Neighbours on a track are compared by the test of `matrix compare`, corrected for all the cells that they share.
    """
    tracks: dict[tuple[str, str], Track] = {}
    cells: dict[tuple[int, str, str], tuple[str, str]] = {}
    for index, run in enumerate(runs):
        for key, track, point in _points(run):
            known = tracks.setdefault((run.environment, key), track)
            known.measured.append(_measured(index, point))
            known.published, known.objections = track.published, track.objections
            cells[index, point.cell, track.point] = (run.environment, key)
    pairs = {pair for track in tracks.values() for pair in pairwise([each.run for each in track.measured])}
    for before, after in sorted(pairs):
        for pair in _compared(runs[before], runs[after]):
            place = cells.get((after, pair["run"]["cell"], pair["point"]))
            if place is None or pair["verdict"] not in (*CHANGED, UNDECIDED):
                continue
            track = tracks[place]
            if (before, after) not in pairwise([each.run for each in track.measured]):
                continue
            if pair["verdict"] == UNDECIDED:
                track.undecided += 1
            else:
                facts = what_changed(
                    _facts(runs[before], pair["base"]["cell"]), _facts(runs[after], pair["run"]["cell"])
                )
                track.changes.append(Change(after, before, pair["verdict"], pair["words"], facts))
    return list(tracks.values())


def _points(run: KeptRun) -> Iterator[tuple[str, Track, MeasuredPoint]]:
    """Yield each measured point of a run: its key, an empty track for it, and the point."""
    brief = cell_names(run.summary.get("cells", []))
    references = {(row["cell"], row["point"], row["metric"]): row for row in run.references
                  if row["percentile"] == "p50"}  # fmt: skip
    seen: set[str] = set()
    for key, point in measured_points(run.values):
        # An A/A comparison measures the same twice; the track has the first.
        if key in seen:
            continue
        seen.add(key)
        reference = references.get((point.cell, point.label, point.metric))
        yield key, Track(
            storage=brief[point.cell], workload=point.workload, fleet=point.fleet, point=point.label,
            metric=point.metric, unit=point.unit, higher_is_better=point.higher_is_better, environment=run.environment,
            published=reference["published"] if reference else None,
            objections=reference["why_not"] if reference else (),
        ), point  # fmt: skip


def _measured(index: int, point: MeasuredPoint) -> Measured:
    low, high = (point.interval["low"], point.interval["high"]) if point.interval else (None, None)
    return Measured(index, point.p50, low, high, point.n, point.cell)


def _compared(before: KeptRun, after: KeptRun) -> list[ComparedPair]:
    try:
        return compare(before.values, after.values, threshold=THRESHOLD)["compared"]
    except NotComparable:
        return []


def _facts(run: KeptRun, cell: str) -> list[Facts]:
    result = run.results.get(cell)
    return [result.get("provenance") or {}] if result else []
