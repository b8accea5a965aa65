"""The tables of other tools' files: a row for each job of fio, or phase of elbencho and warp."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

from matrix.tables.table import Table, TableCell, TableColumn
from matrix.terms.quantities import ABSENT, latency, number

if TYPE_CHECKING:
    # They import numpy, which takes a while.
    from matrix.samples.fio_logs import Row
    from matrix.samples.tool_logs import LogRow


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
PHASE_COLUMNS = (
    *(_text("File"), _text("Tool", is_detail=True), _text("Phase"), _text("Of", "instance")),
    *(
        TableColumn("Hosts", "figure", "hosts", is_detail=True),
        _figure("Threads", "workers"),
        _figure("s", "seconds"),
        _figure("Rate", "rate"),
    ),
    *(_text("Unit", is_detail=True), _figure("MiB/s", "mib_per_s")),
    *(_figure("Mean µs", "lat_avg_us"), _figure("P50 µs", "lat_p50_us"), _figure("P99 µs", "lat_p99_us")),
    _text("Note"),
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


def phases_table(rows: "Iterable[LogRow]") -> Table:
    """Return a row for each phase of elbencho, and each operation and client of warp."""
    return Table.of(
        "",
        PHASE_COLUMNS,
        [
            (
                *(each.file, each.tool, each.phase, _whose(each), each.hosts, each.workers, each.seconds),
                TableCell(ABSENT if each.rate is None else f"{number(each.rate)} {each.unit}", each.rate),
                *(each.unit, each.mib_per_s),
                *map(_latency, (each.lat_avg_us, each.lat_p50_us, each.lat_p99_us)),
                each.note,
            )
            for each in rows
        ],
    )


def _whose(row: "LogRow") -> TableCell:
    """Return the host of a row; of a sum of several, how many they are."""
    return TableCell(row.instance if row.hosts == 1 else f"{row.hosts} hosts together", row.instance)


def _setting(value: float | None) -> TableCell:
    return TableCell(ABSENT if value is None else f"{value:g}", value)


def _latency(us: float | None) -> TableCell:
    return TableCell(ABSENT if us is None else latency(us), us)
