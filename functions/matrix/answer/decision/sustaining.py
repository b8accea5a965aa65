"""The speed of a storage in a job that lasts longer than its burst credits."""

from dataclasses import replace

from matrix.answer.decision.candidates import Candidate
from matrix.answer.decision.objective import Objective, Percentile
from matrix.terms.documents.result import ResultDocument
from matrix.terms.documents.summary import Risk
from matrix.terms.metrics import METRICS
from matrix.terms.names import shortest


def judge_by_sustained(
    candidate: Candidate, cell: ResultDocument, metric: str, wanted: Objective, *, higher_is_better: bool
) -> Candidate:
    """Return a candidate judged for a job of the objective's length, with the risk of its credits.

    Without credits it does not change. If credits end before the job, rates are multiplied by sustained / measured
    rate, durations and costs divided by it; the exceeded limit is assumed to stay the bottleneck. For latencies, counts
    and a command's own metrics the effect is unknown, so they keep their values and get the risk.
    """
    bottleneck = cell.get("bottleneck")
    paid = (bottleneck.get("on_credits") or {}).get(candidate.point) if bottleneck else None
    if not paid:
        return candidate
    ended = [burst for burst in paid if wanted.outlasts(burst["lasts_s"])]
    # A command's own metric that is better when higher may be a rate or a share; only a rate falls with its credits.
    is_scaled = metric == "duration_s" or (higher_is_better and metric in METRICS)
    if not ended or not is_scaled:
        return replace(candidate, risks=[*candidate.risks, {"code": "burst", "burst": shortest(paid)}])
    worst = shortest(ended)
    share = worst["sustained"] / worst["rate"]
    factor = share if higher_is_better else 1 / share
    risk: Risk = {"code": "judged-by-sustained", "burst": worst, "share": share, "job_s": wanted.job_s or 0.0}
    return replace(
        candidate,
        tail=_times(candidate.tail, factor),
        median=_times(candidate.median, factor),
        values=candidate.values and replace(candidate.values, table=candidate.values.table * factor),
        cost=candidate.cost and replace(candidate.cost, usd=candidate.cost.usd / share),
        risks=[*candidate.risks, risk],
    )


def _times(percentile: Percentile | None, factor: float) -> Percentile | None:
    if percentile is None:
        return None
    low, high = (None if end is None else end * factor for end in (percentile.low, percentile.high))
    return replace(percentile, value=percentile.value * factor, low=low, high=high)
