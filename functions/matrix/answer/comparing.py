"""Two runs side by side: which cells became slower or faster, by how much, and whether chance explains it."""

import json
import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from matrix.answer import nights
from matrix.input.storage_names import brief_names
from matrix.statistics.differing import POWER, TREND, Difference, beside_runs, difference, holm, over_runs
from matrix.statistics.fleet_values import FleetValues
from matrix.statistics.resampling import lacks_replication
from matrix.statistics.sample_size import needed
from matrix.statistics.series import MIN_BEFORE
from matrix.statistics.spread import shows_interval
from matrix.statistics.uncertainty import Uncertainty
from matrix.terms.documents.compared import (
    ComparedPair,
    ComparedPoint,
    ComparedRuns,
    ComparisonDocument,
    ComparisonPower,
    LostCell,
    PairVerdict,
    RunVerdict,
)
from matrix.terms.documents.parts import Params
from matrix.terms.documents.result import Interval
from matrix.terms.documents.values import JudgedCell, JudgedPoint, ValuesDocument
from matrix.terms.findings.replication import NOT_REPLICATED, ONE_NIGHT, describe_shortage
from matrix.terms.fingerprint import cell_key, same_fleet, same_point, same_storage
from matrix.terms.grouping import grouped
from matrix.terms.names import describe_fleet, describe_workload, flat
from matrix.terms.sentences import EMULATED, MAX_NAMED, first_of

MEDIAN = 50.0
UNJUDGED: PairVerdict = "cannot tell"
# One or two slow hosts of many come by chance.
MIN_SLOW = 3


class NotComparable(Exception):
    """One of two runs was emulated, the other was not: a ratio of their figures would mean nothing."""


# Verdicts in the order of the list: those that need attention come first.
VERDICTS: tuple[PairVerdict, ...] = ("slower", "faster", "no difference shown", "cannot tell")


@dataclass(frozen=True)
class MeasuredPoint:
    """One point of one cell in one run."""

    name: str  # cell and label, as a comparison lists a point that only one run has
    cell: str
    storage: str
    workload: str
    fleet: str
    is_relaunched: bool
    is_own: bool
    label: str
    params: Params
    is_primary: bool
    metric: str
    unit: str
    higher_is_better: bool
    p50: float | None
    n: int | None
    level: float  # of the percentile that is compared beside the median
    interval: Interval | None
    values: FleetValues | None  # None if no single values are known
    uncertainty: Uncertainty | None  # of the median; None where none is known

    def figure(self, level: float) -> float | None:
        """Return a percentile; None if it is not known."""
        if level == MEDIAN:
            return self.p50
        return self.values.percentile(level) if self.values is not None and self.values.pooled.size else None


@dataclass(frozen=True)
class Compared:
    """One point of one cell in both runs."""

    base: MeasuredPoint
    run: MeasuredPoint
    ratio: float | None
    difference: Difference | None
    level: float = MEDIAN
    runs: int = 0  # of earlier runs, the base among them, whose scatter counts
    p_holm: float | None = None
    detectable_ratio: float | None = None  # smallest ratio detectable with POWER among as many points
    verdict: PairVerdict = "cannot tell"
    words: str = ""
    reason: str | None = None  # why there is no verdict
    is_regression: bool = False

    def to_document(self) -> ComparedPair:
        """The form that `matrix compare --json` prints."""
        between = self.difference
        interval = between.interval if between else None
        return {
            "storage": self.run.storage,
            "workload": self.run.workload,
            "fleet": self.run.fleet,
            "point": self.run.label,
            "metric": self.run.metric,
            "unit": self.run.unit,
            "higher_is_better": self.run.higher_is_better,
            "percentile": f"p{self.level:g}",
            "base": {"cell": self.base.cell, "figure": self.base.figure(self.level), "n": self.base.n},
            "run": {"cell": self.run.cell, "figure": self.run.figure(self.level), "n": self.run.n},
            "ratio": self.ratio,
            "interval": interval.to_document() if interval else None,
            "p_lower": between.p_lower if between else None,
            "cliffs_delta": between.cliffs_delta if between else None,
            "test": between.test if between else None,
            "p_value": between.p_value if between else None,
            "p_holm": self.p_holm,
            "units": list(between.units) if between else None,
            "runs": self.runs,
            "is_trend": bool(between and between.test == TREND),
            "is_replicated": between.is_replicated if between else None,
            "detectable_ratio": self.detectable_ratio,
            "verdict": self.verdict,
            "words": self.words,
            "reason": self.reason,
            "is_regression": self.is_regression,
        }


