"""`matrix import-fio`: fio's own JSON, of any version, as one row per job and direction, or as a run."""

import json
from dataclasses import asdict
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from cli.inputs import options
from cli.messages import terminal
from cli.messages.errors import CommandError, ExitCode
from cli.tables.text_table import TextTable
from cli.target import mirror
from cli.target.workdir import run_folder
from matrix.terms.figures import ABSENT, number

if TYPE_CHECKING:
    # It imports numpy, which takes a while, so `matrix --help` must not import it.
    from matrix.samples.fio_logs import Row
    from matrix.terms.documents.result import ResultDocument
    from matrix.terms.documents.summary import SummaryDocument

# fio's json+ of some hundred jobs. What is parsed may take 27 times as much memory.
LARGEST_FILE_BYTES = 32 * 1024 * 1024


class Format(StrEnum):
    """How the rows are written."""

    TABLE = "table"
    JSON = "json"
    CSV = "csv"


class Several(StrEnum):
    """What several files with the same job are."""

    REPETITIONS = "repetitions"
    HOSTS = "hosts"


def import_fio(
    files: Annotated[list[Path], typer.Argument(metavar="FILES…", help="JSON files that fio wrote.")],
    as_: Annotated[
        str | None, typer.Option("--as", metavar="NAME", help="Keep them as a run of this name, or add a cell to it.")
    ] = None,
    storage: Annotated[
        str | None,
        typer.Option(
            "--storage", metavar="JSON", help="What they measured: as a matrix writes it, or in words. Unknown without."
        ),
    ] = None,
    instance_type: Annotated[
        str | None, typer.Option("--instance-type", metavar="TYPE", help="Where fio ran. Unknown without.")
    ] = None,
    several: Annotated[
        Several, typer.Option("--files-are", help="What several files with the same job are.")
    ] = Several.REPETITIONS,
    format_: Annotated[Format, typer.Option("--format", help="How to write them.")] = Format.TABLE,
    as_json: options.AsJson = False,
) -> None:
    """Show what fio's JSON files say, or keep them as a run.

    One row per job and direction. Reads fio 2 (latencies in µs) and fio 3 (in ns), json and json+. A file that is none
    is named, the others are shown, and the exit code is 2.

    With --as they become a run, for results, report, compare, history and explore: each job a point, each host of
    `fio --client` an instance, each file a repetition. What fio does not say is taken from the options or stays
    unknown. Example: matrix import-fio gp3/*.json --as old --storage '{"type": "ebs", "volumeType": "gp3",
    "sizeGiB": 100}' --instance-type m6i.large

    Example: matrix import-fio old/*.json --format csv > old.csv
    """
    if as_ is not None:
        cells = _keep(as_, files, storage, instance_type, several)
        if as_json:
            terminal.print_json({"run": as_, "cells": cells})
        terminal.stderr().print(f"kept as run {as_}; look at it: matrix results {as_}")
        return
    if storage is not None or instance_type is not None:
        raise CommandError("--storage and --instance-type are of a run", "add --as NAME", ExitCode.BAD_INPUT)
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


def _keep(name: str, files: list[Path], storage: str | None, instance_type: str | None, several: Several) -> list[str]:
    """Write the files as a run, or its cells beside those of an import of this name; return the ids of its cells."""
    # scipy takes half a second to import, so `matrix --help` must not import it.
    from matrix.answer.decision import decide
    from matrix.published.fio_run import IMPORTED, Told, imported_run, joined
    from matrix.samples.fio_logs import NotFio
    from matrix.terms.ids import cut
    from matrix.terms.problems import InvalidMatrix

    if cut(name, 80) != name or not name.strip("."):
        advice = "use up to 80 letters, digits, dots, dashes and underscores"
        raise CommandError(f"{name!r} cannot be the name of a run", advice, ExitCode.BAD_INPUT)
    kept = mirror.document(name, "summary.json")
    if (run_folder(name).exists() and kept is None) or (kept is not None and kept.get("environment") != IMPORTED):
        raise CommandError(f"{name} is a run that was not imported", "choose another name: --as", ExitCode.BAD_INPUT)
    try:
        told = Told(_storage(storage), instance_type, is_file_a_host=several is Several.HOSTS)
        run = imported_run(name, {str(file): _named(file) for file in files}, told)
    except NotFio as error:
        advice = "leave it out, or write logs with `fio --output-format=json+`; nothing was kept"
        raise CommandError(str(error), advice, ExitCode.BAD_INPUT) from error
    except InvalidMatrix as invalid:
        said = "; ".join(str(problem).replace("storage[0]", "--storage") for problem in invalid.problems)
        raise CommandError(said, "docs/storages has the fields of each", ExitCode.BAD_INPUT) from invalid
    summary = joined(cast("SummaryDocument", kept), run.summary) if kept else run.summary
    results = {result["id"]: result for result in run.results}
    for cell in summary["cells"]:
        if cell["id"] not in results and (before := mirror.document(name, f"cells/{cell['id']}/result.json")):
            results[cell["id"]] = cast("ResultDocument", before)
    summary["decision"] = decide(summary, results=results)
    documents = {f"cells/{result['id']}/result.json": result for result in run.results} | {"summary.json": summary}
    for path, document in documents.items():
        place = run_folder(name) / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(json.dumps(document, indent=1, ensure_ascii=False))
    return [cell["id"] for cell in summary["cells"]]


def _storage(text: str | None) -> "dict[str, Any] | str | None":
    if text is None or not text.lstrip().startswith(("{", "[")):
        return text
    try:
        storage = json.loads(text)
    except ValueError:
        storage = None
    if not isinstance(storage, dict):
        advice = """write it as in a matrix: --storage '{"type": "ebs", "volumeType": "gp3", "sizeGiB": 100}'"""
        raise CommandError(f"--storage {text!r} is no JSON object", advice, ExitCode.BAD_INPUT)
    return storage


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


def _table(rows: "list[Row]") -> TextTable:
    table = TextTable()
    for head in ("File", "Job", "rw"):
        table.add_column(head)
    for head in ("Block KiB", "Jobs", "Depth", "IOPS", "MiB/s", "P50 µs", "P99 µs"):
        table.add_column(head, justify="right", no_wrap=True)
    for row in rows:
        settings = (ABSENT if setting is None else f"{setting:g}" for setting in (row.block_kib, row.jobs, row.iodepth))
        figures = (row.iops, row.mib_per_s, row.lat_p50_us, row.lat_p99_us)
        table.add_row(
            row.file, row.jobname, row.rw, *settings, *(ABSENT if value is None else number(value) for value in figures)
        )
    return table
