"""From a run's summary to questions: storages are compared if everything else is equal."""

import json
import statistics
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import cast

from matrix.answer.costs import Bill
from matrix.answer.decision.answers import NEAR
from matrix.answer.decision.candidates import Candidate, Question
from matrix.answer.decision.objective import Objective, Percentile
from matrix.answer.decision.pairs import Pairs
from matrix.answer.decision.sustaining import judge_by_sustained
from matrix.input.storage_names import whole_names
from matrix.input.workloads.metadata import CHANGES
from matrix.statistics.deciding import bound
from matrix.statistics.fleet_costs import FleetTime
from matrix.statistics.fleet_values import FleetValues, from_columns
from matrix.statistics.intervals import percentile_interval
from matrix.statistics.resampling import lacks_replication
from matrix.statistics.sample_size import CONFIDENCE, has_enough_samples, needed
from matrix.statistics.spread import carries, independent_n, shows_interval
from matrix.storages.models import existing_id, is_shared
from matrix.terms.documents.parts import Params, StorageFields
from matrix.terms.documents.result import MetricResult, PointResult, PointSteadiness, ResultDocument, SampleColumns
from matrix.terms.documents.summary import SummaryDocument
from matrix.terms.figures import percentile_of
from matrix.terms.findings.replication import MIN_LAUNCHES
from matrix.terms.findings.risks import (
    MEDIAN,
    NoSingleValues,
    NotSteady,
    OnlyWorstKnown,
    Risk,
    SampleSizeUnknown,
    TooFewSamples,
)
from matrix.terms.findings.verdicts import Failed, LeftOut, Lost, NoCell, Quorum, TooFewOperations
from matrix.terms.fingerprint import same_point
from matrix.terms.metrics import METRICS, lacks_tail
from matrix.terms.names import (
    describe_placement,
    describe_workload,
    fleet_label,
    is_unsteady,
    point_labels,
    primary_metric,
    ran_of,
)
from matrix.terms.open_loop import HIGHEST_RATE
from matrix.terms.sentences import reason_of


def questions_of(
    summary: SummaryDocument, results: Mapping[str, ResultDocument], wanted: Objective, bill: Bill
) -> Iterator[Question]:
    """Yield one question for each workload, point and fleet, with each storage as a candidate."""
    # First key: everything that is compared except the fleet size. Second key: the fleet size.
    families: dict[str, dict[int, Question]] = {}
    # In the order of the matrix: where a label stands in the sweep of its cell.
    places: dict[tuple[str, str], int] = {}
    params: dict[str, Params] = {}
    unmeasured: list[ResultDocument] = []
    storages = whole_names(storages_of(summary))
    for cell in summary.get("cells", []):
        points = cell.get("points") or []
        if cell.get("state") != "measured" or not points:
            unmeasured.append(cell)
            continue
        full = results.get(cell["id"])
        judged = _sweeps_of_rates(cell, full, wanted) or _points_of(cell, full)
        labels = point_labels(judged)
        for place, point in enumerate(judged):
            label = describe_workload(cell["workload"]), labels[point["id"]]
            places[label] = max(place, places.get(label, 0))
            judged_by = _judged_by(point, wanted)
            if judged_by is None:
                continue
            name, metric = judged_by
            instances = int(cell["fleet"].get("count") or 1)
            same = same_point(cell["workload"], point.get("params") or {}, name)
            key = json.dumps([*same, cell["fleet"].get("instanceType")], sort_keys=True, default=str)
            params[key] = point.get("params") or {}
            question = families.setdefault(key, {}).setdefault(
                instances,
                Question(
                    workload=describe_workload(cell["workload"]),
                    label=labels[point["id"]],
                    fleet=fleet_label(cell["fleet"]),
                    instances=instances,
                    metric=name,
                    unit=str(metric.get("unit", "")),
                    higher_is_better=bool(metric.get("higher_is_better")),
                    level=100 - wanted.percent if metric.get("higher_is_better") else wanted.percent,
                    candidates=[],
                ),
            )
            storage = _placed(storages[_system(cell)], cell)
            candidate = _candidate(cell, point, metric, name, question.level, bill, storage, wanted)
            is_rate = question.higher_is_better
            question.candidates.append(judge_by_sustained(candidate, cell, name, wanted, higher_is_better=is_rate))
    for key, family in families.items():
        for question in family.values():
            question.candidates += [
                _absent(cell, _placed(storages[_system(cell)], cell))
                for cell in unmeasured
                if _belongs(cell, question, params[key])
            ]
            _rank(question, wanted)
    lost = NoCell(of_source=summary.get("environment") == "published")
    for family in families.values():
        for question in family.values():
            _name_absences(question, list(family.values()), lost, wanted)
    yield from sorted(
        (question for family in families.values() for question in family.values()),
        key=lambda question: (question.workload, places[question.workload, question.label], question.instances),
    )


