"""The answer to a question: the recommended storage, its margin and risks, and the results of the others.

The rule is in docs/method.md, "Which storage is recommended". The answer is made of codes and numbers;
`matrix.text.decisions` writes the words.
"""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from matrix.answer.decision.candidates import Candidate, Question
from matrix.answer.decision.objective import Objective
from matrix.answer.decision.pairs import Pairs, by_figures, times_as_slow
from matrix.statistics.deciding import Slowdown, needed
from matrix.statistics.fleet_costs import CostRatio
from matrix.statistics.fleet_values import FleetValues
from matrix.terms.findings import verdicts as findings
from matrix.terms.findings.replication import NeededReplication
from matrix.terms.findings.risks import CostIncomplete, LaunchedOnce, NotReplicated, Risk, SlowTail
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
    pairs = Pairs(question)
    if wanted.limit is None:
        _rank(question, pairs, for_sale=for_sale)
    else:
        _meet(question, wanted, pairs, for_sale=for_sale)
    for candidate in question.judged if for_sale else []:
        candidate.cost = pairs.bounded_cost(candidate)
    is_fair = wanted.limit is not None or question.is_comparable
    question.recommended = question.best_value if for_sale and is_fair and question.state == "shown" else None
    # An objective judges each storage alone.
    placed = question.judged if wanted.limit is None else filter(None, [question.recommended])
    if question.recommended and any(candidate.is_placed_once for candidate in placed):
        question.recommended.risks.append(LaunchedOnce())


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


def _meet(question: Question, wanted: Objective, pairs: Pairs, *, for_sale: bool) -> None:
    """Choose the cheapest that is shown to meet the objective, else the cheapest whose value does.

    It must be shown to be cheaper than each other one that is shown to meet it and whose cost is known. One that meets
    it by its value only, and may be cheaper, leaves the question open: of two equal ones it may be the one that met a
    straggler.
    """
    meeting = question.meeting(wanted)
    shown = [candidate for candidate in meeting if _is_shown(candidate, wanted)]
    question.best_value = next(iter([*shown, *meeting]), None)
    question.state = "shown" if shown else "by-value" if meeting else "missed"
    priced = [candidate for candidate in shown if candidate.usd is not None] if for_sale else []
    for rival in priced[1:]:
        if question.state == "shown" and not _is_dearer(rival, priced[0], pairs):
            _leave_open(question, _of_cost(priced[0], rival, pairs))
    by_value = [candidate for candidate in meeting if candidate not in shown and candidate.usd is not None]
    for rival in by_value if priced else []:
        if question.state == "shown" and _may_be_cheaper(rival, priced[0], pairs):
            _leave_open(question, _Doubt(rival, is_tested=True))
    if question.best_value:
        question.margin = _margin(question.best_value, wanted)
        _set_costs(question, question.best_value.usd)
    for candidate in question.judged:
        kind: type[OfObjective] = Misses
        if candidate in shown:
            kind = CheapestThatMeets if candidate is shown[0] and question.state == "shown" else Meets
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


def _rank(question: Question, pairs: Pairs, *, for_sale: bool) -> None:
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
        candidate.slowdown = pairs.slowdown(fastest, candidate)
        candidate.verdict = Slower(
            is_cheapest=cheapest is candidate,
            times_as_slow=times_as_slow(fastest, candidate, higher_is_better=question.higher_is_better),
            difference=_difference(fastest, candidate).document,
        )
    # If the cost of the fastest is unknown, costs do not decide; of others an unknown cost is never lower.
    for_less = question.priced if for_sale and fastest.usd is not None else []
    question.best_value = next((each for each in for_less if _is_near(each, fastest, question)), fastest)
    if question.state == "expected":
        return
    doubts = [(each, _doubt(each, pairs, for_less)) for each in for_less or [fastest]]
    shown = next((each for each, doubt in doubts if doubt is None), None)
    if shown:
        question.state, question.best_value = "shown", shown
        return
    doubt = next(doubt for each, doubt in doubts if each is question.best_value)
    assert doubt is not None  # noqa: S101 - no candidate is free of doubt
    _leave_open(question, doubt)