def compare(
    base: ValuesDocument,
    run: ValuesDocument,
    *,
    threshold: float,
    thresholds: Mapping[str, float] | None = None,
    earlier: Sequence[ValuesDocument] = (),
) -> ComparedRuns:
    """Compare two runs by the main metric of their points, and by that of the objective.

    Where `earlier` runs before this one have measured a point, too, in five nights with the base, their scatter counts.

    A regression is a point that differs by more than chance explains, all points considered (Holm: if nothing has
    changed, a run has one with a chance of 5 % at most), and that is slower by more than the threshold (0.05 is 5 %, or
    that of its metric among `thresholds`) at both ends of its interval.
    Raises NotComparable if only one of the runs is emulated.
    """
    _refuse_mixture(base, run)
    in_time = nights.in_time(base, run, earlier)
    before, after, *past = _by_key(*(list(measured_points(each)) for each in (base, run, *in_time)))
    own = thresholds or {}
    until_base = 1 + next((place for place, each in enumerate(in_time) if each is base), -1)
    matched, tails, trends = [], [], []
    for key in (key for key in before if key in after):
        then, since = (
            [points[key] for points in some if key in points] for some in (past[:until_base], past[until_base:])
        )
        cell = _beside(_compared(before[key], after[key]), then, since)
        matched.append(cell)
        tails.append(_tail(cell, then, since, own.get(cell.run.metric, threshold)))
        trends.append(_trend(cell, then, since))
    compared = [
        _worse(*(_judged(each, own.get(each.run.metric, threshold)) for each in ways))
        for ways in zip(_corrected(matched), _corrected(tails), _corrected(trends), strict=True)
    ]
    compared.sort(key=lambda cell: VERDICTS.index(cell.verdict))
    only_in_run = [point for key, point in after.items() if key not in before]
    document: ComparedRuns = {
        "schema": 1,
        "base": base["run"],
        "run": run["run"],
        "threshold": threshold,
        "environments": [base["environment"], run["environment"]],
        "compared": [cell.to_document() for cell in compared],
        "power": _power(compared),
        "lost": _lost(base, run, [point for key, point in before.items() if key not in after], only_in_run),
        "only_in_run": [point.name for point in only_in_run],
        "regressions": sum(cell.is_regression for cell in compared),
        "is_of_one_night": _is_of_one_night(compared),
        "warnings": _warnings(base, run, compared),
    }
    if own:
        document["thresholds"] = dict(own)
    return document


def _change(ratio: float) -> str:
    """Write the smallest change of a factor: `±39 %`; from a factor of two on `×3.72`, as nothing falls by 272 %."""
    return f"±{100 * (ratio - 1):.0f} %" if ratio < 2 else f"×{ratio:.3g}"  # noqa: PLR2004 - see above


