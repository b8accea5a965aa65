"""The ranking of a comparison, and the best of many, as rows of words for page, Markdown and terminal."""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from matrix.terms.ceilings import limit_words
from matrix.terms.documents.summary import Candidate, Decision, Question, SummaryDocument
from matrix.terms.figures import ABSENT, Column, bounded_cost_words, interval_words, quantity
from matrix.terms.verdicts import expected_ahead, is_open, judged, ranked_of, taken, winner

TAKE, OPEN = "★", "n.s."
# What a storage is called where the ranking stands.
Name = Callable[[Candidate], str]


class Table(NamedTuple):
    """Heads, and rows of as many words; without what no row has."""

    heads: list[str]
    rows: list[list[str]]
    are_figures: list[bool]
    """Which columns have figures, which stand at the right."""


def ranking(summary: SummaryDocument, decision: Decision, question: Question, name: Name) -> Table:
    """Rank the storages of a comparison, the best first: figure, interval, cost and bottleneck of each."""
    ranked = judged(question)
    column = Column.of([ranked_of(each)["value"] for each in ranked], question["unit"])
    per = cost_unit(question, decision)
    heads = ["Storage", column.head(level_words(question)), interval_words(ranked), f"USD per {per}", "Bottleneck"]
    rows = [
        [
            f"{mark(each, question, decision)}{name(each)}",
            f"{column.write(ranked_of(each)['value'])}{unclear(each)}",
            interval_of(each, column),
            bounded_cost_words(each["cost"]).replace("$", "") if per and each["cost"] else ABSENT,
            bottleneck_of(summary, each),
        ]
        for each in ranked
    ]
    return _without_empty(heads, rows, 1, 4)


def best_of_each(
    summary: SummaryDocument, decision: Decision, questions: Sequence[Question], name: Name, *, of: int | None = None
) -> Table:
    """Name the winner of each comparison, and how far the next one is behind.

    What all comparisons have in common stands in the head; `of` is how many there are, if these are but some.
    """
    named = [parts(question) for question in questions]
    shared = [part for part, *others in zip(*named, strict=True) if all(other == part for other in others)]
    some = f" ({len(questions)} of {of})" if of and len(questions) < of else ""
    best_words = "Cheapest that meets it" if decision["objective"] else (
        "Best value" if decision["is_recommendation"] else "Fastest"
    )  # fmt: skip
    heads = [f"{_joined(shared) or 'Comparison'}{some}", best_words, "Figure", "Interval",
             _cost_head(questions, decision), "Bottleneck", "Other (× as slow)"]  # fmt: skip
    rows = []
    for question in questions:
        best = winner(question, decision)
        where = _joined(part for part in parts(question) if part not in shared) or question["fleet"]
        if best is None:
            rows.append([where, "none", *[ABSENT] * 4, ""])
            continue
        column = Column.of([ranked_of(each)["value"] for each in judged(question)], question["unit"])
        is_priced = bool(best["cost"]) and decision["is_recommendation"]
        rows.append(
            [
                where,
                f"({name(best)})"
                if is_provisional(question, decision)
                else f"{mark(best, question, decision)}{name(best)}",
                f"{level_words(question)} {quantity(ranked_of(best)['value'], question['unit'])}",
                interval_of(best, column),
                bounded_cost_words(best["cost"]) if is_priced and best["cost"] else ABSENT,
                bottleneck_of(summary, best),
                _next(question, best, name),
            ]
        )
    return _without_empty(heads, rows, 2, 5)


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


def parts(question: Question) -> tuple[str, str, str]:
    """Return what a comparison is of: its workload, parameters and fleet."""
    return question["workload"], question["label"], question["fleet"]


def level_words(question: Question) -> str:
    """Name the percentile that ranks a comparison: `P90`."""
    return f"P{question.get('ranked_level', question['level']):g}"


