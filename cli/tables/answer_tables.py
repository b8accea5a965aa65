"""The answer of a run on one screen: the recommendation, then a matrix of storages (rows) and fleet sizes (columns)."""

from collections.abc import Mapping
from itertools import groupby

from rich.console import Console
from rich.text import Text

from cli.messages import terminal
from cli.tables import rich_tables
from matrix.input.storage_names import brief_names
from matrix.tables.fleets_table import BEST, fleets_table
from matrix.terms.documents.summary import Decision, SummaryDocument
from matrix.terms.names import describe_tools
from matrix.terms.quantities import ABSENT
from matrix.terms.sentences import why_taken
from matrix.text.headlines import answer_sentences


def show_answer(console: Console, summary: SummaryDocument) -> None:
    """Print the decision in words, and a small table for each kind of work."""
    if source := summary.get("source"):
        whose = f"From files of {describe_tools(summary)}" if summary["environment"] == "imported" else "Published"
        terminal.print_wrapped(console, f"{whose}, not measured here: {source}.")
    names = brief_names((cell["file_system"], cell["storage"]) for cell in summary["cells"])
    for sentence in answer_sentences(summary, lambda candidate: names[candidate["file_system"]]):
        terminal.print_wrapped(console, Text(sentence, "bold"))
    if decision := summary.get("decision"):
        _show_grids(console, decision, names)


def _show_grids(console: Console, decision: Decision, names: Mapping[str, str]) -> None:
    is_for_sale = decision["is_recommendation"]
    for _, alike in groupby(decision["questions"], key=lambda question: (question["workload"], question["label"])):
        questions = list(alike)
        console.print()
        rich_tables.show(console, fleets_table(questions, names, is_for_sale=is_for_sale))
    if is_for_sale and any(question["recommended"] for question in decision["questions"]):
        reason = why_taken(decision["objective"])
        console.print(f"{BEST} is the one to take: {reason}. {ABSENT} was not measured: see above.")
