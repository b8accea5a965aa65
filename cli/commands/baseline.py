"""`matrix baseline`: names for reference runs of comparisons."""

import json
import re
from typing import Annotated, Any

import typer

from cli.inputs import completing, options
from cli.messages import terminal
from cli.messages.errors import CommandError, ExitCode
from cli.tables import rich_tables
from cli.target import baselines, summaries
from cli.target.place import Place
from cli.target.run_folders import lasting
from matrix.tables.table import Table, TableColumn
from matrix.terms.keys import RUN_PATTERN
from matrix.terms.quantities import instant

app = typer.Typer(no_args_is_help=True, add_completion=False, rich_markup_mode=None)

Name = Annotated[
    str, typer.Argument(metavar="NAME", help="The baseline's name.", autocompletion=completing.baseline_names)
]


@app.callback()
def baseline() -> None:
    """Name the runs that later ones are compared with.

    `matrix compare baseline:NAME latest` compares with the run of that name. See `matrix baseline set --help`.
    """


@app.command("set")
def set_(
    name: Name,
    run: options.RunOrLatest,
    local: options.Local = False,
    stack: options.Stack = None,
    region: options.Region = None,
    as_json: options.AsJson = False,
) -> None:
    """Name a run as a baseline.

    An existing baseline of this name is replaced. It is kept in the stack's results bucket, or for runs of this machine
    in .local/baselines/. Comparisons and schedules read it there.

    Example: matrix baseline set nightly nightly-20261123 --stack storage-matrix
    """
    if not re.fullmatch(RUN_PATTERN, name):
        advice = "write 1 to 80 of A-Z, a-z, 0-9, _ and -, not beginning with -"
        raise CommandError(f"{name!r} cannot be the name of a baseline", advice, ExitCode.BAD_INPUT)
    found = summaries.find(run, Place(local, stack, region))
    summary = found.summary
    shelf = lasting(found.store)
    before = baselines.put(shelf, name, summary["run"], summary["name"])
    if as_json:
        terminal.print_json(baselines.get(shelf, name))
        return
    changed = f" (before: {before['run']})" if before and before["run"] != summary["run"] else ""
    console = terminal.stdout()
    terminal.print_wrapped(console, f"baseline {name} of {shelf.name} is {summary['run']} now{changed}")


@app.command("list")
def list_(
    local: options.Local = False,
    stack: options.Stack = None,
    region: options.Region = None,
    as_json: options.AsJson = False,
) -> None:
    """List the baselines: which run each is, and of which matrix.

    Without --local, --stack or --region those of this machine where it has runs, else those of the stack.

    Example: matrix baseline list --stack storage-matrix
    """
    shelf = Place(local, stack, region).shelf()
    listed = baselines.all_of(shelf)
    if as_json:
        terminal.print_json(listed)
    elif listed:
        heads = (TableColumn("Baseline", "id"), TableColumn("Run", "id"), "Matrix", "Set")
        rows = [(each["name"], each["run"], each["matrix"], instant(each["set_at"])) for each in listed]
        rich_tables.show(terminal.stdout(), Table.of("", heads, rows))
    else:
        terminal.stderr().print(f"{shelf.name} has no baseline yet: `matrix baseline set NAME RUN`")


@app.command("delete")
def delete(
    name: Name,
    local: options.Local = False,
    stack: options.Stack = None,
    region: options.Region = None,
    as_json: options.AsJson = False,
) -> None:
    """Delete a baseline; the run that it names stays.

    Example: matrix baseline delete nightly --stack storage-matrix
    """
    shelf = Place(local, stack, region).shelf()
    baselines.delete(shelf, name)
    answer: dict[str, Any] = {"deleted": name}
    if as_json:
        typer.echo(json.dumps(answer))
    else:
        terminal.stdout().print(f"baseline {name} of {shelf.name} is deleted; its run stays")