def _judged_by(point: PointResult, wanted: Objective) -> tuple[str, MetricResult] | None:
    """Return the metric of the objective, or without one the primary metric; None if the point does not have it.

    A tail percentile for which a step had too few operations is a metric without figures.
    """
    metrics = point.get("metrics") or {}
    if wanted.metric in metrics:
        return wanted.metric, metrics[wanted.metric]
    if wanted.metric and lacks_tail(metrics, wanted.metric):
        known = METRICS[wanted.metric]
        return wanted.metric, cast("MetricResult", {"unit": known.unit, "higher_is_better": known.higher_is_better})
    return None if wanted.limit else primary_metric(point)


def _points_of(cell: ResultDocument, full: ResultDocument | None) -> list[PointResult]:
    """Return the points of a cell, with their samples if its result has them."""
    samples = {point["id"]: point.get("samples") for point in (full["points"] if full else [])}
    return [{**point, "samples": samples.get(point["id"], point.get("samples"))} for point in cell["points"]]


def _sweeps_of_rates(cell: ResultDocument, full: ResultDocument | None, wanted: Objective) -> list[PointResult]:
    """Return each open-loop sweep with a latency limit as one point, with the highest rate within the limit as value.

    Its cost is that of the point at that rate. Empty if the objective has another metric.
    """
    if wanted.metric not in (None, HIGHEST_RATE):
        return []
    points = {point["id"]: point for point in _points_of(cell, full)}
    sweeps = (full.get("highest_rates") if full else None) or cell.get("highest_rates", [])
    return [
        {
            **points[sweep["held"] or sweep["points"][0]],
            # The highest rate within 5 ms and that within 10 ms are two questions.
            "params": {**sweep["params"], "p99_at_most_ms": sweep["p99_at_most_ms"]},
            "metrics": {HIGHEST_RATE: sweep["metric"]},
            "samples": sweep.get("samples"),
        }
        for sweep in sweeps
    ]


def storages_of(summary: SummaryDocument) -> Iterator[tuple[str, StorageFields]]:
    """Yield each file system of a run with its storage."""
    yield from ((_system(cell), cell["storage"]) for cell in summary.get("cells", []))


def _system(cell: ResultDocument) -> str:
    return str(cell.get("file_system") or cell["id"])


def _placed(storage: str, cell: ResultDocument) -> str:
    """The name of a candidate: its storage, and its fleet's placement if the matrix names one."""
    return ", ".join(filter(None, [storage, describe_placement(cell["fleet"])]))


