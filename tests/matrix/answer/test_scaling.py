"""Laws of scaling: found again where they hold, and ranges that hold what was not measured."""

import json
import math
from dataclasses import replace

import numpy as np
import pytest

from matrix.answer.scaling.fitting import analyse, knee, peak, predict, report
from matrix.answer.scaling.series import Series, read_series
from matrix.published.runs import published_runs
from matrix.terms.problems import InvalidMatrix

SIZES = (1, 2, 4, 8, 16, 32, 64)


def series(law, sizes=SIZES, *, higher_is_better=False, predict=(), noise=0.0, per_instance=None, seed=3):
    """Values of a law at sizes, with relative noise of which their intervals know."""
    rng = np.random.default_rng(seed)
    values = tuple(float(law(n) * math.exp(rng.normal(0, noise))) for n in sizes)
    off = math.exp(1.96 * max(noise, 0.01))
    low, high = tuple(value / off for value in values), tuple(value * off for value in values)
    return Series(tuple(sizes), values, higher_is_better, tuple(predict), per_instance, low, high)


def without_noise(data):
    return replace(data, low=(), high=())


def usl(n, speed=100.0, contention=0.03, coherency=0.0005):
    """Gunther's law as he writes it: throughput of n."""
    return speed * n / (1 + contention * (n - 1) + coherency * n * (n - 1))


def test_the_universal_scalability_law_is_found_again_in_throughput():
    found = analyse(series(usl, higher_is_better=True, noise=0.002)).chosen

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
    ("law", "model", "parameters"),
    [
        (lambda n: 60.0, "constant", {"a": 60}),
        (lambda n: 60 + 6 * (n - 1), "amdahl", {"a": 60, "b": 0.1}),
        (lambda n: max(60, 6 * n), "capacity", {"a": 60, "k": 10, "q": 0}),
        (lambda n: 60 + 30 * n**0.5, "power", {"a": 60, "b": 0.5, "q": 1}),
        (lambda n: 60 * (1 + 0.02 * (n - 1) + 0.003 * n * (n - 1)), "usl",
         {"a": 60, "contention": 0.02, "coherency": 0.003}),
    ],
)  # fmt: skip
def test_each_law_is_chosen_where_it_holds_with_its_parameters(law, model, parameters):
    found = analyse(series(law, (1, 2, 4, 8, 12, 16, 24, 32, 48, 64))).chosen

    assert found.model == model
    assert found.parameters == pytest.approx(parameters, rel=1e-3, abs=1e-3)


def test_a_law_of_more_parameters_is_chosen_only_if_it_misses_by_much_less():
    # Three parameters fit noise better than one.
    scaling = analyse(Series(SIZES, (100.0, 96.0, 104.0, 99.0, 95.0, 103.0, 101.5), False))

    assert scaling.chosen.model == "constant"
    assert min(scaling.curves, key=lambda curve: curve.misfit).model != "constant"
    assert sum(scaling.weights) == pytest.approx(1)


def test_misses_beyond_the_noise_raise_the_noise_to_them():
    off = math.exp(1.96 * 0.01)
    values = (100.0, 90.0, 110.0, 100.0)
    data = Series((1, 2, 4, 8), values, False, low=tuple(v / off for v in values), high=tuple(v * off for v in values))

    # The standard deviation of the four logarithms, over their noise: no law explains 90 and 110.
    assert analyse(data).noise.errors[0] == pytest.approx(np.log(values).std(ddof=1), rel=0.01)


def test_a_knee_says_up_to_where_others_cost_less_than_a_tenth():
    found = knee(analyse(series(lambda n: max(60, 4.0 * n), (1, 2, 5, 10, 15, 20, 40))))

    # 4 n = 66 at n = 16.5.
    assert (found["n"], found["status"]) == (16, "slowed")


@pytest.mark.parametrize(
    ("law", "is_known", "status"),
    [
        (lambda n: 60.0, True, "keeps-speed"),
        (lambda n: 60.0 + n, True, "slowed"),
        (lambda n: 60.0 * (1 + n / 700), False, "hidden-by-noise"),
    ],
)
def test_a_knee_that_noise_may_hide_is_not_denied(law, is_known, status):
    data = series(law, (1, 10, 50, 100), noise=0.0 if is_known else 0.02)
    found = knee(analyse(data if is_known else without_noise(data)))

    assert found["status"] == status
    assert (found["n"] is None) == (status != "slowed")


