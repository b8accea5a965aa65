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
    """What a result costs against the slow end, for each point: cheap and fast is where one wants to be."""
    groups: dict[tuple[str, str, str], list[Any]] = {}
    for question in view.decision.get("questions") or []:
        groups.setdefault((question["workload"], question["label"], question["metric"]), []).append(question)
    styles = {entry.storage: entry.style for entry in view.entries}
    names = view.storages
    for (workload, label, metric), questions in groups.items():
        found = [
            (question, {**one, "storage": names.get(one["file_system"], one["storage"])})
            for question in questions
            for one in question["candidates"]
            if one["cost"] and one["value"] is not None and not one.get("lost")
        ]
        if len(found) > 1:
            yield _cost_chart(workload, label, metric, found, styles)


def _cost_chart(workload: str, label: str, metric: str, found: list[Any], styles: dict[str, int]) -> Chart:
    unit, level = found[0][0]["unit"], found[0][0]["level"]
    series = []
    lines = len({one["storage"] for _, one in found})
    for storage in dict.fromkeys(one["storage"] for _, one in found):
        mine = [(question, one) for question, one in found if one["storage"] == storage]
        for is_whole in (True, False):
            known = [(question, one) for question, one in mine if (one["cost"]["missing"] is None) is is_whole]
            if known:
                series.append(
                    Series(
                        storage if is_whole else f"{storage}, at least",
                        [one["cost"]["usd"] for _, one in known],
                        [one["value"] for _, one in known],
                        "line" if len(known) > 1 else "dots",
                        styles.get(storage, 0),
                        group=storage if any(one["cost"]["missing"] is None for _, one in mine) else "",
                        low=[one["low"] for _, one in known],
                        high=[one["high"] for _, one in known],
                        hover=[_cost_words(question, one) for question, one in known],
                        labels=_at_ends([str(question["instances"]) for question, _ in known], lines),
                        is_hollow=not is_whole,
                        width=1,
                    )
                )
    per = found[0][1]["cost"]["per"]
    better = "up" if found[0][0]["higher_is_better"] else "down"
    slow = f"P{level:g} of {metric} ({unit})"
    usd = [one["cost"]["usd"] for _, one in found]
    is_partial = any(one["cost"]["missing"] for _, one in found)
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
                one["storage"],
                question["fleet"],
                one["value"],
                one["cost"]["usd"],
                one["cost"]["usd_billed"],
                "yes" if one["on_front"] else "at least" if one["cost"]["missing"] else "",
            )
            for question, one in found
        ],
        is_x_log=is_wide(usd, WIDE_COST),
        is_y_log=is_wide([one["value"] for _, one in found]),
        is_in_seconds=unit == "s",
    )


def _at_ends(labels: Sequence[str], lines: int) -> list[str] | None:
    """Labels at both ends of a line: those between would lie on each other, and so would those of many lines."""
    if lines > MOST_LABELLED:
        return None
    return [label if index in (0, len(labels) - 1) else "" for index, label in enumerate(labels)]


def _cost_words(question: Any, one: Any) -> str:
    cost = one["cost"]
    lines = [one["storage"], question["fleet"], f"P{question['level']:g} {quantity(one['value'], question['unit'])}"]
    lines.append(f"{money(cost['usd'])} per {cost['per']} ({cost['basis']})")
    if cost["missing"]:
        lines.append(f"without {cost['missing']}")
    if cost["usd_billed"] is not None:
        lines.append(f"{money(cost['usd_billed'])} as this run was billed ({cost['billed_basis']})")
    return "<br>".join([*lines, *(["on the Pareto front"] if one["on_front"] else [])])
