"""Which candidate of a question is first, cheapest, good enough and undominated: small sets, worked out by hand."""

import math
from dataclasses import replace

import numpy as np
import pytest
from support.fleet_values import fleet

from matrix.answer.costs import PointCost
from matrix.answer.decision.answers import answer, slow_tail
from matrix.answer.decision.candidates import Candidate, Question
from matrix.answer.decision.objective import Objective, Percentile
from matrix.answer.decision.pairs import Pairs
from matrix.price.book import Cost
from matrix.terms.findings.risks import SampleSizeUnknown


def candidate(name, value, usd=1.0, *, low=None, high=None, bound=None, missing=None, **facts):
    """A storage with a P90 and a cost for each run; `usd` None has no cost at all."""
    end = None if value is None else Percentile(90, value, low, high, None, has_enough_samples=True, bound=bound)
    cost = None if usd is None else PointCost("run", usd, "list prices", missing)
    return Candidate(name, "p01", name, name, end, end, cost, None, ranked=end, **facts)


def question(*candidates, higher_is_better=False, instances=10, **facts):
    """A question about seconds, or a rate where higher is better."""
    about = {"workload": "build", "label": "", "fleet": "10 x m6i.large", "instances": instances}
    metric = {"metric": "duration_s", "unit": "s", "higher_is_better": higher_is_better, "level": 90.0}
    return Question(**about, **metric, candidates=list(candidates), **facts)


def names(candidates):
    return [each.storage for each in candidates]


def answered(asked, **wanted):
    """Answer a question; return its candidates by name."""
    answer(asked, Objective(**wanted), for_sale=True)
    return {each.storage: each for each in asked.candidates}


def on_front(*candidates, **facts):
    return {each.storage for each in answered(question(*candidates, **facts)).values() if each.on_front}


@pytest.mark.parametrize(("used", "low"), [((0.5, 0.5, 0.5), 1.2), ((0.5, 0.5, 0.9), 1.2 / 1.4)])
def test_a_cost_that_may_be_metered_higher_is_not_shown_to_be_less(used, low):
    fast, rival = (candidate(name, 10.0, usd, low=10.0, high=10.0) for name, usd in (("a", 1.0), ("b", 1.2)))
    fast = replace(fast, cost=replace(fast.cost, by_use=Cost(*used)))

    cost = Pairs(question(fast, rival)).cost(fast, rival)

    assert (cost.ratio, cost.low, cost.high) == pytest.approx((1.2, low, 1.2))


def test_candidates_are_ranked_by_speed_and_priced_by_cost_and_of_equal_costs_by_speed():
    tail = [candidate("a", 30.0, 1.0), candidate("b", 10.0, 2.0), candidate("c", 20.0, 1.0)]
    left_out = [
        candidate("d", None),
        candidate("e", 1.0, lost={"code": "left-out", "reason": "wrong"}),
        candidate("f", 40.0, None),
    ]
    asked = question(*tail, *left_out)

    assert names(asked.judged) == ["a", "b", "c", "f"]
    assert names(asked.ranked) == ["b", "c", "a", "f"]
    assert names(asked.priced) == ["c", "a", "b"]
    assert names(question(*tail, higher_is_better=True).ranked) == ["a", "c", "b"]
    assert not question(*tail, higher_is_better=True).is_faster(1.0, 1.0)
    assert asked.is_comparison
    assert not question(tail[0], left_out[0]).is_comparison