# --- predictions ------------------------------------------------------------------------------------------------------

# How a storage's fleet rate or an instance's time goes on beyond what is measured, up to 100 instances.
GOES_ON = {
    "capped at 120": (True, lambda n: 60 * min(n, 120)),
    "capped at 80": (True, lambda n: 60 * min(n, 80)),
    "capped at 150": (True, lambda n: 60 * min(n, 150)),
    "USL with its peak at 70": (True, lambda n: usl(n, 60, 0.02, 0.0002)),
    "flat to 60, then linear": (False, lambda n: 600 * max(1, n / 60)),
    "grows with the square root": (False, lambda n: 600 * (1 + 0.1 * math.sqrt(n))),
    "grows from 50 on": (False, lambda n: 600 + 4 * max(0, n - 50)),
    "constant": (False, lambda n: 600.0),
}


def measured_thrice(law, noise, seed):
    data = [series(law[1], (1, 10, 50, 100), higher_is_better=law[0], noise=noise, seed=9 * seed + i) for i in range(3)]
    return Series(3 * data[0].n, sum((each.value for each in data), ()), law[0])


@pytest.mark.parametrize(
    "source",
    ["assumed", pytest.param("intervals", marks=pytest.mark.slow), pytest.param("repeats", marks=pytest.mark.slow)],
)
def test_ranges_hold_a_truth_that_noise_and_unmeasured_sizes_hide(source):
    held, given = 0, 0
    for law in GOES_ON.values():
        for noise, seed in ((0.01, 1), (0.04, 2)):
            data = series(law[1], (1, 10, 50, 100), higher_is_better=law[0], noise=noise, seed=seed)
            if source != "intervals":
                data = without_noise(data) if source == "assumed" else measured_thrice(law, noise, seed)
            scaling = analyse(data)
            assert scaling.noise.source == source
            found = predict(scaling, 200)
            if found["refused"] is None:
                given += 1
                held += found["low"] <= law[1](200) <= found["high"]

    assert given == 16
    assert held >= 15


def held_out():
    """Yield each published series of builds without its largest sizes, with a size that was left out and its figure."""
    for name in ("p-yocto", "p-yocto-2023-05", "p-yocto-2023-08"):
        cells = {}
        for cell in published_runs("p")[name]["cells"]:
            if cell.get("points") and not cell["suspect"]:
                cells.setdefault(json.dumps(cell["storage"]), {})[cell["fleet"]["count"]] = cell["points"][0]["metrics"]
        for of_storage in cells.values():
            for level in ("p50", "p90"):
                sizes = sorted(of_storage)
                values = [of_storage[n]["duration_s"][level] for n in sizes]
                for kept in range(3, len(sizes)):
                    for n, truth in zip(sizes[kept:], values[kept:], strict=True):
                        yield Series(tuple(sizes[:kept]), tuple(values[:kept]), False), n, truth


def test_every_published_figure_at_twice_the_largest_size_lies_in_its_range():
    """Nobody knows the noise of these figures. Four times the largest size is refused: its range says nothing."""
    near, far = [], []
    for known, n, truth in held_out():
        found = predict(analyse(known), n)
        if n <= 2 * max(known.n):
            near.append(found["refused"] is None and found["low"] <= truth <= found["high"])
        else:
            far.append([reason["code"] for reason in found["reasons"]])

    assert (sum(near), len(near)) == (20, 20)
    assert far == [["too-wide"]] * 8


def test_an_uneven_published_sweep_is_not_foreseen():
    """634 at 8 threads, 820 at 16, 1,772 at 32: what looked like a limit was none. Measure the size that matters."""
    sweep = Series((1, 2, 4, 8, 16), (86.6, 184.1, 367.7, 634.4, 820.5), higher_is_better=True)

    found = predict(analyse(sweep), 32)

    assert found["high"] < 1772


def test_known_noise_makes_a_narrower_range_than_an_assumed_one():
    data = series(lambda n: 60 + 2.0 * n, (1, 10, 50, 100), noise=0.01)
    known, assumed = (predict(analyse(each), 200) for each in (data, without_noise(data)))

    assert known["high"] / known["low"] < assumed["high"] / assumed["low"]
    assert known["value"] == pytest.approx(460, rel=0.15)


