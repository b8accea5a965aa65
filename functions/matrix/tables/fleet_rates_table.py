"""The table of what each fleet did as a whole in each repetition: at its best, and until the last instance ended."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from matrix.samples.moved import WORKED
from matrix.tables.table import Table, TableColumn, figures
from matrix.terms.documents.result import FleetRate
from matrix.terms.measured import Measured
from matrix.terms.names import describe_fleet
from matrix.terms.quantities import quantity

BUILDS, RUNS = "builds/h", "runs/h"
HEADS = (
    *map(TableColumn, ("Storage", "Instances", "Point")),
    *figures("Launch", "Repetition", "Start spread (s)", "Best until (s)", "Fleet until then", "Last end (s)", "Fleet"),
)


def done_per_s(rate: Mapping[str, Any], suffix: str = "_per_s") -> tuple[float, str] | None:
    """Return a fleet's rate in a repetition and its unit, bytes read and written together; None if not known."""
    moved = [rate[f"{name}{suffix}"] for name in WORKED if f"{name}{suffix}" in rate]
    if moved:
        return sum(moved) / 1e6, "MB/s"
    if (files := rate.get(f"files{suffix}")) is not None:
        return float(files), "files/s"
    if (runs := rate.get(f"runs{suffix}")) is not None:
        return 3600.0 * runs, RUNS
    builds = rate.get(f"builds{suffix}")
    return None if builds is None else (3600.0 * builds, BUILDS)


def fleet_rates_table(measured: Iterable[Measured], name: Callable[[Measured], str]) -> Table:
    """Return a row for each repetition of a point that the whole fleet finished; `name` names its storage."""
    rows = (
        (name(each), describe_fleet(each.cell["fleet"]), each.label, *_figures(rate))
        for each in measured
        for rate in each.point.get("fleet") or []
    )
    return Table.of(
        "The whole fleet: at least, by the instances that had ended at its best moment; and until the last end",
        HEADS,
        rows,
        grouped_by=2,
    )


def _figures(rate: FleetRate) -> Iterator[object]:
    yield from (rate.get("launch"), rate["repetition"], rate.get("start_spread_s"))
    yield from (rate.get("best_s"), _describe_done(rate, "_per_s_best"))
    yield from (rate["span_s"], _describe_done(rate, "_per_s"))


def _describe_done(rate: Mapping[str, Any], suffix: str) -> str | None:
    done = done_per_s(rate, suffix)
    return None if done is None else quantity(*done)
