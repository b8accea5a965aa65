"""Jobs that outlast burst credits, worked out by hand."""

import pytest

from matrix.answer.costs import PointCost
from matrix.answer.decision import sustaining
from matrix.answer.decision.candidates import Candidate
from matrix.answer.decision.objective import Objective, Percentile
from matrix.answer.decision.sustaining import judge_by_sustained
from matrix.price.book import Cost

BURST = {"of": "volume IOPS", "counts": "IOPS", "rate": 3000.0, "sustained": 300.0, "lasts_s": 2000.0}
NETWORK = {"of": "instance network", "counts": "bytes/s", "rate": 4e8, "sustained": 2e8, "lasts_s": 300.0}


@pytest.mark.parametrize(
    ("paid", "at_burst_s", "lasting_s"),
    [
        ([BURST], 1_900.0, 1_900.0),
        ([BURST], 2_000.0, 2_000.0),
        ([BURST], 2_050.0, 2_500.0),
        ([BURST], 7_200.0, 54_000.0),
        ([BURST | {"lasts_s": None}], 60.0, 600.0),
        # At half of the rate after 300 s, the volume's balance of 1,800 s at full rate less what it earns lasts longer:
        # 270 s of it are gone, and the others go at 0.5 - 0.1.
        ([BURST, NETWORK], 300.0 + 0.5 * 3_825.0, 300.0 + 3_825.0),
        ([BURST, NETWORK], 300.0 + 0.5 * 3_825.0 + 10.0, 300.0 + 3_825.0 + 100.0),
        ([NETWORK, BURST | {"lasts_s": 100.0}], 110.0, 200.0),
    ],
)
def test_a_job_takes_its_credits_first_and_the_baseline_rate_after_them(paid, at_burst_s, lasting_s):
    """By AWS's rule, worked out by hand: credits are earned at the baseline rate, and used at the rate above it."""
    assert sustaining.lasting_s(paid, at_burst_s) == pytest.approx(lasting_s)
    assert sustaining.done_s(paid, lasting_s) == pytest.approx(at_burst_s)


@pytest.mark.parametrize(
    ("metric", "higher_is_better", "before", "job_s", "slowdown"),
    [
        # The first of many runs, over two hours: 2,000 s at once and 5,200 s at a tenth.
        ("duration_s", False, 100.0, 7_200.0, 7_200 / 2_520),
        ("iops", True, 100.0, 7_200.0, 7_200 / 2_520),
        # One run that takes longer than the credits last is a job itself, however its hours are written.
        *[("duration_s", False, 2_050.0, hours, 2_500 / 2_050) for hours in (1_800.0, 2_050.0, 2_500.0)],
        ("duration_s", False, 100.0, 1_800.0, 1.0),
        ("duration_s", False, 100.0, None, 1.0),
        ("own", True, 100.0, 7_200.0, 1.0),  # a metric of one's own may be no rate
    ],
)
def test_a_job_that_outlasts_its_credits_is_judged_by_its_mean_rate(metric, higher_is_better, before, job_s, slowdown):
    cell = {"bottleneck": {"on_credits": {"p01": [BURST]}}}
    tail = Percentile(90, before, before, None, None, has_enough_samples=True)
    cost = PointCost("run", 1.0, "list prices", by_use=Cost(0.25, 0.25, 0.25))
    measured = Candidate("burst", "p01", "burst", "burst", tail, tail, cost, None)

    after = judge_by_sustained(measured, cell, metric, Objective(job_s=job_s), higher_is_better=higher_is_better)

    assert after.tail.value == pytest.approx(before / slowdown if higher_is_better else before * slowdown)
    # Hours are paid for longer, bytes once.
    assert after.cost.usd == pytest.approx(0.75 * slowdown + 0.25)
    assert (after.tail.low, after.tail.high) == (after.tail.value, None)
    [risk] = after.risks
    assert (risk.code, getattr(risk, "share", None)) == (
        ("burst", None) if slowdown == 1 else ("judged-by-sustained", pytest.approx(1 / slowdown))
    )
    assert judge_by_sustained(measured, {}, metric, Objective(job_s=job_s), higher_is_better=True) is measured
