"""A question's answer: which candidate it is, by what margin and at what risk, and why the others lost."""

from collections.abc import Sequence

from matrix.answer.decision.absences import absences_words
from matrix.answer.decision.candidates import AS_GOOD, MEDIAN, Candidate, Question
from matrix.answer.decision.objective import Objective, Percentile
from matrix.answer.decision.tails import tail_words
from matrix.answer.decision.words import at_cost, times
from matrix.statistics.differing import Difference, difference, holm
from matrix.statistics.resampling import NOT_REPLICATED
from matrix.terms.figures import quantity

# Costs that differ by less count as equal: no plan is that exact.
SAME_COST = 0.01
NOT_SHOWN = "no difference shown"
TOO_FEW = "too few to tell apart"


def answer(question: Question, wanted: Objective, *, for_sale: bool) -> None:
    """Judge every candidate of a question, and choose where an objective is given and what was measured is for sale."""
    for candidate in question.candidates:
        candidate.on_front = _is_on_front(candidate, question)
        candidate.verdict = candidate.lost or ("" if candidate.slow_end else "no figure of this metric")
        if candidate.slow_end and candidate.slow_end.doubt:
            candidate.risks.append(candidate.slow_end.doubt)
        if candidate.lacks:
            candidate.risks.append(f"{NOT_REPLICATED}: {candidate.lacks}")
        if question.ranked_level == MEDIAN:
            candidate.tail = tail_words(candidate.values, higher_is_better=question.higher_is_better)
            candidate.risks += [candidate.tail] if candidate.tail else []
        if candidate.cost and candidate.cost.missing:
            candidate.risks.append(f"its cost is without {candidate.cost.missing}")
    if wanted.limit is None:
        _describe(question)
    else:
        _choose(question, wanted, for_sale=for_sale)
    short = [each for each in question.candidates if each.is_short]
    question.words += "".join(f"; {each.name} is {each.lost}" for each in short)
    if absent := absences_words([question], wanted):
        question.words += f"; {absent}"


def _is_on_front(candidate: Candidate, question: Question) -> bool:
    """Whether nothing is both cheaper and faster."""
    if candidate not in question.judged or candidate.usd is None:
        return False
    sign = -1 if question.higher_is_better else 1
    mine = (candidate.usd, sign * candidate.value)
    theirs = [(other.usd or 0.0, sign * other.value) for other in question.priced if other is not candidate]
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
        alone = "" if question.is_comparison else ", the only one measured"
        question.words = (
            f"{verb} {chosen.name}{alone}: {question.figure(chosen)}, {100 * question.margin:.0f} % within the limit"
            f"{at_cost(chosen)}"
        )
        if chosen.risks:
            question.words += f"; at risk: {', and '.join(chosen.risks)}"
        sure = [
            candidate
            for candidate in meeting[1:]
            if not candidate.risks and not _risks(candidate, wanted, question.unit)
        ]
        if chosen.risks and sure:
            question.words += f"; the cheapest without that risk is {sure[0].name}{at_cost(sure[0])}"
        cheaper = [
            candidate
            for candidate in meeting[1:]
            if candidate.cost and candidate.usd is None and candidate.cost.usd < (chosen.usd or 0.0)
        ]
        if cheaper:
            question.words += f"; {cheaper[0].name} may cost less{at_cost(cheaper[0])}"
    for candidate in question.judged:
        candidate.verdict = _verdict(candidate, meeting, wanted, is_alone=not question.is_comparison)


def _margin(candidate: Candidate, wanted: Objective) -> float:
    """How far within the limit, as a share of it."""
    limit = wanted.limit or 0.0
    return abs(limit - candidate.value) / abs(limit) if limit else 0.0


def _risks(candidate: Candidate, wanted: Objective, unit: str) -> list[str]:
    end = candidate.slow_end
    if end is None or end.low is None or end.high is None:
        return []
    if wanted.is_met(end.low) and wanted.is_met(end.high):
        return []
    low, high = quantity(end.low, unit), quantity(end.high, unit)
    return [f"its {100 * end.confidence:.0f} % interval, {low} to {high}, crosses the limit"]


def _verdict(candidate: Candidate, meeting: list[Candidate], wanted: Objective, *, is_alone: bool) -> str:
    if candidate not in meeting:
        end = candidate.slow_end
        near = end and any(edge is not None and wanted.is_met(edge) for edge in (end.low, end.high))
        return f"misses the limit by {100 * _margin(candidate, wanted):.0f} %" + (
            " (its interval reaches it)" if near else ""
        )
    if candidate is not meeting[0]:
        return f"meets the objective, but {_why_not_taken(candidate, meeting[0])}"
    if is_alone:
        return "meets the objective, the only one measured"
    return "cheapest that meets the objective" if candidate.usd is not None else "meets the objective, cost not known"


