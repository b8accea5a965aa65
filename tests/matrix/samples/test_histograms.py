"""Latencies of a whole fleet: merged bins against pooled samples, and files that are not what they claim."""

import gzip
import json
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from contract import keys
from contract.histogram import LEVELS, TAIL_OPERATIONS, entry, from_latencies, latency_metrics, merge, percentile
from matrix.samples.histograms import Histogram, latency, read_histograms
from matrix.statistics.sample_size import has_enough_samples, needed

# 64 bins per power of two, each represented by its middle.
MAX_RELATIVE_ERROR = 1 / 128


def document(bins, longest_ns=0):
    """A histogram file as an agent writes it."""
    histograms = {"create_lat": entry(bins, longest_ns)}
    return json.dumps({"schema": 1, "unit": "ns", "histograms": histograms}).encode()


def inverted(pooled, percent):
    """The smallest latency that so many percent do not exceed: fio's definition, on the samples themselves."""
    return int(np.percentile(pooled, percent, method="inverted_cdf"))


@settings(max_examples=50)
@given(
    st.lists(st.lists(st.integers(1, 10**10), min_size=1, max_size=30), min_size=1, max_size=6),
    st.sampled_from([1, 50, 90, 99, 100]),
)
def test_any_fleets_percentiles_are_those_of_the_pooled_samples_within_a_bin(fleet, percent):
    merged = merge(from_latencies(instance) for instance in fleet)
    truth = inverted([one for instance in fleet for one in instance], percent)

    assert abs(percentile(merged, percent) - truth) <= MAX_RELATIVE_ERROR * truth


def test_latencies_below_128_ns_are_exact():
    assert percentile(from_latencies([5, 80, 127]), 50) == 80


def test_no_operation_is_lost_or_counted_twice():
    merged = merge([{1: 2, 3: 4}, {3: 1, 7: 1}, {}])

    assert merged == {1: 2, 3: 5, 7: 1}


def test_a_percentile_that_so_few_operations_cannot_carry_is_none():
    found = latency([Histogram({1000: 300, 2000: 67})])

    # P99 needs 368 operations: 0.99^368 = 0.0248.
    assert found["operations"] == 367
    assert (found["p50"], found["p99"], found["p100"]) == (1.0, None, 2.0)
    assert latency([Histogram({1000: 300, 2000: 68})])["p99"] == 2.0


def test_a_tail_of_too_few_operations_has_the_bound_that_it_exceeds_with_97_5_percent():
    # P(Binomial(1000, 0.999) >= 997) = 0.981 and of 998 0.920, so the 997th of 1,000 values is the bound of P99.9.
    found = latency([Histogram({1_000: 996, 2_000: 1, 3_000: 3})])

    assert (found["p99_9"], found["at_least"]["p99_9"]) == (None, 2.0)
    assert "p99" not in found["at_least"]
    # One operation is no bound above the median.
    assert latency([Histogram({1_000: 1})])["at_least"] == {}


def test_twenty_times_as_many_operations_make_a_stall_rare_that_p99_9_takes_for_many_operations():
    """Stalls of eight operations, 0.05 % of all: the true P99.9 is 1 ms. The figures are in docs/how-many.md."""
    rng = np.random.default_rng(16)

    def share(operations):
        of_stalls = Counter((8 * rng.poisson(0.0005 * operations / 8, size=4_000)).tolist())
        found = {slow: latency([Histogram({10**6: operations - slow, 10**8: slow})])["p99_9"] for slow in of_stalls}
        return sum(steps for slow, steps in of_stalls.items() if found[slow] > 2_000) / of_stalls.total()

    assert share(4_000) == pytest.approx(0.22, abs=0.03)
    assert share(80_000) == pytest.approx(0.03, abs=0.015)


@given(st.lists(st.integers(1, 10**10), min_size=1, max_size=40), st.integers(1, 1_000))
def test_a_step_has_a_tail_percentile_if_so_many_operations_carry_it(latencies_ns, times):
    assert {name: needed(LEVELS[name]) for name in TAIL_OPERATIONS} == TAIL_OPERATIONS
    pooled = latencies_ns * times

    found = latency_metrics("read_lat", from_latencies(pooled), max(pooled))

    assert found["read_lat_max_us"] == max(pooled) / 1000
    for level, percent in LEVELS.items():
        is_carried = level not in TAIL_OPERATIONS or has_enough_samples(percent, len(pooled))
        assert (f"read_lat_{level}_us" in found) == is_carried
        if is_carried:
            truth = inverted(pooled, percent)
            assert abs(round(found[f"read_lat_{level}_us"] * 1000) - truth) <= MAX_RELATIVE_ERROR * truth


def test_a_file_is_read_plain_or_zipped():
    text = document({"1000": 3})

    assert read_histograms(text) == read_histograms(gzip.compress(text)) == {"create_lat": Histogram({1000: 3})}


@pytest.mark.parametrize(
    ("name", "step"),
    [
        ("raw/p01-r2.histograms.json", ("p01", 2)), ("raw/p12-r10.histograms.json.gz", ("p12", 10)),
        ("raw/p01-r1.fio.json", None), ("samples.json", None), ("p01-r1.histograms.json", None),
        ("raw/p01-r2.series.json", None),
    ],
)  # fmt: skip
def test_histograms_are_known_by_their_name(name, step):
    assert keys.step_of(name, keys.HISTOGRAMS) == step


def test_a_slow_instance_shows_in_the_percentiles_of_instances_though_it_does_few_operations():
    # A closed loop of 60 s: nine instances at 1 ms do 60,000 operations each, one at 10 ms does 6,000.
    found = latency([Histogram({1_000_000: 60_000})] * 9 + [Histogram({10_000_000: 6_000})])

    assert (found["p50"], found["p90"]) == (1000, 1000)
    assert found["p99_of_each"] == {"p50": 1000, "p90": pytest.approx(1900), "p100": 10_000}


def test_p100_is_the_longest_latency_itself_():
    # The middle of its bin is 39.997 s.
    fleet = [[1_000_000] * 3_700 + [30_100_000_000], [1_000_000] * 50 + [40_000_000_000]]
    uploaded = [document(from_latencies(each), longest_ns=max(each)) for each in fleet]

    measured = latency([read_histograms(text)["create_lat"] for text in uploaded])

    assert measured["p100"] == 40_000_000


def test_a_longest_latency_below_the_middle_of_its_bin_is_above_no_percentile():
    [middle_ns] = from_latencies([39_800_000_000])

    measured = latency([Histogram({middle_ns: 400}, 39_800_000_000)])

    assert middle_ns > 39_800_000_000
    assert (measured["p50"], measured["p99"], measured["p100"]) == (39_800_000, 39_800_000, 39_800_000)


@pytest.mark.parametrize("longest_ns", [None, 3_000, 10**12])
def test_without_a_longest_latency_of_the_last_bin_p100_is_the_middle_of_that(longest_ns):
    assert latency([Histogram({1_000: 9, 2_000_000: 1}, longest_ns)])["p100"] == 2_000


@pytest.mark.parametrize("bins", [{}, {1000: 0}])
def test_a_histogram_that_counted_nothing_is_left_out(bins):
    assert read_histograms(document(bins)) == {}
