"""The table of one kind of work: a row for each storage, a column for each fleet."""

from collections.abc import Mapping, Sequence

from matrix.tables.table import Table, TableCell, figures
from matrix.terms.documents.summary import Question
from matrix.terms.metrics import describe_measure
from matrix.terms.quantities import ABSENT, quantity
from matrix.terms.verdicts import is_taken
from matrix.text.rankings import describe_level

BEST = "*"


def fleets_table(questions: Sequence[Question], names: Mapping[str, str], *, is_for_sale: bool) -> Table:
    """Return the figure of each storage with each fleet, and its cost; `names` names file systems."""
    measured = [each["file_system"] for question in questions for each in question["candidates"] if each.get("ranked")]
    rows = [
        (names[system], *(_cell(question, system, is_for_sale) for question in questions))
        for system in dict.fromkeys(measured)
    ]
    heads = ("Storage", *figures(*(question["fleet"] for question in questions)))
    return Table.of(_title(questions, is_for_sale), heads, rows)


def _title(questions: Sequence[Question], is_for_sale: bool) -> str:
    """Return the title: the workload, the percentile that ranks storages, and the unit that the dollars are for."""
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
