"""Laws of scaling: found again where they hold, refused where the data cannot carry them."""

import json
import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from matrix.answer.scaling.fitting import analyse, crossover, knee, peak, predict, report
from matrix.answer.scaling.laws import fit
from matrix.answer.scaling.series import Series, read_series
from matrix.terms.problems import InvalidMatrix

SIZES = (1, 2, 4, 8, 16, 32, 64)


def series(law, sizes=SIZES, *, higher_is_better=False, predict=(), noise=0.0, per_instance=None, seed=3):
    """Values of a law at sizes, with relative noise of which their intervals know."""
    rng = np.random.default_rng(seed)
    values = tuple(float(law(n) * math.exp(rng.normal(0, noise))) for n in sizes)
    off = math.exp(1.96 * max(noise, 0.01))
    low, high = tuple(value / off for value in values), tuple(value * off for value in values)
    return Series(tuple(sizes), values, higher_is_better, tuple(predict), per_instance, low, high)


def usl(n, speed=100.0, contention=0.03, coherency=0.0005):
    """Gunther's law as he writes it: throughput of n."""
    return speed * n / (1 + contention * (n - 1) + coherency * n * (n - 1))


def test_the_universal_scalability_law_is_found_again_in_throughput():
    found = analyse(series(usl, higher_is_better=True, noise=0.002)).chosen.curve

    assert found.model == "usl"
    assert found.parameters["contention"] == pytest.approx(0.03, rel=0.1)
    assert found.parameters["coherency"] == pytest.approx(0.0005, rel=0.1)
    assert 1 / found.parameters["a"] == pytest.approx(100, rel=0.01)


def test_its_peak_is_where_gunther_puts_it():
    scaling = analyse(series(usl, higher_is_better=True))

    # sqrt((1 - 0.03) / 0.0005) = 44.05
    assert peak(scaling) == 44
    assert usl(44) >= max(usl(43), usl(45))


@pytest.mark.parametrize(
    ("law", "model"),
    [
        (lambda n: 60.0, "constant"),
        (lambda n: 60 + 5 * (n - 1), "linear"),
        (lambda n: max(60, 6 * n), "ceiling"),
        (lambda n: 60 + 7 * max(0, n - 10), "knee"),
        (lambda n: 60 * (1 + 0.02 * (n - 1) + 0.003 * n * (n - 1)), "usl"),
    ],
)
def test_each_law_is_chosen_where_it_holds(law, model):
    assert analyse(series(law, (1, 2, 4, 8, 12, 16, 24, 32, 48, 64), noise=0.001)).chosen.curve.model == model


def test_a_saturating_rate_is_michaelis_and_mentens_hyperbola():
    # X = 1000 n / (10 + n): T = n / X = 0.01 + 0.001 n.
    found = fit("linear", np.array(SIZES, float), np.array([n / (1000 * n / (10 + n)) for n in SIZES]))

    assert found.parameters == pytest.approx({"a": 0.011, "b": 0.001})


def test_a_held_out_point_decides_not_the_fit():
    # Three parameters fit noise better than one; they predict it no better.
    scaling = analyse(Series(SIZES, (100.0, 96.0, 104.0, 99.0, 95.0, 103.0, 101.5), False))
    best_fit = min(scaling.candidates, key=lambda one: one.fit_error)

    assert scaling.chosen.curve.model == "constant"
    assert best_fit.curve.model != "constant"
    assert best_fit.held_out_error > scaling.chosen.held_out_error


def test_a_knee_says_up_to_where_others_cost_less_than_a_tenth():
    found = knee(analyse(series(lambda n: 60 + 0.5 * max(0, n - 10.5), (1, 2, 5, 10, 15, 20, 40))))

    # 60 + 0.5 (n - 10.5) = 66 at n = 22.5.
    assert found["n"] == 22
    assert "22 instances" in found["meaning"]


def test_no_knee_is_said_to_be_none_up_to_the_largest_size():
    assert knee(analyse(series(lambda n: 60.0)))["n"] is None


# --- predictions ------------------------------------------------------------------------------------------------------


