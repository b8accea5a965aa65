"""Join the launches of a cell to one result. Launches are the units of its intervals.

Each launch has a result like a cell that is launched once. Statistics are computed again from the samples of all
launches. Observations of file systems and instances (ceilings, use, curves) are taken from the launches' results.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from statistics import median
from typing import Any, cast

from matrix.answer.open_loops import highest_rates
from matrix.answer.results import never_measured, point_warnings
from matrix.answer.steady_state import joined_steadiness
from matrix.answer.tool_bound import BOUND_SHARE
from matrix.samples.histograms import Histogram, latency
from matrix.statistics.describing import describe, figures
from matrix.statistics.fleet_values import from_columns
from matrix.storages.models import is_shared
from matrix.terms.ceilings import NOT_KNOWN
from matrix.terms.documents.bottleneck import Bottleneck
from matrix.terms.documents.plan import PlanCell, PlanDocument
from matrix.terms.documents.result import (
    HighestRate,
    Latency,
    LaunchOutcome,
    MetricResult,
    PointResult,
    ReadBytes,
    ResultDocument,
    SampleColumns,
    ToolCeiling,
)
from matrix.terms.findings.bottlenecks import SeeMetrics
from matrix.terms.findings.warnings import LaunchMissing, WarningDocument
from matrix.terms.grouping import grouped
from matrix.terms.ids import without_launch
from matrix.terms.metrics import measured_names
from matrix.terms.sentences import reason_of

# A launch's number and its result.
Launch = tuple[int, ResultDocument]


def join(
    plan: PlanDocument,
    results: Mapping[str, ResultDocument],
    missing: Callable[[PlanCell], ResultDocument] = never_measured,
) -> dict[str, ResultDocument]:
    """Return the results with one more for each cell that was launched several times, by the id that joins them.

    `missing` makes the result of a launch that has none.
    """
    launches = grouped((cell["joined"], cell) for cell in plan["cells"] if "joined" in cell)
    return {**results} | {
        name: _joined(name, cells, [results.get(cell["id"]) or missing(cell) for cell in cells])
        for name, cells in launches.items()
    }


def _joined(name: str, cells: Sequence[PlanCell], results: Sequence[ResultDocument]) -> ResultDocument:
    """Return the result of all launches: measured if any launch was, with a warning on each that was not."""
    every = [(cell["launch"], result) for cell, result in zip(cells, results, strict=True)]
    # The samples of a failed launch count only if no launch was measured.
    counted = [launch for launch in every if launch[1]["state"] == "measured"] or every
    first = counted[0][1]
    points = [_point(point["id"], first, counted, len(every)) for point in first["points"]]
    is_measured = first["state"] == "measured"
    known_s = [result["actual_s"] for result in results if result["actual_s"] is not None]
    joined = {
        "id": name,
        "file_system": without_launch(cells[0]["file_system"], cells[0]["launch"]),
        "storage": first["storage"],
        "workload": first["workload"],
        "fleet": first["fleet"],
        "state": first["state"],
        "error": None if is_measured else first["error"],
        "expected_s": sum(result["expected_s"] or 0.0 for result in results),
        "actual_s": sum(known_s) if known_s else None,
        "points": points,
        "provenance": _counts([result.get("provenance") or {} for _, result in counted]),
        "instances": _instances(results),
        "launches": [_outcome(launch, result) for launch, result in every],
        "warnings": [*_not_measured(every if is_measured else []), *_warnings(counted), *point_warnings(points)],
    }
    return cast("ResultDocument", joined | _known({
        "highest_rates": _highest_rates(cells[0], points, len(every)),
        "emulation": first.get("emulation"),
        "instance_limits": first.get("instance_limits"),
        "attempts": [attempt for result in results for attempt in result.get("attempts") or []],
        "bottleneck": _bottleneck(counted),
    }))  # fmt: skip


def _known(optional: Mapping[str, Any]) -> dict[str, Any]:
    """Return the keys that have a value: those without one are left out of documents."""
    return {name: value for name, value in optional.items() if value not in (None, [], "")}


def _highest_rates(cell: PlanCell, points: Sequence[PointResult], launches: int) -> list[HighestRate]:
    highest = highest_rates(cell, points)
    for of_sweep in highest:
        of_sweep["metric"]["expected_n"] = launches * (of_sweep["metric"]["expected_n"] or 0)
    return highest


def _point(point: str, first: ResultDocument, launches: Sequence[Launch], planned: int) -> PointResult:
    every = [
        (launch, measured) for launch, result in launches for measured in result["points"] if measured["id"] == point
    ]
    points = [measured for _, measured in every]
    samples = _samples(every)
    is_shared_storage = is_shared(first["storage"])
    caches = {words for measured in points for words in measured.get("caches", "").split(" and ") if words}
    joined = {
        "metrics": {
            name: _metric(name, points, samples, planned, is_shared=is_shared_storage)
            for name in measured_names([measured["metrics"] for measured in points])
        },
        "fleet": [{**rate, "launch": launch} for launch, each in every for rate in each["fleet"]],
        "overhead_share": median(measured["overhead_share"] for measured in points),
        "use": _medians([measured["use"] for measured in points]),
        "fleet_use": _medians([measured["fleet_use"] for measured in points]),
        "latency": _latencies([measured["latency"] for measured in points]),
        "samples": samples,
    }
    optional = {
        "caches": " and ".join(sorted(caches)),
        "read_bytes": _read_bytes([measured["read_bytes"] for measured in points if "read_bytes" in measured]),
        "over_time": [{**moved, "launch": launch} for launch, each in every for moved in each.get("over_time", [])],
        "steadiness": joined_steadiness([each["steadiness"] for each in points if "steadiness" in each]),
        "tool_ceiling": _tool_ceiling([each["tool_ceiling"] for each in points if "tool_ceiling" in each]),
    }
    return cast("PointResult", {**points[0], **joined, **_known(optional)})


def _samples(points: Sequence[tuple[int, PointResult]]) -> SampleColumns:
    """The concatenated columns of all launches; None for the values of a metric that a launch lacks."""
    columns = [(launch, part) for launch, point in points if (part := point.get("samples"))]
    names = sorted({name for _, part in columns for name in part["metrics"]})
    return {
        "instance": [instance for _, part in columns for instance in part["instance"]],
        "launch": [launch for launch, part in columns for _ in part["instance"]],
        "repetition": [repetition for _, part in columns for repetition in part["repetition"]],
        "started_at": [moment for _, part in columns for moment in part["started_at"]],
        "ended_at": [moment for _, part in columns for moment in part["ended_at"]],
        "start_skew_s": [skew for _, part in columns for skew in part["start_skew_s"]],
        "metrics": {
            name: [
                value for _, part in columns for value in part["metrics"].get(name) or [None] * len(part["instance"])
            ]
            for name in names
        },
    }


def _metric(
    name: str, points: Sequence[PointResult], samples: SampleColumns, planned: int, *, is_shared: bool
) -> MetricResult:
    metric = next(point["metrics"][name] for point in points if name in point["metrics"])
    values = from_columns(samples, name, is_shared=is_shared)
    expected_n = metric["expected_n"]
    return cast(
        "MetricResult",
        {
            "unit": metric["unit"],
            "higher_is_better": metric["higher_is_better"],
            "primary": metric["primary"],
            "n": len(values.pooled),
            "expected_n": None if expected_n is None else planned * expected_n,
        }
        | figures(values)
        | describe(values, higher_is_better=metric["higher_is_better"], is_primary=metric["primary"]),
    )


def _medians(uses: Sequence[Mapping[str, float]]) -> dict[str, float]:
    names = sorted({name for use in uses for name in use})
    return {name: median(use[name] for use in uses if name in use) for name in names}


def _latencies(of_launches: Sequence[Mapping[str, Latency]]) -> dict[str, Latency]:
    """Merge the histograms of all launches. Figures over instances are joined from the launches' own figures."""
    joined: dict[str, Latency] = {}
    for name in sorted({name for latencies in of_launches for name in latencies}):
        launches = [latencies[name] for latencies in of_launches if name in latencies]
        merged = latency(
            [
                Histogram({int(ns): n for ns, n in launch.get("bins_ns", {}).items()}, round(launch["p100"] * 1000))
                for launch in launches
            ]
        )
        each = [launch["p99_of_each"] for launch in launches if "p99_of_each" in launch]
        merged["histograms"] = sum(launch["histograms"] for launch in launches)
        if each:
            merged["p99_of_each"] = {**_medians(each), "p100": max(over["p100"] for over in each)}
        joined[name] = merged
    return joined


