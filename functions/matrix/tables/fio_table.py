"""The table of fio's files: a row for each job and direction."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

from matrix.tables.table import Table, TableCell, TableColumn
from matrix.terms.quantities import ABSENT, latency, number

if TYPE_CHECKING:
    # It imports numpy, which takes a while.
    from matrix.samples.fio_logs import Row


def _text(head: str, name: str = "", *, is_detail: bool = False) -> TableColumn:
    return TableColumn(head, exact=name or head.lower(), is_detail=is_detail)


def _figure(head: str, name: str) -> TableColumn:
    return TableColumn(head, "figure", name)


FIO_COLUMNS = (
    *(_text("File"), _text("Job", "jobname"), _text("rw")),
    *(_figure("Block KiB", "block_kib"), _figure("Jobs", "jobs"), _figure("Depth", "iodepth")),
    *(_figure("IOPS", "iops"), _figure("MiB/s", "mib_per_s")),
    *(_figure("P50 µs", "lat_p50_us"), _figure("P99 µs", "lat_p99_us")),
    *(_text("Host"), _text("Error", is_detail=True), _text("Note")),
)


def fio_table(rows: "Iterable[Row]") -> Table:
    """Return a row for each job and direction of files of fio."""
    return Table.of(
        "",
        FIO_COLUMNS,
        [
            (
                *(each.file, each.jobname, each.rw, *map(_setting, (each.block_kib, each.jobs, each.iodepth))),
                *(TableCell(number(value), value) for value in (each.iops, each.mib_per_s)),
                *(_latency(each.lat_p50_us), _latency(each.lat_p99_us), each.host, each.error, each.note),
            )
            for each in rows
        ],
    )


def _setting(value: float | None) -> TableCell:
    return TableCell(ABSENT if value is None else f"{value:g}", value)


def _latency(us: float | None) -> TableCell:
    return TableCell(ABSENT if us is None else latency(us), us)