def _candidate(
    cell: ResultDocument, point: PointResult, metric: MetricResult, name: str, level: float, bill: Bill,
    storage: str, wanted: Objective,
) -> Candidate:  # fmt: skip
    samples = point.get("samples")
    values = from_columns(samples, name, is_shared=is_shared(cell["storage"])) if samples else None
    if values is not None and not len(values.pooled):
        values = None
    tail, median = (_percentile(metric, values, each) for each in (level, MEDIAN))
    if tail and wanted.limit is not None:
        tail = replace(tail, bound=_bound(tail, metric, values, wanted))
    lacks = lacks_replication(values) if values is not None else ()
    fleet_s = _whole_fleet_s(point, level)
    if name == HIGHEST_RATE:
        # Intervals and tests would cover only the rates of the sweep, and the true rate may lie between two of them.
        tail, median = (end and replace(end, low=None, high=None) for end in (tail, median))
        values, lacks, fleet_s = None, (), None
    return Candidate(
        cell=str(cell["id"]),
        point=str(point["id"]),
        storage=storage,
        file_system=_system(cell),
        tail=tail,
        median=median,
        cost=bill.point_cost(cell, point),
        values=values,
        time=_time(cell, point) if values is not None else None,
        lost=_lost(cell) if "p50" in metric else TooFewOperations(),
        lacks=lacks,
        fleet_s=fleet_s,
        is_placed_once=samples is not None and _is_placed_once(cell),
        counts_in_memory=_counts_in_memory(cell, point),
        risks=_unsteady(point.get("steadiness")),
    )


def _time(cell: ResultDocument, point: PointResult) -> FleetTime | None:
    """Return the seconds of each sample, with its work: a piece each, or by a rate as much as it did in its seconds."""
    samples, primary = point.get("samples"), primary_metric(point)
    if samples is None or primary is None:
        return None
    name, metric = primary
    spans = zip(samples["started_at"], samples["ended_at"], strict=True)
    columns: SampleColumns = {
        **samples,
        "metrics": {"seconds": [end - start for start, end in spans], "rate": samples["metrics"].get(name, [])},
    }
    seconds, rate = (from_columns(columns, each, is_shared=is_shared(cell["storage"])) for each in ("seconds", "rate"))
    if seconds.table.shape != rate.table.shape or not len(seconds.pooled) or seconds.pooled.min() <= 0:
        return None
    return (
        FleetTime(seconds, seconds.table * rate.table)
        if metric.get("higher_is_better")
        else FleetTime.of_equal_work(seconds)
    )


def _bound(tail: Percentile, metric: MetricResult, values: FleetValues | None, wanted: Objective) -> float | None:
    """Return how bad the true percentile may be (97.5 % confidence); None if that is not known."""
    if values is not None:
        return bound(values, tail.level, is_upper=wanted.is_upper)
    worst = metric.get("p100") if wanted.is_upper else metric.get("p0")
    return worst if tail.has_enough_samples else None


# The time of the whole fleet stands beside a percentile that differs from it by more.
WHOLE_FLEET = 1.1


def _whole_fleet_s(point: PointResult, level: float) -> float | None:
    """Return the seconds until the whole fleet was done, the mean of repetitions; None if the tail says as much."""
    spans = [repetition["span_s"] for repetition in point.get("fleet", []) if repetition.get("span_s")]
    duration = point["metrics"].get("duration_s")
    usual = duration and percentile_of(duration, f"p{max(level, 100 - level):g}")
    if not spans or not usual:
        return None
    whole = statistics.fmean(spans)
    return whole if whole > WHOLE_FLEET * usual else None


def _lost(cell: ResultDocument) -> Lost | None:
    """Return why a measured cell is not ranked.

    A fleet that met only its quorum is not: half the instances are half the load, which is another experiment.
    """
    if cell.get("suspect"):
        return LeftOut(reason=str(cell["suspect"]))
    ran, count = ran_of(cell), int(cell["fleet"].get("count") or 1)
    return None if ran == count else Quorum(ran=ran, count=count)


def _is_placed_once(cell: ResultDocument) -> bool:
    """Whether too few launches tell what another place of the file system changes; existing ones keep theirs."""
    launches = sum(each["state"] == "measured" for each in cell.get("launches") or [])
    return is_shared(cell["storage"]) and not existing_id(cell["storage"]) and launches < MIN_LAUNCHES


