"""`matrix import-logs`: logs of elbencho and warp as one row per phase, or as a run."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cli.inputs import imported_files, options
from cli.inputs.options import Format
from cli.messages.errors import CommandError, ExitCode
from matrix.tables.logs_tables import phases_table

if TYPE_CHECKING:
    # It imports numpy, which takes a while, so `matrix --help` must not import it.
    from matrix.samples.tool_logs import Phase

ADVICE = "elbencho writes logs with --jsonfile or --csvfile, warp its .json.zst or, with --full, .csv.zst"
# The CSV of all requests of warp is read line by line: some ten million requests.
MAX_CSV_BYTES = 2 * 1024**3


def import_logs(
    files: Annotated[
        list[Path], typer.Argument(metavar="FILES…", help="Files that elbencho or warp wrote; decompress .zst before.")
    ],
    as_: imported_files.As = None,
    storage: imported_files.OfStorage = None,
    instance_type: imported_files.OfInstanceType = None,
    several: imported_files.FilesAre = None,
    format_: imported_files.WrittenAs = Format.TABLE,
    as_json: options.AsJson = False,
) -> None:
    """Show logs of elbencho or warp, or keep them as a run.

    One row per phase of elbencho (WRITE, READ, STAT, …) and per operation and client of warp (GET, PUT, …). The
    content of a file shows which tool wrote it. If another tool did, the file is named, the others are shown, and the
    exit code is 2.

    With --as they become a run, for results, report, compare and history. Facts that the tool does not log,
    such as the storage, come from the options or stay unknown. Example: matrix import-logs results.json --as old
    --storage efs --instance-type m6i.large

    Example: matrix import-logs warp-get.json --format csv > old.csv
    """
    from matrix.samples import tool_logs

    read, refused = imported_files.read_each(files, _phases)
    if as_ is not None:
        # scipy takes half a second to import, so `matrix --help` must not import it.
        from matrix.published.logs_run import logs_run

        given = imported_files.given(storage, instance_type, several)
        imported_files.keep(as_, read, refused, logs_run, given, ADVICE, as_json=as_json)
        return
    imported_files.refuse_what_is_of_a_run(storage, instance_type)
    format_ = options.chosen_format(format_, as_json=as_json)
    rows = [tool_logs.row_of(phase) for phases in read.values() for phase in phases]
    imported_files.show(rows, phases_table(rows), format_)
    if refused:
        raise CommandError("; ".join(refused), ADVICE, ExitCode.BAD_INPUT)


def _phases(file: Path) -> "list[Phase]":
    """Return the phases of a file from whichever tool wrote it. Raises NotALog."""
    from matrix.samples import elbencho_logs, warp_logs
    from matrix.samples.tool_logs import NotALog, objects_in

    if imported_files.beginning_of(file).startswith(warp_logs.HEAD):
        return warp_logs.phases_of_csv(_lines(file), str(file))
    text = imported_files.text_of(file)
    if elbencho_logs.is_csv(text):
        return elbencho_logs.phases_of_csv(text, str(file))
    documents = objects_in(
        text, "elbencho or warp", ("phase_type", "by_op_type", "operations", "fio version"), begins="fio version"
    )
    if any("fio version" in document for document in documents):
        raise NotALog("is a file of fio: matrix import-fio")
    if any("phase_type" in document for document in documents):
        return elbencho_logs.phases_of_json(documents, str(file))
    if len(documents) > 1:
        raise NotALog(f"has {len(documents)} documents of warp, which names clients anew in each: split it")
    return warp_logs.phases_of_json(documents[0], str(file))


def _lines(file: Path) -> Iterator[str]:
    from matrix.samples.tool_logs import NotALog

    if file.stat().st_size > MAX_CSV_BYTES:
        raise NotALog(f"has more than {MAX_CSV_BYTES:,} bytes")
    with file.open("rb") as opened:
        encoding = imported_files.encoding_of(opened.read(4))
    with file.open(encoding=encoding, errors="replace", newline="\n") as lines:
        yield from lines
