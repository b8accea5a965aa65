"""`matrix import`: fio's JSON, tables of figures, or the published benchmarks, as runs."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cli.inputs import imported_files, options
from cli.inputs.options import Format
from cli.messages import terminal
from cli.messages.errors import CommandError, ExitCode
from cli.target.known_runs import PUBLISHED
from matrix.tables.fio_table import fio_table

if TYPE_CHECKING:
    # It imports numpy, which takes a while, so `matrix --help` must not import it.
    from matrix.published.imported import Given, ImportedRun
    from matrix.samples.fio_logs import FioFile, Row

ADVICE = (
    "run fio again with `--output-format=json` or `json+`; if a job failed, fio's own messages say why; the name of a "
    "table ends with .csv"
)
TABLES = frozenset({".csv", ".tsv"})


def import_files(
    files: Annotated[
        list[Path] | None, typer.Argument(metavar="FILES", help="JSON files that fio wrote, or tables (.csv).")
    ] = None,
    published: Annotated[bool, typer.Option("--published", help="Load what others published.")] = False,
    as_: imported_files.As = None,
    storage: imported_files.OfStorage = None,
    instance_type: imported_files.OfInstanceType = None,
    several: imported_files.FilesAre = None,
    format_: imported_files.WrittenAs = Format.TABLE,
    as_json: options.AsJson = False,
) -> None:
    """Keep figures of other tools as a run.

    A table (CSV) holds the figures of any tool, a row for each measurement: docs/import.md and
    events/import/ior.csv show the columns. All its mistakes are told at once.

    Of fio's JSON (fio 2 or 3, json or json+) each job is a point, each host of `fio --client` an instance, each file a
    repetition. Without --as a row of each job and direction is shown and nothing kept; a file that cannot be read is
    named, and the exit code is 2. Facts that no file has come from the options or stay unknown.

    --published loads the benchmarks that others published as the runs published-yocto, published-ebs-fio ...; loading
    again changes nothing. Calls no AWS.

    Example: matrix import ior.csv --as ior && matrix report ior --open
    """
    if bool(files) == published:
        advice = "matrix import FILES…, or matrix import --published"
        raise CommandError("import needs either files or --published", advice, ExitCode.BAD_INPUT)
    given = imported_files.given(storage, instance_type, several)
    if not files:
        _refuse_options_of_files(
            {
                "--storage": storage,
                "--instance-type": instance_type,
                "--files-are": several,
                "--format": None if format_ in (Format.TABLE, Format.JSON) else format_,
            }
        )
        runs = imported_files.load_published(PUBLISHED if as_ is None else as_)
        if options.chosen_format(format_, as_json=as_json) is Format.JSON:
            terminal.print_json({"runs": runs})
        terminal.stderr().print(f"loaded {', '.join(runs)}; look at one: matrix results {next(iter(runs))}")
    elif any(file.suffix.lower() in TABLES for file in files):
        _import_tables(files, as_, given, as_json=as_json)
    else:
        _import_fio(files, as_, given, options.chosen_format(format_, as_json=as_json))


def _refuse_options_of_files(given: Mapping[str, object]) -> None:
    if names := [name for name, value in given.items() if value is not None]:
        advice = "leave it out: published figures have all that their sources tell"
        raise CommandError(f"{', '.join(names)} tell of files, not of --published", advice, ExitCode.BAD_INPUT)


def _import_tables(files: list[Path], as_: str | None, given: "Given", *, as_json: bool) -> None:
    from matrix.published.table import read_table
    from matrix.published.table_run import imported_run

    if others := [str(file) for file in files if file.suffix.lower() not in TABLES]:
        advice = "import them one after the other, with the same --as"
        raise CommandError(f"{', '.join(others)} is no table beside tables", advice, ExitCode.BAD_INPUT)
    if given.files_are is not None:
        raise CommandError("--files-are is of fio's files", "a column instance tells apart", ExitCode.BAD_INPUT)
    if as_ is None:
        raise CommandError("a table becomes a run, which needs a name", f"--as {files[0].stem}", ExitCode.BAD_INPUT)
    texts, refused = imported_files.read_each(files, imported_files.text_of)

    def run_of(name: str) -> "ImportedRun":
        return imported_run(name, {file: read_table(text, file) for file, text in texts.items()}, given)

    imported_files.keep(as_, refused, run_of, "mend it", as_json=as_json)


def _import_fio(files: list[Path], as_: str | None, given: "Given", format_: Format) -> None:
    from matrix.samples import fio_logs

    def read_file(path: Path) -> "tuple[FioFile, list[Row]]":
        file = fio_logs.read(imported_files.text_of(path))
        return file, fio_logs.rows(file, str(path))

    found, refused = imported_files.read_each(files, read_file)
    read = {name: file for name, (file, _) in found.items()}
    if as_ is not None:
        # scipy takes half a second to import, so `matrix --help` must not import it.
        from matrix.published.fio_run import imported_run

        def run_of(name: str) -> "ImportedRun":
            return imported_run(name, read, given)

        imported_files.keep(as_, refused, run_of, ADVICE, as_json=format_ is Format.JSON)
        return
    imported_files.refuse_what_is_of_a_run(given)
    rows = [row for _, of_file in found.values() for row in of_file]
    imported_files.show(rows, fio_table(rows), format_)
    for name, file in read.items():
        if file.interim:
            terminal.stderr().print(f"{name}: documents left out, since a later one includes them: {file.interim}")
        failed = {fio_logs.failure(job) for run in file.runs for job in run if job.error}
        refused += [f"{name} {failure}" for failure in sorted(failed)]
    if refused:
        raise CommandError("; ".join(refused), ADVICE, ExitCode.BAD_INPUT)
