"""A run's summary as tables for the terminal: per workload, one row per point below its storage and fleet."""

from rich.console import Console
from rich.text import Text

from cli.messages import terminal
from cli.tables import answer_tables, rich_tables
from matrix.input.storage_names import cell_names
from matrix.tables.percentiles import has_refused, percentile_tables
from matrix.tables.run_tables import other_tables
from matrix.terms.documents.summary import SummaryDocument
from matrix.terms.figures import NOT_CARRIED_NOTE
from matrix.terms.measured import judged_metrics
from matrix.terms.names import reading_order
from matrix.terms.quantities import count_of
from matrix.terms.sentences import ENVIRONMENT_NOTES, left_behind_lines
from matrix.text.warnings import warning_lines

MAX_WARNINGS = 5


def show(console: Console, summary: SummaryDocument) -> None:
    """Print the results of a run."""
    status = summary.get("status", "")
    style = "green" if status == "measured" else "red"
    totals = summary.get("totals") or {"measured": 0, "cells": 0}
    is_partial = totals["measured"] < totals["cells"]
    counts = f", {totals['measured']} of {totals['cells']} cells measured" if is_partial else ""
    console.print(Text.assemble(("Run ", "bold"), summary["run"], "  ", (f"{status}{counts}", style)))
    answer_tables.show_answer(console, summary)
    cells = reading_order(summary.get("cells", []))
    names, points = cell_names(cells), list(judged_metrics(cells))
    for table in percentile_tables(points, lambda each: names[each.cell["id"]]):
        console.print()
        rich_tables.show(console, table)
    if has_refused(points):
        console.print()
        console.print(Text(NOT_CARRIED_NOTE))
    for table in other_tables(summary):
        console.print()
        rich_tables.show(console, table)
    show_warnings(console, summary)
    if note := ENVIRONMENT_NOTES.get(str(summary.get("environment"))):
        console.print()
        console.print(Text(note, "yellow"))


def show_warnings(console: Console, summary: SummaryDocument, *, are_all: bool = False) -> None:
    """Print resources that may still cost money, then the first kinds of warnings, and where the others are."""
    warnings = [*left_behind_lines(summary), *warning_lines(summary)]
    shown = warnings if are_all else warnings[: max(MAX_WARNINGS, len(left_behind_lines(summary)))]
    for warning in shown:
        terminal.print_wrapped(console, Text.assemble(("Warning: ", "yellow"), warning))
    if len(warnings) > len(shown):
        more = count_of(len(warnings) - len(shown), "more kind")
        rest = f"and {more}: matrix results {summary['run']} --warnings"
        terminal.print_wrapped(console, rest)
