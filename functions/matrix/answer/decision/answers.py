"""The answer to a question: the recommended storage, its margin and risks, and the results of the others.

It is made of codes and numbers; `matrix.text.decisions` writes the words.
"""

from collections.abc import Sequence

import numpy as np

from matrix.answer.decision.candidates import MEDIAN, Candidate, Question
from matrix.answer.decision.objective import Objective, Percentile
from matrix.statistics.differing import Difference, difference, with_the_best
from matrix.statistics.fleet_values import FleetValues
from matrix.terms.documents import summary as documents
from matrix.terms.documents.summary import Risk


def answer(question: Question, wanted: Objective, *, for_sale: bool) -> None:
    """Judge all candidates of a question. Choose one if there is an objective and AWS sells the measured storage."""
    for candidate in question.candidates:
        candidate.on_front = _is_on_front(candidate, question)
        candidate.verdict = {"code": "lost" if candidate.lost else "no-figure"}
        candidate.risks += _risks(candidate, question)
    if wanted.limit is None:
        _rank(question, for_sale=for_sale)
    else:
        _choose(question, wanted, for_sale=for_sale)


def _risks(candidate: Candidate, question: Question) -> list[documents.Risk]:
    risks: list[documents.Risk] = []
    if candidate.tail and candidate.tail.doubt:
        risks.append(candidate.tail.doubt)
    if candidate.lacks:
        risks.append({"code": "not-replicated", "shortages": [each.to_document() for each in candidate.lacks]})
    if question.ranked_level == MEDIAN:
        tail = slow_tail(candidate.values, higher_is_better=question.higher_is_better)
        risks += [tail] if tail else []
    if candidate.cost and candidate.cost.missing:
        risks.append({"code": "cost-incomplete", "missing": candidate.cost.missing})
    return risks


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
    for candidate in meeting:
        candidate.risks += _crossing(candidate, wanted)
    if meeting:
        question.margin = _margin(meeting[0], wanted)
        question.recommended = meeting[0] if for_sale else None
    for candidate in question.judged:
        candidate.verdict = _against_objective(candidate, meeting, wanted)


def _margin(candidate: Candidate, wanted: Objective) -> float:
    """Distance of the candidate's value from the limit, as a share of the limit."""
    limit = wanted.limit or 0.0
    return abs(limit - candidate.value) / abs(limit) if limit else 0.0


def _crossing(candidate: Candidate, wanted: Objective) -> list[documents.Risk]:
    end = candidate.tail
    if end is None or end.low is None or end.high is None:
        return []
    if wanted.is_met(end.low) and wanted.is_met(end.high):
        return []
    return [{"code": "interval-crosses-limit", "low": end.low, "high": end.high, "confidence": end.confidence}]


def _against_objective(candidate: Candidate, meeting: list[Candidate], wanted: Objective) -> documents.Verdict:
    margin = _margin(candidate, wanted)
    if candidate not in meeting:
        end = candidate.tail
        near = end and any(edge is not None and wanted.is_met(edge) for edge in (end.low, end.high))
        return {"code": "misses", "margin": margin, "interval_meets": bool(near)}
    if candidate is meeting[0]:
        return {"code": "cheapest-that-meets", "margin": margin}
    cheapest = meeting[0].usd
    dear = candidate.usd / cheapest if candidate.usd is not None and cheapest else None
    return {"code": "meets", "margin": margin, "times_as_dear": dear}


def _rank(question: Question, *, for_sale: bool) -> None:
    """Without an objective: the fastest, the cheapest, and whether their difference is significant.

    Only candidates that are `for_sale` can be the cheapest: local speed at AWS's prices is no real cost.
    """
    ranked = question.ranked
    if not question.is_comparison:
        for alone in ranked:
            alone.verdict = {"code": "only-one"}
        return
    fastest, cheapest = ranked[0], next(iter(question.priced), None) if for_sale else None
    fastest.verdict = {"code": "fastest", "is_cheapest": cheapest is fastest}
    differences = _differences(fastest, ranked[1:], question)
    for candidate, between in zip(ranked[1:], differences, strict=True):
        candidate.verdict = {
            "code": "slower",
            "is_cheapest": cheapest is candidate,
            "times_as_slow": _times_as_slow(candidate, fastest, question),
            "difference": between,
        }
    question.is_open = any(between["code"] in ("not-significant", "too-few") for between in differences)


def _differences(fastest: Candidate, others: Sequence[Candidate], question: Question) -> list[documents.Difference]:
    """Return for each candidate whether its difference from the fastest one is significant.

    The test is of the percentile that ranks them, corrected for the number of tests and for picking the fastest.
    """
    level = question.ranked_level
    tested = [
        difference(fastest.values, other.values, level, is_one_run=True) if fastest.values and other.values else None
        for other in others
    ]
    p_values = [between.p_value for between in tested if between and between.p_value is not None]
    corrected = iter(with_the_best(p_values))
    return [
        _difference(
            fastest,
            other,
            between,
            next(corrected) if between and between.p_value is not None else None,
            higher_is_better=question.higher_is_better,
        )
        for other, between in zip(others, tested, strict=True)
    ]


def _difference(
    fastest: Candidate,
    other: Candidate,
    between: Difference | None,
    p_value: float | None,
    *,
    higher_is_better: bool,
) -> documents.Difference:
    if between is None:
        overlap = _overlap(fastest.ranked, other.ranked)
        return {"code": "not-tested" if overlap is None else "not-significant" if overlap else "shown"}
    if p_value is None:
        return {"code": "too-few", "shortages": [each.to_document() for each in fastest.lacks or other.lacks]}
    # If a launch of one of them failed, the launches that both have can rank them the other way round.
    agrees = between.is_lower == higher_is_better
    return {"code": "shown" if between.is_shown(p_value) and agrees else "not-significant"}


def _overlap(first: Percentile | None, second: Percentile | None) -> bool | None:
    """Whether two intervals overlap; None if one of them is not known."""
    edges = [edge for percentile in (first, second) if percentile for edge in (percentile.low, percentile.high)]
    if len(edges) != 4 or None in edges:  # noqa: PLR2004 - two edges of each
        return None
    low, high, other_low, other_high = (float(edge or 0.0) for edge in edges)
    return low <= other_high and other_low <= high


def _times_as_slow(candidate: Candidate, fastest: Candidate, question: Question) -> float | None:
    best, mine = fastest.value, candidate.value
    if not best or not mine:
        return None
    return best / mine if question.higher_is_better else mine / best


# A tail this many times as slow as the median is reported: chance and hosts that differ by a third stay below it.
SLOW = 2.0


def slow_tail(values: FleetValues | None, *, higher_is_better: bool) -> Risk | None:
    """Return how many values are at least twice as slow as the median, and the slowest; None if there are none."""
    if values is None or values.pooled.min() <= 0:
        return None
    median = float(np.median(values.pooled))
    slowness = median / values.pooled if higher_is_better else values.pooled / median
    slow = int(np.count_nonzero(slowness >= SLOW))
    if not slow:
        return None
    return {"code": "slow-tail", "slow": slow, "values": int(slowness.size), "slowest": float(slowness.max())}
