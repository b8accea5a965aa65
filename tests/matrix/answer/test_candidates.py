"""Which candidate of a question is first, cheapest, good enough and undominated: small sets, worked out by hand."""

import pytest
from support.fleet_values import fleet

from matrix.answer.costs import PointCost
from matrix.answer.decision.answers import answer, slow_tail
from matrix.answer.decision.candidates import Absence, Candidate, Question
from matrix.answer.decision.objective import Objective, Percentile


def candidate(name, value, usd=1.0, *, low=None, high=None, missing=None, **facts):
    """A storage with a P90 and a cost for each run; `usd` None has no cost at all."""
    end = None if value is None else Percentile(90, value, low, high, None, has_enough_samples=True)
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
    assert asked.is_comparison
    assert not question(tail[0], left_out[0]).is_comparison


@pytest.mark.parametrize(
    ("values", "higher_is_better", "expected"),
    [
        ({"fast": (100.0, 3.0), "near": (104.0, 2.0), "cheap": (106.0, 1.0)}, False, "near"),
        ({"fast": (100.0, 3.0), "near": (96.0, 2.0), "cheap": (94.0, 1.0)}, True, "near"),
        ({"fast": (100.0, 1.0), "near": (104.0, 2.0)}, False, "fast"),
    ],
)
def test_the_cheapest_within_5_percent_of_the_fastest_is_as_good(values, higher_is_better, expected):
    made = [candidate(name, value, usd) for name, (value, usd) in values.items()]

    assert question(*made, higher_is_better=higher_is_better).as_good.storage == expected


def test_where_the_fastest_has_no_price_it_is_as_good_as_itself():
    unpriced = candidate("fast", 100.0, 1.0, missing="what is billed by the byte")

    assert question(unpriced, candidate("near", 101.0, 0.5)).as_good is unpriced
    assert question(candidate("none", None)).as_good is None


def test_nothing_cheaper_and_faster_is_on_the_front():
    fast, middle, cheap = candidate("fast", 10.0, 3.0), candidate("middle", 20.0, 2.0), candidate("cheap", 30.0, 1.0)
    beaten, unpriced = candidate("beaten", 20.0, 3.0), candidate("unpriced", 1.0, None)

    assert on_front(fast, middle, cheap, beaten, unpriced) == {"fast", "middle", "cheap"}
    assert on_front(fast, middle, cheap, higher_is_better=True) == {"cheap"}


def test_what_costs_nothing_is_cheaper_than_anything():
    assert on_front(candidate("free", 10.0, 0.0), candidate("paid", 10.0, 0.5)) == {"free"}
    # The same for the same price: both.
    assert on_front(candidate("one", 10.0, 0.5), candidate("two", 10.0, 0.5)) == {"one", "two"}


def test_the_cheapest_that_meets_the_limit_is_taken_with_its_margin_and_unpriced_ones_come_last():
    asked = question(
        candidate("slow", 110.0, 0.1),
        candidate("taken", 90.0, 1.0),
        candidate("dear", 50.0, 1.5),
        candidate("dearer", 40.0, 3.0),
        candidate("unknown", 60.0, 0.5, missing="bytes"),
    )

    seen = answered(asked, limit=100.0)

    assert names(asked.meeting(Objective(limit=100.0))) == ["taken", "dear", "dearer", "unknown"]
    assert asked.recommended is seen["taken"]
    assert asked.margin == pytest.approx(0.1)
    assert seen["taken"].verdict == {"code": "cheapest-that-meets", "margin": pytest.approx(0.1)}
    assert seen["slow"].verdict == {"code": "misses", "margin": pytest.approx(0.1), "interval_meets": False}
    assert seen["dear"].verdict == {"code": "meets", "margin": pytest.approx(0.5), "times_as_dear": 1.5}
    assert seen["dearer"].verdict["times_as_dear"] == 3.0
    assert seen["unknown"].verdict["times_as_dear"] is None


def test_a_limit_is_met_from_above_or_below_and_never_without_one():
    assert [Objective(limit=5.0).is_met(value) for value in (4.9, 5.0, 5.1)] == [True, True, False]
    assert [Objective(limit=5.0, is_upper=False).is_met(value) for value in (4.9, 5.0, 5.1)] == [False, True, True]
    assert not Objective().is_met(1.0)


