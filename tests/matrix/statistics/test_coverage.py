"""A 95 % interval holds the truth about 95 % of the time, and equal fleets are called different in 5 % at most.

Fleets are drawn from known distributions, again and again: values of instances in repetitions, where instances differ,
repetitions shake all instances together, and each value has its own noise. The bounds are 92 to 97 % coverage and 6 %
false differences, each widened by the binomial's tolerance: what truly keeps a bound misses it once in a thousand.

What a whole launch shares (its file system's place, the hour) is in no interval of one launch: it never varies there.
Of several launches it is: they are drawn as fleets are, each with its own share of 5 %.
"""

import math

import numpy as np
import pytest
from scipy import stats
from support.fleet_values import fleet, launched

from matrix.statistics.differing import difference
from matrix.statistics.intervals import percentile_interval
from matrix.statistics.sample_size import has_enough_samples
from matrix.statistics.spread import independent_n

# Standard deviations of logarithms: between instances, and what is left.
OF_INSTANCES, RESIDUAL = 0.03, 0.02
TRUE_VALUES = 400_000


def normal(rng, instances, repetitions):
    """Logarithms of values with 3 % between instances and 2 % besides."""
    return OF_INSTANCES * rng.normal(size=(instances, 1)) + RESIDUAL * rng.normal(size=(instances, repetitions))


def log_normal(rng, instances, repetitions):
    """The same with ten times the noise: a long tail."""
    return 10 * normal(rng, instances, repetitions)


def bimodal(rng, instances, repetitions):
    """Three of ten instances are 35 % slower."""
    return normal(rng, instances, repetitions) + 0.3 * (rng.random((instances, 1)) < 0.3)


def one_slow(rng, instances, repetitions):
    """One instance of a fleet, on average, takes twice as long."""
    return normal(rng, instances, repetitions) + 0.7 * (rng.random((instances, 1)) < 1 / instances)


def drawn(shape, instances, repetitions, shared, rng, *, launch=0.0):
    """A fleet whose repetitions, and whose launch as a whole, differ by so much."""
    return fleet(np.exp(_logarithms(shape, instances, repetitions, shared, rng, launch)), is_shared=True)


def _logarithms(shape, instances, repetitions, shared, rng, launch):
    return shape(rng, instances, repetitions) + shared * rng.normal(size=(1, repetitions)) + launch


def relaunched(shape, instances, repetitions, launches, rng, *, between=0.05, shared=0.02):
    """A cell whose launches differ by so much, and the repetitions within them as well."""
    return launched([
        np.exp(_logarithms(shape, instances, repetitions, shared, rng, launch=between * rng.normal()))
        for _ in range(launches)
    ])  # fmt: skip


def truth_of_launch(shape, instances, repetitions, level):
    """A percentile of a typical launch: the geometric mean over very many, which all launches differ from by chance."""
    rng = np.random.default_rng(99)
    tables = [_logarithms(shape, instances, repetitions, 0.02, rng, 0.0).ravel() for _ in range(4_000)]
    return math.exp(np.log(np.percentile(np.exp(tables), level, axis=1)).mean())