def _read_bytes(launches: Sequence[ReadBytes]) -> ReadBytes | None:
    """Add up the bytes of all launches."""
    if not launches:
        return None
    return {"asked": sum(each["asked"] for each in launches), "mounted": sum(each["mounted"] for each in launches)}


def _tool_ceiling(ceilings: Sequence[ToolCeiling]) -> ToolCeiling | None:
    if not ceilings:
        return None
    share = median(ceiling["share"] for ceiling in ceilings)
    value = median(ceiling["value"] for ceiling in ceilings)
    return {**ceilings[0], "value": value, "share": share, "is_bound": share > BOUND_SHARE}


def _bottleneck(launches: Sequence[Launch]) -> Bottleneck | None:
    """The limit of all launches that know theirs, as the first of these found it; of each point alike.

    Launches that disagree have no certain one.
    """
    hits = [result["bottleneck"] for _, result in launches if "bottleneck" in result]
    if not hits:
        return None
    names = Counter(hit["name"] for hit in hits)
    frequent = next((name for name, _ in names.most_common() if name != NOT_KNOWN), NOT_KNOWN)
    hit = next(hit for hit in hits if hit["name"] == frequent)
    if len(launches) > 1:
        points = grouped(pair for each in hits for pair in each["points"].items())
        hit = {
            **hit,
            "points": {point: _agreed(of_point) for point, of_point in points.items()},
            "of_launches": {"same": names[frequent], "launches": len(launches)},
        }
    if _agreed(names) != frequent:
        unknown: dict[str, Any] = {"name": NOT_KNOWN, "uses": [], "share": None, "next": SeeMetrics().document}
        hit = cast("Bottleneck", {**hit, **unknown, "others": [each for each in hit["others"] if each["share"]]})
        hit.pop("waiting", None)
    return {**hit, "is_provisional": any(each["is_provisional"] for each in hits)}


