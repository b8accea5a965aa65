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
from matrix.input.storage_names import storage_label
from matrix.plan.planning import plan
from matrix.published import figures
from matrix.published.conditions import differences
from matrix.published.figures import MEDIAN, YOCTO, Figure, SourceRow, cells, load
from matrix.published.published_comparisons import is_asked_for, is_counterpart, objections
from matrix.terms.documents.plan import PlanDocument
from matrix.terms.quantities import ABSENT, quantity

SECTIONS = {YOCTO: ("cells", "later"), **figures.SECTIONS}
EMPTY = "the source leaves it empty"
STATES = ("measured again", "measured first", "empty", "left out")
# Why no matrix measures these rows, though they have a value.
REASONS: dict[tuple[str, str], str] = {
    (source, f"{section}[{i}]"): row["reason"]
    for source, sections in SECTIONS.items()
    for section in sections
    for i, row in enumerate(load(source)[section])
    if "reason" in row
}
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
    name: str
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
    by_row: dict[tuple[str, str], list[Figure]] = {}
    for figure in cells():
        by_row.setdefault((figure.source, figure.row), []).append(figure)
    for source, sections in SECTIONS.items():
        document = load(source)
        for section in sections:
            for i, row in enumerate(document[section]):
                name = f"{section}[{i}]"
                yield _row(source, name, row, by_row.get((source, name), []), plans)


def _row(source: str, name: str, row: SourceRow, of_row: list[Figure], plans: Mapping[str, PlanDocument]) -> Row:
    label = _label(row)
    if not of_row:
        return Row(source, name, label, quantity(row["mb_per_s"], "MB/s"), reason=REASONS.get((source, name), ""))
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
        note = f": {row['note']}" if row.get("note") else ""
        empty = "" if texts else f"{EMPTY}{note}"
        return Row(source, name, label, published, reason=REASONS.get((source, name), empty), is_reported=bool(texts))
    # The point with the fewest objections; among equals, the one of the matrix named after the source.
    against, matrix, point, differs = min(counterparts, key=lambda each: (len(each[0]), each[1] != source))
    return Row(source, name, label, published, matrix, point, tuple(against), tuple(differs), is_reported=bool(texts))


# Fields with a row's values; all others describe the measurement and become its label.
_VALUES = {
    "note", "percentiles_s", "seconds", "mb_per_s", "files_per_s", "iops", "write_iops", "mib_per_s",
    "burst_mb_per_s", "baseline_mb_per_s", "average_mb_per_s", "median", "least", "most", "unit", "figures", "reason",
    "user_s", "sys_s", "iops_printed", "ios", "runtime_ms", "clat_p50_us", "clat_p90_us", "clat_p99_us",
    "conditions", "n", "n_at_least", "launched", "readers", "gib_per_s", "compute_usd",
}  # fmt: skip


def _label(row: SourceRow) -> str:
    parts = [
        storage_label(value) if isinstance(value, dict) else f"{name.replace('_', ' ')} {value}"
        for name, value in row.items()
        if name not in _VALUES
    ]
    return ", ".join(parts)


def page(all_rows: Sequence[Row]) -> str:
    """Return docs/published.md."""
    lines = [HEAD, "| Source | Rows | Measured again | Empty there, measured here | Empty | Left out |"]
    lines.append(f"|---|---:{'|---:' * len(STATES)}|")
    for source in SECTIONS:
        states = [row.state for row in all_rows if row.source == source]
        counts = " | ".join(str(states.count(state)) for state in STATES)
        lines.append(f"| {source}: {load(source)['source']} | {len(states)} | {counts} |")
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