def truth(shape, instances, shared, level):
    """The percentile of all values that such fleets may show."""
    rng = np.random.default_rng(99)
    logarithms = np.concatenate([shape(rng, instances, 1)[:, 0] for _ in range(TRUE_VALUES // instances)])
    return float(np.exp(np.percentile(logarithms + shared * rng.normal(size=logarithms.shape), level)))


def held(fleets, true_value, level):
    """How many intervals hold the true value."""
    intervals = [percentile_interval(values, level) for values in fleets]
    return sum(interval.low <= true_value <= interval.high for interval in intervals)


def covers(count, trials, *, least=0.92, most=0.97):
    """Whether so many of the trials are what an interval with 92 to 97 % coverage shows."""
    return stats.binom.ppf(0.001, trials, least) <= count <= stats.binom.ppf(0.999, trials, most)


TRIALS = 200
SHAPES = (log_normal, bimodal, one_slow)
SIZES = [(10, 3), (50, 3), (50, 5)]
PAIRED = [(3, 3), (5, 3), (5, 10), (10, 3), (50, 3)]
# Between the modes of a small fleet a median is coarse: its interval holds the truth more often than it says.
COARSE = {(one_slow, 10), (bimodal, 10)}


def slow(cases):
    """Cases of `make test-all`, beside some that each commit tries."""
    return [pytest.param(*case, marks=pytest.mark.slow) for case in cases]


def ranked_by(pair):
    """The percentile that ranks two fleets."""
    return 90 if all(has_enough_samples(90, independent_n(values)) for values in pair) else 50


def in_blocks(launches, hour, rng, *, times=1.0):
    """Two cells of one run: what the hour of a launch does reaches both, besides each has 2 % of its own."""
    hours = hour * rng.normal(size=launches)
    return [
        launched([
            by * np.exp(_logarithms(normal, 4, 1, 0.0, rng, shared + 0.02 * rng.normal())) for shared in hours
        ])
        for by in (1.0, times)
    ]  # fmt: skip


def is_rare(differences):
    """Whether no more of these differences between equals are shown than 6 % explain."""
    shown = sum(each.is_shown(each.p_value) for each in differences)
    return shown <= stats.binom.ppf(0.999, len(differences), 0.06)


def test_a_fifth_is_not_missed():
    rng = np.random.default_rng(9)
    pairs = [[drawn(normal, 10, 3, shared, rng) for _ in range(2)] for shared in (0.0, 0.02) for _ in range(20)]

    between = [difference(base, fleet(1.2 * run.table, is_shared=True)) for base, run in pairs]

    assert sum(each.is_shown(each.p_value) for each in between) >= 39


@pytest.mark.parametrize("launches", [3, 5, 10])
def test_the_ratio_of_cells_of_one_run_is_as_sure_as_it_says_though_hours_differ_by_a_tenth(launches):
    rng = np.random.default_rng(23)
    pairs = [in_blocks(launches, 0.1, rng, times=1.1) for _ in range(200)]

    paired = [difference(*pair, is_one_run=True).interval for pair in pairs]
    apart = [difference(*pair).interval for pair in pairs]

    assert covers(sum(interval.low <= 1.1 <= interval.high for interval in paired), 200)
    # Taken for two storages of two runs, nearly all of them hold it, since they are so much wider.
    assert sum(interval.low <= 1.1 <= interval.high for interval in apart) >= 198
    narrower = np.median([math.log(one.high / one.low) for one in apart]) / np.median(
        [math.log(one.high / one.low) for one in paired]
    )
    assert narrower > 2


@pytest.mark.parametrize(
    ("level", "shape", "instances", "repetitions", "shared"),
    [
        (50, normal, 50, 3, 0.02),
        *slow((50, normal, *size, shared) for size in SIZES for shared in (0.0, 0.05)),
        *slow((50, shape, *SIZES[0], 0.05) for shape in SHAPES),
        *slow((50, shape, *SIZES[-1], 0.0) for shape in SHAPES),
        *slow([(90, normal, 50, 3, 0.0), (90, normal, 50, 5, 0.1), (90, log_normal, 50, 3, 0.05)]),
        *slow([(90, one_slow, 50, 3, 0.05), (90, one_slow, 100, 3, 0.02)]),
    ],
)
def test_intervals_hold_the_truth_as_often_as_they_say(level, shape, instances, repetitions, shared):
    rng = np.random.default_rng(7)
    fleets = [drawn(shape, instances, repetitions, shared, rng) for _ in range(TRIALS)]

    count = held(fleets, truth(shape, instances, shared, level), level)

    # From few repetitions the tail of what they share is not seen, so these intervals do not say 95 %.
    least, most = (0.8, 0.98) if level == 90 else (0.92, 0.99 if (shape, instances) in COARSE else 0.97)
    assert {percentile_interval(values, level).confidence for values in fleets[:3]} == {0.8 if level == 90 else 0.95}
    assert covers(count, TRIALS, least=least, most=most), count / TRIALS


@pytest.mark.slow
@pytest.mark.parametrize(("instances", "level"), [(8, 50), (40, 50), (40, 90), (13, 75), (200, 98)])
def test_intervals_of_one_repetition_of_own_storages_hold_the_truth(instances, level):
    rng = np.random.default_rng(11)
    true_value = math.exp(0.5 * stats.norm.ppf(level / 100))
    fleets = [fleet(np.exp(0.5 * rng.normal(size=(instances, 1)))) for _ in range(TRIALS)]

    count = held(fleets, true_value, level)

    assert covers(count, TRIALS, least=0.91, most=0.98), count / TRIALS


@pytest.mark.slow
def test_an_interval_holds_the_truth_of_its_launch_not_that_of_all_launches():
    rng = np.random.default_rng(13)
    launches = 0.05 * rng.normal(size=TRIALS)
    fleets = [drawn(normal, 50, 3, 0.0, rng, launch=launch) for launch in launches]

    assert covers(
        sum(held([values], math.exp(launch), 50) for values, launch in zip(fleets, launches, strict=True)), TRIALS
    )
    assert held(fleets, 1.0, 50) < 0.5 * TRIALS


@pytest.mark.parametrize(
    ("shape", "instances", "repetitions", "launches", "between"),
    [
        *((normal, *size, 0.05) for size in ((4, 3, 3), (1, 1, 5), (4, 3, 10))),
        *slow((shape, 10, 3, 10, 0.05) for shape in SHAPES),
        # Where launches hardly differ, the median of ten of two kinds is that of the slow ones in one launch of seven:
        # what a few launches did not draw is in no interval of theirs.
        *slow([(log_normal, 10, 3, 3, 0.0), (bimodal, 50, 3, 3, 0.0), (one_slow, 10, 3, 3, 0.0)]),
    ],
)
def test_intervals_of_launches_hold_the_truth_of_any_launch(shape, instances, repetitions, launches, between):
    rng = np.random.default_rng(23)
    cells = [relaunched(shape, instances, repetitions, launches, rng, between=between) for _ in range(TRIALS)]

    for level in (50, 90) if shape is normal else (50,):
        count = held(cells, truth_of_launch(shape, instances, repetitions, level), level)
        assert covers(count, TRIALS), (level, count / TRIALS)


@pytest.mark.slow
def test_a_median_of_launches_between_two_groups_holds_the_truth_less_often():
    rng = np.random.default_rng(23)
    cells = [relaunched(bimodal, 10, 3, 5, rng, between=0.0) for _ in range(200)]
    true_value = truth_of_launch(bimodal, 10, 3, 50)

    assert 0.7 * len(cells) < held(cells, true_value, 50) < len(cells)


@pytest.mark.parametrize(("shape", "launches"), [(normal, 3), (normal, 10), *slow((shape, 3) for shape in SHAPES)])
def test_equal_storages_are_hardly_ever_called_different_though_their_launches_differ(shape, launches):
    rng = np.random.default_rng(19)
    pairs = [[relaunched(shape, 4, 3, launches, rng) for _ in range(2)] for _ in range(TRIALS)]

    assert is_rare([difference(*pair) for pair in pairs])


@pytest.mark.parametrize(
    ("shape", "instances", "repetitions", "shared", "trials"),
    [
        (normal, 4, 3, 0.05, 100),
        (normal, 50, 3, 0.05, 60),
        *slow((normal, *size, shared, TRIALS) for size in PAIRED for shared in (0.0, 0.05)),
        *slow((shape, *size, 0.05, TRIALS) for shape in (bimodal, one_slow) for size in PAIRED[::2]),
    ],
)
def test_equal_fleets_are_called_different_in_six_per_cent_at_most(shape, instances, repetitions, shared, trials):
    rng = np.random.default_rng(3)
    pairs = [[drawn(shape, instances, repetitions, shared, rng) for _ in range(2)] for _ in range(trials)]

    assert is_rare([difference(*pair, ranked_by(pair)) for pair in pairs])


@pytest.mark.slow
@pytest.mark.parametrize(("instances", "repetitions"), [(3, 3), (4, 5), (5, 3)])
@pytest.mark.parametrize("shape", [normal, one_slow])
def test_ratios_of_few_instances_hold_the_truth(shape, instances, repetitions):
    rng = np.random.default_rng(31)
    pairs = [[drawn(shape, instances, repetitions, 0.05, rng) for _ in range(2)] for _ in range(TRIALS)]

    ratios = [difference(*pair).interval for pair in pairs]

    assert covers(sum(ratio.low <= 1 <= ratio.high for ratio in ratios), TRIALS, most=0.99)
