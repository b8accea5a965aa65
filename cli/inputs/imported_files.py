"""How files of fio are read and shown, and how they become a run."""

import json
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, replace
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Protocol, TypeVar

import typer

from cli.inputs.options import Format
from cli.inputs.planning import show_problems
from cli.messages import terminal
from cli.messages.errors import CommandError, ExitCode
from cli.tables import rich_tables
from cli.target.run_documents import RunDocuments
from cli.target.run_folders import RunFolders
from cli.target.workdir import run_folder
from matrix.tables.csv_table import csv_table
from matrix.tables.table import Table

if TYPE_CHECKING:
    from matrix.published.imported import Given, ImportedRun


Read = TypeVar("Read")
# fio's json+ of a few hundred jobs. The parsed document may take 27 times as much memory.
MAX_FILE_BYTES = 32 * 1024 * 1024
# The first bytes of compressed files, and what decompresses them.
COMPRESSED = {
    **{b"\x28\xb5\x2f\xfd": "zstd -d", b"\x1f\x8b": "gunzip", b"\xfd7zXZ": "unxz", b"BZh": "bunzip2"},
    **{b"\x04\x22\x4d\x18": "lz4 -d", b"PK\x03\x04": "unzip"},
}
WORKBOOKS = (".xlsx", ".ods", ".xls")


class Several(StrEnum):
    """How to treat several files with the same job: as repetitions or as hosts."""

    REPETITIONS = "repetitions"
    HOSTS = "hosts"


# Options of all commands that import.
As = Annotated[
    str | None, typer.Option("--as", metavar="NAME", help="Keep them as a run of this name, or add a cell to it.")
]
OfStorage = Annotated[
    str | None,
    typer.Option(
        "--storage", metavar="JSON", help="What they measured: as a matrix writes it, or in words. Unknown without."
    ),
]
OfInstanceType = Annotated[
    str | None, typer.Option("--instance-type", metavar="TYPE", help="Where the tool ran. Unknown without.")
]
FilesAre = Annotated[
    Several | None,
    typer.Option(
        "--files-are",
        help="What several files with the same job are. By default repetitions, if no parameter is unknown.",
    ),
]
WrittenAs = Annotated[Format, typer.Option("--format", help="How to write them.")]


def refuse_what_is_of_a_run(given: "Given") -> None:
    """Refuse --storage and --instance-type without --as: they describe a run, and no run is stored."""
    if given.storage is not None or given.instance_type is not None:
        raise CommandError("--storage and --instance-type are of a run", "add --as NAME", ExitCode.BAD_INPUT)


class Row(Protocol):
    """A row of a table: a dataclass."""

    __dataclass_fields__: ClassVar[dict[str, Any]]


def given(storage: str | None, instance_type: str | None, several: Several | None) -> "Given":
    """Return the facts that the options give and the files lack."""
    from matrix.fields.fleet import INSTANCE_TYPE
    from matrix.published.imported import Given

    if instance_type is not None and not re.fullmatch(INSTANCE_TYPE, instance_type):
        advice = "write it like m6i.large, or leave it out of another machine"
        raise CommandError(f"{instance_type!r} is no instance type of EC2", advice, ExitCode.BAD_INPUT)
    return Given(_storage(storage), instance_type, files_are=several and several.value)


def read_each(files: Iterable[Path], read: Callable[[Path], Read]) -> tuple[dict[str, Read], list[str]]:
    """Return what was read of each file, by its name, and the names of the others with the reasons."""
    from matrix.samples.tool_logs import NotALog

    found: dict[str, Read] = {}
    refused: list[str] = []
    for file in files:
        try:
            # Reading a pipe or a device might never end.
            if file.exists() and not file.is_file():
                raise NotALog("is not a file")
            found[str(file)] = read(file)
        except OSError as error:
            refused.append(f"{file} cannot be read: {error.strerror}")
        except NotALog as error:
            if error.fix:
                raise CommandError(f"{file} {error}", f"{error.fix}; nothing was kept", ExitCode.BAD_INPUT) from error
            refused.append(f"{file} {error}")
    return found, refused


def text_of(file: Path) -> str:
    """Return a file's text, also of UTF-16 as Windows' PowerShell writes it. Raises NotALog."""
    from matrix.samples.tool_logs import NotALog

    with file.open("rb") as opened:
        content = opened.read(MAX_FILE_BYTES + 1)
    if len(content) > MAX_FILE_BYTES:
        raise NotALog(f"has more than {MAX_FILE_BYTES:,} bytes")
    return _decoded(content, file)


