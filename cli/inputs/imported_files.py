"""Options that the commands for importing other tools' files share, and how such an import becomes a run."""

import json
from collections.abc import Callable
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cli.messages import terminal
from cli.messages.errors import CommandError, ExitCode
from cli.target.run_documents import RunDocuments
from cli.target.run_folders import RunFolders
from cli.target.workdir import run_folder

if TYPE_CHECKING:
    from matrix.published.imported import ImportedRun, Told


# fio's json+ of a few hundred jobs. The parsed document may take 27 times as much memory.
LARGEST_FILE_BYTES = 32 * 1024 * 1024


class Format(StrEnum):
    """How the rows are written."""

    TABLE = "table"
    JSON = "json"
    CSV = "csv"


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
FilesAre = Annotated[Several, typer.Option("--files-are", help="What several files with the same job or phase are.")]
WrittenAs = Annotated[Format, typer.Option("--format", help="How to write them.")]


def refuse_what_is_of_a_run(storage: str | None, instance_type: str | None) -> None:
    """Refuse --storage and --instance-type without --as: they describe a run, and no run is stored."""
    if storage is not None or instance_type is not None:
        raise CommandError("--storage and --instance-type are of a run", "add --as NAME", ExitCode.BAD_INPUT)


def told(storage: str | None, instance_type: str | None, several: Several) -> "Told":
    """Return the facts that the options give and the files lack."""
    from matrix.published.imported import Told

    return Told(_storage(storage), instance_type, is_file_a_host=several is Several.HOSTS)


def keep(name: str, made: "Callable[[], ImportedRun]", *, as_json: bool) -> None:
    """Store imported results as a run, or add their cells to the import that has this name."""
    # scipy takes half a second to import, so `matrix --help` must not import it.
    from matrix.answer.decision import decide
    from matrix.published.imported import IMPORTED, joined
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
        run = made()
    except InvalidMatrix as invalid:
        said = "; ".join(str(problem).replace("storage[0]", "--storage") for problem in invalid.problems)
        raise CommandError(said, "docs/storages.md has the fields of each", ExitCode.BAD_INPUT) from invalid
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