def test_a_law_predicts_twice_the_largest_size_within_its_range():
    scaling = analyse(series(lambda n: 60 + 2 * max(0, n - 10), (1, 5, 10, 20, 30, 40, 50), noise=0.005))

    found = predict(scaling, 100)

    assert found["refused"] is None
    assert found["low"] <= 240 <= found["high"]
    assert found["value"] == pytest.approx(240, rel=0.1)


# How a storage's fleet rate or an instance's time goes on beyond what is measured, up to 100 instances.
GOES_ON = {
    "capped at 120": (True, lambda n: 60 * min(n, 120)),
    "capped at 80": (True, lambda n: 60 * min(n, 80)),
    "capped at 150": (True, lambda n: 60 * min(n, 150)),
    "halves after 120": (True, lambda n: 60 * n if n <= 120 else 3600),
    "four times as long beyond 100": (False, lambda n: 600 if n <= 100 else 2400),
    "USL with its peak at 70": (True, lambda n: usl(n, 60, 0.02, 0.0002)),
    "flat to 60, then linear": (False, lambda n: 600 * max(1, n / 60)),
    "grows with the square root": (False, lambda n: 600 * (1 + 0.1 * math.sqrt(n))),
}


def without_noise(data):
    return replace(data, low=(), high=())


def measured_thrice(law, noise, seed):
    data = [series(law[1], (1, 10, 50, 100), higher_is_better=law[0], noise=noise, seed=9 * seed + i) for i in range(3)]
    return Series(3 * data[0].n, sum((each.value for each in data), ()), law[0])


@pytest.mark.parametrize("source", ["intervals", "repeats", "assumed"])
def test_nine_of_ten_ranges_hold_a_truth_that_noise_and_unmeasured_sizes_hide(source):
    held, given = 0, {}
    for name, law in GOES_ON.items():
        for noise, seed in [(noise, seed) for noise in (0.03, 0.08) for seed in (1, 2)]:
            data = series(law[1], (1, 10, 50, 100), higher_is_better=law[0], noise=noise, seed=seed)
            if source != "intervals":
                data = without_noise(data) if source == "assumed" else measured_thrice(law, noise, seed)
            scaling = analyse(data)
            assert scaling.noise.source == source
            found = predict(scaling, 200)
            if found["refused"] is None:
                given[name] = given.get(name, 0) + 1
                held += found["low"] <= law[1](200) <= found["high"]

    assert held >= 0.9 * sum(given.values())
    # What cannot be seen is never predicted; what can be seen is predicted where the noise is known.
    assert not given.keys() & {"capped at 120", "capped at 150", "halves after 120", "four times as long beyond 100"}
    assert ("USL with its peak at 70" in given) == (source != "assumed")


def test_bounds_hold_whatever_the_law_as_long_as_the_fleet_does_no_less():
    for name in ("capped at 120", "capped at 80", "capped at 150", "flat to 60, then linear"):
        is_rate, law = GOES_ON[name]
        found = predict(analyse(series(law, (1, 10, 50, 100), higher_is_better=is_rate, noise=0.03)), 200)

        assert found["bounds"]["low"] <= law(200) <= found["bounds"]["high"]
    assert predict(analyse(series(law, (1, 10, 50, 100))), 75)["bounds"] is None


def test_why_there_is_no_prediction_is_a_code_with_numbers():
    flat = predict(analyse(series(lambda n: 60.0, (1, 10, 50, 100), noise=0.03, seed=1)), 200)
    bent = predict(analyse(series(lambda n: 60.0 * max(1, n / 80), (1, 10, 50, 100))), 200)

    assert [reason["code"] for reason in flat["reasons"]] == ["not-slowed"]
    assert flat["reasons"][0]["noise"] == pytest.approx(0.03, rel=0.01)
    # Where between 50 and 100 it begins to rise, and so how steeply, nothing says.
    assert [(reason["code"], reason["between"]) for reason in bent["reasons"]] == [("too-wide", [50, 100])]


def test_a_measured_size_is_what_was_measured_there():
    found = predict(analyse(Series((1, 10, 50, 100), (60, 61, 90, 140), False, low=(None, 60, 88, 136),
                                   high=(None, 62, 92, 145))), 50)  # fmt: skip

    assert found["value"] == pytest.approx(90)
    assert found["low"] < 88
    assert found["high"] > 92


