"""A run's summary as tables for the terminal: per workload, one row per point below its storage and fleet."""

from collections.abc import Mapping
from itertools import accumulate
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from cli.messages import terminal
from cli.tables import answer_tables
from cli.tables.text_table import TextTable
from matrix.input.storage_names import brief_names
from matrix.report import highest_rates
from matrix.terms.ceilings import by_ceiling, limit_words
from matrix.terms.documents.result import ResultDocument
from matrix.terms.documents.summary import SummaryDocument
from matrix.terms.figures import (
    ABSENT,
    NOT_CARRIED_NOTE,
    figure,
    interval,
    latency,
    number,
    percentiles_of,
    sample_count,
)
from matrix.terms.layers import far_layers, layer_sentence
from matrix.terms.metrics import measure_words
from matrix.terms.names import (
    direction,
    fleet_words,
    launch_words,
    marked_label,
    point_labels,
    primary_metric,
    reading_order,
    workload_words,
)
from matrix.terms.sentences import (
    ENVIRONMENT_NOTES,
    error_text,
    left_behind_lines,
)
from matrix.text import bottlenecks
from matrix.text.warnings import warning_lines

NARROW = 100
LONGEST_REASON = 240
# Of each ceiling, so many cells are shown with their evidence.
MOST_EXAMPLES = 3
DIRECTIONS = ("read", "write", "sync")
MS_US = 1000
MOST_WARNINGS = 5
# rich takes 1 ms of a processor for a row of nine columns.
MOST_ROWS = 500


def show(console: Console, summary: SummaryDocument) -> None:
    """Print the results of a run."""
    status = summary.get("status", "")
    style = "green" if status == "measured" else "red"
    totals = summary.get("totals") or {"measured": 0, "cells": 0}
    is_partial = totals["measured"] < totals["cells"]
    counts = f", {totals['measured']} of {totals['cells']} cells measured" if is_partial else ""
    console.print(Text.assemble(("Run ", "bold"), summary["run"], "  ", (f"{status}{counts}", style)))
    answer_tables.show_answer(console, summary)
    names = brief_names((cell["file_system"], cell["storage"]) for cell in summary.get("cells", []))
    for (workload, metric), cells in _by_metric(summary).items():
        console.print()
        console.print(table(workload, metric, cells, names, console.width))
        if by_direction := directions(cells, names, console.width):
            console.print()
            console.print(by_direction)
    show_highest_rates(console, summary)
    if has_refused(summary):
        console.print()
        console.print(Text(NOT_CARRIED_NOTE))
    show_ceilings(console, summary)
    show_layers(console, summary)
    show_failed(console, summary)
    show_warnings(console, summary)
    if note := ENVIRONMENT_NOTES.get(str(summary.get("environment"))):
        console.print()
        console.print(Text(note, "yellow"))


def show_warnings(console: Console, summary: SummaryDocument, *, are_all: bool = False) -> None:
    """Print what may still cost money, then as many kinds of warnings as one reads, and where the others stand."""
    warnings = [*left_behind_lines(summary), *warning_lines(summary)]
    shown = warnings if are_all else warnings[: max(MOST_WARNINGS, len(left_behind_lines(summary)))]
    for warning in shown:
        terminal.print_wrapped(console, Text.assemble(("Warning: ", "yellow"), warning))
    if len(warnings) > len(shown):
        rest = f"and {len(warnings) - len(shown)} more kinds: matrix results {summary['run']} --warnings"
        terminal.print_wrapped(console, rest)


def show_highest_rates(console: Console, summary: SummaryDocument) -> None:
    """Print the highest rate of each sweep of open loops up to which a limit of latency was kept."""
    rows = list(highest_rates.rows(summary.get("cells", [])))
    if not rows:
        return
    console.print()
    console.print(Text(highest_rates.TITLE, "bold"))
    for storage, fleet, label, limit, _, highest, *_ in rows:
        where = f": {label}, P99 at most {limit}: " if label else f": P99 at most {limit}: "
        line = Text.assemble("  ", (f"{storage}, {fleet}", "cyan"), where, (highest, "bold"))
        terminal.print_wrapped(console, line)


