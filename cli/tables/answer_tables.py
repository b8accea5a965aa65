"""The answer of a run on one screen: the recommendation, then a matrix of storages (rows) and fleet sizes (columns)."""

from collections.abc import Mapping, Sequence
from itertools import groupby

from rich.console import Console
from rich.text import Text

from cli.messages import terminal
from cli.tables import rich_tables
from matrix.input.storage_names import brief_names
from matrix.tables.table import Table, TableCell, figures
from matrix.terms.documents.summary import Decision, Question, SummaryDocument
from matrix.terms.metrics import describe_measure
from matrix.terms.names import describe_tools
from matrix.terms.quantities import ABSENT, quantity
from matrix.terms.sentences import why_taken
from matrix.terms.verdicts import is_taken
from matrix.text.headlines import answer_sentences
from matrix.text.rankings import describe_level

BEST = "*"


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
        rich_tables.show(console, _table(questions, names, is_for_sale=is_for_sale))
    if is_for_sale and any(question["recommended"] for question in decision["questions"]):
        reason = why_taken(decision["objective"])
        console.print(f"{BEST} is the one to take: {reason}. {ABSENT} was not measured: see above.")


def _table(questions: Sequence[Question], names: Mapping[str, str], *, is_for_sale: bool) -> Table:
    """The figure of each storage with each fleet, and its cost; `names` names file systems."""
    measured = [each["file_system"] for question in questions for each in question["candidates"] if each.get("ranked")]
    rows = [
        (names[system], *(_cell(question, system, is_for_sale) for question in questions))
        for system in dict.fromkeys(measured)
    ]
    heads = ("Storage", *figures(*(question["fleet"] for question in questions)))
    return Table.of(_title(questions, is_for_sale), heads, rows)


def _title(questions: Sequence[Question], is_for_sale: bool) -> str:
    """The title: the workload, the percentile that ranks storages, and the unit that the dollars are for."""
    first = questions[0]
    levels = dict.fromkeys(map(describe_level, questions))
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


def _cell(question: Question, system: str, is_for_sale: bool) -> TableCell:
    own = (candidate for candidate in question["candidates"] if candidate["file_system"] == system)
    candidate = next((candidate for candidate in own if candidate.get("ranked")), None)
    if candidate is None:
        return TableCell(f"{ABSENT}  " if is_for_sale else ABSENT)
    ranked, cost = candidate.get("ranked"), candidate["cost"]
    if candidate["lost"] is not None or ranked is None:
        return TableCell("left out", tone="quiet")
    figure = quantity(ranked["value"], question["unit"] if question["unit"] == "s" else "").strip()
    if not is_for_sale:
        return TableCell(figure, ranked["value"])
    is_best = is_taken(candidate, question)
    price = f"  {'~' if cost.get('is_assumed') else ''}{cost['usd']:,.2f}" if cost else ""
    return TableCell(f"{figure}{price} {BEST if is_best else ' '}", ranked["value"], "good" if is_best else "")
