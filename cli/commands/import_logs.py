"""`matrix import-logs`: logs of elbencho and warp as one row per phase, or as a run."""

import json
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.table import Table

from cli.inputs import imported_files, options
from cli.inputs.imported_files import LARGEST_FILE_BYTES, Format, Several
from cli.messages import terminal
from cli.messages.errors import CommandError, ExitCode
from cli.tables.rich_tables import add_figures, new_table
from matrix.terms.figures import ABSENT, number

if TYPE_CHECKING:
    # It imports numpy, which takes a while, so `matrix --help` must not import it.
    from matrix.published.imported import ImportedRun, Told
    from matrix.samples.tool_logs import LogRow, Phase

ADVICE = "elbencho writes logs with --jsonfile or --csvfile, warp its .json.zst or, with --full, .csv.zst"
# The CSV of all requests of warp is read line by line: some ten million requests.
LARGEST_CSV_BYTES = 2 * 1024**3
# The first bytes of a file that zstd has compressed (RFC 8878, 3.1.1).
ZSTD = b"\x28\xb5\x2f\xfd"


def import_logs(
    files: Annotated[
        list[Path], typer.Argument(metavar="FILES…", help="Files that elbencho or warp wrote; decompress .zst before.")
    ],
    as_: imported_files.As = None,
    storage: imported_files.OfStorage = None,
    instance_type: imported_files.OfInstanceType = None,
    several: imported_files.FilesAre = Several.REPETITIONS,
    format_: imported_files.WrittenAs = Format.TABLE,
    as_json: options.AsJson = False,
) -> None:
    """Show logs of elbencho or warp, or keep them as a run.

    One row per phase of elbencho (WRITE, READ, STAT, …) and per operation and client of warp (GET, PUT, …). The
    content of a file shows which tool wrote it. If another tool did, the file is named, the others are shown, and the
    exit code is 2.

    With --as they become a run, for results, report, compare, history and explore. Facts that the tool does not log,
    such as the storage, come from the options or stay unknown. Example: matrix import-logs results.json --as old
    --storage efs --instance-type m6i.large

    Example: matrix import-logs warp-get.json --format csv > old.csv
    """
    if as_ is not None:
        _keep(as_, files, imported_files.told(storage, instance_type, several), as_json=as_json)
        return
    imported_files.refuse_what_is_of_a_run(storage, instance_type)
    from matrix.samples import tool_logs

    format_ = Format(options.chosen_format(format_, Format.TABLE, as_json=as_json))
    rows: list[LogRow] = []
    refused: list[str] = []
    for file in files:
        try:
            rows += map(tool_logs.row_of, _phases(file))
        except tool_logs.NotALog as error:
            refused.append(f"{file} {error}")
    if format_ is Format.CSV:
        typer.echo(tool_logs.to_csv(rows), nl=False)
    elif format_ is Format.JSON:
        typer.echo(json.dumps([asdict(row) for row in rows], indent=2, ensure_ascii=False))
    elif rows:
        terminal.stdout().print(_table(rows))
    if refused:
        raise CommandError("; ".join(refused), ADVICE, ExitCode.BAD_INPUT)


def _keep(name: str, files: list[Path], told: "Told", *, as_json: bool) -> None:
    """Keep the files as a run, or as cells beside those of an earlier import with this name."""
    # scipy takes half a second to import, so `matrix --help` must not import it.
    from matrix.published.logs_run import logs_run
    from matrix.samples.tool_logs import NotALog

    def named(file: Path) -> "list[Phase]":
        try:
            return _phases(file)
        except NotALog as error:
            raise NotALog(f"{file} {error}") from error

    def made() -> "ImportedRun":
        try:
            return logs_run(name, {str(file): named(file) for file in files}, told)
        except NotALog as error:
            raise CommandError(str(error), f"{ADVICE}; nothing was kept", ExitCode.BAD_INPUT) from error

    imported_files.keep(name, made, as_json=as_json)


def _phases(file: Path) -> "list[Phase]":
    """Return the phases of a file from whichever tool wrote it. Raises NotALog."""
    from matrix.samples import elbencho_logs, warp_logs
    from matrix.samples.tool_logs import NotALog

    try:
        # Reading a pipe or a device might never end.
        if file.exists() and not file.is_file():
            raise NotALog("is no file")
        with file.open("rb") as opened:
            begin = opened.read(4096)
            if begin.startswith(ZSTD):
                raise NotALog(f"is compressed; decompress it: zstd -d {file.name}")
            if not begin.strip():
                raise NotALog("is empty")
            if begin.startswith(warp_logs.HEAD.encode()):
                return warp_logs.phases_of_csv(_lines(file), str(file))
            text = begin + opened.read(LARGEST_FILE_BYTES)
    except OSError as error:
        raise NotALog(f"cannot be read: {error.strerror}") from error
    if len(text) > LARGEST_FILE_BYTES:
        raise NotALog(f"has more than {LARGEST_FILE_BYTES:,} bytes")
    content = text.decode(errors="replace")
    if elbencho_logs.is_json(content) or elbencho_logs.is_csv(content):
        return elbencho_logs.phases(content, str(file))
    return warp_logs.phases_of_json(_document(content), str(file))


def _lines(file: Path) -> Iterator[str]:
    from matrix.samples.tool_logs import NotALog

    if file.stat().st_size > LARGEST_CSV_BYTES:
        raise NotALog(f"has more than {LARGEST_CSV_BYTES:,} bytes")
    with file.open(errors="replace", newline="\n") as lines:
        yield from lines


def _document(text: str) -> dict[str, object]:
    """Return warp's JSON; `warp analyze` may print a line before it. Raises NotALog."""
    from matrix.samples import warp_logs
    from matrix.samples.tool_logs import NotALog

    begin = text.find("{")
    if begin < 0:
        raise NotALog("is no file of elbencho or warp")
    try:
        document, _ = json.JSONDecoder().raw_decode(text, begin)
    except (ValueError, RecursionError) as error:
        raise NotALog(f"is no whole JSON: {error}") from error
    if warp_logs.is_json(document):
        return dict(document)
    if warp_logs.is_full_analysis(document):
        raise NotALog("is an analysis of --full, which names no clients; import the .csv that it was made from")
    if "fio version" in document:
        raise NotALog("is a file of fio: matrix import-fio")
    raise NotALog("is no file of elbencho or warp")


def _table(rows: "list[LogRow]") -> Table:
    table = new_table("File", "Phase", "Of")
    add_figures(table, "Threads", "s", "Rate", "MiB/s", "Mean µs", "P50 µs", "P99 µs")
    for row in rows:
        rate = ABSENT if row.rate is None else f"{number(row.rate)} {row.unit}"
        figures = (row.mib_per_s, row.lat_avg_us, row.lat_p50_us, row.lat_p99_us)
        whose = row.instance if row.hosts == 1 else f"{row.hosts} hosts together"
        table.add_row(
            row.file, row.phase, whose, str(row.workers), number(row.seconds), rate,
            *(ABSENT if value is None else number(value) for value in figures),
        )  # fmt: skip
    return table
