"""The end of a run: its state, the answer, the comparisons, the caveats, the next commands."""

from rich.console import Console
from rich.text import Text

from cli.messages import terminal
from cli.tables import result_tables, rich_tables
from matrix.input.storage_names import candidate_names, cell_names
from matrix.tables.run_tables import answer_table
from matrix.terms.documents.summary import Decision, SummaryDocument
from matrix.terms.sentences import left_behind_lines
from matrix.text.endings import describe_failed, describe_state
from matrix.text.headlines import caveats, describe_busy_machine, opening

# Comparisons that are shown, those of the largest fleets; `--all` has the others.
MAX_ROWS = 12
# Environments of figures that were loaded: such a run cannot go on.
LOADED = ("published", "imported")


def show(console: Console, summary: SummaryDocument, *, flag: str) -> None:
    """Print the verdict of a run; `flag` is the option that chooses its deployment in the next command."""
    if decision := summary.get("decision"):
        _show_answer(console, summary, decision)
        # Resources that may still cost money.
        for line in left_behind_lines(summary):
            terminal.print_wrapped(console, Text(line, "red"))
    else:  # too damaged to be judged
        result_tables.show(console, summary)
    console.print("Next:")
    console.print(f"  {_next_command(summary, flag)}", soft_wrap=True)


def _next_command(summary: SummaryDocument, flag: str) -> str:
    """Return the command that helps most: the log of what failed, the measurement of the rest, or the report."""
    run = summary["run"]
    # A run of this machine is found without an option.
    where = [] if flag in ("", "--local") else [flag]
    parts = [part for cell in summary["cells"] for part in (cell, *cell.get("launches", []))]
    states = {part["state"] for part in parts}
    if states == {"failed"}:
        return " ".join(["matrix logs", run, summary["cells"][0]["id"], *where])
    if states != {"measured"} and summary["environment"] not in LOADED:
        return " ".join(["matrix run --resume", run, *where])
    return " ".join(["matrix report", run, *where, "--open"])


def _show_answer(console: Console, summary: SummaryDocument, decision: Decision) -> None:
    # The first line says for all that they are emulated.
    name, short = candidate_names(summary), candidate_names(summary, mark="")
    terminal.print_wrapped(console, _state(summary))
    first, *others = opening(decision, name, short)
    terminal.print_wrapped(console, Text(first, "bold"))
    for sentence in others:
        terminal.print_wrapped(console, sentence)
    if table := answer_table(summary, decision, short, MAX_ROWS):
        rich_tables.show(console, table)
    if busy := describe_busy_machine(summary, decision, short):
        terminal.print_wrapped(console, Text(busy, "yellow"))
    for caveat in caveats(decision, short):
        terminal.print_wrapped(console, Text(caveat, "yellow"))
    for line in describe_failed(summary, cell_names(summary["cells"])):
        terminal.print_wrapped(console, Text(line, "red"))


def _state(summary: SummaryDocument) -> Text:
    """Return the end of a run, its place, its cost and the remaining resources as text."""
    if summary["environment"] == "published":
        return Text(f"Figures of others: {summary['status']}; no difference was tested", "yellow")
    return Text(describe_state(summary), "green" if summary["status"] == "measured" else "red")
