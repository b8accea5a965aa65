"""A question's answer: which candidate it is, by what margin and at what risk, and why the others lost."""

from collections.abc import Iterator, Sequence

from matrix.answer.decision.candidates import AS_GOOD, Candidate, Question
from matrix.answer.decision.objective import Objective, SlowEnd
from matrix.answer.decision.words import at_cost, times
from matrix.statistics.differing import SIGNIFICANT, difference, holm
from matrix.terms.figures import quantity

# Costs closer than this are the same for all that anyone can plan.
SAME_COST = 0.01


def answer(question: Question, wanted: Objective, *, for_sale: bool) -> None:
    """Judge every candidate of a question, and choose where an objective is given and what was measured is for sale."""
    for one in question.candidates:
        one.on_front = _is_on_front(one, question)
        one.verdict = one.lost or ("" if one.slow_end else "no figure of this metric")
        if one.slow_end and one.slow_end.doubt:
            one.risks.append(one.slow_end.doubt)
        if one.cost and one.cost.missing:
            one.risks.append(f"its cost is without {one.cost.missing}")
    if wanted.limit is None:
        _describe(question)
    else:
        _choose(question, wanted, for_sale=for_sale)


def _is_on_front(one: Candidate, question: Question) -> bool:
    """Whether nothing is both cheaper and faster."""
    if one not in question.judged or one.usd is None:
        return False
    sign = -1 if question.higher_is_better else 1
    mine = (one.usd, sign * one.value)
    theirs = [(other.usd or 0.0, sign * other.value) for other in question.priced if other is not one]
    return not any(cost <= mine[0] and slow <= mine[1] and (cost, slow) != mine for cost, slow in theirs)


def _choose(question: Question, wanted: Objective, *, for_sale: bool) -> None:
    """The cheapest that meets the objective; without costs, the fastest that does."""
    meeting = question.meeting(wanted)
    limit = wanted.words(question.unit)
    if not meeting:
        nearest = question.ranked[0] if question.ranked else None
        near = f"; nearest is {nearest.name} with {question.figure(nearest)}" if nearest else ""
        question.words = f"no storage reaches {limit}{near}"
    else:
        chosen = meeting[0]
        question.margin = _margin(chosen, wanted)
        chosen.risks += _risks(chosen, wanted, question.unit)
        if for_sale:
            question.recommended = chosen
        verb = "take" if for_sale else "first here is"
        question.words = (
            f"{verb} {chosen.name}: {question.figure(chosen)}, {100 * question.margin:.0f} % within the limit"
            f"{at_cost(chosen)}"
        )
        sure = [one for one in meeting[1:] if not one.risks and not _risks(one, wanted, question.unit)]
        if chosen.risks and sure:
            question.words += f"; the cheapest without that risk is {sure[0].name}{at_cost(sure[0])}"
        maybe = [one for one in meeting[1:] if one.cost and one.usd is None and one.cost.usd < (chosen.usd or 0.0)]
        if maybe:
            question.words += f"; {maybe[0].name} may cost less{at_cost(maybe[0])}"
    for one in question.judged:
        one.verdict = _verdict(one, meeting, wanted)


def _margin(one: Candidate, wanted: Objective) -> float:
    """How far within the limit, as a share of it."""
    limit = wanted.limit or 0.0
    return abs(limit - one.value) / abs(limit) if limit else 0.0


def _risks(one: Candidate, wanted: Objective, unit: str) -> list[str]:
    end = one.slow_end
    if end is None or end.low is None or end.high is None:
        return []
    if wanted.is_met(end.low) and wanted.is_met(end.high):
        return []
    low, high = quantity(end.low, unit), quantity(end.high, unit)
    return [f"its 95 % interval, {low} to {high}, crosses the limit"]