@pytest.mark.parametrize(
    ("data", "n", "reason"),
    [
        (series(lambda n: 60 + n, (1, 10)), 20, {"code": "few-sizes", "sizes": 2}),
        (series(lambda n: 60.0, (1, 10, 50)), 200, {"code": "too-wide", "between": [50, 200]}),
        (series(lambda n: 60.0 + n), 257, {"code": "too-far", "largest": 64, "measure": 65}),
        (Series((1, 2, 4, 8), (10.0, 30.0, 12.0, 80.0), False), 16, {"code": "too-wide", "between": [8, 16]}),
        # Twice as fast with each size: no law of scaling does that, and none can show what lies between.
        (Series((1, 2, 4, 8, 16), (100.0, 50.0, 25.0, 12.5, 6.2), False), 6, {"code": "too-wide", "between": [4, 8]}),
    ],
)
def test_a_range_that_says_nothing_is_refused_with_its_reason(data, n, reason):
    found = predict(analyse(data), n)

    assert [{name: one[name] for name in reason} for one in found["reasons"]] == [reason]
    assert found["refused"]
    assert (found["value"], found["low"], found["high"]) == (None, None, None)


def test_a_size_between_measured_ones_is_not_an_extrapolation():
    found = predict(analyse(series(lambda n: 60 + n)), 20)

    assert (found["is_extrapolation"], found["refused"]) == (False, None)
    assert found["value"] == pytest.approx(80, rel=0.02)


def test_a_rate_that_does_not_rise_with_the_fleet_is_each_instances():
    assert report(series(lambda n: 900 / n, higher_is_better=True))["reads"] == "rates of each instance"
    assert report(series(lambda n: 900 * n, higher_is_better=True))["reads"] == "rates of the whole fleet"
    assert (
        report(series(lambda n: 9 * n, higher_is_better=True, per_instance=True))["reads"] == "rates of each instance"
    )


def test_a_rate_and_the_time_it_takes_have_the_same_law_and_range():
    rate = report(series(lambda n: 1000 / (1 + 0.1 * n), higher_is_better=True, predict=[100]))
    time = report(series(lambda n: (1 + 0.1 * n) / 1000, predict=[100]))

    assert rate["model"] == time["model"]
    assert rate["predictions"][0]["value"] == pytest.approx(1 / time["predictions"][0]["value"], rel=1e-3)
    assert rate["predictions"][0]["low"] == pytest.approx(1 / time["predictions"][0]["high"], rel=1e-3)


@pytest.mark.parametrize("factor", [0.001, 1000])
def test_other_units_make_other_figures_and_the_same_law(factor):
    one, other = (
        report(series(lambda n, unit=unit: unit * (50 + 3 * n), predict=[100])) for unit in (1, factor)
    )  # fmt: skip

    assert one["model"] == other["model"]
    assert other["predictions"][0]["value"] == pytest.approx(factor * one["predictions"][0]["value"], rel=1e-3)
    assert other["predictions"][0]["high"] == pytest.approx(factor * one["predictions"][0]["high"], rel=1e-3)


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


BEYOND_MEASURE = ("1e999", "1" + "0" * 400, "NaN", "Infinity", "0", "true")


@pytest.mark.parametrize(
    "text",
    [
        "", "[]", "{", "null", '{"n": [], "value": [], "higherIsBetter": true}', '{"n": 1}',
        *(f'{{"n": [1], "value": [{value}], "higherIsBetter": true}}' for value in BEYOND_MEASURE),
    ],
    ids=lambda text: text[:40],
)  # fmt: skip
def test_what_is_not_a_series_of_numbers_is_refused_not_crashed_on(text):
    with pytest.raises(InvalidMatrix):
        read_series(text)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("values", [(1e-300, 1e299, 1.0, 1e-200), (1e299, 2e299, 3e299, 4e299)])
@pytest.mark.parametrize("higher_is_better", [True, False])
def test_values_at_the_ends_of_all_numbers_make_json(values, higher_is_better):
    found = report(Series((1, 2, 4, 1_000_000), values, higher_is_better, predict=(3, 1_000_000)))

    json.dumps(found, allow_nan=False)