def test_a_knee_that_noise_may_hide_is_not_denied():
    flat = series(lambda n: 60.0, (1, 10, 50, 100), noise=0.02)

    assert knee(analyse(series(lambda n: 60.0)))["status"] == "keeps-speed"
    assert knee(analyse(series(lambda n: 60.0 + n)))["status"] == "slowed"
    assert knee(analyse(without_noise(flat)))["status"] == "hidden-by-noise"
    assert "not enough to tell" in knee(analyse(without_noise(flat)))["meaning"]


@pytest.mark.parametrize(
    ("data", "n", "reason"),
    [
        (series(lambda n: 60 + n, (1, 10, 50)), 100, "3 sizes were measured"),
        (series(lambda n: 60 + n), 129, "more than 2 times"),
        (series(lambda n: 60.0, noise=0.01), 128, "nothing has slowed down by more than noise"),
        (Series((1, 2, 4, 8), (10.0, 30.0, 12.0, 80.0), False), 16, "no law passes through the values"),
    ],
)
def test_what_the_data_cannot_carry_is_refused_in_words(data, n, reason):
    found = predict(analyse(data), n)

    assert reason in found["refused"]
    assert (found["value"], found["low"], found["high"]) == (None, None, None)


def test_a_size_between_measured_ones_is_no_extrapolation():
    found = predict(analyse(series(lambda n: 60 + n)), 20)

    assert (found["is_extrapolation"], found["refused"]) == (False, None)
    assert found["value"] == pytest.approx(80, rel=0.01)


def test_a_rate_that_does_not_rise_with_the_fleet_is_each_instances():
    assert report(series(lambda n: 900 / n, higher_is_better=True))["reads"] == "rates of each instance"
    assert report(series(lambda n: 900 * n, higher_is_better=True))["reads"] == "rates of the whole fleet"
    assert (
        report(series(lambda n: 9 * n, higher_is_better=True, per_instance=True))["reads"] == "rates of each instance"
    )


def test_a_rate_and_the_time_it_takes_tell_the_same():
    rate = report(series(lambda n: 1000 / (1 + 0.1 * n), higher_is_better=True, predict=[100]))
    time = report(series(lambda n: (1 + 0.1 * n) / 1000, predict=[100]))

    assert rate["model"] == time["model"]
    assert rate["predictions"][0]["value"] == pytest.approx(1 / time["predictions"][0]["value"])
    assert rate["predictions"][0]["low"] == pytest.approx(1 / time["predictions"][0]["high"])


@settings(max_examples=10)
@given(st.floats(0.001, 1000))
def test_other_units_make_other_figures_and_the_same_law(factor):
    one, other = (
        report(series(lambda n, unit=unit: unit * (50 + 3 * max(0, n - 6)), predict=[100])) for unit in (1, factor)
    )

    assert one["model"] == other["model"]
    assert other["predictions"][0]["value"] == pytest.approx(factor * one["predictions"][0]["value"], rel=1e-6)


def test_sizes_that_were_measured_several_times_are_held_out_together():
    scaling = analyse(Series((1, 1, 1, 2, 2, 2), (10.0, 11, 12, 20, 21, 22), False))

    assert scaling.chosen.held_out_error is None
    assert "2 sizes" in report(scaling.series)["warnings"][0]


# --- crossover --------------------------------------------------------------------------------------------------------


def test_two_storages_cross_where_their_curves_do():
    flat = analyse(series(lambda n: 100.0))
    growing = analyse(series(lambda n: 60 + 2.0 * (n - 1)))

    # 60 + 2 (n - 1) > 100 from n = 22 on.
    assert crossover(growing, flat) == {"n": 22, "meaning": "the first is ahead below 22, the second from 22 on"}
    assert crossover(flat, growing)["n"] == 22


def test_curves_that_do_not_cross_within_the_data_say_who_is_ahead():
    found = crossover(analyse(series(lambda n: 100.0)), analyse(series(lambda n: 60.0)))

    assert found == {"n": None, "meaning": "the second is ahead from 1 to 64"}


# --- the input --------------------------------------------------------------------------------------------------------


def test_a_good_series_is_read():
    text = json.dumps({"n": [1, 2], "value": [3, 4.5], "higherIsBetter": True, "predict": [9]})

    assert read_series(text) == Series((1, 2), (3.0, 4.5), True, (9,))


