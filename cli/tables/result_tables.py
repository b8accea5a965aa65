"""A run's summary as tables for the terminal: per workload, one row per point below its storage and fleet."""

from collections.abc import Iterable, Iterator

from rich.console import Console
from rich.table import Table
from rich.text import Text

from cli.messages import terminal
from cli.tables import answer_tables
from cli.tables.rich_tables import grouped
from matrix.input.storage_names import brief_names
from matrix.tables.bottleneck_table import BOTTLENECK, CELL, EVIDENCE, NEXT, bottleneck_table
from matrix.tables.directories_table import directories_table
from matrix.tables.earlier_runs import earlier_runs_table
from matrix.tables.failed_table import STATE, WHY, failed_table
from matrix.tables.highest_rates import HIGHEST, INSTANCES, LIMIT, POINT, STORAGE, highest_rates_table
from matrix.tables.layers_table import far_layers_table
from matrix.tables.percentiles import SUBJECTS, Medium, Name, percentile_tables
from matrix.tables.service_times_table import service_times_table
from matrix.tables.table import RunTable, TableCell, TableColumn, TableRow
from matrix.terms.documents.summary import SummaryDocument
from matrix.terms.figures import NOT_CARRIED_NOTE
from matrix.terms.measured import Measured, judged_metrics
from matrix.terms.names import describe_fleet, reading_order
from matrix.terms.quantities import ABSENT, latency, number
from matrix.terms.sentences import (
    ENVIRONMENT_NOTES,
    left_behind_lines,
)
from matrix.text import bottlenecks
from matrix.text.warnings import warning_lines

LONGEST_REASON = 240
# The number of cells that are shown with their evidence for each bottleneck.
MAX_EXAMPLES = 3
DIRECTIONS = ("read", "write", "sync")
MS_US = 1000
MAX_WARNINGS = 5
# rich takes 1 ms of processor time for a row of nine columns.
MAX_ROWS = 500


def show(console: Console, summary: SummaryDocument) -> None:
    """Print the results of a run."""
    status = summary.get("status", "")
    style = "green" if status == "measured" else "red"
    totals = summary.get("totals") or {"measured": 0, "cells": 0}
    is_partial = totals["measured"] < totals["cells"]
    counts = f", {totals['measured']} of {totals['cells']} cells measured" if is_partial else ""
    console.print(Text.assemble(("Run ", "bold"), summary["run"], "  ", (f"{status}{counts}", style)))
    answer_tables.show_answer(console, summary)
    for table in _percentiles(summary):
        console.print()
        console.print(table)
    show_highest_rates(console, summary)
    if has_refused(summary):
        console.print()
        console.print(Text(NOT_CARRIED_NOTE))
    show_ceilings(console, summary)
    show_sentences(console, directories_table(summary))
    show_sentences(console, service_times_table(summary))
    show_layers(console, summary)
    show_failed(console, summary)
    show_sentences(console, earlier_runs_table(summary))
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
        rest = f"and {len(warnings) - len(shown)} more kinds: matrix results {summary['run']} --warnings"
        terminal.print_wrapped(console, rest)


def show_highest_rates(console: Console, summary: SummaryDocument) -> None:
    """Print the highest rate of each open-loop sweep that kept a limit of latency."""
    table = highest_rates_table(summary.get("cells", []))
    if not table.rows:
        return
    console.print()
    console.print(Text(table.title, "bold"))
    for storage, fleet, label, limit, highest in table.texts(STORAGE, INSTANCES, POINT, LIMIT, HIGHEST):
        where = f": {label}, P99 at most {limit}: " if label else f": P99 at most {limit}: "
        line = Text.assemble("  ", (f"{storage}, {fleet}", "cyan"), where, (highest, "bold"))
        terminal.print_wrapped(console, line)


def show_ceilings(console: Console, summary: SummaryDocument) -> None:
    """Print each bottleneck of the cells, with the evidence of some cells and the next step."""
    table = bottleneck_table(summary)
    if not table.rows:
        return
    groups: dict[str, list[tuple[str, ...]]] = {}
    for name, *of_cell in table.texts(BOTTLENECK, CELL, EVIDENCE, NEXT):
        groups.setdefault(name, []).append(tuple(of_cell))
    console.print()
    console.print(Text(bottlenecks.TITLE, "bold"))
    # The most frequent first: 100 cells have three or four bottlenecks.
    for name, cells in sorted(groups.items(), key=lambda group: -len(group[1])):
        some = f" ({len(cells)} cell{'s' if len(cells) > 1 else ''}). Next: {cells[0][-1]}"
        terminal.print_wrapped(console, Text.assemble("  ", (name, "bold"), some))
        for cell, evidence, _ in cells[:MAX_EXAMPLES]:
            terminal.print_wrapped(console, Text.assemble("    ", (cell, "cyan"), f": {evidence}"))
        if len(cells) > MAX_EXAMPLES:
            console.print(Text(f"    and {len(cells) - MAX_EXAMPLES} more, in summary.md"))
    for sentence in table.sentences:
        console.print(Text(f"  {sentence}", "yellow"))


