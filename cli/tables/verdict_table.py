"""The end of a run in twelve lines: how it ended, what to take, what may be wrong with that, what to do next."""

import re
from collections.abc import Sequence

from rich.console import Console
from rich.text import Text

from cli.messages import terminal
from cli.tables import result_tables
from cli.tables.text_table import TextTable
from matrix.input.storage_names import brief_names
from matrix.terms.documents.summary import Candidate, Decision, SummaryDocument
from matrix.terms.sentences import left_behind_lines
from matrix.terms.verdicts import judged
from matrix.text import rankings
from matrix.text.endings import failed_words, state_words
from matrix.text.headlines import busy_machine_words, caveats, headline

# With the state, the answer, the heads of the table and what to do next these are twelve lines.
MOST_ROWS, MOST_CAVEATS = 5, 2
# Where sentences take two lines.
MOST_ROWS_NARROW, MOST_CAVEATS_NARROW = 4, 1
# From so many columns on there is room for intervals and bottlenecks beside many comparisons.
WIDE = 100
IN_BRACKETS = re.compile(r" \([^)]*\)")
LEFT_OUT_NARROW = ("Interval", "Bottleneck")


def show(console: Console, summary: SummaryDocument, *, flag: str, where: str | None = None) -> None:
    """Print the verdict of a run.

    `flag` is the option that chooses its deployment in the commands to type next, `where` has the files of its results.
    """
    decision = summary.get("decision")
    if decision and "as_written" not in decision:
        _show_answer(console, summary, decision)
    else:  # of an older version, or too damaged to be judged
        result_tables.show(console, summary)
    run = " ".join(filter(None, [summary["run"], flag]))
    console.print(f"Next: matrix report {run} --open", soft_wrap=True)
    files = f"; files: {where}" if where else ""
    is_cut = console.width < WIDE and decision is not None and len(decision["questions"]) > 1
    rest = "  (intervals, bottlenecks)" if is_cut and not where else ""
    console.print(f"All:  matrix results {run} --all{files}{rest}", soft_wrap=True)


def _show_answer(console: Console, summary: SummaryDocument, decision: Decision) -> None:
    names = brief_names((cell["file_system"], cell["storage"]) for cell in summary["cells"])
    is_wide = console.width >= WIDE
    terminal.print_wrapped(console, _state(summary))

    def name(candidate: Candidate) -> str:
        return names[candidate["file_system"]]

    answer = headline(decision, name)
    terminal.print_wrapped(console, Text(answer, "bold"))
    failed = failed_words(summary)
    most = (MOST_CAVEATS if is_wide else MOST_CAVEATS_NARROW) - bool(failed)
    busy = busy_machine_words(summary, decision, name)
    doubts = [*([busy] if busy else []), *caveats(decision, name)][:most]
    taken = sum(len(line) > console.width for line in (answer, *doubts))
    most_rows = MOST_ROWS if is_wide else MOST_ROWS_NARROW - taken
    _show_ranking(console, summary, decision, name, most_rows, is_wide=is_wide)
    for caveat in doubts:
        terminal.print_wrapped(console, Text(caveat, "yellow"))
    for line in [*left_behind_lines(summary), *([failed] if failed else [])]:
        terminal.print_wrapped(console, Text(line, "red"))


def _state(summary: SummaryDocument) -> Text:
    """Write how a run ended, where it ran, what it cost and whether anything is left of it."""
    if summary["environment"] == "published":
        return Text(f"Figures of others: {summary['status']}; no difference was tested", "yellow")
    return Text(state_words(summary), "green" if summary["status"] == "measured" else "red")


def _show_ranking(
    console: Console,
    summary: SummaryDocument,
    decision: Decision,
    name: rankings.Name,
    most_rows: int,
    *,
    is_wide: bool,
) -> None:
    questions = [question for question in decision["questions"] if judged(question)]
    if not questions:
        return
    if len(questions) == 1:
        whole = rankings.ranking(summary, decision, questions[0], name)
        console.print(_drawn(whole._replace(rows=whole.rows[:MOST_ROWS])))
    else:
        some = rankings.largest(questions, most_rows)
        table = rankings.best_of_each(summary, decision, some, name, of=len(questions))
        if not is_wide:  # no room for what tells two storages of a kind apart
            table = table._replace(rows=[[*row[:-1], IN_BRACKETS.sub("", row[-1])] for row in table.rows])
        console.print(_drawn(table, without=() if is_wide else LEFT_OUT_NARROW, gap=2 if is_wide else 1))


def _drawn(table: rankings.Table, *, without: Sequence[str] = (), gap: int = 2) -> TextTable:
    drawn = TextTable(gap=gap)
    kept = [at for at, head in enumerate(table.heads) if head not in without]
    for at in kept:
        if table.are_figures[at]:
            drawn.add_figures(table.heads[at])
        else:
            drawn.add_column(table.heads[at])
    for row in table.rows:
        drawn.add_row(*(Text(row[at]) for at in kept))
    return drawn
