"""The table of the slowdown by one directory for all workers, compared with own directories."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from matrix.tables.table import Table, TableColumn
from matrix.terms.documents.parts import Params
from matrix.terms.documents.result import MetricResult
from matrix.terms.documents.summary import SummaryDocument
from matrix.terms.measured import judged_metrics
from matrix.terms.names import reading_order
from matrix.terms.quantities import number

TITLE = "One directory, or one for each"
OWN, FLEET = "own", "fleet"
# A create locks its directory, exclusively, as long as it lasts (Linux, filesystems/directory-locking), over NFS on the
# client too: workers of one instance take turns.
WHY = "each create locks its directory, so workers wait for each other there, and latency is paid in turn"


@dataclass(frozen=True)
class Shared:
    """A point whose workers share a directory, and the same metric with a directory for each worker."""

    cell: str
    params: Params
    shared: MetricResult
    own: MetricResult

    @property
    def speed(self) -> float:
        """Speed with one directory over that with one for each: ratio of median rates, inverse for durations."""
        slower, faster = (self.shared, self.own) if self.shared.get("higher_is_better") else (self.own, self.shared)
        return float(slower["p50"]) / float(faster["p50"])

    @property
    def why(self) -> str:
        """Return the reason why the difference is significant or not, from the intervals of the two medians."""
        ends = [_end(metric, end) for metric in (self.shared, self.own) for end in ("low", "high")]
        if None in ends:
            return "there are no intervals that would say whether this is chance"
        shared_low, shared_high, own_low, own_high = (end or 0.0 for end in ends)
        if shared_low <= own_high and own_low <= shared_high:
            return "no difference that the intervals show"
        return WHY if self.speed < 1 else "it is faster"

    @property
    def sentence(self) -> str:
        """`32 threads in one directory: 0.250 of the speed of one for each (100 and 400 files/s): each create …`."""
        where = "one directory of the fleet" if self.params["directories"] == FLEET else "one directory"
        medians = f"{number(self.shared['p50'])} and {number(self.own['p50'])} {self.shared.get('unit', '')}".rstrip()
        share = f"{number(self.speed)} of the speed of one for each ({medians})"
        return f"{self.params['threads']} threads in {where}: {share}: {self.why}"


def shared_directories(summary: SummaryDocument) -> Iterator[Shared]:
    """Yield each point of several workers in one directory that was also measured with one for each, in reading order.

    The rest is the same: storage, fleet, kind of workload, metric and all other parameters.
    """
    points = list(_points(summary))
    own = {rest: metric for rest, params, metric, _ in points if params["directories"] == OWN}
    for rest, params, metric, cell in points:
        is_alone = params["directories"] != FLEET and params["threads"] == 1
        if params["directories"] != OWN and rest in own and not is_alone:
            yield Shared(cell, params, metric, own[rest])


def _points(summary: SummaryDocument) -> Iterator[tuple[str, Params, MetricResult, str]]:
    """Yield all of a point but its directories as one text, its parameters, its metric and its cell."""
    for each in judged_metrics(reading_order(summary.get("cells", []))):
        cell, params = each.cell, each.point.get("params") or {}
        if "directories" in params and each.metric.get("p50"):
            same = {name: value for name, value in params.items() if name != "directories"}
            rest = [cell["storage"], cell["fleet"], (cell.get("workload") or {}).get("type"), same, each.name]
            yield json.dumps(rest, sort_keys=True), params, each.metric, cell["id"]


def _end(metric: MetricResult, end: Literal["low", "high"]) -> float | None:
    interval = (metric.get("intervals") or {}).get("p50")
    return interval[end] if interval else None


def directories_table(summary: SummaryDocument) -> Table:
    """Return a row for each point that was measured with one directory and with one for each worker."""
    rows = [(each.cell, each.sentence) for each in shared_directories(summary)]
    return Table.of(TITLE, (TableColumn("Cell", "id"), "What one directory costs"), rows, grouped_by=1)
