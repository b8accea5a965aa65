"""Cells over time: the results of each cell in all its runs, and its significant changes."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from typing import NamedTuple

from matrix.answer.comparing import MeasuredPoint, NotComparable, compare, measured_points
from matrix.answer.values import values_of
from matrix.input.storage_names import cell_names
from matrix.statistics.differing import benjamini_hochberg
from matrix.statistics.sample_size import CONFIDENCE
from matrix.statistics.series import MIN_BEFORE, Shift, new_value, trend
from matrix.terms.documents.compared import ComparedPair, PublishedComparison
from matrix.terms.documents.result import ResultDocument
from matrix.terms.documents.summary import SummaryDocument
from matrix.terms.documents.values import ValuesDocument
from matrix.terms.grouping import grouped

Facts = Mapping[str, Mapping[str, int]]


class Changed(NamedTuple):
    """A fact that two runs do not share: its values in each, in alphabetical order."""

    fact: str
    before: list[str]
    after: list[str]


def what_changed(before: Iterable[Facts], after: Iterable[Facts]) -> list[Changed]:
    """Return each fact of provenance with different values. A fact that only one run has is not a change."""
    old, new = _values(before), _values(after)
    return [
        Changed(fact, sorted(old[fact]), sorted(values))
        for fact, values in new.items()
        if fact in old and old[fact] != values
    ]


def _values(cells: Iterable[Facts]) -> dict[str, set[str]]:
    values: dict[str, set[str]] = {}
    for facts in cells:
        for fact, counted in facts.items():
            values.setdefault(fact, set()).update(counted)
    return values


# The threshold of `matrix compare` for its exit code; here a smaller significant difference is a change too.
THRESHOLD = 0.05
MIN_RUNS = MIN_BEFORE + 1
CHANGED = ("slower", "faster")
UNDECIDED = "cannot tell"


@dataclass(frozen=True)
class KeptRun:
    """A run: its summary, and the results of its cells by id.

    `references` are published figures of the same points, from `matrix.published.published_comparisons`.
    """

    summary: SummaryDocument
    results: Mapping[str, ResultDocument]
    references: Sequence[PublishedComparison] = ()

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
    """A figure beyond the scatter of the runs before it, or of the run before if there are few; or a trend."""

    run: int
    before: int  # the run before; of a trend the first one
    verdict: str
    words: str
    changed: Sequence[Changed]
    is_trend: bool = False


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
    undecided: int = 0  # pairs of successive runs without a verdict, if there are too few runs for their own scatter
    published: float | None = None  # published median of the same point
    objections: Sequence[str] = ()  # why that does not compare


def history(runs: Sequence[KeptRun]) -> list[Track]:
    """Return the tracks of all runs, which come in the order of their time.

    If a track has MIN_RUNS, each run from the last of these on is tested against the scatter of the runs before it,
    and all of them for a trend (matrix.statistics.series). What another night changes is then no change. The tests of
    all tracks of one run are corrected together (Benjamini and Hochberg): if nothing changes, a new run is named with a
    chance of 5 %. Neighbours on shorter tracks are compared by the test of `matrix compare`, which cannot know that
    scatter.
    """
    tracks: dict[tuple[str, str], Track] = {}
    cells: dict[tuple[int, str, str], tuple[str, str]] = {}
    for index, run in enumerate(runs):
        for key, track, point in _points(run):
            known = tracks.setdefault((run.environment, key), track)
            known.measured.append(_measured(index, point))
            known.published, known.objections = track.published, track.objections
            cells[index, point.cell, track.point] = (run.environment, key)
    long = [track for track in tracks.values() if len(track.measured) >= MIN_RUNS]
    pairs = {
        pair
        for track in tracks.values()
        if len(track.measured) < MIN_RUNS
        for pair in pairwise([each.run for each in track.measured])
    }
    for before, after in sorted(pairs):
        for pair in _compared(runs[before], runs[after]):
            place = cells.get((after, pair["run"]["cell"], pair["point"]))
            if place is None or pair["verdict"] not in (*CHANGED, UNDECIDED):
                continue
            track = tracks[place]
            in_turn = [each.run for each in track.measured]
            if len(in_turn) >= MIN_RUNS or (before, after) not in pairwise(in_turn):
                continue
            if pair["verdict"] == UNDECIDED:
                track.undecided += 1
            else:
                facts = what_changed(
                    _facts(runs[before], pair["base"]["cell"]), _facts(runs[after], pair["run"]["cell"])
                )
                track.changes.append(Change(after, before, pair["verdict"], pair["words"], facts))
    name_shifts(runs, long)
    return list(tracks.values())


def name_shifts(runs: Sequence[KeptRun], tracks: Sequence[Track]) -> None:
    """Add the runs beyond the scatter of those before them, and the trends, to their tracks."""
    tested = [(track, *found) for track in tracks for found in _shifts(track)]
    # A family is a run, with its trends: tests of past runs must not hide the newest one.
    families = grouped((after.run, (track, before, after, shift)) for track, before, after, shift in tested)
    for family in families.values():
        q_values = benjamini_hochberg([shift.p_value for _, _, _, shift in family])
        for (track, before, after, shift), q_value in zip(family, q_values, strict=True):
            if q_value > 1 - CONFIDENCE:
                continue
            is_trend = before.run == track.measured[0].run
            verdict = "slower" if (shift.ratio < 1) == track.higher_is_better else "faster"
            count = track.measured.index(after)
            than = (
                f"in {count + 1} runs, a trend" if is_trend else f"than the {count} runs before, beyond their scatter"
            )
            words = f"{verdict} by {100 * abs(shift.ratio - 1):.1f} % {than} (p {shift.p_value:.2g})"
            facts = what_changed(_facts(runs[before.run], before.cell), _facts(runs[after.run], after.cell))
            track.changes.append(Change(after.run, before.run, verdict, words, facts, is_trend))


def _shifts(track: Track) -> Iterator[tuple[Measured, Measured, Shift]]:
    """Yield each new run with the one before it and its shift, and the last run with the first one and the trend."""
    values = [each.p50 for each in track.measured if each.p50]
    if len(values) < len(track.measured):  # 0 has no logarithm
        return
    for place in range(MIN_BEFORE, len(values)):
        yield track.measured[place - 1], track.measured[place], new_value(values[:place], values[place])
    yield track.measured[0], track.measured[-1], trend(values)


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
        compared = compare(before.values, after.values, threshold=THRESHOLD)
    except NotComparable:
        return []
    caveat = "; another hour or host may be the difference" if compared["is_of_one_night"] else ""
    return [{**pair, "words": pair["words"] + caveat} for pair in compared["compared"]]


def _facts(run: KeptRun, cell: str) -> list[Facts]:
    result = run.results.get(cell)
    return [result.get("provenance") or {}] if result else []