@pytest.mark.parametrize(
    ("storages", "recommended", "rival"),
    [
        ({"dear": (100.0, 2.0, 0.01), "cheap": (100.0, 1.0, 0.01)}, "cheap", None),
        ({"dear": (100.0, 2.0, 0.01), "cheap": (102.0, 1.0, 0.01)}, "cheap", None),
        ({"dear": (100.0, 2.0, 0.01), "cheap": (104.0, 1.0, 0.01)}, None, "cheap"),
        ({"dear": (100.0, 2.0, 0.01), "cheap": (106.0, 1.0, 0.01)}, None, "cheap"),
        ({"dear": (100.0, 2.0, 0.01), "cheap": (110.0, 1.0, 0.01)}, "dear", None),
        # As slow as the end of its interval it would cost as much: nobody knows which of them is cheaper.
        ({"dear": (100.0, 1.0, 0.01), "cheap": (102.0, 0.995, 0.01)}, None, "dear"),
        # The fastest is the cheapest, and another one may be faster.
        ({"dear": (102.0, 2.0, 0.01), "cheap": (100.0, 1.0, 0.01)}, "cheap", None),
        ({"dear": (102.0, 2.0, 0.1), "cheap": (100.0, 1.0, 0.1)}, None, "dear"),
        # A third one that may be faster by more keeps it open, and one that both beat changes nothing.
        ({"dear": (100.0, 2.0, 0.01), "cheap": (102.0, 1.0, 0.01), "third": (103.0, 3.0, 0.5)}, None, "third"),
        ({"dear": (100.0, 2.0, 0.01), "cheap": (102.0, 1.0, 0.01), "third": (150.0, 3.0, 0.5)}, "cheap", None),
        # A cheaper one that is not shown to be slower does, too, although another one is shown to be as fast.
        ({"dear": (100.0, 2.0, 0.01), "near": (102.0, 1.5, 0.01), "noisy": (104.0, 1.0, 0.1)}, None, "noisy"),
        ({"dear": (100.0, 2.0, 0.01), "cheap": (104.0, 1.0, 0.01), "third": (200.0, 3.0, 0.5)}, None, "cheap"),
        # Who is too slow may be as cheap as it likes.
        ({"dear": (100.0, 2.0, 0.01), "cheap": (102.0, 1.0, 0.01), "slow": (200.0, 0.1, 0.01)}, "cheap", None),
        ({"dear": (100.0, 2.0, 0.01), "near": (102.0, 1.5, 0.01), "open": (104.0, 1.0, 0.01)}, None, "open"),
        # Of a cost that is not known nobody can say that it is lower.
        ({"dear": (100.0, None, 0.01), "cheap": (102.0, 1.0, 0.01)}, "dear", None),
        ({"dear": (100.0, 2.0, 0.01), "cheap": (102.0, None, 0.01)}, "dear", None),
    ],
)
@pytest.mark.parametrize("is_rate", [False, True])
def test_the_cheapest_that_is_shown_to_be_within_5_percent_of_the_fastest_is_recommended(
    storages, recommended, rival, is_rate
):
    def of(name, seconds, usd, noise):
        value = 1e4 / seconds if is_rate else seconds
        return candidate(name, value, usd, low=value / (1 + noise / 2), high=value * (1 + noise / 2))

    asked = question(*(of(name, *about) for name, about in storages.items()), higher_is_better=is_rate)
    answered(asked)

    assert (asked.recommended and asked.recommended.storage, asked.rival and asked.rival.storage) == (
        recommended,
        rival,
    )
    assert asked.state == ("shown" if recommended else "open")


def test_without_intervals_the_figures_name_a_best_value_and_none_is_recommended():
    asked = question(candidate("fast", 100.0, 3.0), candidate("near", 104.0, 2.0), candidate("cheap", 106.0, 1.0))

    seen = answered(asked)

    assert (asked.state, asked.best_value.storage, asked.recommended) == ("not-tested", "near", None)
    assert {name: each.times_as_dear for name, each in seen.items()} == {"fast": 3.0, "near": 2.0, "cheap": 1.0}
    unpriced = question(
        candidate("fast", 100.0, 1.0, missing="what is billed by the byte"), candidate("near", 101.0, 0.5)
    )
    answered(unpriced)
    assert unpriced.best_value.storage == "fast"


def test_nothing_cheaper_and_faster_is_on_the_front():
    fast, middle, cheap = candidate("fast", 10.0, 3.0), candidate("middle", 20.0, 2.0), candidate("cheap", 30.0, 1.0)
    beaten, unpriced = candidate("beaten", 20.0, 3.0), candidate("unpriced", 1.0, None)

    assert on_front(fast, middle, cheap, beaten, unpriced) == {"fast", "middle", "cheap"}
    assert on_front(fast, middle, cheap, higher_is_better=True) == {"cheap"}


def test_what_costs_nothing_is_cheaper_than_anything():
    assert on_front(candidate("free", 10.0, 0.0), candidate("paid", 10.0, 0.5)) == {"free"}
    # The same for the same price: both.
    assert on_front(candidate("one", 10.0, 0.5), candidate("two", 10.0, 0.5)) == {"one", "two"}


