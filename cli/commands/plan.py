"""`matrix plan`: what a matrix would create, measure and cost. Calls no AWS."""

import json
from typing import Annotated

import typer

from cli.inputs import planning
from cli.inputs.options import AsJson, MatrixFile
from cli.messages import terminal
from cli.messages.errors import ExitCode
from cli.tables import plan_tables
from cli.tables.account_tables import Account


def plan(
    file: MatrixFile,
    as_json: AsJson = False,
    region: Annotated[
        str | None,
        typer.Option("--region", metavar="REGION", help=f"Where it would run (default: {planning.DEFAULT_REGION})."),
    ] = None,
    all_: Annotated[bool, typer.Option("--all", help="Also list each cell with its steps, time and cost.")] = False,
) -> None:
    """Show what a matrix would create, take and cost.

    The sum first, then what each storage costs with each fleet; --all lists the cells. Calls no AWS.
    Every mistake in the matrix is listed at once, with the way out; the exit code is then 2.

    Example: matrix plan events/local-demo.json
    """
    try:
        planned = planning.read_and_plan(file, region)
    except planning.BadMatrix as bad:
        report_problems(file, bad, as_json)
        raise typer.Exit(ExitCode.BAD_INPUT) from None
    if as_json:
        import pydantic_core  # like the models, not before it is needed

        # 10,000 cells are 23 MB, for which `json` with an indent takes a second and this a tenth of it.
        typer.echo(pydantic_core.to_json(planned.plan, indent=2))
    else:
        account = Account(_at_once(planned), region or planning.DEFAULT_REGION)
        plan_tables.show(terminal.stdout(), planned.plan, account, is_whole=all_)


def _at_once(planned: planning.Planned) -> int:
    """Return how many file systems are measured at the same time, as the matrix or its model says."""
    # The models need pydantic: a quarter of a second that `matrix --help` does not wait for.
    from matrix.input.matrix import Matrix

    usual = Matrix.model_fields["max_concurrent_file_systems"].default
    return int(planned.matrix.get("maxConcurrentFileSystems", usual))


def report_problems(file: MatrixFile, bad: planning.BadMatrix, as_json: bool) -> None:
    """List the problems of a matrix: for a person on stderr, for a program as JSON on stdout."""
    if as_json:
        typer.echo(json.dumps(bad.document, indent=2, ensure_ascii=False))
    else:
        planning.show_problems(terminal.stderr(), file, bad.document)
