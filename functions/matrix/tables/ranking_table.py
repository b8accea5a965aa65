"""The table of one comparison: its storages, the best first, each with its cost and bottleneck."""

from collections.abc import Callable, Mapping, Sequence
from enum import Enum, auto

from matrix.tables.table import RunTable, TableCell, TableColumn, TableRow
from matrix.terms.documents.summary import Candidate, Decision, PointCost, Question, SummaryDocument
from matrix.terms.figures import ABSENT, Column, bounded_cost_words, interval_words
from matrix.terms.metrics import metric_title
from matrix.terms.verdicts import judged, ranked_of
from matrix.text.rankings import (
    Name,
    bottleneck_of,
    comparison_words,
    cost_unit,
    interval_of,
    level_words,
    mark,
    unclear,
)
from matrix.text.verdicts import verdict_words

# Number of builds on each instance over which a separate column spreads the cost of filling a cache.
SPREAD = 10


class Part(Enum):
    """A column of a ranking's table."""

    STORAGE = auto()
    FIGURE = auto()
    """The percentile that ranks it."""
    INTERVAL = auto()
    COST = auto()
    FIRST_COST = auto()
    """The cost including the fill of a cache that is used once."""
    SPREAD_COST = auto()
    """The cost including a share of the fill of a cache that is used `SPREAD` times."""
    VERDICT = auto()
    BOTTLENECK = auto()


# Columns of the terminal and Markdown, and of the page.
BRIEF = (Part.STORAGE, Part.FIGURE, Part.INTERVAL, Part.COST, Part.BOTTLENECK)
OF_PAGE = (*BRIEF[:-1], Part.FIRST_COST, Part.SPREAD_COST, Part.BOTTLENECK, Part.VERDICT)


def ranking_table(
    summary: SummaryDocument, decision: Decision, question: Question, name: Name, parts: Sequence[Part]
) -> RunTable:
    """Return a row for each ranked storage, the best first, with these parts, except parts that no storage has.

    `name` names a storage.
    """
    ranked = judged(question)
    columns = _columns(question, decision, ranked)
    written = _cells(summary, question, decision, name)
    rows = [TableRow([written[part](each) for part in parts], candidate=each) for each in ranked]
    title = f"{comparison_words(question)}: {metric_title(question['metric'], question['workload'])}"
    return RunTable(title, [columns[part] for part in parts], rows).without_empty()


def figure_column(question: Question) -> Column:
    """Return the format of a comparison's figures for all outputs, including storages that are not ranked."""
    return Column.of([ranked_of(each)["value"] for each in _with_left_out(question)], question["unit"])


def _with_left_out(question: Question) -> list[Candidate]:
    """Return the candidates that have a figure, the best first, whether they are ranked or left out."""
    known = [each for each in question["candidates"] if each.get("ranked")]
    return sorted(known, key=lambda each: ranked_of(each)["value"], reverse=question["higher_is_better"])


def _columns(question: Question, decision: Decision, ranked: Sequence[Candidate]) -> Mapping[Part, TableColumn]:
    column, level = figure_column(question), level_words(question)
    exact = f"{question['metric']} {level} ({question['unit']})"
    return {
        Part.STORAGE: TableColumn("Storage"),
        Part.FIGURE: TableColumn(column.head(level), exact=exact, is_figure=True),
        Part.INTERVAL: TableColumn(column.head(interval_words(ranked)), is_figure=True),
        Part.COST: TableColumn(f"USD per {cost_unit(question, decision)}", is_figure=True),
        Part.FIRST_COST: TableColumn("With cache fill", is_figure=True),
        Part.SPREAD_COST: TableColumn(f"Fill over {SPREAD} builds", is_figure=True),
        Part.VERDICT: TableColumn("Verdict"),
        Part.BOTTLENECK: TableColumn("Bottleneck"),
    }


def _cells(
    summary: SummaryDocument, question: Question, decision: Decision, name: Name
) -> Mapping[Part, Callable[[Candidate], TableCell]]:
    """Return a function for each part that writes its cell for a storage."""
    column, is_priced = figure_column(question), bool(cost_unit(question, decision))
    is_alone = len(judged(question)) == 1

    def storage(each: Candidate) -> TableCell:
        return TableCell(f"{mark(each, question, decision)}{name(each)}")

    def figure(each: Candidate) -> TableCell:
        value = ranked_of(each)["value"]
        return TableCell(f"{column.write(value)}{unclear(each)}", value)

    def cost(times: int | None) -> Callable[[Candidate], TableCell]:
        return lambda each: _cost_cell(each["cost"] if is_priced else None, times=times)

    def verdict(each: Candidate) -> TableCell:
        front = "; nothing is both cheaper and faster" if each["on_front"] and is_priced else ""
        return TableCell(f"{verdict_words(each, is_alone=is_alone)}{front}")

    return {
        Part.STORAGE: storage,
        Part.FIGURE: figure,
        Part.INTERVAL: lambda each: TableCell(interval_of(each, column)),
        Part.COST: cost(None),
        Part.FIRST_COST: cost(1),
        Part.SPREAD_COST: cost(SPREAD),
        Part.VERDICT: verdict,
        Part.BOTTLENECK: lambda each: TableCell(bottleneck_of(summary, each)),
    }


def _cost_cell(cost: PointCost | None, *, times: int | None) -> TableCell:
    """Write a cost in dollars; with `times` including the fill of a cache, spread over so many builds on each instance.

    A dash if the cost is not known, or no cache was filled.
    """
    if cost is None:
        return TableCell(ABSENT)
    assumed = ""
    if times is not None:
        filling = cost.get("filling")
        if not filling:
            return TableCell(ABSENT)
        cost = {**cost, "usd": cost["usd"] + filling["usd"] / (filling["builds"] * times)}
        assumed = " assumed" if filling.get("is_assumed") else ""
    return TableCell(f"{bounded_cost_words(cost).replace('$', '')}{assumed}", cost["usd"])