def test_the_cheapest_that_is_shown_to_meet_the_limit_is_taken_with_its_margin_and_unpriced_ones_come_last():
    asked = question(
        candidate("slow", 110.0, 0.1),
        candidate("by value", 95.0, 1.1, bound=101.0),
        candidate("nobody knows", 95.0, 1.2),
        candidate("taken", 90.0, 1.0, low=88.0, high=92.0, bound=100.0),
        candidate("dear", 50.0, 1.5, low=49.0, high=51.0, bound=60.0),
        candidate("unknown", 60.0, 0.5, missing="bytes", bound=70.0),
    )

    seen = answered(asked, limit=100.0)

    assert names(asked.meeting(Objective(limit=100.0)))[-1] == "unknown"
    assert (asked.state, asked.recommended.storage, asked.margin) == ("shown", "taken", pytest.approx(0.1))
    assert {name: each.verdict.document["code"] for name, each in seen.items()} == {
        "slow": "misses", "by value": "meets-by-value", "nobody knows": "meets-by-value", "dear": "meets",
        "taken": "cheapest-that-meets", "unknown": "meets",
    }  # fmt: skip
    assert (seen["taken"].verdict.margin, seen["taken"].verdict.bound) == (pytest.approx(0.1), 100.0)
    assert (seen["dear"].times_as_dear, seen["unknown"].times_as_dear) == (1.5, None)


@pytest.mark.parametrize(
    ("storages", "limit", "expected"),
    [
        ([("a", 110.0, 0.1, None)], 100.0, ("missed", None, None, None)),
        ([("a", 95.0, 0.5, 101.0)], 100.0, ("by-value", "a", None, None)),
        ([("a", 95.0, 0.5, 99.0), ("b", 50.0, 0.9, 60.0)], 100.0, ("shown", "a", "a", None)),
        # Which of two is cheaper is not shown: of two that are shown to meet it, or of one that does by its value.
        ([("a", 95.0, 0.5, 99.0), ("b", 50.0, 0.504, 60.0)], 100.0, ("open", "a", None, "b")),
        ([("a", 95.0, 0.5, 99.0), ("b", 50.0, 0.9, 60.0), ("c", 50.0, 0.501, 60.0)], 100.0, ("open", "a", None, "c")),
        ([("a", 95.0, 0.5, 99.0), ("b", 99.0, 0.5, 101.0)], 100.0, ("open", "a", None, "b")),
        ([("a", 95.0, 0.5, 99.0), ("b", 99.0, 0.9, 101.0)], 100.0, ("shown", "a", "a", None)),
        ([("a", 95.0, 0.5, 99.0), ("b", 101.0, 0.4, 103.0)], 100.0, ("shown", "a", "a", None)),
        ([("a", 100.0, 2.0, None), ("b", 100.1, 1.0, None)], None, ("shown", "b", "b", None)),
        ([("a", 100.0, 2.0, None), ("b", 104.9, 1.0, None)], None, ("open", "b", None, "b")),
        # Rates of 0: equal ones are as fast.
        ([("a", 0.0, 2.0, None), ("b", 0.0, 1.0, None)], None, ("not-tested", "b", None, "b")),
        ([("a", 0.0, 2.0, None), ("b", 1.0, 1.0, None)], None, ("not-tested", "a", None, "b")),
    ],
)
def test_a_document_has_the_state_of_the_question_and_the_cells_that_matter(storages, limit, expected):
    asked = question(
        *(
            candidate(name, value, usd, bound=bound, low=value * 0.995, high=value * 1.005)
            for name, value, usd, bound in storages
        )
    )
    answered(asked, limit=limit)

    document = asked.to_document()
    assert tuple(document[name] for name in ("state", "best_value", "recommended", "rival")) == expected


def test_latencies_bound_no_cost():
    sides = (candidate(name, 5.0, usd, low=4.9, high=5.1, bound=6.0) for name, usd in (("a", 1.0), ("b", 2.0)))
    asked = question(*sides)
    asked.metric = "read_lat_p99_us"

    answered(asked, limit=10.0)

    assert (asked.state, asked.best_value.storage, asked.recommended) == ("not-tested", "a", None)


def test_a_cost_has_the_ends_of_its_interval():
    slow = np.ones((10, 10))
    slow[0, :2] = 3.0
    sides = [candidate("even", 100.0), candidate("uneven", 100.0)]
    for each, table in zip(sides, (np.ones((10, 10)), slow), strict=True):
        each.values = fleet(100 * table)

    costs = {name: each.cost for name, each in answered(question(*sides)).items()}

    assert (costs["even"].low_usd, costs["even"].high_usd) == pytest.approx((1.0, 1.0))
    assert costs["uneven"].low_usd < 0.8
    assert costs["uneven"].high_usd > 1.2