def _unsteady(steadiness: PointSteadiness | None) -> list[Risk]:
    if not steadiness or not is_unsteady(steadiness):
        return []
    return [NotSteady(period_s=steadiness.get("period_s"))]


def _counts_in_memory(cell: ResultDocument, point: PointResult) -> bool:
    """Whether changes counted before they were stored: XFS gathers them in memory, a file server stores each one."""
    params = point.get("params") or {}
    is_change = cell["workload"]["type"] == "touch" or params.get("phase") in CHANGES
    return is_change and params.get("sync", "none") == "none" and not is_shared(cell["storage"])


def _absent(cell: ResultDocument, storage: str) -> Candidate:
    return Candidate(
        cell=str(cell["id"]), point="", storage=storage, file_system=_system(cell), tail=None, median=None,
        cost=None, values=None, lost=Failed(reason=reason_of(cell)),
    )  # fmt: skip


def _belongs(cell: ResultDocument, question: Question, params: Params) -> bool:
    """Return whether a cell would have measured the point of a question; of several, if its points are not known."""
    if describe_workload(cell["workload"]) != question.workload or fleet_label(cell["fleet"]) != question.fleet:
        return False
    # A sweep of rates is judged without its rate.
    points = [point.get("params") or {} for point in cell.get("points") or []]
    return not points or any(params.items() <= each.items() for each in points)


def _rank(question: Question, wanted: Objective) -> None:
    """Rank by the tail; without an objective, by the median if the fleet is too small for its tail.

    That depends on the size of the fleet and not on the noise of a storage, which would change the ranking of others.
    """
    judged = question.judged
    doubts = [end.doubt for candidate in judged if (end := candidate.tail) and end.doubt and not end.has_enough_samples]
    unknown = [doubt for doubt in doubts if not isinstance(doubt, TooFewSamples)]
    counts = [_units(candidate.values) for candidate in judged if candidate.values is not None]
    count = max([question.instances, *counts])
    few = [] if has_enough_samples(question.level, count) else [_too_few(question.level, count)]
    if (unknown or few) and wanted.limit is None and all(candidate.median for candidate in judged):
        question.why_median = [*unknown, *few][0]
    for candidate in question.candidates:
        candidate.ranked = candidate.median if question.why_median else candidate.tail


def _units(values: FleetValues) -> int:
    """Return how many values are independent for certain: those of the instances, or of a single one's repetitions."""
    return max(len(launch.units) for launch in values.launches)


def _name_absences(question: Question, family: Sequence[Question], lost: Lost, wanted: Objective) -> None:
    """Add each storage that was measured at another fleet size but not at this one; `lost` has the reasons."""
    # A candidate that is not ranked was measured too.
    here = {candidate.storage for candidate in question.candidates if candidate.tail is not None}
    elsewhere = [
        (other, candidate)
        for other in sorted(family, key=lambda other: other.instances)
        for candidate in other.judged
        if candidate.storage not in here
    ]
    for storage in dict.fromkeys(candidate.storage for _, candidate in elsewhere):
        measured = [(other, candidate) for other, candidate in elsewhere if candidate.storage == storage]
        smaller = [neighbour for neighbour in measured if neighbour[0].instances < question.instances][-1:]
        larger = [neighbour for neighbour in measured if neighbour[0].instances > question.instances][:1]
        is_ahead = bool(smaller and larger) and _is_expected_ahead(question, smaller + larger, wanted)
        question.absences.append(
            {
                "storage": storage,
                "neighbours": [
                    {"instances": other.instances, "value": _same_level(candidate, question)}
                    for other, candidate in smaller + larger
                ],
                "is_expected_ahead": is_ahead,
            }
        )
        if storage not in {candidate.storage for candidate in question.candidates}:
            question.candidates.append(Candidate("", "", storage, "", None, None, None, None, lost))


