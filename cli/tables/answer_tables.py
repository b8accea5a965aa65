"""The answer of a run on one screen: the recommendation, then a matrix of storages (rows) and fleet sizes (columns)."""

from collections.abc import Mapping, Sequence
from itertools import groupby

from rich.console import Console
from rich.table import Table
from rich.text import Text

from cli.messages import terminal
from cli.tables.rich_tables import add_figures, new_table
from matrix.input.storage_names import brief_names
from matrix.terms.documents.summary import Decision, Question, SummaryDocument
from matrix.terms.metrics import describe_measure
from matrix.terms.names import describe_tools
from matrix.terms.quantities import ABSENT, quantity
from matrix.terms.sentences import why_taken
from matrix.terms.verdicts import is_taken
from matrix.text.headlines import answer_sentences

TAKEN = "*"
# Fleets beside each other in one table.
MAX_FLEETS = 3


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
        terminal.print_wrapped(console, Text(_title(questions, is_for_sale), "bold"))
        for first in range(0, len(questions), MAX_FLEETS):
            console.print(grid(questions[first : first + MAX_FLEETS], names, is_for_sale=is_for_sale))
    if is_for_sale and any(question["recommended"] for question in decision["questions"]):
        reason = why_taken(decision["objective"])
        console.print(f"{TAKEN} is the one to take: {reason}. {ABSENT} was not measured: see above.")


def grid(questions: Sequence[Question], names: Mapping[str, str], *, is_for_sale: bool) -> Table:
    """Build the table of one workload and point: a row for each storage, by brief `names`, a column for each fleet."""
    table = new_table("Storage")
    add_figures(table, *(question["fleet"] for question in questions))
    measured = [each["file_system"] for question in questions for each in question["candidates"] if each.get("ranked")]
    for system in dict.fromkeys(measured):
        table.add_row(Text(names[system]), *(_cell(question, system, is_for_sale) for question in questions))
    return table


def _title(questions: Sequence[Question], is_for_sale: bool) -> str:
    """Return the title: the workload, the percentile that ranks storages, and the unit that the dollars are for."""
    first = questions[0]
    levels = dict.fromkeys(f"P{question.get('ranked_level', question['level']):g}" for question in questions)
    unit = describe_measure(first["metric"], first["unit"])
    label = f" ({first['label']})" if first["label"] else ""
    costs = (candidate["cost"] for question in questions for candidate in question["candidates"])
    per = next((cost["per"] for cost in costs if cost), None) if is_for_sale else None
    return "".join(
        [
            f"{first['workload']}{label}: {' or '.join(levels)} of {unit}",
            f" ({'higher' if first['higher_is_better'] else 'lower'} is better)",
            f", US dollars per {per}" if per else "",
        ]
    )


def _cell(question: Question, system: str, is_for_sale: bool) -> Text:
    own = (candidate for candidate in question["candidates"] if candidate["file_system"] == system)
    candidate = next((candidate for candidate in own if candidate.get("ranked")), None)
    if candidate is None:
        return Text(f"{ABSENT}  " if is_for_sale else ABSENT, "dim")
    ranked, cost = candidate.get("ranked"), candidate["cost"]
    if candidate["lost"] is not None or ranked is None:
        return Text("left out", "dim")
    figure = quantity(ranked["value"], question["unit"] if question["unit"] == "s" else "").strip()
    if not is_for_sale:
        return Text(figure)
    is_best = is_taken(candidate, question)
    price = f"  {'~' if cost.get('is_assumed') else ''}{cost['usd']:,.2f}" if cost else ""
    return Text(f"{figure}{price} {TAKEN if is_best else ' '}", "green" if is_best else "")
