"""The section of the page that names the bottleneck of each cell, the evidence for it, and why it was no other."""

from collections.abc import Iterator, Mapping, Sequence
from statistics import median
from typing import Any

from matrix.report.html import Figure, Markup, details, figure_of, table, tag
from matrix.report.view import View
from matrix.terms.ceilings import bottlenecks
from matrix.terms.documents.bottleneck import Bottleneck
from matrix.terms.documents.result import ResultDocument
from matrix.terms.figures import ABSENT, instant
from matrix.terms.names import fleet_label, workload_words
from matrix.text.bottlenecks import (
    PROVISIONAL,
    TITLE,
    evidence_words,
    next_words,
    other_rows,
    others_words,
    unseen_words,
)

Document = Mapping[str, Any]


def ceilings(view: View) -> Markup | None:
    """A row for each cell, then the limits ruled out and what was not measured; None for runs without bottlenecks."""
    hits = bottlenecks(view.summary)
    if not hits:
        return None
    rows = [
        (
            _cell_name(view, cell),
            tag("strong", hit["name"]),
            evidence_words(cell, hit),
            next_words(cell, hit),
            _points(hit),
        )
        for cell, hit in hits
    ]
    heads = ("Cell", "Bottleneck", "Evidence", "What to do next", "Points that reached it")
    late = [tag("p", PROVISIONAL, class_="note")] if any(hit["is_provisional"] for _, hit in hits) else []
    blocks = [_why(view, cell, hit) for cell, hit in hits]
    return tag(
        "section",
        tag("h2", TITLE),
        table(heads, rows, caption="The bottleneck of each cell", class_="prose"),
        *late,
        details("Why it was nothing else, and what could not be seen", *blocks),
        id="ceilings",
    )


def ceiling_of(view: View, cell_id: str) -> str:
    """Name the bottleneck of a cell; a dash where the result has none."""
    bottleneck = next((cell.get("bottleneck") for cell in view.cells if cell["id"] == cell_id), None)
    return str(bottleneck["name"]) if bottleneck else ABSENT


def _cell_name(view: View, cell: ResultDocument) -> str:
    storage = view.storages.get(str(cell.get("file_system") or cell["id"]), cell["id"])
    return f"{workload_words(cell['workload'])}, {storage}, {fleet_label(dict(cell['fleet']))}"


def _points(bottleneck: Bottleneck) -> str:
    points = bottleneck["points"]
    count = sum(name == bottleneck["name"] for name in points.values())
    return f"{count} of {len(points)}"


def _why(view: View, cell: ResultDocument, bottleneck: Bottleneck) -> Markup:
    others = [
        (name, Figure(f"{100 * share:.0f} %", share), words) for name, share, words in other_rows(cell, bottleneck)
    ]
    blocks = [tag("h3", _cell_name(view, cell))]
    if others:
        caption = f"Other limits, {_cell_name(view, cell)}: {others_words(bottleneck)}"
        blocks.append(table(("Limit", "Used", "By"), others, caption=caption))
    if bottleneck["unseen"]:
        blocks += [tag("p", "Not seen:"), tag("ul", *(tag("li", unseen_words(each)) for each in bottleneck["unseen"]))]
    result = view.results.get(str(cell["id"])) or {}
    series = (result.get("cloudwatch") or {}).get("series") or []
    if series:
        heads = ("Metric", "Resources", "Lowest", "Median", "Highest", "Unit")
        until = instant(max(max(curve["at"]) for curve in series))
        caption = f"CloudWatch, {_cell_name(view, cell)}, last value at {until}"
        blocks.append(table(heads, list(_watched(series)), caption=caption))
    return tag("div", *blocks)


def _watched(series: Sequence[Document]) -> Iterator[Sequence[object]]:
    """Yield one row for each CloudWatch metric, over all the resources that have it."""
    for namespace, metric, statistic, unit in dict.fromkeys(map(_name, series)):
        mine = [curve for curve in series if _name(curve) == (namespace, metric, statistic, unit)]
        values = [value for curve in mine for value in curve["values"]]
        low, middle, high = (figure_of(float(f"{value:.6g}")) for value in (min(values), median(values), max(values)))
        yield f"{namespace} {metric} ({statistic})", len(mine), low, middle, high, unit


def _name(curve: Document) -> tuple[str, str, str, str]:
    return curve["namespace"], curve["metric"], curve["statistic"], curve["unit"]