def _why_not_taken(candidate: Candidate, taken: Candidate) -> str:
    if candidate.usd is None:
        return "what it costs is not known" + (" in full" if candidate.cost else "")
    if not taken.usd:
        return "is slower"
    more = candidate.usd / taken.usd
    if more < 1 + SAME_COST:
        return "is slower at the same cost"
    return f"costs {100 * (more - 1):.0f} % more" if more < 2 else f"costs {times(more)} as much"  # noqa: PLR2004


def _describe(question: Question) -> None:
    """Without an objective: what is fastest, what is cheapest, and whether the figures tell them apart."""
    ranked = question.ranked
    is_partial = any(candidate.is_short for candidate in question.candidates)
    if not ranked:
        question.words = "nothing can be ranked" if is_partial else "nothing was measured"
        return
    if not question.is_comparison:
        [alone] = ranked
        alone.verdict = "the only one measured"
        verb = "can be ranked" if is_partial else "was measured"
        question.words = f"only {alone.name} {verb} ({question.figure(alone)}{at_cost(alone)})"
        return
    fastest, cheapest, bargain = ranked[0], next(iter(question.priced), None), question.as_good
    tied = _ties(fastest, ranked[1:], question.ranked_level)
    for candidate in ranked[1:]:
        doubt = f"; {tied[candidate.cell]}" if candidate.cell in tied else ""
        candidate.verdict = f"{_slower(candidate, fastest, question)}{doubt}"
    fastest.verdict = "fastest" + (" and cheapest" if cheapest is fastest else "")
    if cheapest and cheapest is not fastest:
        cheapest.verdict = f"cheapest; {cheapest.verdict}"
    question.is_open = bool(tied)
    figures = f"({question.figure(fastest)}{at_cost(fastest)})"
    parts = [
        f"{fastest.name} is fastest and cheapest {figures}"
        if cheapest is fastest
        else f"fastest is {fastest.name} {figures}"
    ]
    if bargain and bargain is not fastest:
        praise = "and cheapest" if bargain is cheapest else "for less"
        figures = f"({question.figure(bargain)}{at_cost(bargain)})"
        parts.append(f"within {100 * AS_GOOD:.0f} % of it, {praise}, is {bargain.name} {figures}")
    if cheapest and cheapest not in (fastest, bargain):
        parts.append(f"cheapest is {cheapest.name} ({question.figure(cheapest)}{at_cost(cheapest)})")
    for doubt in dict.fromkeys(tied.values()):
        names = [candidate.name for candidate in ranked[1:] if tied.get(candidate.cell) == doubt]
        parts.append(f"{doubt}: {fastest.name} and {' and '.join(names)}")
    parts += [
        f"{candidate.name}: {risk}"
        for candidate in ranked
        for risk in candidate.risks
        if "on credits" in risk or (risk == candidate.tail and candidate in (fastest, bargain, cheapest))
    ]
    if question.why_median:
        parts.append(f"ranked by the median, since {question.why_median}")
    question.words = "; ".join(parts)


def _ties(fastest: Candidate, others: Sequence[Candidate], level: float) -> dict[str, str]:
    """Return the cells that the samples do not tell from the fastest one, with why.

    Tested is the percentile that ranks them, corrected for the number of tests, as `matrix compare` does.
    """
    tied: dict[str, str] = {}
    tested: list[tuple[Candidate, Difference, float]] = []
    for candidate in others:
        between = difference(fastest.values, candidate.values, level) if fastest.values and candidate.values else None
        if between is None:
            if _overlap(fastest.ranked, candidate.ranked):
                tied[candidate.cell] = NOT_SHOWN
        elif between.p_value is None:
            tied[candidate.cell] = f"{TOO_FEW} ({fastest.lacks or candidate.lacks or 'samples are missing'})"
        else:
            tested.append((candidate, between, between.p_value))
    corrected = holm([p_value for _, _, p_value in tested])
    tied |= {
        candidate.cell: NOT_SHOWN
        for (candidate, between, _), p_value in zip(tested, corrected, strict=True)
        if not between.is_shown(p_value)
    }
    return tied


def _overlap(first: Percentile | None, second: Percentile | None) -> bool:
    edges = [edge for percentile in (first, second) if percentile for edge in (percentile.low, percentile.high)]
    if len(edges) != 4 or None in edges:  # noqa: PLR2004 - two edges of each
        return False
    low, high, other_low, other_high = (float(edge or 0.0) for edge in edges)
    return low <= other_high and other_low <= high


def _slower(candidate: Candidate, fastest: Candidate, question: Question) -> str:
    best, mine = fastest.value, candidate.value
    if not best or not mine:
        return "slower"
    ratio = best / mine if question.higher_is_better else mine / best
    if ratio < 1 + SAME_COST:
        return "as fast"
    return f"{100 * (ratio - 1):.0f} % slower" if ratio < 2 else f"{times(ratio)} slower"  # noqa: PLR2004
