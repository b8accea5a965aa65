"""`matrix results`: what came out of a run, as a table, JSON, CSV or Markdown."""

import json
from enum import StrEnum
from typing import Annotated, Any

import typer

from cli.inputs import options
from cli.messages import terminal
from cli.tables import result_tables
from cli.target import deployment, metrics
from cli.target.service import Service
from cli.target.summaries import LATEST, find_summary
from matrix.report import csv_rows, markdown

Summary = dict[str, Any]


class Format(StrEnum):
    """How results are written."""

    TABLE = "table"
    JSON = "json"
    CSV = "csv"
    MARKDOWN = "markdown"


def results(
    run: Annotated[str, typer.Argument(metavar="RUN", help="The run's name, or `latest`.")] = LATEST,
    format_: Annotated[Format, typer.Option("--format", help="How to write them.")] = Format.TABLE,
    published: Annotated[
        bool, typer.Option("--published", help="Put the published figures beside, where there are any.")
    ] = False,
    local: options.Local = False,
    stack: options.Stack = None,
    region: options.Region = None,
) -> None:
    """Show what came out of a run.

    Percentiles of each point over all instances and repetitions, with n and the expected n. Results of local runs
    are kept in .local/runs/ and need no running cloud; those on AWS come from the bucket.
    Without --local or --stack: the local run of this name if there is one, else AWS.

    Example: matrix results latest --format csv > results.csv
    """
    summary = _with_late_metrics(find_summary(run, local=local, stack=stack, region=region), stack, region)
    if published:
        _show_beside(summary, format_)
    elif format_ is Format.TABLE:
        result_tables.show(terminal.stdout(), summary)
    else:
        typer.echo(_text(summary, format_), nl=False)


def _with_late_metrics(summary: Summary, stack: str | None, region: str | None) -> Summary:
    """Query CloudWatch again if it had not published every metric when the run was analysed."""
    late = any((cell.get("bottleneck") or {}).get("is_provisional") for cell in summary.get("cells", []))
    if not late or summary.get("environment") != "aws":
        return summary
    return metrics.refreshed_summary(Service(deployment.find(local=False, stack=stack, region=region)), summary)


def _show_beside(summary: Summary, format_: Format) -> None:
    # The published figures are read only if they are wanted.
    from cli.tables import published_tables
    from matrix.published.beside import beside

    rows = beside(summary)
    if format_ is Format.JSON:
        typer.echo(json.dumps(rows, indent=2, ensure_ascii=False))
    elif format_ is Format.CSV:
        typer.echo(published_tables.to_csv(rows), nl=False)
    elif format_ is Format.MARKDOWN:
        typer.echo(published_tables.to_markdown(rows))
    else:
        published_tables.show(terminal.stdout(), summary, rows)


def _text(summary: Summary, format_: Format) -> str:
    if format_ is Format.JSON:
        return json.dumps(summary, indent=2, ensure_ascii=False) + "\n"
    return csv_rows.to_csv(summary) if format_ is Format.CSV else markdown.to_markdown(summary)
