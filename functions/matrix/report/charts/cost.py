"""The cost of a result against its speed, and the Pareto front of fleets."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, cast

from matrix.report.charts.chart import Chart, Series, is_wide
from matrix.report.charts.labels import lower, point_title, slug
from matrix.report.view import View
from matrix.terms.documents.summary import Question
from matrix.terms.figures import ASSUMED_BYTES, describe_cost
from matrix.terms.findings.risks import Risk
from matrix.terms.findings.verdicts import Lost
from matrix.terms.grouping import grouped
from matrix.terms.metrics import metric_title
from matrix.terms.quantities import money, quantity
from matrix.text.medians import describe_why_median

WIDE_COST = 5.0
# Style of the Pareto front, which no storage has.
FRONT_STYLE = 6
Priced = tuple[Mapping[str, Any], Mapping[str, Any]]


def costs(view: View) -> Iterator[Chart]:
    """Yield a chart for each point: the cost of a result against the tail; best is cheap and fast.

    A run that recommends nothing has none: this machine's speed at AWS's prices is meaningless.
    """
    if not view.decision.get("is_recommendation", True):
        return
    groups = grouped(
        ((question["workload"], question["label"], question["metric"]), question) for question in view.questions
    )
    for questions in groups.values():
        is_by_tail = 2 * sum(not question.get("why_median") for question in questions) > len(questions)
        priced = [
            (question, {**candidate, **figure, "storage": view.called(candidate)})
            for question in questions
            for candidate in question["candidates"]
            if candidate["cost"] and (figure := _figure(view, question, candidate, is_by_tail=is_by_tail))
        ]
        if sum(not candidate["lost"] for _, candidate in priced) > 1:
            # Readers compare neighbouring charts by eye, so they need the same origin.
            yield _chart(view, questions, priced, is_by_tail=is_by_tail, is_from_zero=len(groups) > 1)


def _figure(
    view: View, question: Mapping[str, Any], candidate: Mapping[str, Any], *, is_by_tail: bool
) -> dict[str, Any]:
    """Return the value and interval of a candidate for a chart: its tail if that ranks, else its median."""
    if is_by_tail:
        if question.get("why_median") or candidate["value"] is None:
            return {}
        return {name: candidate[name] for name in ("value", "low", "high")}
    entry = view.points.get((candidate["cell"], candidate["point"], question["metric"]))
    if entry is None or entry.metric.get("p50") is None:
        return {}
    low, high = entry.interval()
    return {"value": entry.metric["p50"], "low": low, "high": high}


def _too_few(questions: Sequence[Mapping[str, Any]], *, is_by_tail: bool) -> list[str]:
    """Write which fleets are left out, or why the chart shows all medians."""
    few = [question for question in questions if question.get("why_median")]
    if not few:
        return []
    if is_by_tail:
        return [f"Not drawn: {question['fleet']}, as {Risk.describe(question['why_median'])}." for question in few]
    return [f"P50 is drawn, as {describe_why_median(cast('list[Question]', few))}."]


def _chart(
    view: View,
    questions: Sequence[Mapping[str, Any]],
    priced: Sequence[Priced],
    *,
    is_by_tail: bool,
    is_from_zero: bool,
) -> Chart:
    question, first = priced[0]
    level = question["level"] if is_by_tail else 50
    workload, label, unit, per = question["workload"], question["label"], question["unit"], first["cost"]["per"]
    named = metric_title(question["metric"], workload)
    slow = f"P{level:g} of {lower(named)}"
    front = _front(priced)
    by_storage = grouped((pair[1]["storage"], pair) for pair in priced)
    styles = {entry.storage: entry.style for entry in view.entries}
    series = [
        line
        for storage, pairs in by_storage.items()
        for line in _of_storage(view, storage, pairs, styles.get(storage, 0), slow, front)
    ]
    if len(front) > 1:
        places = [candidate for _, candidate in front]
        series.append(Series("Pareto front", [_usd(each) for each in places], [each["value"] for each in places],
                             "segments", FRONT_STYLE, width=1.5, is_dashed=True))  # fmt: skip
    better = "up" if question["higher_is_better"] else "down"
    is_partial = any(candidate["cost"]["missing"] for _, candidate in priced)
    is_wrong = any(candidate["lost"] for _, candidate in priced)
    return Chart(
        id=f"cost-{slug(f'{workload}-{label}')}",
        title=f"{point_title(workload, label)}: {slow} against US dollars per {per}",
        reads=(
            f"Left is cheaper, {better} is faster. A line joins the fleets of one storage; the figures are how many "
            "instances. Points with names are the Pareto front: nothing is both cheaper and faster."
            + (" Hollow: its cost is known in part only, so it may lie farther right" if is_partial else "")
            + (f"{'; or' if is_partial else ' Hollow:'} it is known to be wrong and left out" if is_wrong else "")
            + ("." if is_partial or is_wrong else "")
        ),
        x_title=f"US dollars per {per}",
        y_title=f"{slow} ({unit})",
        series=series,
        heads=("Storage", "Fleet", f"{slow} ({unit})", f"USD per {per}", f"USD per {per}, start and idle time included",
               "Nothing is both cheaper and faster"),
        rows=[
            (
                f"{candidate['storage']}{', left out' if candidate['lost'] else ''}",
                question["fleet"],
                candidate["value"],
                candidate["cost"]["usd"],
                candidate["cost"]["usd_billed"],
                _place(question, candidate, front),
            )
            for question, candidate in priced
        ],
        is_x_log=is_wide([_usd(candidate) for _, candidate in priced], WIDE_COST),
        is_y_log=is_wide([candidate["value"] for _, candidate in priced]),
        is_from_zero=is_from_zero or bool(question["higher_is_better"]),
        is_up_better=bool(question["higher_is_better"]),
        notes=_too_few(questions, is_by_tail=is_by_tail),
        is_in_seconds=unit == "s",
        metric=f"{question['metric']} P{level:g} ({unit})",
        of=view.facets.marks(workload=workload, label=label),
    )  # fmt: skip


def _usd(candidate: Mapping[str, Any]) -> float:
    return float(candidate["cost"]["usd"])


def _front(priced: Sequence[Priced]) -> list[Priced]:
    """Return the Pareto front of cost and speed over all fleets, cheapest first; of equals the first."""
    sign = -1 if priced[0][0]["higher_is_better"] else 1
    known = [pair for pair in priced if not pair[1]["lost"] and not pair[1]["cost"]["missing"]]
    front: list[Priced] = []
    for pair in sorted(known, key=lambda pair: (_usd(pair[1]), sign * pair[1]["value"])):
        if not front or sign * pair[1]["value"] < sign * front[-1][1]["value"]:
            front.append(pair)
    return front


def _place(question: Mapping[str, Any], candidate: Mapping[str, Any], front: Sequence[Priced]) -> str:
    if any(each is candidate for _, each in front):
        return "on any fleet"
    if candidate["on_front"]:
        return f"on {question['fleet']}"
    return "cost known in part" if candidate["cost"]["missing"] else ""


def _of_storage(
    view: View, storage: str, mine: Sequence[Priced], style: int, slow: str, front: Sequence[Priced]
) -> Iterator[Series]:
    """Yield a storage's line, and hollow marks for points with incomplete or wrong figures."""
    kinds = {
        storage: [pair for pair in mine if not pair[1]["lost"] and not pair[1]["cost"]["missing"]],
        f"{storage}, at least": [pair for pair in mine if not pair[1]["lost"] and pair[1]["cost"]["missing"]],
        f"{storage}, left out": [pair for pair in mine if pair[1]["lost"]],
    }
    is_first = True
    for name, pairs in kinds.items():
        if pairs:
            yield Series(
                name,
                [_usd(candidate) for _, candidate in pairs],
                [candidate["value"] for _, candidate in pairs],
                "line" if len(pairs) > 1 else "dots",
                style,
                group="" if is_first else storage if kinds[storage] else "",
                low=[candidate["low"] for _, candidate in pairs],
                high=[candidate["high"] for _, candidate in pairs],
                hover=[_words(question, candidate, slow) for question, candidate in pairs],
                labels=[str(question["instances"]) for question, _ in pairs],
                names=[
                    f"{storage}, {question['instances']}" if any(each is candidate for _, each in front) else ""
                    for question, candidate in pairs
                ],
                is_hollow=name != storage,
                width=1,
                of=view.facets.marks(storage=storage),
            )
            is_first = False


def _words(question: Mapping[str, Any], candidate: Mapping[str, Any], slow: str) -> str:
    cost = candidate["cost"]
    lines = [
        question["fleet"],
        f"{slow}: {quantity(candidate['value'], question['unit'])}",
    ]
    lines.append(f"{describe_cost(cost)} per {cost['per']} ({cost['basis']})")
    if cost.get("is_assumed"):
        lines.append(ASSUMED_BYTES)
    if cost["missing"]:
        lines.append(f"without {cost['missing']}")
    if cost["usd_billed"] is not None:
        lines.append(f"{money(cost['usd_billed'])} with start and idle time ({cost['billed_basis']})")
    return "<br>".join([*lines, *(["nothing here is both cheaper and faster"] if candidate["on_front"] else []),
                        *([Lost.describe(candidate["lost"])] if candidate["lost"] else [])])  # fmt: skip
