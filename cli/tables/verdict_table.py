"""The end of a run in twelve lines: its state, the recommendation, the caveats, the next steps."""

import io
import math
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import NamedTuple

from rich.cells import cell_len
from rich.console import Console
from rich.text import Text

from cli.messages import terminal
from cli.tables import result_tables
from cli.tables.text_table import TextTable
from matrix.input.storage_names import brief_names
from matrix.tables.best_table import BOTTLENECK, INTERVAL, best_table, largest
from matrix.tables.ranking_table import BRIEF, ranking_table
from matrix.tables.table import RunTable, TableRow
from matrix.terms.documents.summary import Candidate, Decision, SummaryDocument
from matrix.terms.sentences import left_behind_lines
from matrix.terms.verdicts import judged
from matrix.text.endings import failed_words, state_words
from matrix.text.headlines import busy_machine_words, caveats, headline
from matrix.text.rankings import Name

MOST_LINES = 12
# With the state, the answer, the heads of the table and the next steps these are twelve lines if none is broken.
MOST_ROWS, MOST_CAVEATS = 5, 2
MOST_ROWS_NARROW, MOST_CAVEATS_NARROW = 4, 1
# From this many columns on there is room for intervals and bottlenecks beside many comparisons.
WIDE = 100
IN_BRACKETS = re.compile(r" \([^)]*\)")
LEFT_OUT_NARROW = (INTERVAL, BOTTLENECK)
CODES = re.compile("\x1b\\[[0-9;]*m")


class Layout(NamedTuple):
    """The parts of a verdict that are shown."""

    rows: int
    doubts: int
    has_intervals: bool
    """Whether the table of several comparisons has intervals and bottlenecks."""


def show(console: Console, summary: SummaryDocument, *, flag: str, where: str | None = None) -> None:
    """Print the verdict of a run.

    `flag` is the option that chooses its deployment in the next commands, `where` the place of its results.
    """
    decision = summary.get("decision")
    run = " ".join(filter(None, [summary["run"], flag]))
    files = f"; files: {where}" if where else ""
    is_cut = console.width < WIDE and decision is not None and len(decision["questions"]) > 1
    rest = "  (intervals, bottlenecks)" if is_cut and not where else ""
    commands = f"Next: matrix report {run} --open", f"All:  matrix results {run} --all{files}{rest}"
    if decision:
        _show_answer(console, summary, decision, commands)
    else:  # too damaged to be judged
        result_tables.show(console, summary)
    for command in commands:
        _print_command(console, command)


def _show_answer(console: Console, summary: SummaryDocument, decision: Decision, commands: Sequence[str]) -> None:
    names = brief_names((cell["file_system"], cell["storage"]) for cell in summary["cells"])

    def name(candidate: Candidate) -> str:
        return names[candidate["file_system"]]

    failed = failed_words(summary)
    busy = busy_machine_words(summary, decision, name)
    doubts = [*([busy] if busy else []), *caveats(decision, name)]
    is_wide = console.width >= WIDE
    most_doubts = (MOST_CAVEATS if is_wide else MOST_CAVEATS_NARROW) - bool(failed)

    def draw(onto: Console, layout: Layout) -> None:
        terminal.print_wrapped(onto, _state(summary))
        terminal.print_wrapped(onto, Text(headline(decision, name), "bold"))
        _show_ranking(onto, summary, decision, name, layout, is_wide=is_wide)
        for doubt in doubts[: layout.doubts]:
            terminal.print_wrapped(onto, Text(doubt, "yellow"))
        if failed:
            terminal.print_wrapped(onto, Text(failed, "red"))

    taken = sum(_height(console, partial(_print_command, command=command)) for command in commands)
    layouts = list(_layouts(is_wide=is_wide, most_doubts=most_doubts))
    fits = (each for each in layouts if _height(console, partial(draw, layout=each)) + taken <= MOST_LINES)
    draw(console, next(fits, layouts[-1]))
    # Resources that may still cost money are shown, however long the list is.
    for line in left_behind_lines(summary):
        terminal.print_wrapped(console, Text(line, "red"))


def _layouts(*, is_wide: bool, most_doubts: int) -> Iterator[Layout]:
    """Yield possible layouts, the largest first: intervals and bottlenecks are left out before rows, then caveats."""
    most_rows = MOST_ROWS if is_wide else MOST_ROWS_NARROW
    if is_wide:
        yield Layout(most_rows, most_doubts, has_intervals=True)
    for doubts in range(most_doubts, -1, -1):
        for rows in range(most_rows, 0, -1):
            yield Layout(rows, doubts, has_intervals=False)


def _height(console: Console, draw: Callable[[Console], None]) -> int:
    """Count the lines of an output on a console."""
    trial = Console(file=io.StringIO(), width=console.width, force_terminal=console.is_terminal, no_color=True)
    with trial.capture() as drawn:
        draw(trial)
    lines = [CODES.sub("", line).rstrip() for line in drawn.get().splitlines()]
    if not console.is_terminal:
        return len(lines)
    # A terminal breaks longer lines.
    return sum(max(1, math.ceil(cell_len(line) / console.width)) for line in lines)


def _print_command(console: Console, command: str) -> None:
    console.print(command, soft_wrap=True)


def _state(summary: SummaryDocument) -> Text:
    """Return the end of a run, its place, its cost and the remaining resources as text."""
    if summary["environment"] == "published":
        return Text(f"Figures of others: {summary['status']}; no difference was tested", "yellow")
    return Text(state_words(summary), "green" if summary["status"] == "measured" else "red")


def _show_ranking(
    console: Console,
    summary: SummaryDocument,
    decision: Decision,
    name: Name,
    layout: Layout,
    *,
    is_wide: bool,
) -> None:
    questions = [question for question in decision["questions"] if judged(question)]
    if not questions:
        return
    if len(questions) == 1:
        whole = ranking_table(summary, decision, questions[0], name, BRIEF)
        console.print(_drawn(replace(whole, rows=whole.rows[: layout.rows])))
    else:
        some = largest(questions, layout.rows)
        table = best_table(summary, decision, some, name, of=len(questions))
        if not is_wide:  # no room for the words that distinguish storages of one kind
            table = replace(table, rows=[_without_brackets(row) for row in table.rows])
        if not layout.has_intervals:
            table = table.only(*(column.head for column in table.columns if column.head not in LEFT_OUT_NARROW))
        console.print(_drawn(table, gap=2 if is_wide else 1))


def _without_brackets(row: TableRow) -> TableRow:
    *others, last = row.cells
    return replace(row, cells=[*others, replace(last, text=IN_BRACKETS.sub("", last.text))])


def _drawn(table: RunTable, *, gap: int = 2) -> TextTable:
    drawn = TextTable(gap=gap)
    for column in table.columns:
        if column.is_figure:
            drawn.add_figures(column.head)
        else:
            drawn.add_column(column.head)
    for texts in table.texts():
        drawn.add_row(*map(Text, texts))
    return drawn
