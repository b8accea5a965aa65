"""The table of one comparison: its storages, the best first, each with its cost and bottleneck."""

from matrix.tables.table import Table, TableCell, TableColumn, figures, row
from matrix.terms.documents.summary import Candidate, Decision, PointCost, Question, SummaryDocument
from matrix.terms.figures import describe_bounded_cost, describe_interval
from matrix.terms.metrics import metric_title
from matrix.terms.quantities import ABSENT, Column, factor, quantity
from matrix.terms.verdicts import judged, ranked_of
from matrix.text.rankings import (
    Name,
    bottleneck_of,
    cost_unit,
    describe_comparison,
    describe_level,
    interval_of,
    mark,
    unclear,
)
from matrix.text.verdicts import describe_verdict

# Number of builds on each instance over which a separate column spreads the cost of filling a cache.
SPREAD = 10


def ranking_table(summary: SummaryDocument, decision: Decision, question: Question, name: Name) -> Table:
    """Return a row for each ranked storage, the best first; `name` names a storage."""
    column, level = figure_column(question), describe_level(question)
    ranked, unit = judged(question), cost_unit(question, decision)
    columns = [
        TableColumn("Storage"),
        TableColumn(column.head(level), "figure", exact=f"{question['metric']} {level} ({question['unit']})"),
        *figures(
            column.head(describe_interval(ranked)),
            "Whole fleet",
            f"USD per {unit}",
            "× cheapest",
            "With cache fill",
            f"Fill over {SPREAD} builds",
        ),
        TableColumn("Bottleneck"),
        TableColumn("Verdict"),
    ]
    rows = [row(_contents(summary, question, each, name, column, is_priced=bool(unit))) for each in ranked]
    title = f"{describe_comparison(question)}: {metric_title(question['metric'], question['workload'])}"
    return Table(title, columns, rows)


def _contents(
    summary: SummaryDocument,
    question: Question,
    each: Candidate,
    name: Name,
    column: Column,
    *,
    is_priced: bool,
) -> list[object]:
    value = ranked_of(each)["value"]
    cost = each["cost"] if is_priced else None
    whole_s, cost_ratio = each.get("fleet_s"), each.get("times_as_dear")
    front = "; nothing is both cheaper and faster" if each["on_front"] and cost else ""
    return [
        f"{mark(each, question)}{name(each)}",
        TableCell(f"{column.write(value)}{unclear(each, question)}", value),
        interval_of(each, column),
        TableCell(ABSENT if whole_s is None else quantity(whole_s, "s"), whole_s),
        _cost_cell(cost, times=None),
        TableCell(factor(cost_ratio) if cost and cost_ratio is not None else ABSENT, cost_ratio if cost else None),
        _cost_cell(cost, times=1),
        _cost_cell(cost, times=SPREAD),
        bottleneck_of(summary, each),
        f"{describe_verdict(each, question)}{front}",
    ]


def figure_column(question: Question) -> Column:
    """Return the format of a comparison's figures for all outputs, including storages that are not ranked."""
    known = [each for each in question["candidates"] if each.get("ranked")]
    return Column.of([ranked_of(each)["value"] for each in known], question["unit"])


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
        cost = _raised(cost, filling["usd"] / (filling["builds"] * times))
        assumed = " assumed" if filling.get("is_assumed") else ""
    return TableCell(f"{describe_bounded_cost(cost).replace('$', '')}{assumed}", cost["usd"])


def _raised(cost: PointCost, by_usd: float) -> PointCost:
    raised: PointCost = {**cost, "usd": cost["usd"] + by_usd}
    if "low_usd" in cost and "high_usd" in cost:
        raised["low_usd"], raised["high_usd"] = cost["low_usd"] + by_usd, cost["high_usd"] + by_usd
    return raised
