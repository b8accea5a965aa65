"""`matrix import-fio`: fio's own JSON, of any version, as one row per job and direction, or as a run."""

import json
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
    from matrix.samples.fio_logs import Row


def import_fio(
    files: Annotated[list[Path], typer.Argument(metavar="FILES…", help="JSON files that fio wrote.")],
    as_: imported_files.As = None,
    storage: imported_files.OfStorage = None,
    instance_type: imported_files.OfInstanceType = None,
    several: imported_files.FilesAre = Several.REPETITIONS,
    format_: imported_files.WrittenAs = Format.TABLE,
    as_json: options.AsJson = False,
) -> None:
    """Show what fio's JSON files say, or keep them as a run.

    One row per job and direction. Reads fio 2 (latencies in µs) and fio 3 (in ns), json and json+. If a file has
    another format, it is named, the others are shown, and the exit code is 2.

    With --as they become a run, for results, report, compare, history and explore: each job a point, each host of
    `fio --client` an instance, each file a repetition. Facts that fio does not log come from the options or stay
    unknown. Example: matrix import-fio gp3/*.json --as old --storage '{"type": "ebs", "volumeType": "gp3",
    "sizeGiB": 100}' --instance-type m6i.large

    Example: matrix import-fio old/*.json --format csv > old.csv
    """
    if as_ is not None:
        _keep(as_, files, imported_files.told(storage, instance_type, several), as_json=as_json)
        return
    imported_files.refuse_what_is_of_a_run(storage, instance_type)
    from matrix.samples import fio_logs

    format_ = Format(options.chosen_format(format_, Format.TABLE, as_json=as_json))
    rows: list[Row] = []
    refused: list[str] = []
    for file in files:
        try:
            rows += fio_logs.rows(_read(file), str(file))
        except fio_logs.NotFio as error:
            refused.append(f"{file} {error}")
    if format_ is Format.CSV:
        typer.echo(fio_logs.to_csv(rows), nl=False)
    elif format_ is Format.JSON:
        typer.echo(json.dumps([asdict(row) for row in rows], indent=2, ensure_ascii=False))
    elif rows:
        terminal.stdout().print(_table(rows))
    if refused:
        advice = "write logs with `fio --output-format=json` or `json+`"
        raise CommandError("; ".join(refused), advice, ExitCode.BAD_INPUT)


def _keep(name: str, files: list[Path], told: "Told", *, as_json: bool) -> None:
    """Keep the files as a run, or as cells beside those of an earlier import with this name."""
    # scipy takes half a second to import, so `matrix --help` must not import it.
    from matrix.published.fio_run import imported_run
    from matrix.samples.fio_logs import NotFio

    def made() -> "ImportedRun":
        try:
            return imported_run(name, {str(file): _named(file) for file in files}, told)
        except NotFio as error:
            advice = "leave it out, or write logs with `fio --output-format=json+`; nothing was kept"
            raise CommandError(str(error), advice, ExitCode.BAD_INPUT) from error

    imported_files.keep(name, made, as_json=as_json)


def _named(file: Path) -> str:
    from matrix.samples.fio_logs import NotFio

    try:
        return _read(file)
    except NotFio as error:
        raise NotFio(f"{file} {error}") from error


def _read(file: Path) -> str:
    from matrix.samples.fio_logs import NotFio

    try:
        # Reading a pipe or a device might never end.
        if file.exists() and not file.is_file():
            raise NotFio("is no file")
        with file.open("rb") as opened:
            text = opened.read(LARGEST_FILE_BYTES + 1)
    except OSError as error:
        raise NotFio(f"cannot be read: {error.strerror}") from error
    if len(text) > LARGEST_FILE_BYTES:
        raise NotFio(f"has more than {LARGEST_FILE_BYTES:,} bytes")
    return text.decode(errors="replace")


def _table(rows: "list[Row]") -> Table:
    table = new_table("File", "Job", "rw")
    add_figures(table, "Block KiB", "Jobs", "Depth", "IOPS", "MiB/s", "P50 µs", "P99 µs")
    for row in rows:
        settings = (ABSENT if setting is None else f"{setting:g}" for setting in (row.block_kib, row.jobs, row.iodepth))
        figures = (row.iops, row.mib_per_s, row.lat_p50_us, row.lat_p99_us)
        table.add_row(
            row.file, row.jobname, row.rw, *settings, *(ABSENT if value is None else number(value) for value in figures)
        )
    return table