def test_an_open_question_needs_the_data_that_tell_the_rival_from_the_edge_that_matters():
    noise = np.exp(0.06 * np.random.default_rng(2).normal(size=(12, 4)))

    def needed(ratio, usd):
        sides = [candidate(name, 100.0 * times, cost) for name, times, cost in (("a", 1.0, 1.0), ("b", ratio, usd))]
        for each, part in zip(sides, (noise[:6], noise[6:]), strict=True):
            each.values = fleet(part / np.median(part) * each.value)
        # The level by which the values are compared.
        asked = question(*sides, why_median=SampleSizeUnknown(level=90))
        answered(asked)
        assert (asked.state, asked.rival.storage) == ("open", "b")
        return math.prod(asked.needed.values()) if asked.needed else math.inf

    # A cheaper one may be less than 5 % slower: the nearer its ratio is to 1.05, the more data it takes.
    assert needed(1.04, 0.5) > 2 * needed(1.01, 0.5)
    # A dearer one may be more than 5 % faster: the nearer to 1 / 1.05.
    assert needed(1.0, 2.0) > needed(1.02, 2.0)


def test_of_an_interval_with_one_end_no_ratio_is_known():
    asked = question(candidate("a", 100.0, 2.0, low=99.0), candidate("b", 100.0, 1.0, low=99.0, high=101.0))

    seen = answered(asked)

    assert {each.verdict.document.get("difference", {}).get("code") for each in seen.values()} == {None, "not-tested"}


def test_the_verdict_of_a_storage_that_is_shown_to_be_as_fast_has_the_ratio_and_its_ends():
    seen = answered(question(candidate("a", 100.0, low=99.0, high=101.0), candidate("b", 102.0, low=101.0, high=103.0)))

    assert seen["b"].verdict.document["difference"] == {
        "code": "as-fast", "ratio": pytest.approx(1.02), "low": pytest.approx(101 / 101),
        "high": pytest.approx(103 / 99),
    }  # fmt: skip
    at_edge = answered(question(candidate("a", 100.0, low=100.0, high=100.0), candidate("b", 102.0, low=101, high=105)))
    assert at_edge["b"].verdict.document["difference"]["code"] == "open"


def test_a_limit_is_met_from_above_or_below_and_never_without_one():
    assert [Objective(limit=5.0).is_met(value) for value in (4.9, 5.0, 5.1)] == [True, True, False]
    assert [Objective(limit=5.0, is_upper=False).is_met(value) for value in (4.9, 5.0, 5.1)] == [False, True, True]
    assert not Objective().is_met(1.0)


def test_an_objective_is_read_from_a_matrix():
    assert Objective.of(None) == Objective.of({}) == Objective(None, 90.0, None, is_upper=True, job_s=None)
    upper = Objective.of({"metric": "duration_s", "atMost": 0, "percentile": 50, "jobHours": 2})
    assert upper == Objective("duration_s", 50.0, 0, is_upper=True, job_s=7200.0)
    assert Objective.of({"atLeast": 7}) == Objective(None, 90.0, 7, is_upper=False, job_s=None)


def test_verdicts_without_an_objective_say_how_much_slower():
    seen = answered(
        question(
            candidate("first", 100.0, 3.0), candidate("same", 100.5, 4.0), candidate("some", 150.0, 2.0),
            candidate("many", 300.0, 1.0),
        )
    )  # fmt: skip

    assert seen["first"].verdict.document == {"code": "fastest", "is_cheapest": False}
    slower = {name: each.verdict.document["times_as_slow"] for name, each in seen.items() if name != "first"}
    assert slower == {"same": pytest.approx(1.005), "some": 1.5, "many": 3.0}
    assert [name for name, each in seen.items() if each.verdict.document["is_cheapest"]] == ["many"]


@pytest.mark.parametrize(
    ("values", "higher_is_better", "expected"),
    [
        ([1.0, 1.0, 1.0, 2.0], False, (1, 4, 2.0)),
        ([1.0, 1.0, 1.0, 2.5, 4.0], False, (2, 5, 4.0)),
        ([4.0, 4.0, 4.0, 1.0], True, (1, 4, 4.0)),
        ([1.0, 1.0, 1.0, 1.9], False, None),
        ([0.0, 1.0, 1.0, 9.0], False, None),
    ],
)
def test_a_slow_tail_is_named_from_twice_the_ranked_percentile_on(values, higher_is_better, expected):
    tail = slow_tail(fleet([[value] for value in values]), 50, higher_is_better=higher_is_better)

    assert (tail and (tail.slow, tail.values, tail.slowest)) == expected
    assert slow_tail(None, 50, higher_is_better=False) is None
