"""`matrix results`: the results of a run, as a table, JSON, CSV or Markdown."""

import json
from collections.abc import Iterable, Sequence
from enum import StrEnum
from typing import Annotated

import typer

from cli.inputs import options
from cli.messages import terminal
from cli.messages.errors import CommandError, ExitCode
from cli.tables import result_tables, rich_tables, verdict_table
from cli.target import metrics
from cli.target.documents import readable
from cli.target.place import Place
from cli.target.summaries import LATEST, FoundRun, find
from cli.target.unfinished import STATUS
from matrix.report import csv_rows, github_summary, junit, markdown
from matrix.tables.csv_table import csv_table
from matrix.tables.markdown_table import markdown_table
from matrix.tables.run_tables import quoted_answer
from matrix.tables.table import Table, TableCell, TableColumn
from matrix.terms.documents.compared import PublishedComparison
from matrix.terms.documents.summary import SummaryDocument
from matrix.terms.quantities import ABSENT, quantity


class Format(StrEnum):
    TABLE = "table"
    JSON = "json"
    CSV = "csv"
    MARKDOWN = "markdown"
    JUNIT = "junit"
    GITHUB = "github"
    JSONL = "jsonl"
    OPENMETRICS = "openmetrics"


def results(
    run: options.RunOrLatest = LATEST,
    format_: Annotated[Format, typer.Option("--format", help="How to write them.")] = Format.TABLE,
    published: Annotated[
        bool, typer.Option("--published", help="Put the published figures beside, where there are any.")
    ] = False,
    all_: Annotated[
        bool, typer.Option("--all", help="All percentiles, bottlenecks and failed cells, not only the verdict.")
    ] = False,
    warnings: Annotated[bool, typer.Option("--warnings", help="All warnings, one line for each kind.")] = False,
    local: options.Local = False,
    stack: options.Stack = None,
    region: options.Region = None,
    as_json: options.AsJson = False,
) -> None:
    """Show what came out of a run: the verdict, or all of it.

    The tables have the percentiles of each point over all instances and repetitions, with n and the expected n.
    Results of local runs are kept in .local/runs/ and need no running cloud; those on AWS come from the bucket.
    Without --local or --stack: the local run of this name if there is one, else AWS.

    `jsonl` has one line for each metric of each point, with the columns of docs/results.md, and `openmetrics` the same
    for Prometheus.

    For CI: junit has a test case for each point and for each question of the objective, github is a summary for the
    page of a workflow: matrix results latest --format github >> $GITHUB_STEP_SUMMARY

    Example: matrix results latest --format csv > results.csv
    """
    format_ = options.chosen_format(format_, as_json=as_json)
    stored = find(run, Place(local, stack, region))
    summary = metrics.summary_with_late_metrics(stored.store, stored.summary)
    if format_ in (Format.CSV, Format.JSONL, Format.OPENMETRICS) and summary["status"] == STATUS:
        # The other formats show warnings themselves.
        terminal.print_wrapped(terminal.stderr(), f"Warning: {summary['warnings'][0]}")
    if format_ in (Format.JSONL, Format.OPENMETRICS):
        _write_rows(stored, summary, format_)
    elif published:
        if summary["environment"] == "published":
            advice = "show it without --published; that is for a run of yours"
            raise CommandError(f"{summary['run']} is published figures itself", advice, ExitCode.BAD_INPUT)
        _show_published(summary, format_)
    elif format_ is Format.TABLE:
        _show_tables(stored, summary, all_=all_, warnings=warnings)
    else:
        typer.echo(_text(summary, format_), nl=False)


def _show_tables(stored: FoundRun, summary: SummaryDocument, *, all_: bool, warnings: bool) -> None:
    console = terminal.stdout()
    if all_:
        result_tables.show(console, summary)
    elif warnings:
        result_tables.show_warnings(console, summary, are_all=True)
    else:
        verdict_table.show(console, summary, flag="" if stored.store.is_here else stored.store.flag)


