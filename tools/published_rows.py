"""Which matrix measures each published row again, from the sources' files and the events.

`make published` writes docs/published.csv, a line for each row, and docs/published.md, which counts them. A test fails
when a row has neither a matrix nor a reason.
"""

import csv
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from matrix.check.read import read_matrix
from matrix.plan.planning import plan
from matrix.published.conditions import differences
from matrix.published.figures import MEDIAN, Figure, cells, rows_of, sources
from matrix.published.published_comparisons import is_asked_for, is_counterpart, objections
from matrix.published.table import TableRow
from matrix.terms.documents.plan import PlanDocument
from matrix.terms.quantities import ABSENT, quantity

EMPTY = "the source leaves it empty"
STATES = ("measured again", "measured first", "empty", "left out")
COLUMNS = ("source", "row", "published", "state", "matrix", "point", "not_comparable", "differs", "reason")
HEAD = """# The published rows, and what measures them again

[published.csv](published.csv) lists each row of the eleven published benchmarks: the matrix in `events/published/` and
the test point that measure it again, or why none does. `not_comparable` says why two figures may not be compared, even
if ours is measured on AWS; `differs` says what a reader must bear in mind. `matrix results RUN --published` says the
same for your run. `make published` writes both files.
"""


@dataclass(frozen=True)
class Row:
    """A row of a source, with the point of a matrix that measures it again or the reason why none does."""

    source: str
    label: str
    published: str
    matrix: str = ""
    point: str = ""
    against: tuple[str, ...] = ()
    differs: tuple[str, ...] = ()
    reason: str = ""
    is_reported: bool = True

    @property
    def state(self) -> str:
        """One of STATES; '' if a row lacks both a matrix and a reason."""
        if self.matrix:
            return "measured again" if self.is_reported else "measured first"
        return "empty" if self.reason.startswith(EMPTY) else "left out" if self.reason else ""


def rows(plans: Mapping[str, PlanDocument]) -> Iterator[Row]:
    """Yield every published row; `plans` are the plans of the matrices by name."""
    by_row: dict[tuple[str, int], list[Figure]] = {}
    for figure in cells():
        by_row.setdefault((figure.source, figure.row), []).append(figure)
    for source in sources():
        for number, lines in enumerate(rows_of(source)):
            yield _row(source, lines[0], by_row[source, number], plans)


def _row(source: str, line: TableRow, of_row: list[Figure], plans: Mapping[str, PlanDocument]) -> Row:
    label, reason = line.texts["row"], line.texts.get("reason", "")
    medians = [figure for figure in of_row if figure.percentile == MEDIAN] or of_row[:1]
    shown = medians[0]
    level = "" if shown.percentile == MEDIAN else f"{shown.percentile.upper()} "
    texts = [f"{level}{quantity(each.value, each.known.unit)}" for each in medians if each.value is not None]
    published = "; ".join(dict.fromkeys(texts)) or ABSENT
    # A row of S3 has two: by this project's client, and by the source's own client as a command.
    shown_by_each = {figure.workload: figure for figure in reversed(medians)}.values()
    counterparts = [
        (
            list(objections("aws", cell, point, shown)),
            matrix,
            f"{cell['id']} {point['id']}",
            list(differences(cell, shown)),
        )
        for shown in shown_by_each
        for matrix, document in plans.items()
        for cell in document["cells"]
        for point in cell["points"]
        if is_counterpart(cell, point, shown) and (texts or is_asked_for(cell, point, shown))
    ]
    if not counterparts:
        note = f": {line.texts['suspect']}" if "suspect" in line.texts else ""
        return Row(
            source, label, published, reason=reason or ("" if texts else f"{EMPTY}{note}"), is_reported=bool(texts)
        )
    # The point with the fewest objections; among equals, the one of the matrix named after the source.
    against, matrix, point, differs = min(counterparts, key=lambda each: (len(each[0]), each[1] != source))
    return Row(source, label, published, matrix, point, tuple(against), tuple(differs), is_reported=bool(texts))


def page(all_rows: Sequence[Row]) -> str:
    """Return docs/published.md."""
    lines = [HEAD, "| Source | Rows | Measured again | Empty there, measured here | Empty | Left out |"]
    lines.append(f"|---|---:{'|---:' * len(STATES)}|")
    for source, about in sources().items():
        states = [row.state for row in all_rows if row.source == source]
        counts = " | ".join(str(states.count(state)) for state in STATES)
        lines.append(f"| {source}: {about['source']} | {len(states)} | {counts} |")
    return "\n".join(lines) + "\n"


def write(folder: Path, all_rows: Sequence[Row]) -> None:
    """Write the page and the table of all rows into a folder."""
    (folder / "published.md").write_text(page(all_rows), encoding="utf-8")
    with (folder / "published.csv").open("w", encoding="utf-8", newline="") as file:
        table = csv.writer(file, lineterminator="\n")
        table.writerow(COLUMNS)
        for row in all_rows:
            against, differs = "; ".join(row.against), "; ".join(row.differs)
            table.writerow(
                (row.source, row.label, row.published, row.state, row.matrix, row.point, against, differs, row.reason)
            )


def plans_of(folder: Path) -> dict[str, PlanDocument]:
    """Return the plans of the matrices in a folder."""
    matrices = sorted(folder.glob("*.json"))
    return {path.stem: plan(read_matrix(path.read_text(encoding="utf-8"))).to_document() for path in matrices}


if __name__ == "__main__":
    write(Path(sys.argv[2]), list(rows(plans_of(Path(sys.argv[1])))))
