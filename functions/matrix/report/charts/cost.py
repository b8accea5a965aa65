"""What a result costs against how fast it is."""

from collections.abc import Iterator, Sequence
from typing import Any

from matrix.answer.decision.words import money
from matrix.report.charts.chart import Chart, Series
from matrix.report.charts.labels import slug
from matrix.report.charts.marks import is_wide
from matrix.report.view import View
from matrix.terms.figures import quantity

WIDE_COST = 5.0
MOST_LABELLED = 4


def costs(view: View) -> Iterator[Chart]:
    """Yield a chart for each point: the cost of a result against the slow end; best is cheap and fast."""
    groups: dict[tuple[str, str, str], list[Any]] = {}
    for question in view.decision.get("questions") or []:
        groups.setdefault((question["workload"], question["label"], question["metric"]), []).append(question)
    styles = {entry.storage: entry.style for entry in view.entries}
    names = view.storages
    for (workload, label, metric), questions in groups.items():
        priced = [
            (question, {**candidate, "storage": names.get(candidate["file_system"], candidate["storage"])})
            for question in questions
            for candidate in question["candidates"]
            if candidate["cost"] and candidate["value"] is not None and not candidate.get("lost")
        ]
        if len(priced) > 1:
            yield _cost_chart(workload, label, metric, priced, styles)


def _cost_chart(workload: str, label: str, metric: str, priced: list[Any], styles: dict[str, int]) -> Chart:
    unit, level = priced[0][0]["unit"], priced[0][0]["level"]
    series = []
    lines = len({candidate["storage"] for _, candidate in priced})
    for storage in dict.fromkeys(candidate["storage"] for _, candidate in priced):
        mine = [(question, candidate) for question, candidate in priced if candidate["storage"] == storage]
        for is_whole in (True, False):
            known = [
                (question, candidate)
                for question, candidate in mine
                if (candidate["cost"]["missing"] is None) is is_whole
            ]
            if known:
                series.append(
                    Series(
                        storage if is_whole else f"{storage}, at least",
                        [candidate["cost"]["usd"] for _, candidate in known],
                        [candidate["value"] for _, candidate in known],
                        "line" if len(known) > 1 else "dots",
                        styles.get(storage, 0),
                        group=storage if any(candidate["cost"]["missing"] is None for _, candidate in mine) else "",
                        low=[candidate["low"] for _, candidate in known],
                        high=[candidate["high"] for _, candidate in known],
                        hover=[_cost_words(question, candidate) for question, candidate in known],
                        labels=_at_ends([str(question["instances"]) for question, _ in known], lines),
                        is_hollow=not is_whole,
                        width=1,
                    )
                )
    per = priced[0][1]["cost"]["per"]
    better = "up" if priced[0][0]["higher_is_better"] else "down"
    slow = f"P{level:g} of {metric} ({unit})"
    usd = [candidate["cost"]["usd"] for _, candidate in priced]
    is_partial = any(candidate["cost"]["missing"] for _, candidate in priced)
    return Chart(
        id=f"cost-{slug(f'{workload}-{label}')}",
        title=f"{workload}{f', {label}' if label else ''}: {slow} against US dollars per {per}",
        reads=(
            f"Left is cheaper, {better} is faster. A line joins the fleets of one storage, from the smallest number of "
            "instances to the largest."
            + (" Hollow: its cost is known in part only, so it may lie farther right." if is_partial else "")
        ),
        x_title=f"US dollars per {per}",
        y_title=slow,
        series=series,
        heads=("Storage", "Fleet", slow, f"USD per {per}", f"USD per {per}, as this run was billed", "On the front"),
        rows=[
            (
                candidate["storage"],
                question["fleet"],
                candidate["value"],
                candidate["cost"]["usd"],
                candidate["cost"]["usd_billed"],
                "yes" if candidate["on_front"] else "at least" if candidate["cost"]["missing"] else "",
            )
            for question, candidate in priced
        ],
        is_x_log=is_wide(usd, WIDE_COST),
        is_y_log=is_wide([candidate["value"] for _, candidate in priced]),
        is_in_seconds=unit == "s",
    )


def _at_ends(labels: Sequence[str], lines: int) -> list[str] | None:
    """Return labels for both ends of a line; between them, or with many lines, labels would overlap."""
    if lines > MOST_LABELLED:
        return None
    return [label if index in (0, len(labels) - 1) else "" for index, label in enumerate(labels)]


def _cost_words(question: Any, candidate: Any) -> str:
    cost = candidate["cost"]
    lines = [
        question["fleet"],
        f"P{question['level']:g} {quantity(candidate['value'], question['unit'])}",
    ]
    lines.append(f"{money(cost['usd'])} per {cost['per']} ({cost['basis']})")
    if cost["missing"]:
        lines.append(f"without {cost['missing']}")
    if cost["usd_billed"] is not None:
        lines.append(f"{money(cost['usd_billed'])} as this run was billed ({cost['billed_basis']})")
    return "<br>".join([*lines, *(["on the Pareto front"] if candidate["on_front"] else [])])
