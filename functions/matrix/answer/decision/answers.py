"""The answer to a question: the recommended storage, its margin and risks, and the results of the others.

The rule is in docs/method.md, "Which storage is recommended". The answer is made of codes and numbers;
`matrix.text.decisions` writes the words.
"""

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from matrix.answer.decision.candidates import Candidate, Question
from matrix.answer.decision.objective import Objective, Percentile
from matrix.statistics.deciding import Slowdown, needed
from matrix.statistics.differing import Difference, difference
from matrix.statistics.fleet_values import FleetValues
from matrix.terms.findings import verdicts as findings
from matrix.terms.findings.risks import CostIncomplete, NotReplicated, Risk, SlowTail
from matrix.terms.findings.verdicts import (
    AsFast,
    CheapestThatMeets,
    Fastest,
    Meets,
    MeetsByValue,
    Misses,
    NoFigure,
    NotRanked,
    NotTested,
    OfObjective,
    OnlyOne,
    Open,
    ShownSlower,
    Slower,
    TooFew,
)
from matrix.terms.objectives import BEST_VALUE_WITHIN

NEAR = 1 + BEST_VALUE_WITHIN
UNKNOWN = Slowdown(1.0, 0.0, math.inf)


def answer(question: Question, wanted: Objective, *, for_sale: bool) -> None:
    """Judge all candidates of a question, and choose one. Only what AWS sells can be recommended."""
    for candidate in question.candidates:
        candidate.on_front = _is_on_front(candidate, question)
        candidate.verdict = NotRanked() if candidate.lost else NoFigure()
        candidate.risks += _risks(candidate, question)
    if wanted.limit is None:
        _rank(question, for_sale=for_sale)
    else:
        _meet(question, wanted)
    is_fair = wanted.limit is not None or question.is_comparable
    question.recommended = question.best_value if for_sale and is_fair and question.state == "shown" else None


def _risks(candidate: Candidate, question: Question) -> list[Risk]:
    risks: list[Risk] = []
    if candidate.tail and candidate.tail.doubt:
        risks.append(candidate.tail.doubt)
    if candidate.lacks:
        risks.append(NotReplicated(shortages=list(candidate.lacks)))
    tail = slow_tail(candidate.values, question.ranked_level, higher_is_better=question.higher_is_better)
    risks += [tail] if tail else []
    if candidate.cost and candidate.cost.missing:
        risks.append(CostIncomplete(missing=candidate.cost.missing))
    return risks


def _is_on_front(candidate: Candidate, question: Question) -> bool:
    """Whether nothing is both cheaper and faster."""
    if candidate not in question.judged or candidate.usd is None:
        return False
    sign = -1 if question.higher_is_better else 1
    mine = (candidate.usd, sign * candidate.value)
    theirs = [(other.usd or 0.0, sign * other.value) for other in question.priced if other is not candidate]
    return not any(cost <= mine[0] and slow <= mine[1] and (cost, slow) != mine for cost, slow in theirs)


# --- with an objective ------------------------------------------------------------------------------------------------


def _meet(question: Question, wanted: Objective) -> None:
    """Choose the cheapest that is shown to meet the objective, else the cheapest whose value does."""
    meeting = question.meeting(wanted)
    shown = [candidate for candidate in meeting if _is_shown(candidate, wanted)]
    question.best_value = next(iter([*shown, *meeting]), None)
    question.state = "shown" if shown else "by-value" if meeting else "missed"
    if question.best_value:
        question.margin = _margin(question.best_value, wanted)
        _set_costs(question, question.best_value.usd)
    for candidate in question.judged:
        kind: type[OfObjective] = Misses
        if candidate in shown:
            kind = CheapestThatMeets if candidate is shown[0] else Meets
        elif candidate in meeting:
            kind = MeetsByValue
        bound = candidate.tail.bound if candidate.tail else None
        candidate.verdict = kind(margin=_margin(candidate, wanted), bound=bound)


def _is_shown(candidate: Candidate, wanted: Objective) -> bool:
    """Whether the true percentile meets the objective too, with 97.5 % confidence."""
    bound = candidate.tail.bound if candidate.tail else None
    return bound is not None and wanted.is_met(bound)


def _margin(candidate: Candidate, wanted: Objective) -> float:
    """Distance of the candidate's value from the limit, as a share of the limit."""
    limit = wanted.limit or 0.0
    return abs(limit - candidate.value) / abs(limit) if limit else 0.0


# --- without one ------------------------------------------------------------------------------------------------------


def _rank(question: Question, *, for_sale: bool) -> None:
    """Compare each storage with the fastest one, and choose the best value.

    Only candidates that are `for_sale` can be the cheapest: local speed at AWS's prices is no real cost.
    """
    ranked = question.ranked
    cheapest = next(iter(question.priced), None) if for_sale else None
    if any(absence["is_expected_ahead"] for absence in question.absences):
        question.state = "expected"
    if not question.is_comparison:
        for alone in ranked:
            alone.verdict, question.best_value = OnlyOne(), alone
        return
    if cheapest:
        _set_costs(question, cheapest.usd)
    fastest, *others = ranked
    fastest.verdict = Fastest(is_cheapest=cheapest is fastest)
    for candidate in others:
        candidate.between, candidate.slowdown = slowdown_of(fastest, candidate, question)
        candidate.verdict = Slower(
            is_cheapest=cheapest is candidate,
            times_as_slow=_times_as_slow(candidate, fastest, question),
            difference=_difference(fastest, candidate).document,
        )
    by_value = _best_value(question, lambda each: _by_value(each, fastest, question), for_sale=for_sale)
    question.best_value = by_value.chosen
    chosen, rival, edge = _best_value(question, lambda each: each.slowdown or UNKNOWN, for_sale=for_sale)
    if question.state == "expected":
        return
    if chosen:
        question.state, question.best_value = "shown", chosen
    else:
        is_tested = rival and (rival.slowdown or rival.lacks or fastest.lacks)
        question.state, question.rival = "open" if is_tested else "not-tested", rival
        if rival and rival.slowdown and rival.between and rival.values and fastest.values:
            distance = abs(math.log(rival.slowdown.ratio / edge))
            question.needed = needed([fastest.values, rival.values], rival.between, distance)


