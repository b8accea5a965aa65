"""The section of the page that names the bottleneck of each cell, the evidence for it, and why it was no other."""

from collections.abc import Iterator, Sequence
from statistics import median

from matrix.report.html import Markup, details, tag
from matrix.report.html_table import html_table
from matrix.report.view import View
from matrix.tables.bottleneck_table import bottleneck_tables
from matrix.tables.table import Table, TableCell, figures
from matrix.terms.ceilings import bottlenecks
from matrix.terms.documents.bottleneck import Bottleneck
from matrix.terms.documents.result import ResultDocument
from matrix.terms.documents.watched import MetricSeries
from matrix.terms.findings.bottlenecks import Unseen
from matrix.terms.names import fleet_label
from matrix.terms.quantities import instant
from matrix.text.bottlenecks import (
    TITLE,
    describe_others,
    other_rows,
)


def ceilings(view: View) -> Markup:
    """A row for each cell, or first one for each bottleneck of a storage; then the limits ruled out and not measured.

    Empty for runs without bottlenecks.
    """
    tables = bottleneck_tables(view.summary, lambda cell: _cell_name(view, cell))
    if not tables:
        return Markup("")
    first, *more = tables
    late = [tag("p", sentence, class_="note") for sentence in first.sentences]
    blocks = [_why(view, cell, hit) for cell, hit in bottlenecks(view.summary)]
    return tag(
        "section",
        tag("h2", TITLE),
        html_table(first, class_="prose"),
        *late,
        *(details(each.title, html_table(each, class_="prose")) for each in more),
        details("Why it was nothing else, and what could not be seen", *blocks),
        id="ceilings",
    )


def _cell_name(view: View, cell: ResultDocument) -> str:
    storage = view.storages.get(str(cell.get("file_system") or cell["id"]), cell["id"])
    return f"{view.workloads[cell['id']]}, {storage}, {fleet_label(cell['fleet'])}"


def _why(view: View, cell: ResultDocument, bottleneck: Bottleneck) -> Markup:
    others = [
        (name, TableCell(f"{100 * share:.0f} %", share), words) for name, share, words in other_rows(cell, bottleneck)
    ]
    blocks = [tag("h3", _cell_name(view, cell))]
    if others:
        caption = f"Other limits, {_cell_name(view, cell)}: {describe_others(bottleneck)}"
        blocks.append(html_table(Table.of(caption, ("Limit", "Used", "By"), others)))
    if bottleneck["unseen"]:
        blocks += [
            tag("p", "Not seen:"),
            tag("ul", *(tag("li", Unseen.describe(each)) for each in bottleneck["unseen"])),
        ]
    result = view.results.get(cell["id"])
    series = result.get("cloudwatch", {}).get("series", []) if result else []
    if series:
        heads = ("Metric", *figures("Resources", "Lowest", "Median", "Highest"), "Unit")
        until = instant(max(max(curve["at"]) for curve in series))
        caption = f"CloudWatch, {_cell_name(view, cell)}, last value at {until}"
        blocks.append(html_table(Table.of(caption, heads, _watched(series))))
    return tag("div", *blocks)


def _watched(series: Sequence[MetricSeries]) -> Iterator[Sequence[object]]:
    """Yield one row for each CloudWatch metric, over all the resources that have it."""
    for namespace, metric, statistic, unit in dict.fromkeys(map(_name, series)):
        mine = [curve for curve in series if _name(curve) == (namespace, metric, statistic, unit)]
        values = [value for curve in mine for value in curve["values"]]
        low, middle, high = (float(f"{value:.6g}") for value in (min(values), median(values), max(values)))
        yield f"{namespace} {metric} ({statistic})", len(mine), low, middle, high, unit


def _name(curve: MetricSeries) -> tuple[str, str, str, str]:
    return curve["namespace"], curve["metric"], curve["statistic"], curve["unit"]
