"""Percentiles of a fleet: their error against pooled samples, and the time to merge a thousand histograms."""

from __future__ import annotations

import json
import random
import time
from collections.abc import Iterator

from bench.pairs import Result, cost
from contract import histogram
from matrix.samples import histograms

INSTANCES, SLOW_INSTANCES, OPERATIONS = 100, 5, 2_000
PERCENTS = (50, 90, 99, 99.9)


def bars() -> Iterator[Result]:
    """Yield both bars."""
    error = worst_error()
    yield Result(
        "fleet percentiles: worst error of P50 to P99.9, percent", 100 * error, 0.8, 100 * error / 0.8, 1.0, "%", True
    )
    yield cost("merge of 1,000 instances' histograms, with their parsing", merge_a_thousand, most_ms=130, rounds=5)


def fleet() -> list[list[int]]:
    """Return latencies in ns of 100 instances, all with a tail, 5 of them ten times slower."""
    chance = random.Random(1)  # noqa: S311 - the same draw each time
    return [
        [int(chance.lognormvariate(13.8, 0.4) * (10 if number < SLOW_INSTANCES else 1)) for _ in range(OPERATIONS)]
        for number in range(INSTANCES)
    ]


def worst_error() -> float:
    """Return the relative error of the merged bins against the pooled samples, at the worst percentile."""
    latencies = fleet()
    merged = histogram.merge(histogram.from_latencies(of_instance) for of_instance in latencies)
    pooled = sorted(value for of_instance in latencies for value in of_instance)
    errors = []
    for percent in PERCENTS:
        truth = pooled[max(0, -int(-percent / 100 * len(pooled) // 1) - 1)]
        errors.append(abs(histogram.percentile(merged, percent) / truth - 1))
    return max(errors)


def merge_a_thousand() -> float:
    """Return the seconds to read and merge the uploads of 1,000 instances."""
    bins = histogram.from_latencies(fleet()[0])
    document = {"schema": 1, "unit": "ns", "histograms": {"read_lat": {"bins": bins, "samples": OPERATIONS}}}
    texts = [json.dumps(document).encode()] * 1_000
    begun = time.monotonic()
    read = [histograms.read_histograms(text)["read_lat"] for text in texts]
    merged = histograms.latency(read)
    taken_s = time.monotonic() - begun
    if merged["operations"] != 1_000 * OPERATIONS:
        raise AssertionError(f"{merged['operations']} of {1_000 * OPERATIONS} operations are in the merged histogram")
    return taken_s