def cost_unit(question: Question, decision: Decision) -> str:
    """Return what a cost is of, such as `build`; empty where a run has no prices.

    Figures of this machine at AWS's prices would be nobody's costs.
    """
    costs = [each["cost"]["per"] for each in judged(question) if each["cost"]]
    return next(iter(costs), "") if decision.get("is_recommendation", True) else ""


def _cost_head(questions: Sequence[Question], decision: Decision) -> str:
    """Say what costs are of where all comparisons have the same: `$/build`."""
    units = {unit for question in questions if (unit := cost_unit(question, decision))}
    return f"$/{units.pop()}" if len(units) == 1 else "Cost"


def mark(candidate: Candidate, question: Question, decision: Decision) -> str:
    """Mark what to take; nothing where the figures do not tell, or the run recommends nothing."""
    is_taken = decision["is_recommendation"] and candidate["cell"] == taken(question)
    return f"{TAKE} " if is_taken else ""


def is_provisional(question: Question, decision: Decision) -> bool:
    """Whether the best of a comparison is only that of those measured, as another storage is expected to be better."""
    return not decision["objective"] and bool(expected_ahead(question))


def unclear(candidate: Candidate) -> str:
    """Mark a figure whose difference to the fastest one is not significant."""
    return f" {OPEN}" if is_open(candidate) else ""


def interval_of(candidate: Candidate, column: Column) -> str:
    """Write the ends of the interval of what ranks a candidate."""
    ranked = ranked_of(candidate)
    low, high = ranked["low"], ranked["high"]
    return ABSENT if low is None or high is None else f"{column.write(low)} – {column.write(high)}"


def bottleneck_of(summary: SummaryDocument, candidate: Candidate) -> str:
    """Name what limited a candidate's point."""
    cell = next((cell for cell in summary["cells"] if cell["id"] == candidate["cell"]), None)
    bottleneck = cell.get("bottleneck") if cell else None
    return limit_words(bottleneck["points"].get(candidate["point"], bottleneck["name"])) if bottleneck else ABSENT


def _next(question: Question, best: Candidate, name: Name) -> str:
    """Write how many times as slow the next storage is as the best: `EFS ×1.72`, `EFS ×1.03 n.s.`.

    Below 1 it is faster, and the best is the cheaper one.
    """
    others = [each for each in judged(question) if each is not best]
    if not others:
        return "nothing to compare"
    other = others[0]
    mine, theirs = ranked_of(best)["value"], ranked_of(other)["value"]
    top, bottom = (mine, theirs) if question["higher_is_better"] else (theirs, mine)
    ratio = f" ×{ratio_words(top / bottom)}" if top > 0 and bottom > 0 else ""
    return f"{short_name(other, judged(question), name)}{ratio}{unclear(other) or unclear(best)}"


def short_name(candidate: Candidate, among: Sequence[Candidate], name: Name) -> str:
    """Name a storage in short, with the first thing that tells it from others of its kind: `FSx OpenZFS (1024 GiB)`."""
    kind, _, details = name(candidate).partition(" (")
    alike = [each for each in among if name(each).partition(" (")[0] == kind]
    return f"{kind} ({details.removesuffix(')').partition(', ')[0]})" if details and len(alike) > 1 else kind


def ratio_words(ratio: float) -> str:
    """Write a ratio with two decimals, or three where two would hide which of them is faster."""
    return f"{ratio:.3f}" if f"{ratio:.2f}" == "1.00" and f"{ratio:.3f}" != "1.000" else f"{ratio:.2f}"


def _joined(words: Iterable[str]) -> str:
    return ", ".join(filter(None, words))


def _without_empty(heads: list[str], rows: list[list[str]], first: int, end: int) -> Table:
    """Leave out the columns in which no row has anything; those from `first` to before `end` have figures."""
    kept = [at for at, _ in enumerate(heads) if at == 0 or any(row[at] != ABSENT for row in rows)]
    figures = [first <= at < end for at in kept]
    return Table([heads[at] for at in kept], [[row[at] for at in kept] for row in rows], figures)