def test_every_mistake_is_listed_with_its_path():
    document = {"n": [1, 0, "2"], "value": [1, -1], "higherIsBetter": "yes", "predict": [1.5], "wat": 1}

    with pytest.raises(InvalidMatrix) as refused:
        read_series(json.dumps(document))

    paths = [problem.path for problem in refused.value.problems]
    assert sorted(paths) == ["higherIsBetter", "n[1]", "n[2]", "predict[0]", "value", "value[1]", "wat"]


@pytest.mark.parametrize(
    ("ends", "path"),
    [
        ({"low": [1, 2]}, "high"),
        ({"low": [1], "high": [4, 5]}, "low"),
        ({"low": [1, None], "high": [4, 5]}, "low[1]"),
        ({"low": [1, "x"], "high": [4, 5]}, "low[1]"),
        ({"low": [1, 5], "high": [4, 5]}, "low[1]"),
        ({"low": 3, "high": 4}, "low"),
    ],
)
def test_an_interval_that_does_not_hold_its_value_is_named(ends, path):
    with pytest.raises(InvalidMatrix) as refused:
        read_series(json.dumps({"n": [1, 2], "value": [3, 4.5], "higherIsBetter": True, **ends}))

    assert [problem.path for problem in refused.value.problems] == [path]


def test_intervals_are_read_and_null_where_there_is_none():
    text = '{"n": [1, 2], "value": [3, 4], "low": [null, 3.5], "high": [null, 5], "higherIsBetter": true}'

    assert (read_series(text).low, read_series(text).high) == ((None, 3.5), (None, 5.0))


@pytest.mark.parametrize("text", ["", "[]", "{", "null", '{"n": [], "value": [], "higherIsBetter": true}', '{"n": 1}'])
def test_what_is_no_series_is_refused(text):
    with pytest.raises(InvalidMatrix):
        read_series(text)


def test_numbers_beyond_measure_are_refused_not_crashed_on():
    for value in ("1e999", "1" + "0" * 400, "NaN", "Infinity", "0", "true"):
        with pytest.raises(InvalidMatrix):
            read_series(f'{{"n": [1], "value": [{value}], "higherIsBetter": true}}')


# --- judged by what was published -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("seconds", "at_200"),
    [
        ((5932, 6073, 6573, 8159), 11841),  # EFS elastic
        ((5952, 6098, 6489, 8198), 11442),  # EFS bursting
        ((5967, 6070, 7048, 9603), 13793),  # FSx for OpenZFS
    ],
)
def test_the_published_p90_of_200_builds_is_within_the_range_predicted_from_100_and_fewer(seconds, at_200):
    """Each figure known with a standard error of 2 %: give or take 4 %."""
    low, high = tuple(value / 1.04 for value in seconds), tuple(value * 1.04 for value in seconds)
    known = Series(
        (1, 10, 50, 100), tuple(map(float, seconds)), higher_is_better=False, predict=(200,), low=low, high=high
    )

    [predicted] = report(known)["predictions"]

    assert predicted["low"] <= at_200 <= predicted["high"]


def test_a_size_far_beyond_all_numbers_is_refused_in_words():
    found = report(Series((1, 2, 4, 8), (100.0, 185.0, 390.0, 720.0), higher_is_better=True, predict=(1_000_000,)))

    (refused,) = found["refusals"]
    assert refused.startswith("n = 1000000: more than 2 times the largest measured size (8); measure 500000 or more")


def test_a_size_between_measured_ones_is_refused_where_no_model_found_those():
    # Twice as fast with each size: no law of scaling says that, and none can say what lies between.
    faster = Series((1, 2, 4, 8, 16), (100.0, 50.0, 25.0, 12.5, 6.2), higher_is_better=False, predict=(6, 8))

    between, measured = report(faster)["predictions"]

    assert "no law passes through the values" in between["refused"]
    assert measured["refused"] is None


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("values", [(1e-300, 1e299, 1.0, 1e-200), (1e299, 2e299, 3e299, 4e299)])
@pytest.mark.parametrize("higher_is_better", [True, False])
def test_values_at_the_ends_of_all_numbers_make_json(values, higher_is_better):
    found = report(Series((1, 2, 4, 1_000_000), values, higher_is_better, predict=(3, 1_000_000)))

    json.dumps(found, allow_nan=False)
