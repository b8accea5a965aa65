"""The fleet: each instance against the others."""

import math
from collections.abc import Callable, Iterator, Sequence
from statistics import median
from typing import Any

from matrix.report.charts.chart import MAX_ROWS, Chart, Series, parts_of, thinned
from matrix.report.view import Entry, View
from matrix.terms.grouping import grouped

# More ticks of a row would hide each other.
MAX_INSTANCES = 50


def _by_cell(view: View) -> dict[str, list[Entry]]:
    return grouped((entry.cell["id"], entry) for entry in view.entries)


def _cell_name(entry: Entry) -> str:
    return f"{entry.workload}, {entry.storage}, {entry.fleet}"


def _worst_first(rows: list[Any], goodness: Callable[[Any], float]) -> Iterator[tuple[Sequence[Any], str]]:
    """Yield the rows of one chart in their order if they fit, else the rows of several charts, the worst first."""
    return parts_of(sorted(rows, key=goodness) if len(rows) > MAX_ROWS else rows, MAX_ROWS)


def spreads(view: View) -> Iterator[Chart]:
    """Each instance against the median of its fleet, over all points: is one host slower than the others?

    With many cells, cells with the most unequal instances come first.
    """
    rows = []
    for cell_id, entries in _by_cell(view).items():
        speeds = _relative(entries)
        if len(speeds) > 1:
            rows.append((_cell_name(entries[0]), entries[0], speeds, cell_id))
    for part, which in _worst_first(rows, lambda row: min(row[2].values()) / max(row[2].values())):
        yield _spread(view, part, which)


def _spread(view: View, rows: Sequence[Any], which: str) -> Chart:
    return Chart(
        id="spread",
        title=f"Each instance against the median of its fleet{which}",
        reads="A tick is an instance over all points: 1.1 is 10 % above the median of its fleet in the primary metric. "
        f"Of more than {MAX_INSTANCES} instances {MAX_INSTANCES} are drawn, from the slowest to the fastest."
        + (" Cells with the most unequal instances stand first." if which else ""),
        x_title="ratio to the fleet's median",
        y_title="",
        series=[
            Series(
                first.storage,
                [round(value, 4) for row in mine for _, value in _drawn(row[2])],
                [row[0] for row in mine for _ in _drawn(row[2])],
                "ticks",
                first.style,
                hover=[f"{instance}<br>{value:.3f}" for row in mine for instance, value in _drawn(row[2])],
                of=view.facets.marks(storage=first.storage),
            )
            for style in dict.fromkeys(row[1].style for row in rows)
            for mine in [[row for row in rows if row[1].style == style]]
            for first in [mine[0][1]]
        ],
        heads=("Cell", "Instances", "Lowest", "Lowest is", "Highest", "Highest is"),
        rows=[
            (cell, len(speeds), min(speeds.values()), min(speeds, key=speeds.__getitem__),
             max(speeds.values()), max(speeds, key=speeds.__getitem__))
            for _, _, speeds, cell in rows
        ],
        categories=[row[0] for row in rows],
        rows_of=[view.marks(row[1]) for row in rows],
    )  # fmt: skip


def _drawn(speeds: dict[str, float]) -> list[tuple[str, float]]:
    """Return the instances with a tick, including both ends."""
    ranked = sorted(speeds.items(), key=lambda pair: pair[1])
    return [ranked[at] for at in thinned(len(ranked), MAX_INSTANCES)]


def _values(entry: Entry) -> Iterator[tuple[str, float | None]]:
    """Yield each single value of a point's metric with its instance."""
    if entry.samples:
        yield from zip(entry.samples["instance"], entry.samples["metrics"].get(entry.name, []), strict=False)


def _relative(entries: Sequence[Entry]) -> dict[str, float]:
    """Return each instance's median divided by the fleet's, as the geometric mean over all points."""
    logs: dict[str, list[float]] = {}
    for entry in entries:
        values = grouped(
            (str(instance), float(value)) for (instance, value) in _values(entry) if value is not None and value > 0
        )
        # For a few values numpy's median takes twenty times as long, and a run has thousands of them.
        medians = {instance: median(rates) for instance, rates in values.items()}
        middle = median(medians.values()) if medians else 0.0
        for instance, value in medians.items():
            logs.setdefault(instance, []).append(math.log(value / middle))
    return {instance: math.exp(sum(ratios) / len(ratios)) for instance, ratios in logs.items()}
