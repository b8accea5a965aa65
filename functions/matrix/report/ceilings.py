"""The section of the page that names the bottleneck of each cell, the evidence for it, and why it was no other."""

import json
from collections.abc import Iterator, Sequence
from statistics import median

from matrix.report.html import Figure, Markup, details, figure_of, table, tag
from matrix.report.page_table import page_table
from matrix.report.view import View
from matrix.tables.bottleneck_table import BOTTLENECK, CELL, EVIDENCE, NEXT, POINTS, bottleneck_table
from matrix.terms.ceilings import bottlenecks, describe_limit
from matrix.terms.documents.bottleneck import Bottleneck
from matrix.terms.documents.result import ResultDocument
from matrix.terms.documents.watched import MetricSeries
from matrix.terms.names import describe_workload, fleet_label
from matrix.terms.quantities import instant
from matrix.text.bottlenecks import (
    TITLE,
    describe_next_limit,
    describe_others,
    describe_unseen,
    other_rows,
)

Hit = tuple[ResultDocument, Bottleneck]
# With more cells than this the page shows the bottlenecks of each storage first, because many rows would be equal.
MAX_CELLS = 12


def ceilings(view: View) -> Markup | None:
    """A row for each cell, or first one for each bottleneck of a storage; then the limits ruled out and not measured.

    None for runs without bottlenecks.
    """
    hits = bottlenecks(view.summary)
    if not hits:
        return None
    of_cells = bottleneck_table(view.summary, lambda cell: _cell_name(view, cell))
    late = [tag("p", sentence, class_="note") for sentence in of_cells.sentences]
    each = page_table(of_cells.only(CELL, BOTTLENECK, EVIDENCE, NEXT, POINTS), class_="prose")
    if len(hits) > MAX_CELLS:
        shown: list[Markup] = [_table_of_storages(view, hits), *late, details("The bottleneck of each cell", each)]
    else:
        shown = [each, *late]
    blocks = [_why(view, cell, hit) for cell, hit in hits]
    return tag(
        "section",
        tag("h2", TITLE),
        *shown,
        details("Why it was nothing else, and what could not be seen", *blocks),
        id="ceilings",
    )


def _table_of_storages(view: View, hits: Sequence[Hit]) -> Markup:
    """Return a row for each bottleneck of a storage, the most frequent first: in how many cells, and in which."""
    of_storage: dict[str, list[Hit]] = {}
    for cell, hit in hits:
        of_storage.setdefault(_storage(view, cell), []).append((cell, hit))
    rows = []
    for storage, cells in of_storage.items():
        alike: dict[tuple[str, str], list[ResultDocument]] = {}
        for cell, hit in cells:
            alike.setdefault((hit["name"], describe_next_limit(cell, hit)), []).append(cell)
        for (name, advice), those in sorted(alike.items(), key=lambda item: -len(item[1])):
            workloads = dict.fromkeys(_workload_name(view, cell) for cell in those)
            fleets = dict.fromkeys(_fleet(cell) for cell in those)
            # Fleets are named if they distinguish these cells from others.
            is_some = fleets.keys() != {_fleet(cell) for cell, _ in cells}
            where = "; ".join([", ".join(workloads), *([", ".join(fleets)] if is_some else [])])
            rows.append((storage, tag("strong", describe_limit(name)), f"{len(those)} of {len(cells)}", where, advice))
    heads = ("Storage", "Bottleneck", "Cells", "Which", "What to do next")
    return table(heads, rows, caption="The bottlenecks of each storage", class_="prose")


def _cell_name(view: View, cell: ResultDocument) -> str:
    return f"{_workload_name(view, cell)}, {_storage(view, cell)}, {_fleet(cell)}"


def _fleet(cell: ResultDocument) -> str:
    return fleet_label(cell["fleet"])


def _storage(view: View, cell: ResultDocument) -> str:
    return view.storages.get(str(cell.get("file_system") or cell["id"]), cell["id"])


def _workload_name(view: View, cell: ResultDocument) -> str:
    """Name a workload by its type, and also by its own name if the run has others of the same name."""
    words = describe_workload(cell["workload"])
    all_workloads = [each.get("workload") or {} for each in view.cells]
    alike = {json.dumps(each, sort_keys=True) for each in all_workloads if describe_workload(each) == words}
    name = str(cell["workload"].get("name", ""))
    return f"{words} {name}" if len(alike) > 1 and name and name not in words else words


def _why(view: View, cell: ResultDocument, bottleneck: Bottleneck) -> Markup:
    others = [
        (name, Figure(f"{100 * share:.0f} %", share), words) for name, share, words in other_rows(cell, bottleneck)
    ]
    blocks = [tag("h3", _cell_name(view, cell))]
    if others:
        caption = f"Other limits, {_cell_name(view, cell)}: {describe_others(bottleneck)}"
        blocks.append(table(("Limit", "Used", "By"), others, caption=caption))
    if bottleneck["unseen"]:
        blocks += [
            tag("p", "Not seen:"),
            tag("ul", *(tag("li", describe_unseen(each)) for each in bottleneck["unseen"])),
        ]
    result = view.results.get(cell["id"])
    series = result.get("cloudwatch", {}).get("series", []) if result else []
    if series:
        heads = ("Metric", "Resources", "Lowest", "Median", "Highest", "Unit")
        until = instant(max(max(curve["at"]) for curve in series))
        caption = f"CloudWatch, {_cell_name(view, cell)}, last value at {until}"
        blocks.append(table(heads, list(_watched(series)), caption=caption))
    return tag("div", *blocks)


def _watched(series: Sequence[MetricSeries]) -> Iterator[Sequence[object]]:
    """Yield one row for each CloudWatch metric, over all the resources that have it."""
    for namespace, metric, statistic, unit in dict.fromkeys(map(_name, series)):
        mine = [curve for curve in series if _name(curve) == (namespace, metric, statistic, unit)]
        values = [value for curve in mine for value in curve["values"]]
        low, middle, high = (figure_of(float(f"{value:.6g}")) for value in (min(values), median(values), max(values)))
        yield f"{namespace} {metric} ({statistic})", len(mine), low, middle, high, unit


def _name(curve: MetricSeries) -> tuple[str, str, str, str]:
    return curve["namespace"], curve["metric"], curve["statistic"], curve["unit"]
