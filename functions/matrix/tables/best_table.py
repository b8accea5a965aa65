"""The table of several comparisons: the best storage of each, and its distance to the next one."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace

from matrix.tables.ranking_table import figure_column
from matrix.tables.table import Table, TableCell, TableNote, figures
from matrix.terms.documents.summary import Candidate, Decision, Question, SummaryDocument
from matrix.terms.figures import describe_bounded_cost
from matrix.terms.quantities import ABSENT, quantity
from matrix.terms.verdicts import judged, ranked_of, winner
from matrix.text.rankings import (
    Name,
    bottleneck_of,
    cost_unit,
    describe_level,
    interval_of,
    mark,
    parts,
    shared_and_own_parts,
    short_name,
)
from matrix.text.verdicts import describe_next


def best_table(
    summary: SummaryDocument, decision: Decision, questions: Sequence[Question], name: Name, *, of: int | None = None
) -> Table:
    """Name the winner of each comparison, and its distance to the next one.

    The title has the properties that all comparisons share; `of` is the number of all comparisons, if these are a part.
    """
    shared, own = shared_and_own_parts(questions)
    some = f" ({len(questions)} of {of})" if of and len(questions) < of else ""
    if decision["objective"]:
        is_open = all(question.get("state") in ("open", "not-tested") for question in questions)
        best_words = "Cheapest by figures" if is_open else "Cheapest that meets it"
    elif all(len(judged(question)) < 2 for question in questions):  # noqa: PLR2004
        best_words = "Only one measured"
    elif all(question.get("state") in ("open", "not-tested", "nothing") for question in questions):
        best_words = "Best value, untested" if summary.get("environment") == "published" else "Ahead, not proven"
    else:
        best_words = "Best value" if decision["is_recommendation"] else "Fastest"
    heads = ("Comparison", best_words, *figures("Figure", "Interval", _cost_head(questions, decision)), "Bottleneck",
             "Next best")  # fmt: skip
    rows = []
    for question in questions:
        where = _joined(filter(None, own[parts(question)])) or question["fleet"]
        best = winner(question)
        rows.append((where, *(_best(summary, decision, question, best, name) if best else ("none", *[None] * 5))))
    table = Table.of(f"{_joined(shared) or 'The best of each comparison'}{some}", heads, rows)
    is_bracketed = any(question.get("state") == "expected" for question in questions)
    return replace(table, notes=[TableNote("( ): the best of those measured")] if is_bracketed else [])


def _best(
    summary: SummaryDocument, decision: Decision, question: Question, best: Candidate, name: Name
) -> tuple[object, ...]:
    called, cost = name(best), best["cost"] if decision["is_recommendation"] else None
    return (
        f"({called})" if question.get("state") == "expected" else f"{mark(best, question)}{called}",
        TableCell(
            f"{describe_level(question)} {quantity(ranked_of(best)['value'], question['unit'])}",
            ranked_of(best)["value"],
        ),
        interval_of(best, figure_column(question)),
        describe_bounded_cost(cost) if cost else ABSENT,
        bottleneck_of(summary, best),
        _next(question, best, decision, name),
    )


def largest(questions: Sequence[Question], most: int) -> list[Question]:
    """Return as many comparisons as have room: of each kind of work first the one with the most instances."""
    kinds: Counter[tuple[str, str]] = Counter()
    turns: dict[int, int] = {}  # by place: how many of its kind come before it
    for place in sorted(range(len(questions)), key=lambda place: -questions[place]["instances"]):
        kind = questions[place]["workload"], questions[place]["label"]
        turns[place] = kinds[kind]
        kinds[kind] += 1
    chosen = sorted(turns, key=lambda place: turns[place])[:most]
    return [questions[place] for place in sorted(chosen)]


def _cost_head(questions: Sequence[Question], decision: Decision) -> str:
    """Write the unit of costs, if all comparisons have the same: `$/build`."""
    units = {unit for question in questions if (unit := cost_unit(question, decision))}
    return f"$/{units.pop()}" if len(units) == 1 else "Cost"


def _next(question: Question, best: Candidate, decision: Decision, name: Name) -> str:
    """Name the next storage and how far it is: `EFS elastic, 1.26 times as slow`."""
    others = [each for each in judged(question) if each is not best]
    if not others:
        return "nothing to compare"
    is_priced = bool(cost_unit(question, decision))
    called = short_name(others[0], judged(question), name)
    return _joined([called, describe_next(others[0], best, question, is_priced=is_priced)])


def _joined(words: Iterable[str]) -> str:
    return ", ".join(filter(None, words))
