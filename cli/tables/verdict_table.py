"""The end of a run: its state, the answer, the comparisons, the caveats, the next commands."""

from rich.console import Console
from rich.text import Text

from cli.messages import terminal
from cli.tables import result_tables
from cli.tables.rich_tables import drawn
from matrix.input.storage_names import brief_names
from matrix.tables.best_table import best_table, largest
from matrix.tables.ranking_table import ranking_table
from matrix.terms.documents.summary import Candidate, Decision, SummaryDocument
from matrix.terms.sentences import left_behind_lines
from matrix.terms.verdicts import judged
from matrix.text.endings import describe_failed, describe_state
from matrix.text.headlines import caveats, describe_busy_machine, headline
from matrix.text.rankings import Name

# Comparisons that are shown, those of the largest fleets; `--all` has the others.
MAX_ROWS = 12


def show(console: Console, summary: SummaryDocument, *, flag: str, where: str | None = None) -> None:
    """Print the verdict of a run.

    `flag` is the option that chooses its deployment in the next commands, `where` the place of its results.
    """
    if decision := summary.get("decision"):
        _show_answer(console, summary, decision)
        # Resources that may still cost money.
        for line in left_behind_lines(summary):
            terminal.print_wrapped(console, Text(line, "red"))
    else:  # too damaged to be judged
        result_tables.show(console, summary)
    run = " ".join(filter(None, [summary["run"], flag]))
    files = f"; files: {where}" if where else ""
    console.print(f"Next: matrix report {run} --open", soft_wrap=True)
    console.print(f"All:  matrix results {run} --all{files}", soft_wrap=True)


def _show_answer(console: Console, summary: SummaryDocument, decision: Decision) -> None:
    names = brief_names((cell["file_system"], cell["storage"]) for cell in summary["cells"])

    def name(candidate: Candidate) -> str:
        return names[candidate["file_system"]]

    terminal.print_wrapped(console, _state(summary))
    terminal.print_wrapped(console, Text(headline(decision, name), "bold"))
    _show_comparisons(console, summary, decision, name)
    if busy := describe_busy_machine(summary, decision, name):
        terminal.print_wrapped(console, Text(busy, "yellow"))
    for caveat in caveats(decision, name):
        terminal.print_wrapped(console, Text(caveat, "yellow"))
    if failed := describe_failed(summary):
        terminal.print_wrapped(console, Text(failed, "red"))


def _state(summary: SummaryDocument) -> Text:
    """Return the end of a run, its place, its cost and the remaining resources as text."""
    if summary["environment"] == "published":
        return Text(f"Figures of others: {summary['status']}; no difference was tested", "yellow")
    return Text(describe_state(summary), "green" if summary["status"] == "measured" else "red")


def _show_comparisons(console: Console, summary: SummaryDocument, decision: Decision, name: Name) -> None:
    questions = [question for question in decision["questions"] if judged(question)]
    if len(questions) == 1:
        console.print(drawn(ranking_table(summary, decision, questions[0], name)))
    elif questions:
        some = largest(questions, MAX_ROWS)
        console.print(drawn(best_table(summary, decision, some, name, of=len(questions))))
