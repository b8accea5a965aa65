"""`matrix plan`: resources, steps and costs of a matrix. Calls no AWS, except for `--region all`."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cli.inputs import options, planning
from cli.inputs.options import AsJson, Format, MatrixFile
from cli.messages import terminal
from cli.messages.errors import CommandError, ExitCode
from cli.tables import plan_tables
from cli.tables.account_tables import Account

if TYPE_CHECKING:
    from cli.tables.region_tables import RegionsDocument

ALL_REGIONS = "all"


def plan(
    file: MatrixFile,
    format_: Annotated[
        Format, typer.Option("--format", help="How to write it; csv only with --region all.")
    ] = Format.TABLE,
    as_json: AsJson = False,
    region: Annotated[
        str | None,
        typer.Option(
            "--region",
            metavar="REGION",
            help=f"Where it would run (default: {planning.DEFAULT_REGION}); all compares the cost in all regions, "
            "which asks AWS.",
        ),
    ] = None,
    all_: Annotated[
        bool,
        typer.Option("--all", help="Also list all sizes, quotas, assumptions, and each cell with its time and cost."),
    ] = False,
) -> None:
    """Show what a matrix would create, take and cost.

    The sum comes first, then the cost of each storage with each fleet. --all adds quotas, assumptions and cells. Only
    --region all calls AWS: it lists the cost in each region, cheapest first, and what regions lack.
    Every mistake in the matrix is listed at once, each with its fix. The exit code is then 2, as it is if budgetUsd is
    below the expected cost.

    Example: matrix plan events/local/first.json
    """
    format_ = options.chosen_format(format_, as_json=as_json)
    if format_ is Format.CSV and region != ALL_REGIONS:
        raise CommandError("--format csv is for --region all only", "write --format json", ExitCode.BAD_INPUT)
    try:
        if region == ALL_REGIONS:
            _show_regions(file, format_)
            return
        planned = planning.read_and_plan(file, region)
    except planning.BadMatrix as bad:
        report_problems(file, bad, format_ is Format.JSON)
        raise typer.Exit(ExitCode.BAD_INPUT) from None
    if format_ is Format.JSON:
        import pydantic_core  # like the models, not before it is needed

        # 10,000 cells are 23 MB, for which `json` with an indent takes a second, and this a tenth of it.
        typer.echo(pydantic_core.to_json(planned.plan, indent=2))
    else:
        account = Account(_at_once(planned), region or planning.DEFAULT_REGION)
        plan_tables.show(terminal.stdout(), planned.plan, planned.storages, account, is_whole=all_)
    if refused := plan_tables.refusal(planned.plan):
        raise typer.Exit(refused.code)


def _show_regions(file: Path, format_: Format) -> None:
    document = _of_all_regions(file)
    # Imports the models, for which `matrix --help` must not wait.
    from cli.tables import region_tables
    from matrix.tables.csv_table import csv_table

    if format_ is Format.JSON:
        typer.echo(json.dumps(document, indent=2, ensure_ascii=False))
    elif format_ is Format.CSV:
        typer.echo(csv_table(region_tables.regions_table(document["regions"])), nl=False)
    else:
        region_tables.show(terminal.stdout(), document)


def _of_all_regions(file: Path) -> "RegionsDocument":
    """Return the cost of a matrix in each region; progress goes to stderr. Raises BadMatrix."""
    checked = planning.read_and_check(file)
    # boto3 takes half a second to import, and only this needs it.
    from cli.tables import region_tables
    from cli.target import deployment, regions
    from matrix.price.regions import in_one_region, unchecked

    deployment.refuse_without_aws(planning.DEFAULT_REGION)
    if fixed := in_one_region(checked.matrix):
        advice = "compare regions without it: let the run create the storage, and take image.ami out"
        raise CommandError(f"{', '.join(fixed)} exists in one region only", advice, ExitCode.BAD_INPUT)
    console = terminal.stderr()
    console.print("asking AWS's price list, and EC2 in each region …")
    with console.status("") as status:
        rows, listed = regions.costs(
            checked, lambda count, of: status.update(f"{count} of {of} answers") if console.is_terminal else None
        )
    return region_tables.document_of(checked.matrix.name, rows, unchecked(checked.matrix, listed))


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