def _is_expected_ahead(question: Question, neighbours: Sequence[tuple[Question, Candidate]], wanted: Objective) -> bool:
    """Whether a storage is shown to meet the objective with fewer and with more instances; without one, to lead there.

    It leads if it is better than the best one here, and shown to be faster by more than the tolerance than all others
    there, among them the best one here.
    """
    if wanted.limit is not None:
        bounds = [candidate.tail.bound for _, candidate in neighbours if candidate.tail]
        return all(bound is not None and wanted.is_met(bound) for bound in bounds)
    if not question.ranked:
        return False
    best = question.ranked[0]
    for other, candidate in neighbours:
        rivals = [each for each in other.judged if each is not candidate]
        if best.storage not in {each.storage for each in rivals}:
            return False
        if not question.is_faster(_same_level(candidate, question), best.value):
            return False
        pairs = Pairs(other)
        slowdowns = (pairs.slowdown(candidate, rival) for rival in rivals)
        if not all(slowdown is not None and slowdown.low >= NEAR for slowdown in slowdowns):
            return False
    return True


def _same_level(candidate: Candidate, question: Question) -> float:
    """A candidate's figure at the percentile by which another question ranks."""
    percentile = candidate.median if question.why_median else candidate.tail
    return percentile.value if percentile else candidate.value


def _percentile(metric: MetricResult, values: FleetValues | None, level: float) -> Percentile | None:
    """The percentile at `level`, from the single values if they are known, else from the summary."""
    if values is not None:
        return _percentile_of_values(values, level)
    name = f"p{level:g}"
    stored = percentile_of(metric, name)
    if stored is not None:
        interval = metric.get("intervals", {}).get(name)
        doubt, carried = _doubt(metric, level)
        low, high, confidence = (
            (interval["low"], interval["high"], interval.get("confidence", CONFIDENCE))
            if interval
            else (None, None, CONFIDENCE)
        )
        return Percentile(level, float(stored), low, high, doubt, carried, confidence)
    # Only the worst value is known here. It is as bad as the requested percentile, or worse, so it is a safe bound.
    worst = metric.get("p0") if metric.get("higher_is_better") else metric.get("p100")
    if worst is None:
        return None
    return Percentile(level, float(worst), None, None, OnlyWorstKnown(level=level), has_enough_samples=False)


def _percentile_of_values(values: FleetValues, level: float) -> Percentile:
    is_observed = level in (0, 100)  # and not estimated
    is_shown = level == MEDIAN or (not is_observed and shows_interval(values, level))
    interval = percentile_interval(values, level) if is_shown else None
    is_sure = is_observed or carries(values, level) or (level == MEDIAN and interval is not None)
    doubt = None
    if not is_sure:
        # Each launch needs enough samples of its own for a percentile, so the smallest sample size is reported.
        count = min(independent_n(launch) for launch in values.launches)
        doubt = _too_few(level, count, by_launch=values.is_relaunched)
    low, high = (interval.low, interval.high) if interval else (None, None)
    confidence = interval.confidence if interval else CONFIDENCE
    return Percentile(level, values.percentile(level), low, high, doubt, is_sure, confidence)


def _doubt(metric: MetricResult, level: float) -> tuple[Risk | None, bool]:
    """Why a percentile is uncertain, and whether it may rank nevertheless."""
    if (metric.get("carried") or {}).get(f"p{level:g}"):
        return None, True
    count = metric.get("independent_n") if metric.get("independent_n") is not None else metric.get("n")
    if count is None:
        return SampleSizeUnknown(level=level), False
    if has_enough_samples(level, int(count)):
        return (None if "carried" in metric else NoSingleValues()), True
    return _too_few(level, int(count)), False


def _too_few(level: float, count: int, *, by_launch: bool = False) -> TooFewSamples:
    return TooFewSamples(level=level, needed=needed(level), count=count, by_launch=by_launch)