def _is_near(candidate: Candidate, fastest: Candidate, question: Question) -> bool:
    return by_figures(fastest, candidate, higher_is_better=question.higher_is_better).ratio < NEAR


class _Doubt(NamedTuple):
    """Why a candidate is not shown to be the best value: the storage that may be it, and what would decide."""

    rival: Candidate
    is_tested: bool
    cost: CostRatio | None = None  # where it is the cost that is open
    needed: NeededReplication | None = None


def _leave_open(question: Question, doubt: _Doubt) -> None:
    question.state = "open" if doubt.is_tested else "not-tested"
    question.rival, question.rival_cost, question.needed = doubt.rival, doubt.cost, doubt.needed


def _doubt(candidate: Candidate, pairs: Pairs, for_less: Sequence[Candidate]) -> _Doubt | None:
    """Return what speaks against a candidate as the best value; None if it is shown to be it.

    It is shown to be less than 5 % slower than each other one, and cheaper than each that is not shown to be slower.
    All of these must hold, so none of the tests needs a correction for their number (intersection-union: Berger 1982,
    Technometrics 24, 295-300), and a storage that is shown to be slower changes nothing between two others.
    """
    fastest, *_ = ranked = pairs.question.ranked
    rivals = [each for each in ranked if each is not candidate and not _is_slower(each, fastest, pairs)]
    for rival in rivals:
        if (pairs.slowdown(rival, candidate) or UNKNOWN).high >= NEAR:
            return _of_speed(rival, candidate, pairs)
    for rival in (each for each in rivals if each in for_less and not _is_slower(each, candidate, pairs)):
        if not _is_dearer(rival, candidate, pairs):
            is_as_fast = rival is fastest or (pairs.slowdown(fastest, rival) or UNKNOWN).high < NEAR
            return _of_cost(candidate, rival, pairs) if is_as_fast else _of_speed(fastest, rival, pairs)
    return None


def _is_dearer(other: Candidate, base: Candidate, pairs: Pairs) -> bool:
    """Whether the same work is shown to cost more on a storage than on another one."""
    cost = pairs.cost(base, other)
    return cost is not None and cost.low > 1


def _may_be_cheaper(other: Candidate, base: Candidate, pairs: Pairs) -> bool:
    """Whether the same work is not shown to cost more on a storage than on another one; by figures without values."""
    cost = pairs.cost(base, other)
    return cost.low <= 1 if cost else (other.usd or 0.0) < (base.usd or 0.0)


def _is_slower(other: Candidate, base: Candidate, pairs: Pairs) -> bool:
    """Whether a storage is shown to be slower than another one by more than the tolerance, and so out."""
    return other is not base and (pairs.slowdown(base, other) or UNKNOWN).low >= NEAR


def _of_speed(base: Candidate, other: Candidate, pairs: Pairs) -> _Doubt:
    """Return the doubt whether `other` is within the tolerance of `base`."""
    slowdown, between = pairs.slowdown(base, other), pairs.between(base, other)
    data = None
    if slowdown and between and base.values and other.values:
        distance = abs(math.log(slowdown.ratio / NEAR))
        question = pairs.question
        tail = question.level if question.why_median else None
        data = needed([base.values, other.values], between.uncertainty, distance, question.ranked_level, tail=tail)
    rival = other if base is pairs.question.ranked[0] else base
    return _Doubt(rival, bool(slowdown or base.lacks or other.lacks), needed=data)


def _of_cost(candidate: Candidate, rival: Candidate, pairs: Pairs) -> _Doubt:
    """Return the doubt which of two that are as fast is cheaper."""
    cost = pairs.cost(candidate, rival)
    return _Doubt(rival, is_tested=cost is not None, cost=cost, needed=pairs.needed_for_cost(candidate, rival))


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
