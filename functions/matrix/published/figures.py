"""The published figures that the matrices in events/published/ reproduce, and what a point needs to repeat each.

The tables in sources/ have the figures as their sources print them; known errors stand beside the figure. Their columns
are those of any table that `matrix import` reads, and some more:

- `row`: what the source calls the row; a line without it is another workload that measures the same row
- `run`: which run it is of, where a source has several editions
- `caveat.NAME`: a value that should be equal in ours; if it is not, both figures are shown with the objection
- `differs.NAME`: a condition of this row, to be said beside ours; those of a whole source are in sources.json
- `unlike`: an objection that no matrix can remove; `reason`: why no matrix measures the row
- `of_instance`: the instance itself was measured, so a figure of another type is no counterpart
- `here.storage.NAME`, `here.param.NAME`, `here.caveat.NAME`, `here.instances`: what ours has, if it differs from the
  source's; `none` is unset, and `any` is anything
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, cast

from matrix.published.table import FigureTable, TableRow, read_table
from matrix.terms.documents.parts import Params, Part
from matrix.terms.metrics import Metric
from matrix.terms.problems import InvalidMatrix

FOLDER = Path(__file__).parent / "sources"
# The sources' words for the placement of instances, and the same placements as the input of a matrix.
PLACEMENTS: dict[str, str | list[float]] = {
    "any AZ": "spread",
    "file system's AZ": "same-az",
    "each file system's AZ": [0.5, 0.5],
}
TUTORIAL = "efs-tutorial"
# "A file system with a permitted throughput greater than 200 MB/s" (tutorial 1.1.4, below its tables).
TUTORIAL_PERMITTED_MB_PER_S = 200
# The sources print one value for each point, which is compared with the run's median.
MEDIAN = "p50"
# What a run of ours need not have.
ANY = "any"


@dataclass(frozen=True)
class Figure:
    """A published figure, and the properties of a point that is comparable with it."""

    source: str
    workload: str
    storage: Part
    params: Params
    metric: str
    known: Metric
    percentile: str
    value: float | None  # None if the source has an empty cell for it
    instances: int = 1
    instance_type: str | None = None
    caveats: Params = field(default_factory=dict)
    wrong: str | None = None
    unlike: str | None = None
    is_of_instance: bool = False
    # What the source says of the conditions of this row alone.
    conditions: Mapping[str, str | None] = field(default_factory=dict)
    # Its place in the table.
    row: int = 0
    date: str | None = None  # the day or month of a later measurement, if a source dates its rows


@cache
def sources() -> Mapping[str, Any]:
    """Return what is told of each source: its name, the runs that it becomes, conditions and doubts."""
    return cast("Mapping[str, Any]", json.loads((FOLDER / "sources.json").read_text(encoding="utf-8")))


@cache
def table_of(source: str) -> FigureTable:
    """Return the table of a source. Raises InvalidMatrix."""
    table = read_table((FOLDER / f"{source}.csv").read_text(encoding="utf-8"), f"{source}.csv")
    if table.problems:
        raise InvalidMatrix(table.problems)
    return table


def rows_of(source: str) -> list[list[TableRow]]:
    """Return the lines of each row of a source: one, or several if several workloads measure it."""
    rows: list[list[TableRow]] = []
    for line in table_of(source).rows:
        if "row" in line.texts:
            rows.append([])
        rows[-1].append(line)
    return rows


def figures() -> Iterator[Figure]:
    """Yield every published figure."""
    return (figure for figure in cells() if figure.value is not None)


def cells() -> Iterator[Figure]:
    """Yield every figure, or empty cell, of all sources."""
    for source in sources():
        for number, lines in enumerate(rows_of(source)):
            for line in lines:
                yield from _figures(source, number, line)


def _figures(source: str, row: int, line: TableRow) -> Iterator[Figure]:
    ours, columns, caveats = line.part("here"), table_of(source).columns, line.part("caveat")
    caveats |= ours.get("caveat", {})
    wrong = line.texts.get("suspect") if line.is_told(columns) else None
    for name, value in line.figures.items():
        column = columns[name]
        yield Figure(
            source=source,
            workload=line.texts["workload"],
            storage=_changed(line.storage, ours.get("storage", {})),
            params=_changed(line.part("param"), ours.get("param", {})),
            metric=column.metric,
            known=column.known,
            percentile=column.level or MEDIAN,
            value=value,
            instances=ours.get("instances") or line.number("instances") or 1,
            instance_type=line.texts.get("instanceType"),
            caveats=caveats,
            wrong=wrong,
            unlike=line.texts.get("unlike"),
            is_of_instance="of_instance" in line.texts,
            conditions={**line.part("condition"), **line.part("differs")},
            row=row,
            date=line.texts.get("date"),
        )


def _changed(theirs: Part, ours: Part) -> Part:
    """Return what ours needs: what the source had, with the values that differ in ours."""
    return {name: value for name, value in {**theirs, **ours}.items() if value != ANY}
