"""The part of the page that says which ceiling each cell hit, by which evidence, and why it was no other."""

from collections.abc import Iterator, Mapping, Sequence
from statistics import median
from typing import Any

from matrix.report.html import Figure, Markup, details, figure_of, table, tag
from matrix.report.view import View
from matrix.terms.ceilings import PROVISIONAL, bottlenecks, why_not
from matrix.terms.figures import ABSENT, instant
from matrix.terms.names import fleet_label

Document = Mapping[str, Any]


def ceilings(view: View) -> Markup | None:
    """A row for each cell, then what lost and what could not be seen; None for runs of before it was looked for."""
    found = bottlenecks({"cells": [dict(cell) for cell in view.cells]})
    if not found:
        return None
    rows = [
        (_cell_name(view, cell), tag("strong", one["name"]), one["evidence"], one["next"], _points(one))
        for cell, one in found
    ]
    heads = ("Cell", "Ceiling", "Evidence", "What to do next", "Points that reached it")
    late = [tag("p", PROVISIONAL, class_="note")] if any(one["is_provisional"] for _, one in found) else []
    blocks = [_why(view, cell, one) for cell, one in found]
    return tag(
        "section",
        tag("h2", "Which ceiling was hit"),
        table(heads, rows, caption="The bottleneck of each cell", class_="prose"),
        *late,
        details("Why it was nothing else, and what could not be seen", *blocks),
        id="ceilings",
    )


def ceiling_of(view: View, cell_id: str) -> str:
    """Name the ceiling that a cell hit; a dash where none was looked for."""
    found = next((cell.get("bottleneck") for cell in view.cells if cell["id"] == cell_id), None)
    return str(found["name"]) if found else ABSENT


def _cell_name(view: View, cell: Document) -> str:
    storage = view.storages.get(str(cell.get("file_system") or cell["id"]), cell["id"])
    return f"{cell['workload']['type']}, {storage}, {fleet_label(dict(cell['fleet']))}"


def _points(found: Document) -> str:
    points = found["points"]
    count = sum(name == found["name"] for name in points.values())
    return f"{count} of {len(points)}"


def _why(view: View, cell: Document, found: Document) -> Markup:
    others = [
        (one["name"], Figure(f"{100 * one['share']:.0f} %", one["share"]), one["words"]) for one in found["others"]
    ]
    blocks = [tag("h3", _cell_name(view, cell))]
    if others:
        blocks.append(table(("Ceiling", "Used", "By"), others, caption=f"What lost: {why_not(dict(found))}"))
    if found["unseen"]:
        blocks += [tag("p", "Not seen:"), tag("ul", *(tag("li", one) for one in found["unseen"]))]
    result = view.results.get(str(cell["id"])) or {}
    rows = list(_watched((result.get("cloudwatch") or {}).get("series") or []))
    if rows:
        heads = ("Metric", "Resources", "Lowest", "Median", "Highest", "Unit", "Last value at")
        blocks.append(table(heads, rows, caption="CloudWatch, over the cell's window"))
    return tag("div", *blocks)


def _watched(series: Sequence[Document]) -> Iterator[Sequence[object]]:
    """One row for each metric over all its resources."""
    names = dict.fromkeys((one["namespace"], one["metric"], one["statistic"], one["unit"]) for one in series)
    for namespace, metric, statistic, unit in names:
        mine = [one for one in series if (one["namespace"], one["metric"]) == (namespace, metric)]
        values = [value for one in mine for value in one["values"]]
        last = max(max(one["at"]) for one in mine)
        low, middle, high = (figure_of(value) for value in (min(values), median(values), max(values)))
        yield f"{namespace} {metric} ({statistic})", len(mine), low, middle, high, unit, instant(last)
