"""A candidate judged for a job that outlasts its burst credits."""

import math
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from matrix.answer.decision.candidates import Candidate
from matrix.answer.decision.objective import Objective, Percentile
from matrix.terms.documents.result import ResultDocument
from matrix.terms.findings.credits import OnCredits, shortest
from matrix.terms.findings.risks import Burst, JudgedBySustained
from matrix.terms.metrics import METRICS


def judge_by_sustained(
    candidate: Candidate, cell: ResultDocument, metric: str, wanted: Objective, *, higher_is_better: bool
) -> Candidate:
    """Return a candidate judged for a job of the objective's length, with the risk of its credits.

    Without credits it does not change. If credits end before the job, rates are the mean over the job, and durations
    and the hours in its cost grow as much; charges by the byte stay. A measured duration that outlasts the credits
    itself is a job of its own length. Exceeded limits are assumed to stay the bottleneck. For latencies, counts and a
    command's own metrics the effect is unknown, so they keep their values and get the risk.
    """
    bottleneck = cell.get("bottleneck")
    paid = (bottleneck.get("on_credits") or {}).get(candidate.point) if bottleneck else None
    if not paid:
        return candidate
    job_s, is_duration = wanted.job_s, metric == "duration_s"
    # A command's own metric that is better when higher may be a rate or a share; only a rate falls with its credits.
    is_scaled = is_duration or (higher_is_better and metric in METRICS)
    middle = candidate.median or candidate.tail
    if job_s is None or not is_scaled or middle is None:
        return replace(candidate, risks=[*candidate.risks, Burst(burst=shortest(paid))])

    def slowdown(value: float) -> float:
        job_at_burst_s = max(done_s(paid, job_s), value if is_duration else 0.0)
        return lasting_s(paid, job_at_burst_s) / job_at_burst_s

    if slowdown(middle.value) == 1:
        return replace(candidate, risks=[*candidate.risks, Burst(burst=shortest(paid))])

    def judged(value: float) -> float:
        return value * slowdown(value) if is_duration else value / slowdown(value)

    values, cost = candidate.values, candidate.cost
    whole_s = max(job_s, judged(middle.value)) if is_duration else job_s
    risk = JudgedBySustained(burst=shortest(paid), share=1 / slowdown(middle.value), job_s=whole_s)
    return replace(
        candidate,
        tail=_mapped(candidate.tail, judged),
        median=_mapped(candidate.median, judged),
        values=values and replace(values, table=np.vectorize(judged, otypes=[float])(values.table)),
        cost=cost and replace(cost, usd=cost.usd + (slowdown(middle.value) - 1) * (cost.usd - cost.by_use.expected)),
        risks=[*candidate.risks, risk],
    )


def lasting_s(paid: Sequence[OnCredits], at_burst_s: float) -> float:
    """Return the seconds of a job that would take `at_burst_s` if its credits never ended.

    t = lasts + (work - rate * lasts) / sustained for one burst. Balances are full at the start; of several bursts each
    drains at the rate that the others leave.
    """
    return _after(paid, done_s=at_burst_s)


def done_s(paid: Sequence[OnCredits], lasting_s: float) -> float:
    """Return the inverse of `lasting_s`: the work that is done in this time, in seconds at the burst rate."""
    return _after(paid, lasting_s=lasting_s)


def _after(paid: Sequence[OnCredits], *, done_s: float = math.inf, lasting_s: float = math.inf) -> float:
    """Return the time in which work is done, or the work that is done in a time."""
    # Of each burst its share of the rate that lasts, and its balance in seconds of work; an unknown one is empty.
    bursts = [(burst["sustained"] / burst["rate"], burst) for burst in paid]
    balances = [(share, (1 - share) * (burst["lasts_s"] or 0.0)) for share, burst in bursts]
    lasted = done = 0.0
    while True:
        rate = min([1.0, *(share for share, left in balances if not left)])
        ends = [(left / (rate - share), n) for n, (share, left) in enumerate(balances) if left and rate > share]
        ends_s, first = min(ends, default=(math.inf, -1))
        step_s = min(ends_s, (done_s - done) / rate, lasting_s - lasted)
        lasted, done = lasted + step_s, done + step_s * rate
        if step_s < ends_s:
            return done if done_s == math.inf else lasted
        balances = [
            (share, 0.0 if n == first else max(0.0, left - max(0.0, rate - share) * step_s))
            for n, (share, left) in enumerate(balances)
        ]


def _mapped(percentile: Percentile | None, judged: Callable[[float], float]) -> Percentile | None:
    if percentile is None:
        return None
    ends = (percentile.low, percentile.high, percentile.bound)
    low, high, bound = (None if end is None else judged(end) for end in ends)
    return replace(percentile, value=judged(percentile.value), low=low, high=high, bound=bound)