def test_an_objective_is_read_from_a_matrix():
    assert Objective.of(None) == Objective.of({}) == Objective(None, 90.0, None, is_upper=True, job_s=None)
    upper = Objective.of({"metric": "duration_s", "atMost": 0, "percentile": 50, "jobHours": 2})
    assert upper == Objective("duration_s", 50.0, 0, is_upper=True, job_s=7200.0)
    assert Objective.of({"atLeast": 7}) == Objective(None, 90.0, 7, is_upper=False, job_s=None)


def test_who_has_an_interval_across_the_limit_is_at_risk_and_the_next_without_it_is_named():
    risky = candidate("risky", 95.0, 1.0, low=90.0, high=101.0)
    also = candidate("also", 96.0, 2.0, low=91.0, high=102.0)
    sure = candidate("sure", 50.0, 3.0, low=45.0, high=55.0)
    asked = question(risky, also, sure)

    answered(asked, limit=100.0)

    assert asked.recommended is risky
    crossing = {"code": "interval-crosses-limit", "low": 90.0, "high": 101.0, "confidence": 0.95}
    assert risky.risks == [crossing]
    assert also.risks == [crossing | {"low": 91.0, "high": 102.0}]
    assert sure.risks == []


def test_verdicts_without_an_objective_say_how_much_slower():
    seen = answered(
        question(
            candidate("first", 100.0, 3.0), candidate("same", 100.5, 4.0), candidate("some", 150.0, 2.0),
            candidate("many", 300.0, 1.0),
        )
    )  # fmt: skip

    assert seen["first"].verdict == {"code": "fastest", "is_cheapest": False}
    slower = {name: each.verdict["times_as_slow"] for name, each in seen.items() if name != "first"}
    assert slower == {"same": pytest.approx(1.005), "some": 1.5, "many": 3.0}
    assert [name for name, each in seen.items() if each.verdict["is_cheapest"]] == ["many"]


def absence(*neighbours, is_between=True):
    return [Absence("gone", neighbours, is_between)]


@pytest.mark.parametrize(
    ("gone", "wanted", "is_ahead"),
    [
        (absence((1, 90.0), (100, 95.0)), {}, True),
        (absence((1, 90.0), (100, 105.0)), {}, False),
        (absence((1, 90.0), is_between=False), {}, False),
        (absence((1, 110.0), (100, 119.0)), {"limit": 120.0}, True),
        (absence((1, 110.0), (100, 121.0)), {"limit": 120.0}, False),
    ],
)
def test_who_was_not_measured_is_expected_to_be_ahead_only_between_sizes_where_it_was(gone, wanted, is_ahead):
    asked = question(candidate("here", 100.0), candidate("too", 110.0), absences=gone)

    answered(asked, **wanted)

    [found] = asked.to_document(Objective(**wanted))["absences"]
    assert (found["storage"], found["is_expected_ahead"]) == ("gone", is_ahead)


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
def test_a_slow_tail_is_named_from_twice_the_median_on(values, higher_is_better, expected):
    tail = slow_tail(fleet([[value] for value in values]), higher_is_better=higher_is_better)

    assert (tail and (tail["slow"], tail["values"], tail["slowest"])) == expected
    assert slow_tail(None, higher_is_better=False) is None


def test_a_document_has_the_figures_of_the_tail_and_as_good_only_where_the_figures_tell():
    slow, fast = candidate("slow", 120.0, 1.0, low=110.0, high=130.0), candidate("fast", 100.0, 2.0)
    asked = question(slow, fast, candidate("none", None))

    first, _, none = asked.to_document(Objective())["candidates"]
    assert (first["value"], first["low"], first["high"]) == (120.0, 110.0, 130.0)
    assert (none["value"], none["low"], none["high"], none["ranked"]) == (None, None, None, None)
    assert first["ranked"] | {"confidence": 0} == {"level": 90, "value": 120.0, "low": 110.0, "high": 130.0} | {
        "confidence": 0
    }
    assert (asked.to_document(Objective())["as_good"], asked.to_document(Objective())["recommended"]) == ("fast", None)
    asked.is_open = True
    assert asked.to_document(Objective())["as_good"] is None
    assert question(fast).to_document(Objective())["as_good"] is None