def _verdict(one: Candidate, meeting: list[Candidate], wanted: Objective) -> str:
    if meeting and one is meeting[0]:
        return "cheapest that meets the objective" if one.usd is not None else "meets the objective, cost not known"
    if one not in meeting:
        end = one.slow_end
        near = end and any(edge is not None and wanted.is_met(edge) for edge in (end.low, end.high))
        return f"misses the limit by {100 * _margin(one, wanted):.0f} %" + (
            " (its interval reaches it)" if near else ""
        )
    if one.usd is None:
        return "meets the objective, but what it costs is not known" + (" in full" if one.cost else "")
    if not meeting[0].usd:
        return "meets the objective, but is slower"
    more = one.usd / meeting[0].usd
    if more < 1 + SAME_COST:
        return "meets the objective at the same cost, but is slower"
    much = f"{100 * (more - 1):.0f} % more" if more < 2 else f"{times(more)} as much"  # noqa: PLR2004
    return f"meets the objective, but costs {much}"


def _describe(question: Question) -> None:
    """Without an objective: what is fastest, what is cheapest, and whether the figures tell them apart."""
    ranked, priced = question.ranked, question.priced
    if not ranked:
        question.words = "nothing was measured"
        return
    fastest = ranked[0]
    tied = dict(_ties(fastest, ranked[1:]))
    parts = [f"fastest is {fastest.name} ({question.figure(fastest)}{at_cost(fastest)})"]
    cheapest = priced[0] if priced else None
    if cheapest is fastest:
        parts[0] = (
            f"{fastest.name} is fastest and cheapest ({question.figure(fastest)}{at_cost(fastest)})"
            if len(ranked) > 1
            else f"only {fastest.name} was measured ({question.figure(fastest)}{at_cost(fastest)})"
        )
    bargain = question.as_good
    if bargain and bargain is not fastest:
        praise = "and cheapest" if bargain is cheapest else "for less"
        figures = f"({question.figure(bargain)}{at_cost(bargain)})"
        parts.append(f"within {100 * AS_GOOD:.0f} % of it, {praise}, is {bargain.name} {figures}")
    if cheapest and cheapest not in (fastest, bargain):
        parts.append(f"cheapest is {cheapest.name} ({question.figure(cheapest)}{at_cost(cheapest)})")
    for one in ranked[1:]:
        one.verdict = _slower(one, fastest, question) + (f"; {tied[one.cell]}" if one.cell in tied else "")
    fastest.verdict = "fastest" + (" and cheapest" if cheapest is fastest else "")
    if cheapest and cheapest is not fastest:
        cheapest.verdict = f"cheapest; {cheapest.verdict}"
    doubtful = [one.name for one in ranked[1:] if one.cell in tied]
    if doubtful:
        told = tied[next(one.cell for one in ranked[1:] if one.cell in tied)]
        parts.append(f"{told}: {fastest.name} and {' and '.join(doubtful)}")
    question.words = "; ".join(parts)


def _ties(fastest: Candidate, others: Sequence[Candidate]) -> Iterator[tuple[str, str]]:
    """The cells that the samples do not tell from the fastest one, and what can be said."""
    tested: list[tuple[str, float]] = []
    for one in others:
        found = difference(fastest.values, one.values) if fastest.values and one.values else None
        if found is not None:
            if found.least_p >= SIGNIFICANT:
                yield one.cell, "too few values to tell apart"
            else:
                tested.append((one.cell, found.p_value))
        elif _overlap(fastest.slow_end, one.slow_end):
            yield one.cell, "no difference shown"
    for (cell, _), corrected in zip(tested, holm([p_value for _, p_value in tested]), strict=True):
        if corrected >= SIGNIFICANT:
            yield cell, "no difference shown"


def _overlap(one: SlowEnd | None, other: SlowEnd | None) -> bool:
    edges = [edge for end in (one, other) if end for edge in (end.low, end.high)]
    if len(edges) != 4 or None in edges:  # noqa: PLR2004 - two edges of each
        return False
    low, high, other_low, other_high = (float(edge or 0.0) for edge in edges)
    return low <= other_high and other_low <= high


def _slower(one: Candidate, fastest: Candidate, question: Question) -> str:
    best, mine = fastest.value, one.value
    if not best or not mine:
        return "slower"
    ratio = best / mine if question.higher_is_better else mine / best
    if ratio < 1 + SAME_COST:
        return "as fast"
    return f"{100 * (ratio - 1):.0f} % slower" if ratio < 2 else f"{times(ratio)} slower"  # noqa: PLR2004