def _decoded(content: bytes, file: Path) -> str:
    from matrix.samples.tool_logs import NotALog

    if file.suffix.lower() in WORKBOOKS:
        raise NotALog("is a workbook; save its table as CSV")
    for begin, program in COMPRESSED.items():
        if content.startswith(begin):
            raise NotALog(f"is compressed; decompress it: {program} {file.name}")
    return content.decode(json.detect_encoding(content), errors="replace")


def show(rows: Sequence[Row], table: Table, format_: Format) -> None:
    """Print rows."""
    if format_ is Format.CSV:
        typer.echo(csv_table(table), nl=False)
    elif format_ is Format.JSON:
        terminal.print_json([asdict(row) for row in rows])
    else:
        rich_tables.show(terminal.stdout(), table)


def keep(
    name: str,
    refused: Sequence[str],
    run_of: "Callable[[str], ImportedRun]",
    advice: str,
    *,
    as_json: bool,
) -> None:
    """Store imported results as a run, or add their cells to the import that has this name."""
    # scipy takes half a second to import, so `matrix --help` must not import it.
    from matrix.answer.decision import decide
    from matrix.published.imported import IMPORTED, joined
    from matrix.samples.tool_logs import NotALog
    from matrix.terms.ids import cut
    from matrix.terms.problems import InvalidMatrix

    if cut(name, 80) != name or not name.strip("."):
        advice = "use up to 80 letters, digits, dots, dashes and underscores"
        raise CommandError(f"{name!r} cannot be the name of a run", advice, ExitCode.BAD_INPUT)
    folders = RunFolders()
    earlier = RunDocuments(folders, name)
    kept = earlier.written_summary()
    if (run_folder(name).exists() and kept is None) or (kept is not None and kept.get("environment") != IMPORTED):
        raise CommandError(f"{name} is a run that was not imported", "choose another name: --as", ExitCode.BAD_INPUT)
    try:
        if refused:
            raise NotALog("; ".join(refused))
        run = run_of(name)
    except NotALog as error:
        raise CommandError(str(error), f"leave it out, or {advice}; nothing was kept", ExitCode.BAD_INPUT) from error
    except InvalidMatrix as invalid:
        named = [replace(each, path=each.path.replace("storage[0]", "--storage")) for each in invalid.problems]
        show_problems(terminal.stderr(), name, InvalidMatrix(named).to_document(), "nothing was kept")
        raise typer.Exit(ExitCode.BAD_INPUT) from invalid
    summary = joined(kept, run.summary) if kept else run.summary
    results = {result["id"]: result for result in run.results}
    for cell in summary["cells"]:
        if cell["id"] not in results and (before := earlier.result(cell["id"])):
            results[cell["id"]] = before
    summary["decision"] = decide(summary, results=results)
    documents = {f"cells/{result['id']}/result.json": result for result in run.results} | {"summary.json": summary}
    folders.put_documents(name, documents)
    if as_json:
        terminal.print_json({"run": name, "cells": [cell["id"] for cell in summary["cells"]]})
    terminal.stderr().print(f"kept as run {name}; look at it: matrix results {name}")


def load_published(prefix: str) -> list[str]:
    """Write the published benchmarks as runs; return their names."""
    from matrix.answer.decision import decide
    from matrix.published.runs import published_runs
    from matrix.terms.ids import cut

    runs = published_runs(prefix)
    if any(cut(name, 80) != name for name in runs) or not prefix.strip("."):
        advice = "use letters, digits, dots, dashes and underscores"
        raise CommandError(f"{prefix!r} cannot begin the name of a run", advice, ExitCode.BAD_INPUT)
    folders = RunFolders()
    for name in runs:
        kept = RunDocuments(folders, name).written_summary()
        if kept is not None and kept.get("environment") != "published":
            advice = "choose another beginning: --as"
            raise CommandError(f"{name} is a run that was measured here", advice, ExitCode.BAD_INPUT)
    for name, published in runs.items():
        published["decision"] = decide(published)
        folders.put_documents(name, {"summary.json": published})
    return list(runs)


def _storage(text: str | None) -> "dict[str, Any] | str | None":
    if text is None or not text.lstrip().startswith(("{", "[")):
        return text
    try:
        storage = json.loads(text)
    except ValueError:
        storage = None
    if not isinstance(storage, dict):
        advice = """write it as in a matrix: --storage '{"type": "ebs", "volumeType": "gp3", "sizeGiB": 100}'"""
        raise CommandError(f"--storage {text!r} is not a JSON object", advice, ExitCode.BAD_INPUT)
    return storage