def _agreed(names: Iterable[str]) -> str:
    """The one limit of several launches; those that know none abstain."""
    known = {name for name in names if name != NOT_KNOWN}
    return known.pop() if len(known) == 1 else NOT_KNOWN


def _counts(of_launches: Sequence[Mapping[str, Mapping[str, int]]]) -> dict[str, dict[str, int]]:
    counts: dict[str, Counter[str]] = {}
    for facts in of_launches:
        for fact, values in facts.items():
            counts.setdefault(fact, Counter()).update(values)
    return {fact: dict(values.most_common()) for fact, values in counts.items()}


def _instances(results: Sequence[ResultDocument]) -> Any:
    each = [result["instances"] for result in results if "instances" in result]
    launched = [instances["launched"] for instances in each if instances["launched"] is not None]
    return {
        "expected": sum(instances["expected"] for instances in each),
        "launched": sum(launched) if launched else None,
    }


def _outcome(launch: int, result: ResultDocument) -> LaunchOutcome:
    outcome: LaunchOutcome = {
        "launch": launch,
        "cell": result["id"],
        "file_system": result["file_system"],
        "state": result["state"],
        "error": result["error"],
        "actual_s": result["actual_s"],
    }
    if launched := result.get("instances", {}).get("launched"):
        outcome["launched"] = launched
    if "metered_usd" in result:
        outcome["metered_usd"] = result["metered_usd"]
    if "taken_from" in result:
        outcome["taken_from"] = result["taken_from"]
    return outcome


def _not_measured(launches: Sequence[Launch]) -> list[WarningDocument]:
    return [
        LaunchMissing(launches=[launch], of=len(launches), reason=reason_of(result)).document
        for launch, result in launches
        if result["state"] != "measured"
    ]


def _warnings(launches: Sequence[Launch]) -> list[WarningDocument]:
    """Return the warnings of launches that concern no point, each once, with its launches unless all have it."""
    warned: list[tuple[WarningDocument, list[int]]] = []
    for launch, result in launches:
        of_points = point_warnings(result["points"])
        for warning in result.get("warnings") or []:
            if warning in of_points:
                continue
            known = next((numbers for each, numbers in warned if each == warning), None)
            if known is None:
                warned.append((warning, [launch]))
            else:
                known.append(launch)
    return [
        warning if len(numbers) == len(launches) else {**warning, "launches": numbers} for warning, numbers in warned
    ]
