"""`matrix import-fio`: fio's own JSON, of any version, as one row per job and direction, or as a run."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cli.inputs import imported_files, options
from cli.inputs.options import Format
from cli.messages import terminal
from cli.messages.errors import CommandError, ExitCode
from matrix.tables.fio_table import fio_table

if TYPE_CHECKING:
    # It imports numpy, which takes a while, so `matrix --help` must not import it.
    from matrix.samples.fio_logs import FioFile, Row

ADVICE = "run fio again with `--output-format=json` or `json+`; if a job failed, fio's own messages say why"


def import_fio(
    files: Annotated[list[Path], typer.Argument(metavar="FILES…", help="JSON files that fio wrote.")],
    as_: imported_files.As = None,
    storage: imported_files.OfStorage = None,
    instance_type: imported_files.OfInstanceType = None,
    several: imported_files.FilesAre = None,
    format_: imported_files.WrittenAs = Format.TABLE,
    as_json: options.AsJson = False,
) -> None:
    """Show what fio's JSON files say, or keep them as a run.

    One row per job and direction. Reads fio 2 (latencies in µs) and fio 3 (in ns), json and json+. If a file has
    another format, no I/O or a job with an error, it is named, the others are shown, and the exit code is 2.

    With --as they become a run, for results, report, compare and history: each job a point, each host of
    `fio --client` an instance, each file a repetition. Facts that fio does not log come from the options or stay
    unknown. Example: matrix import-fio gp3/*.json --as old --storage '{"type": "ebs", "volumeType": "gp3",
    "sizeGiB": 100}' --instance-type m6i.large

    Example: matrix import-fio old/*.json --format csv > old.csv
    """
    from matrix.samples import fio_logs

    def read_file(path: Path) -> "tuple[FioFile, list[Row]]":
        file = fio_logs.read(imported_files.text_of(path))
        return file, fio_logs.rows(file, str(path))

    found, refused = imported_files.read_each(files, read_file)
    read = {name: file for name, (file, _) in found.items()}
    if as_ is not None:
        # scipy takes half a second to import, so `matrix --help` must not import it.
        from matrix.published.fio_run import imported_run

        given = imported_files.given(storage, instance_type, several)
        imported_files.keep(as_, read, refused, imported_run, given, ADVICE, as_json=as_json)
        return
    imported_files.refuse_what_is_of_a_run(storage, instance_type)
    format_ = options.chosen_format(format_, as_json=as_json)
    rows = [row for _, of_file in found.values() for row in of_file]
    imported_files.show(rows, fio_table(rows), format_)
    for name, file in read.items():
        if file.interim:
            terminal.stderr().print(f"{name}: documents left out, since a later one includes them: {file.interim}")
        failed = {fio_logs.failure(job) for run in file.runs for job in run if job.error}
        refused += [f"{name} {failure}" for failure in sorted(failed)]
    if refused:
        raise CommandError("; ".join(refused), ADVICE, ExitCode.BAD_INPUT)