def _power(compared: Sequence[Compared]) -> ComparisonPower | None:
    """The detectable ratio at the median point and at the noisiest point; None without tests."""
    ratios = sorted(cell.detectable_ratio for cell in compared if cell.detectable_ratio is not None)
    if not ratios:
        return None
    middle, worst = ratios[len(ratios) // 2], ratios[-1]
    points = "this point" if len(ratios) == 1 else f"half of the {len(ratios)} points"
    noisiest = f", {_change(worst)} at the noisiest" if worst > 1.05 * middle else ""
    words = f"Smallest change found in {10 * POWER:.0f} of 10 comparisons: {_change(middle)} at {points}{noisiest}"
    return {"points": len(ratios), "power": POWER, "ratio": middle, "worst_ratio": worst, "words": words}


def _refuse_mixture(base: ValuesDocument, run: ValuesDocument) -> None:
    emulated = [each["run"] for each in (base, run) if each["environment"] == EMULATED]
    if len(emulated) == 1:
        [other] = [each["run"] for each in (base, run) if each["run"] not in emulated] or emulated
        raise NotComparable(f"the storages of {emulated[0]} were emulated, those of {other} were not")


def _lost(
    base: ValuesDocument, run: ValuesDocument, points: Sequence[MeasuredPoint], only_in_run: Sequence[MeasuredPoint]
) -> list[LostCell]:
    """Return the cells of these points, which only the base has, with what the run says of each."""
    alike = grouped((_planned_key(cell), cell) for cell in run["cells"])
    keys = {cell["id"]: _planned_key(cell) for cell in base["cells"]}
    lost = grouped((point.cell, point.label) for point in points if point.is_primary)
    if base["objective"] == run["objective"]:
        # A point that has lost its main metric is one point.
        lost = grouped((point.cell, point.label) for point in points if not point.is_primary) | lost
    return [
        {
            "cell": cell,
            "points": labels,
            "reason": _why_lost(
                cell,
                alike.get(keys[cell], []),
                [point for point in points if point.cell == cell],
                only_in_run,
            ),
        }
        for cell, labels in lost.items()
    ]


def _planned_key(cell: JudgedCell) -> str:
    """The key of a cell, also if only a part of its fleet has run."""
    fleet = cell["fleet"].copy()
    fleet.pop("ran", None)
    return cell_key("", cell["storage"], cell["workload"], fleet)


def _why_lost(
    name: str, alike: Sequence[JudgedCell], points: Sequence[MeasuredPoint], only_in_run: Sequence[MeasuredPoint]
) -> str:
    """Write what the run says of a cell; of several workloads of a kind by its name."""
    if not alike:
        return "the run has no such cell"
    cell = next((cell for cell in alike if cell["id"] == name), alike[0])
    if cell["state"] != "measured":
        return f"{cell['state']}: {cell['reason']}"
    if "ran" in cell["fleet"]:
        return f"{describe_fleet(cell['fleet'])} ran, which is another experiment"
    changes = _changes(points, [each for each in only_in_run if each.cell == cell["id"]])
    return (
        f"the run measured it otherwise: {first_of(changes, MAX_NAMED)}" if changes else "the run has no figure of it"
    )


def _changes(points: Sequence[MeasuredPoint], others: Sequence[MeasuredPoint]) -> list[str]:
    """Write in which parameters the nearest of the others differ from these points: `direct 1, not 0`."""
    found: dict[str, None] = {}
    for point in points:
        before = flat(point.params)
        differing = (
            {name: each.get(name) for name in {**before, **each} if each.get(name) != before.get(name)}
            for each in (flat(other.params) for other in others)
        )
        for name, value in min(differing, key=len, default={}).items():
            found[f"{name} {_written(value)}, not {_written(before.get(name))}"] = None
    return list(found)


def _written(value: object) -> str:
    return "unset" if value is None else str(value)


def _by_key(*runs: list[tuple[str, MeasuredPoint]]) -> Iterator[dict[str, MeasuredPoint]]:
    """Yield each run's points by their key; if a run has a key twice (an A/A comparison), by cell too."""
    twice = {key for points in runs for key, count in Counter(key for key, _ in points).items() if count > 1}
    for points in runs:
        yield {
            f"{key} {point.cell}" if key in twice else key: (
                replace(point, storage=f"{point.storage} ({point.cell})") if key in twice else point
            )
            for key, point in points
        }


def measured_points(values: ValuesDocument) -> Iterator[tuple[str, MeasuredPoint]]:
    """Each measured point with its key: storage, workload, fleet and parameters, without names."""
    keys = {cell["id"]: json.dumps(cell["storage"], sort_keys=True) for cell in values["cells"]}
    names = brief_names((keys[cell["id"]], cell["storage"]) for cell in values["cells"] if cell["points"])
    for cell in values["cells"]:
        storage, fleet = same_storage(cell["storage"]), same_fleet(cell["fleet"])
        same = json.dumps([storage, fleet], sort_keys=True)
        workload, fleet_name = describe_workload(cell["workload"]), describe_fleet({**cell["fleet"], "spot": False})
        for point in cell["points"]:
            uncertainty = point["median_uncertainty"]
            yield (
                f"{same} {json.dumps(same_point(cell['workload'], point['params'], point['metric']), sort_keys=True)}",
                MeasuredPoint(
                    name=f"{cell['id']}, {point['label']}",
                    cell=cell["id"],
                    storage=names[keys[cell["id"]]],
                    workload=workload,
                    fleet=fleet_name,
                    is_relaunched=cell["is_relaunched"],
                    is_own=cell["is_own"],
                    label=point["label"],
                    params=point["params"],
                    is_primary=point["is_primary"],
                    metric=point["metric"],
                    unit=point["unit"],
                    higher_is_better=point["higher_is_better"],
                    p50=point["p50"],
                    n=point["n"],
                    level=point["level"],
                    interval=point["interval"],
                    values=_fleet_values(cell, point),
                    uncertainty=Uncertainty(**uncertainty) if uncertainty else None,
                ),
            )


def _fleet_values(cell: JudgedCell, point: JudgedPoint) -> FleetValues | None:
    if point["values"] is None:
        return None
    instances, repetitions, launches = cell["instances"], cell["repetitions"], cell["launches"]
    return FleetValues.of_rows(
        instances, repetitions, point["values"], is_shared=cell["is_shared"], launch_numbers=launches
    )


def _compared(base: MeasuredPoint, run: MeasuredPoint) -> Compared:
    before, after, between = base.values, run.values, None
    if before is not None and after is not None and before.table.size and after.table.size:
        between = difference(before, after, known=(base.uncertainty, run.uncertainty))
    ratio = between.ratio if between else run.p50 / base.p50 if base.p50 and run.p50 is not None else None
    return Compared(base, run, ratio, between)


def _beside(cell: Compared, then: Sequence[MeasuredPoint], since: Sequence[MeasuredPoint]) -> Compared:
    """Hold a point against its earlier runs, if there are enough: those up to the base, and those since, in time."""
    until, after = _figures(then[:-1], cell.level), _figures(since, cell.level)
    base, run = (side.figure(cell.level) for side in (cell.base, cell.run))
    if not base or not run or cell.difference is None or len(until) + 1 + len(after) < MIN_BEFORE:
        return cell
    between = beside_runs(cell.difference, [*until, base, *after], len(until), run)
    return replace(cell, ratio=between.ratio, difference=between, runs=len(until) + 1 + len(after))


def _figures(points: Sequence[MeasuredPoint], level: float) -> list[float]:
    return [figure for each in points if each.is_own and (figure := each.figure(level))]


def _trend(cell: Compared, then: Sequence[MeasuredPoint], since: Sequence[MeasuredPoint]) -> Compared:
    """Return the trend of a point since its base, or of all its runs if the base is the newest of them."""
    base, run, between = cell.base.p50, cell.run.p50, cell.difference
    after = _figures(since, MEDIAN)
    before = [base, *after] if after else [*_figures(then[:-1], MEDIAN), base]
    if not base or not run or between is None or not cell.runs or len(before) < MIN_BEFORE:
        return replace(cell, difference=None)
    between = over_runs(between, [figure for figure in (*before, run) if figure])
    return replace(cell, ratio=between.ratio, difference=between, runs=len(before))


def _tail(cell: Compared, then: Sequence[MeasuredPoint], since: Sequence[MeasuredPoint], threshold: float) -> Compared:
    """Compare the slow percentile of a point; without a test, unless it is slower by more than the threshold.

    The two runs need enough instances for it. With fewer, the scatter of earlier runs tells too, if several instances
    are slow: one slow host of ten is no change, but would be beyond the scatter of nights that had none.
    """
    level, between = cell.run.level, cell.difference
    tail = replace(cell, level=level, ratio=None, difference=None, runs=0)
    base, run = (side.figure(level) for side in (cell.base, cell.run))
    if level == MEDIAN or not base or not run or between is None:
        return tail
    tail = replace(tail, ratio=run / base)
    if _slowdown(run / base, cell.run.higher_is_better) <= threshold:
        return replace(tail, difference=replace(between, level=level, ratio=run / base, p_value=1.0))
    sides = [side.values for side in (cell.base, cell.run) if side.values is not None]
    if all(shows_interval(values, level) for values in sides):
        tested = replace(tail, difference=difference(sides[0], sides[1], level))
        return _beside(tested, then, since) if cell.runs else tested
    untested = replace(between, level=level, ratio=run / base, uncertainty=None, interval=None, p_value=None)
    tail = replace(tail, difference=untested)
    return _beside(tail, then, since) if cell.runs and _slow_instances(cell)[0] >= MIN_SLOW else tail


def _worse(cell: Compared, tail: Compared, trend: Compared) -> Compared:
    """Return the verdict of trend or slow percentile if it alone is a regression, or if nobody can tell of the latter.

    Else that of the median.
    """
    if trend.is_regression and not cell.is_regression:
        return replace(trend, words=f"{trend.words}, a trend; this run: {cell.words}")
    if cell.is_regression or cell.verdict == "cannot tell" or tail.difference is None:
        return cell
    if tail.is_regression:
        return replace(tail, words=f"P{tail.level:g} {tail.words}; median: {cell.words}")
    slow, count = (0, 0) if tail.difference.is_replicated else _slow_instances(cell)
    if slow < MIN_SLOW:
        return cell
    why = (
        f"{slow} of {count} instances are slower than all of the base; P{tail.level:g} needs {needed(tail.level)} "
        f"instances, or {MIN_BEFORE} earlier runs"
    )
    return replace(tail, verdict=UNJUDGED, words=f"{UNJUDGED}: {why}; median: {cell.words}", reason=why)


def _slow_instances(cell: Compared) -> tuple[int, int]:
    """Return how many instances of the run, of how many, are slower than all of the base's by more than these differ.

    Beside the median: if all became slower, none is slow.
    """
    base, run = cell.base.values, cell.run.values
    if base is None or run is None or not cell.ratio:
        return 0, 0
    of_base, of_run = np.log(base.instance_medians()), np.log(run.instance_medians()) - math.log(cell.ratio)
    if cell.run.higher_is_better:
        of_base, of_run = -of_base, -of_run
    return int(np.count_nonzero(of_run > 2 * of_base.max() - of_base.min())), len(of_run)


def _corrected(matched: Sequence[Compared]) -> Iterator[Compared]:
    """Correct p values for the number of tests: at 5 %, one of twenty unchanged points would seem changed."""
    tested = [p_value for cell in matched if cell.difference and (p_value := cell.difference.p_value) is not None]
    by_holm = iter(holm(tested))
    for cell in matched:
        between = cell.difference
        if between is None or between.p_value is None:
            yield cell
        else:
            detectable = between.detectable_ratio(len(tested))
            yield replace(cell, p_holm=next(by_holm), detectable_ratio=detectable)


def _judged(cell: Compared, threshold: float) -> Compared:
    between, ratio = cell.difference, cell.ratio
    if between is None or ratio is None:
        why = "no single values are known of one of them" if ratio is not None else "there is no ratio of 0"
        return replace(cell, words=f"cannot tell: {why}", reason=why)
    if not between.is_replicated:
        missing = _missing(cell)
        return replace(cell, words=f"{NOT_REPLICATED} (ratio {ratio:.3f}): {missing}", reason=missing)
    if not between.is_shown(cell.p_holm):
        words = f"no difference shown ({_describe_ratio(cell)})"
        return replace(cell, verdict="no difference shown", words=words)
    is_slower = between.is_lower == cell.run.higher_is_better
    verdict: PairVerdict = "slower" if is_slower else "faster"
    change = _slowdown(ratio, cell.run.higher_is_better)
    words = f"{verdict} by {100 * abs(change):.1f} % ({_describe_ratio(cell)})"
    beyond = is_slower and _least_slowdown(between, cell.run.higher_is_better) > threshold
    if is_slower and not beyond:
        words += f": {'perhaps ' * (change > threshold)}within the threshold of {100 * threshold:g} %"
    return replace(cell, verdict=verdict, words=words, is_regression=beyond)


def _missing(cell: Compared) -> str:
    """Name the missing replication of each side; once if both lack the same."""
    lacking = [lacks_replication(values) for side in (cell.base, cell.run) if (values := side.values) is not None]
    if lacking and lacking[0] and all(each == lacking[0] for each in lacking):
        return f"{describe_shortage(lacking[0])}, in both runs"
    named = zip(("base", "run"), lacking, strict=False)
    few = "; ".join(f"{name}: {describe_shortage(shortages)}" for name, shortages in named if shortages)
    return few or "fewer than two instances have all repetitions"


def _slowdown(ratio: float, higher_is_better: bool) -> float:
    """The slowdown as a share: a ratio of 0.9 for rates is 10 % slower, and so is 1.1 for durations."""
    return 1 - ratio if higher_is_better else ratio - 1


def _least_slowdown(between: Difference, higher_is_better: bool) -> float:
    """The end of the interval that is less slow, as a share; the slowdown itself if no value varies."""
    interval = between.interval
    ends = (interval.low, interval.high) if interval else (between.ratio,)
    return min(_slowdown(end, higher_is_better) for end in ends)


def _describe_ratio(cell: Compared) -> str:
    interval = cell.difference.interval if cell.difference else None
    between = f", 95 % {interval.low:.3f} – {interval.high:.3f}" if interval else ", no interval"
    return f"ratio {cell.ratio:.3f}{between}{f' beside {cell.runs} earlier runs' if cell.runs else ''}"


def _is_of_one_night(compared: Sequence[Compared]) -> bool:
    """Whether a change was found by two runs alone, so that it may be what any two nights differ by."""
    return any(not cell.runs for cell in compared if cell.verdict in ("slower", "faster"))


def _warnings(base: ValuesDocument, run: ValuesDocument, compared: Sequence[Compared]) -> list[str]:
    warnings = []
    if base["environment"] != run["environment"]:
        warnings.append(
            f"{base['run']} was measured on {base['environment']}, {run['run']} on {run['environment']}: "
            "their figures do not compare"
        )
    if _is_of_one_night(compared):
        warnings.append(ONE_NIGHT)
    if any(cell.base.is_relaunched != cell.run.is_relaunched for cell in compared):
        warnings.append(
            "one run has launched its cells several times, the other once: what launches differ by is in the figures "
            "of one only, so a difference may be that of its launch; launch both as often"
        )
    if not compared:
        warnings.append("the two runs have no cell in common (same storage, workload, fleet and parameters)")
    return warnings


SCHEMA = 1
# The default of `matrix compare`.
THRESHOLD = 0.05
MAX_CHANGES = 5


def comparison_of(
    base: ValuesDocument, values: ValuesDocument, asked: str, earlier: Sequence[ValuesDocument] = ()
) -> ComparisonDocument:
    """Compare a run with another, by the rules of `matrix compare`; `asked` is the other run's name in its matrix."""
    try:
        compared = compare(base, values, threshold=THRESHOLD, earlier=earlier)
    except NotComparable as mixed:
        return not_compared(values["run"], asked, str(mixed), base["run"])
    points = compared["compared"]
    if not points:
        apart = not_compared(values["run"], asked, "the two runs have no cell in common", base["run"])
        return {**apart, "lost": compared["lost"]}
    count = Counter(point["verdict"] for point in points)
    reasons = Counter(point["reason"] for point in points if point["reason"])
    changed = list(_changed(points))
    changed.sort(key=lambda point: (point["verdict"] != "slower", -abs(math.log(point["ratio"]))))
    power = compared["power"]
    return {
        **not_compared(values["run"], asked, next(iter(dict(reasons.most_common(1))), None), base["run"]),
        "lost": compared["lost"],
        "verdict": _verdict(count, len(points)),
        "points": len(points),
        "slower": count["slower"],
        "faster": count["faster"],
        "unjudged": count["cannot tell"],
        "regressions": compared["regressions"],
        "detectable_ratio": power and power["ratio"],
        "noisiest_ratio": power and power["worst_ratio"],
        "is_of_one_night": compared["is_of_one_night"],
        "runs": min(point["runs"] for point in points),
        "changes": changed[:MAX_CHANGES],
    }


def not_compared(run: str, asked: str, reason: str | None, base: str | None = None) -> ComparisonDocument:
    """Return the document of a run that was compared with nothing, and why."""
    return {
        "schema": SCHEMA, "run": run, "asked": asked, "base": base, "verdict": "not-compared", "reason": reason,
        "lost": [], "points": 0, "slower": 0, "faster": 0, "unjudged": 0, "regressions": 0, "threshold": THRESHOLD,
        "detectable_ratio": None, "noisiest_ratio": None, "runs": 0, "changes": [],
    }  # fmt: skip


def _verdict(count: Counter[PairVerdict], points: int) -> RunVerdict:
    if count["slower"] and count["faster"]:
        return "both"
    if count["slower"] or count["faster"]:
        return "slower" if count["slower"] else "faster"
    return "cannot-tell" if count["cannot tell"] == points else "no-difference"


def _changed(points: Sequence[ComparedPair]) -> Iterator[ComparedPoint]:
    """Yield the points that became slower or faster, which always have a ratio."""
    for point in points:
        verdict, ratio, interval = point["verdict"], point["ratio"], point["interval"]
        if (verdict == "slower" or verdict == "faster") and ratio is not None:  # noqa: PLR1714 - mypy reads no `in`
            yield {
                "storage": point["storage"],
                "fleet": point["fleet"],
                "workload": point["workload"],
                "point": point["point"],
                "metric": point["metric"],
                "percentile": point["percentile"],
                "is_trend": point["is_trend"],
                "verdict": verdict,
                "change": ratio - 1,
                "ratio": ratio,
                "low": interval["low"] if interval else None,
                "high": interval["high"] if interval else None,
            }