def show_sentences(console: Console, table: RunTable) -> None:
    """Print a table of cells and sentences as a line for each cell; nothing without rows."""
    if not table.rows:
        return
    console.print()
    console.print(Text(table.title, "bold"))
    for cell, sentence in table.texts():
        terminal.print_wrapped(console, Text.assemble("  ", (cell, "cyan"), f": {sentence}"))


def show_layers(console: Console, summary: SummaryDocument) -> None:
    """Print the largest differences between requested and arriving traffic: a cache, or amplification."""
    table = far_layers_table(summary)
    far = list(table.texts())
    if not far:
        return
    console.print()
    console.print(Text(table.title, "bold"))
    for cell, label, sentence in far[:MAX_EXAMPLES]:
        terminal.print_wrapped(console, Text.assemble("    ", (cell, "cyan"), f", {label}: {sentence}"))
    if len(far) > MAX_EXAMPLES:
        console.print(Text(f"    and {len(far) - MAX_EXAMPLES} more, in the report"))


def has_refused(summary: SummaryDocument) -> bool:
    """Return whether a percentile is shown as `≥` or as a dash because it has too few samples."""
    shown = judged_metrics(summary.get("cells", []))
    return any(not all((each.metric.get("carried") or {}).values()) for each in shown)


def _percentiles(summary: SummaryDocument) -> Iterator[Table]:
    """Yield a table for each workload and metric; below one of fio a table of its reads and writes."""
    cells = reading_order(summary.get("cells", []))
    names = brief_names((cell["file_system"], cell["storage"]) for cell in cells)

    def name(each: Measured) -> str:
        return names[each.cell["file_system"]]

    points = list(judged_metrics(cells))
    for built in percentile_tables(points, name, Medium.TERMINAL):
        yield grouped(built, most_rows=MAX_ROWS)
        apart = reads_and_writes([row.about for row in built.rows if row.about], name)
        if apart.rows:
            yield grouped(apart, most_rows=MAX_ROWS)


def reads_and_writes(points: Iterable[Measured], name: Name) -> RunTable:
    """Build a table with fio's rates and latencies of reads, writes and syncs, as medians over the samples."""
    rows = []
    for each in points:
        if each.cell["workload"]["type"] != "fio":
            continue
        for side in DIRECTIONS:
            # Files of fio may have only the latency from the submission on.
            is_whole = f"{side}_lat_p50_us" in each.point["metrics"]
            timed = side if is_whole else f"{side}_completion"
            metrics = (f"{side}_iops", f"{timed}_lat_p50_us", f"{timed}_lat_p99_us")
            measured = [each.point["metrics"].get(metric) for metric in metrics]
            rate, *latencies = [metric["p50"] if metric else None for metric in measured]
            if rate is not None or any(latency is not None for latency in latencies):
                label = ", ".join(filter(None, [each.label, timed.replace("_", " ") if measured[1] else side]))
                words = [name(each), describe_fleet(each.cell["fleet"]), label, _apart(rate)]
                words += [_apart(us, is_us=True) for us in latencies]
                rows.append(TableRow([TableCell(text) for text in words], about=each))
    subjects = [TableColumn(head) for head in SUBJECTS]
    figures = [TableColumn(head, is_figure=True) for head in ("IOPS", "P50 latency", "P99 latency")]
    return RunTable("fio, reads and writes apart (medians)", [*subjects, *figures], rows)


def _apart(value: float | None, *, is_us: bool = False) -> str:
    """Return a rate, or a latency in µs or ms, whichever text is shorter."""
    if value is None:
        return ABSENT
    if not is_us:
        return number(value)
    return f"{latency(value, in_ms=True)} ms" if value >= MS_US else f"{latency(value)} µs"


def show_failed(console: Console, summary: SummaryDocument) -> None:
    """Print the name of each cell without a result, with its error."""
    failed = list(failed_table(summary).texts(CELL, STATE, WHY))
    if not failed:
        return
    console.print()
    console.print(Text(f"{len(failed)} of {len(summary['cells'])} cells were not measured", "bold red"))
    for cell, state, why in failed:
        reason = shortened(state if why == ABSENT else why)
        terminal.print_wrapped(console, Text.assemble("  ", (cell, "bold"), ": ", reason))


def shortened(reason: str) -> str:
    """Cut a reason to a readable length: keep the start, with the failed action, and the end, with the error text."""
    if len(reason) <= LONGEST_REASON:
        return reason
    begin, end = reason[: LONGEST_REASON // 2], reason[-LONGEST_REASON // 2 :]
    return f"{begin.rpartition(' ')[0] or begin} … {end.partition(' ')[2] or end} (whole in summary.json)"