def show_ceilings(console: Console, summary: SummaryDocument) -> None:
    """Print each limit that held cells back, with the evidence of some of them and what to do next."""
    groups = by_ceiling(summary)
    if not groups:
        return
    console.print()
    console.print(Text(bottlenecks.TITLE, "bold"))
    for name, cells in groups.items():
        some = f" ({len(cells)} cell{'s' if len(cells) > 1 else ''}). Next: {bottlenecks.next_words(*cells[0])}"
        terminal.print_wrapped(console, Text.assemble("  ", (limit_words(name), "bold"), some))
        for cell, bottleneck in cells[:MOST_EXAMPLES]:
            line = Text.assemble("    ", (cell["id"], "cyan"), f": {bottlenecks.evidence_words(cell, bottleneck)}")
            terminal.print_wrapped(console, line)
        if len(cells) > MOST_EXAMPLES:
            console.print(Text(f"    and {len(cells) - MOST_EXAMPLES} more, in summary.md"))
    if any(bottleneck["is_provisional"] for cells in groups.values() for _, bottleneck in cells):
        console.print(Text(f"  {bottlenecks.PROVISIONAL}", "yellow"))


def show_layers(console: Console, summary: SummaryDocument) -> None:
    """Print where most lies between what programs asked for and what the storage saw: a cache, or amplification."""
    far = far_layers(summary)
    if not far:
        return
    console.print()
    console.print(Text("What each layer saw of the work", "bold"))
    for cell, label, layer in far[:MOST_EXAMPLES]:
        line = Text.assemble("    ", (cell, "cyan"), f", {label}: {layer_sentence(layer)}")
        terminal.print_wrapped(console, line)
    if len(far) > MOST_EXAMPLES:
        console.print(Text(f"    and {len(far) - MOST_EXAMPLES} more, in the report"))


def has_refused(summary: SummaryDocument) -> bool:
    """Whether a percentile is shown as `≥` or as a dash for want of values."""
    shown = (primary_metric(point) for cell in summary.get("cells", []) for point in cell.get("points") or [])
    return any(not all((named[1].get("carried") or {}).values()) for named in shown if named)


def _by_metric(summary: SummaryDocument) -> dict[tuple[str, str], list[ResultDocument]]:
    """Group the cells that have results by workload and primary metric, in the order of the run."""
    groups: dict[tuple[str, str], list[ResultDocument]] = {}
    for cell in summary.get("cells", []):
        names = {named[0] for point in cell.get("points") or [] if (named := primary_metric(point))}
        for name in sorted(names):
            groups.setdefault((workload_words(cell["workload"]), name), []).append(cell)
    return groups


def table(workload: str, metric: str, cells: list[ResultDocument], names: Mapping[str, str], width: int) -> Table:
    """Build the table of one workload, by brief `names` of storages, as the answer and the report have them."""
    shown = [point["metrics"][metric] for cell in cells for point in cell["points"] if metric in point["metrics"]]
    example = shown[0]
    title = f"{workload}: {measure_words(metric, example.get('unit', ''))} ({direction(example)})"
    built = TextTable(title, gap=2 if width >= NARROW else 1)
    built.add_column("Storage, fleet, point")
    # A column of nothing but dashes tells nobody anything; the note below the tables says why there are none.
    carried = [name for name in percentiles_of(shown) if any(figure(each, name) != ABSENT for each in shown)]
    for percentile in carried:
        built.add_column(percentile.upper(), justify="right", no_wrap=True)
    has_intervals = any(interval(shown_metric) != ABSENT for shown_metric in shown)
    if has_intervals:
        built.add_column("P50, 95 %", justify="right", no_wrap=True)
    built.add_column("n", justify="right", no_wrap=True)
    listed = _that_fit(reading_order(cells))
    built.caption = _rest(len(cells) - len(listed))
    for cell in listed:
        words = [names[cell["file_system"]], fleet_words(cell["fleet"]), launch_words(cell)]
        built.add_row(Text(", ".join(filter(None, words)), "cyan"))
        labels = point_labels(cell["points"])
        for point in cell["points"]:
            if metric in point["metrics"]:
                name = marked_label(labels[point["id"]], point, cell)
                # Text keeps rich from taking brackets for a style.
                built.add_row(Text(f"  {name}"), *_figures(point["metrics"][metric], carried, has_intervals))
    return built