class _Choice(NamedTuple):
    """The chosen candidate, or the one that keeps the choice open, with the slowdown that its interval must exclude."""

    chosen: Candidate | None
    rival: Candidate | None = None
    edge: float = NEAR


def _best_value(question: Question, slowdown: Callable[[Candidate], Slowdown], *, for_sale: bool) -> _Choice:
    """Return the cheapest candidate that is shown to be within the tolerance of the fastest, or who keeps it open.

    Each is compared with the fastest alone, and the fastest with the next one, so a third storage changes nothing
    between two. Candidates are tried from the cheapest on, and the first that is open ends it: a sequence in a given
    order needs no correction for the number of tests (Maurer, Hothorn & Lehmacher 1995).
    """
    fastest, *others = question.ranked
    # If the cost of the fastest is unknown, costs do not decide; of others an unknown cost is never lower.
    for candidate in question.priced if for_sale and fastest.usd is not None else ():
        if candidate is fastest or slowdown(candidate).low >= NEAR:
            continue
        # Also as slow as the end of its interval it has to cost less.
        slower_by = slowdown(candidate)
        if candidate.usd_at(slower_by.high / slower_by.ratio) < (fastest.usd or 0.0):
            return _Choice(candidate) if slower_by.high < NEAR else _Choice(None, candidate)
    return _Choice(fastest) if slowdown(others[0]).low > 1 / NEAR else _Choice(None, others[0], 1 / NEAR)


def _by_value(candidate: Candidate, fastest: Candidate, question: Question) -> Slowdown:
    """Return the slowdown of a candidate as if its figure had no uncertainty."""
    ratio = _times_as_slow(candidate, fastest, question)
    # A figure of 0 has no ratio; equal ones are as fast.
    ratio = ratio or (1.0 if candidate.value == fastest.value else math.inf)
    return Slowdown(ratio, ratio, math.nextafter(ratio, 0.0))


def slowdown_of(fastest: Candidate, other: Candidate, question: Question) -> tuple[Difference | None, Slowdown | None]:
    """Return how many times as slow a candidate is as another; None where it was not replicated, or has no interval.

    The test is of the percentile that ranks them. Without single values the intervals of both figures bound the ratio.
    """
    higher = question.higher_is_better
    if fastest.values is None or other.values is None:
        first, second = (_ends(each.ranked) for each in ((other, fastest) if higher else (fastest, other)))
        ratio = _times_as_slow(other, fastest, question)
        if first is None or second is None or ratio is None:
            return None, None
        return None, Slowdown(ratio, second[0] / first[1], second[1] / first[0])
    between = difference(fastest.values, other.values, question.ranked_level, is_one_run=True)
    return between, Slowdown.of(between, higher_is_better=higher) if between else None


def _ends(percentile: Percentile | None) -> tuple[float, float] | None:
    if percentile is None or percentile.low is None or percentile.high is None or percentile.low <= 0:
        return None
    return percentile.low, percentile.high


def _difference(fastest: Candidate, other: Candidate) -> findings.Difference:
    slower_by = other.slowdown
    if slower_by is None:
        lacks = fastest.lacks or other.lacks
        if lacks and fastest.values and other.values:
            return TooFew(shortages=list(lacks))
        return NotTested()
    kind = ShownSlower if slower_by.low >= NEAR else AsFast if slower_by.high < NEAR else Open
    return kind(ratio=slower_by.ratio, low=slower_by.low, high=slower_by.high)


def _set_costs(question: Question, cheapest: float | None) -> None:
    for candidate in question.judged:
        candidate.times_as_dear = candidate.usd / cheapest if candidate.usd is not None and cheapest else None


def _times_as_slow(candidate: Candidate, fastest: Candidate, question: Question) -> float | None:
    best, mine = fastest.value, candidate.value
    if not best or not mine:
        return None
    return best / mine if question.higher_is_better else mine / best


# A tail this many times as slow as the ranked percentile is a risk: chance and hosts that differ by a third stay below.
SLOW = 2.0


def slow_tail(values: FleetValues | None, level: float, *, higher_is_better: bool) -> SlowTail | None:
    """Return how many values are at least twice as slow as the ranked percentile, and the slowest; None without any."""
    if values is None or values.pooled.min() <= 0:
        return None
    figure = float(np.percentile(values.pooled, level))
    slowness = figure / values.pooled if higher_is_better else values.pooled / figure
    slow = int(np.count_nonzero(slowness >= SLOW))
    if not slow:
        return None
    return SlowTail(level=level, slow=slow, values=int(slowness.size), slowest=float(slowness.max()))
