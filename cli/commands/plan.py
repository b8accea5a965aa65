"""`matrix plan`: resources, steps and costs of a matrix. Calls no AWS."""

import json
import re
from typing import Annotated

import typer

from cli.inputs import planning
from cli.inputs.options import AsJson, MatrixFile
from cli.messages import terminal
from cli.messages.errors import CommandError, ExitCode
from cli.tables import plan_tables
from cli.tables.account_tables import Account

# A list of all regions would be too old by the next one; this finds what is none.
REGION = r"[a-z]{2,}(-[a-z]+)+-[0-9]+"


def plan(
    file: MatrixFile,
    as_json: AsJson = False,
    region: Annotated[
        str | None,
        typer.Option(
            "--region",
            metavar="REGION",
            help=f"Where it would run (default: {planning.DEFAULT_REGION}); other regions have a wider range of costs.",
        ),
    ] = None,
    all_: Annotated[
        bool,
        typer.Option("--all", help="Also list all sizes, quotas, assumptions, and each cell with its time and cost."),
    ] = False,
) -> None:
    """Show what a matrix would create, take and cost.

    The sum comes first, then the cost of each storage with each fleet. --all adds quotas, assumptions and cells. It
    does not call AWS. Every mistake in the matrix is listed at once, each with its fix. The exit code is then 2, as
    it is if budgetUsd is below the expected cost.

    Example: matrix plan events/local/first.json
    """
    if region and not re.fullmatch(REGION, region):
        raise CommandError(f"{region!r} is no AWS region", "write one, such as eu-central-1", ExitCode.BAD_INPUT)
    try:
        planned = planning.read_and_plan(file, region)
    except planning.BadMatrix as bad:
        report_problems(file, bad, as_json)
        raise typer.Exit(ExitCode.BAD_INPUT) from None
    if as_json:
        import pydantic_core  # like the models, not before it is needed

        # 10,000 cells are 23 MB, for which `json` with an indent takes a second, and this a tenth of it.
        typer.echo(pydantic_core.to_json(planned.plan, indent=2))
    else:
        account = Account(_at_once(planned), region or planning.DEFAULT_REGION)
        plan_tables.show(terminal.stdout(), planned.plan, planned.storages, account, is_whole=all_)
    if refused := plan_tables.refusal(planned.plan):
        raise typer.Exit(refused.code)


def _at_once(planned: planning.Planned) -> int:
    """Return the number of file systems measured at the same time, from the matrix or its model's default."""
    # The models need pydantic: a quarter of a second for which `matrix --help` must not wait.
    from matrix.input.matrix import Matrix

    usual = Matrix.model_fields["max_concurrent_file_systems"].default
    return int(planned.matrix.get("maxConcurrentFileSystems", usual))


def report_problems(file: MatrixFile, bad: planning.BadMatrix, as_json: bool) -> None:
    """List the problems of a matrix: for people on stderr, for programs as JSON on stdout."""
    if as_json:
        typer.echo(json.dumps(bad.document, indent=2, ensure_ascii=False))
    else:
        planning.show_problems(terminal.stderr(), file, bad.document)