def directions(cells: list[ResultDocument], names: Mapping[str, str], width: int) -> TextTable | None:
    """Build fio's rates and latencies of reads, writes and syncs apart, medians over the samples; None without fio."""
    fio = [cell for cell in cells if cell["workload"]["type"] == "fio"]
    if not fio:
        return None
    built = TextTable("fio, reads and writes apart (medians)", gap=2 if width >= NARROW else 1)
    built.add_column("Storage, fleet, point")
    for head in ("IOPS", "P50 latency", "P99 latency"):
        built.add_column(head, justify="right", no_wrap=True)
    listed = _that_fit(reading_order(fio))
    built.caption = _rest(len(fio) - len(listed))
    for cell in listed:
        built.add_row(Text(", ".join([names[cell["file_system"]], fleet_words(cell["fleet"])]), "cyan"))
        labels = point_labels(cell["points"])
        for point in cell["points"]:
            for side in DIRECTIONS:
                # Files of fio may know the time from the submission on only.
                is_whole = f"{side}_lat_p50_us" in point["metrics"]
                timed = side if is_whole else f"{side}_completion"
                metrics = (f"{side}_iops", f"{timed}_lat_p50_us", f"{timed}_lat_p99_us")
                measured = [point["metrics"].get(name) for name in metrics]
                medians = [metric["p50"] if metric else None for metric in measured]
                if any(value is not None for value in medians):
                    label = ", ".join(
                        filter(None, [labels[point["id"]], timed.replace("_", " ") if measured[1] else side])
                    )
                    built.add_row(
                        Text(f"  {label}"), _apart(medians[0]), *(_apart(us, is_us=True) for us in medians[1:])
                    )
    return built


def _that_fit(cells: list[ResultDocument]) -> list[ResultDocument]:
    """Return the first cells, whose rows are about as many as one reads in a terminal; one at least."""
    rows = accumulate(1 + len(cell["points"]) for cell in cells)
    return [cell for at, (cell, count) in enumerate(zip(cells, rows, strict=True)) if not at or count <= MOST_ROWS]


def _rest(count: int) -> Text | None:
    return Text(f"and {count} more cells: see the report, or add --format csv") if count else None


def _apart(value: float | None, *, is_us: bool = False) -> str:
    """Write a rate, or a latency in µs or ms, whichever is the shorter."""
    if value is None:
        return ABSENT
    if not is_us:
        return number(value)
    return f"{latency(value / 1000)} ms" if value >= MS_US else f"{latency(value)} µs"


def _figures(metric: Mapping[str, Any], carried: list[str], has_intervals: bool) -> list[str | Text]:
    # The unit stands in the title.
    bare = {**metric, "unit": "s" if metric.get("unit") == "s" else ""}
    count = Text(sample_count(metric), "" if metric["n"] == metric["expected_n"] else "red")
    middle = [interval(bare)] if has_intervals else []
    return [*(figure(bare, percentile).strip() for percentile in carried), *middle, count]


def show_failed(console: Console, summary: SummaryDocument) -> None:
    """Name each cell that has no result, with its error."""
    failed = [cell for cell in summary.get("cells", []) if cell.get("state") != "measured"]
    if not failed:
        return
    console.print()
    console.print(Text(f"{len(failed)} of {len(summary['cells'])} cells were not measured", "bold red"))
    for cell in failed:
        terminal.print_wrapped(console, Text.assemble("  ", (cell["id"], "bold"), ": ", why(cell)))


def why(cell: ResultDocument) -> str:
    """Return why a cell was not measured: its error without repetition, cut to a readable length."""
    text = error_text(cell.get("error")).replace(f"{cell['id']}: ", "") or str(cell.get("state", ""))
    if len(text) <= LONGEST_REASON:
        return text
    # What was begun stands first, and why it failed last: the program's own last words.
    begin, end = text[: LONGEST_REASON // 2], text[-LONGEST_REASON // 2 :]
    return f"{begin.rpartition(' ')[0] or begin} … {end.partition(' ')[2] or end} (whole in summary.json)"