def _show_published(summary: SummaryDocument, format_: Format) -> None:
    # The published figures are read only if they are wanted.
    from matrix.published.published_comparisons import compared_rows

    rows = compared_rows(summary)
    table = _published_table(rows)
    if format_ is Format.JSON:
        terminal.print_json(rows)
    elif format_ is Format.CSV:
        typer.echo(csv_table(table), nl=False)
    elif format_ is Format.MARKDOWN:
        typer.echo(markdown_table(table))
    elif rows:
        console = terminal.stdout()
        rich_tables.show(console, table)
        console.print()
        for source in dict.fromkeys(row["source"] for row in rows):
            console.print(f"Source: {source}")
    else:
        none = f"no figure of run {summary['run']} has a published counterpart; those of events/published/ have"
        terminal.stdout().print(none)


def _write_rows(stored: FoundRun, summary: SummaryDocument, format_: Format) -> None:
    """Write each metric of each point, as in the bucket's files for Athena, or for Prometheus."""
    # scipy takes half a second to import, so `matrix --help` must not import it.
    from matrix.answer.costs import Bill
    from matrix.answer.rows import Origin, rows_of, to_json_lines
    from matrix.report.open_metrics import to_open_metrics

    plan = readable(stored.plan)
    origin = Origin.of_summary(summary, region=plan.get("region") if plan else None)
    bill = Bill.of(plan, summary.get("receipt"))
    rows = [row for cell in summary["cells"] for row in rows_of(origin, cell, bill)]
    typer.echo(to_json_lines(rows) if format_ is Format.JSONL else to_open_metrics(rows), nl=False)


def _text(summary: SummaryDocument, format_: Format) -> str:
    if format_ is Format.JSON:
        decision = summary.get("decision")
        answer = {"answer": quoted_answer(summary, decision)} if decision else {}
        return json.dumps({**answer, **summary}, indent=2, ensure_ascii=False) + "\n"
    written = {
        Format.CSV: csv_rows.to_csv,
        Format.MARKDOWN: markdown.to_markdown,
        Format.JUNIT: junit.to_junit,
        Format.GITHUB: github_summary.to_github,
    }
    return written[format_](summary)


def _column(name: str, head: str = "", *, is_detail: bool = False) -> TableColumn:
    return TableColumn(head or name.replace("_", " ").capitalize(), exact=name, is_detail=is_detail)


PUBLISHED_COLUMNS = (
    _column("cell", is_detail=True),
    _column("storage"),
    TableColumn("Instances", "figure", "instances"),
    _column("point"),
    *(_column(name, is_detail=True) for name in ("metric", "unit")),
    _column("percentile", "Level"),
    *(TableColumn(name.capitalize(), "figure", name) for name in ("ours", "published")),
    _column("date"),
    TableColumn("Ratio", "figure", "ratio"),
    _column("comparable", is_detail=True),
    _column("why_not", "Not comparable"),
    _column("differs"),
    _column("source", is_detail=True),
)


def _published_table(rows: Iterable[PublishedComparison]) -> Table:
    """A row for each figure with a published one; the ratio stands there even if they are not comparable."""
    return Table.of("", PUBLISHED_COLUMNS, map(_published_contents, rows))


def _published_contents(each: PublishedComparison) -> Sequence[object]:
    ratio = each["ratio"]
    return (
        *(each["cell"], each["storage"], each["instances"], each["point"], each["metric"], each["unit"]),
        TableCell(each["percentile"].upper(), each["percentile"]),
        *(TableCell(quantity(value, each["unit"]), value) for value in (each["ours"], each["published"])),
        *(each["date"], TableCell(ABSENT if ratio is None else f"{ratio:.2f}", ratio), each["comparable"]),
        TableCell("; ".join(each["why_not"]), tone="unsure"),
        *("; ".join(each["differs"]), each["source"]),
    )
