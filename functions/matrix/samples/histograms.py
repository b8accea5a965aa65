"""Latency percentiles of a whole fleet, from the agents' merged histograms and never from averaged percentiles.

An agent keeps latencies in fio's bins, 64 per power of two. A bin is at most 1/64 of its value wide and represents its
middle, so a percentile of the merged bins is at most 1/128 = 0.78 % off that of the pooled latencies
(https://fio.readthedocs.io/en/latest/fio_doc.html, json+). Counts of equal bins add up.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, cast

import numpy as np
from pydantic import Field, StringConstraints

from contract.histogram import bin_index, bin_value, merge, percentile
from matrix.samples import raw_file
from matrix.samples.raw_file import Claims
from matrix.statistics.percentiles import sure_rank
from matrix.statistics.sample_size import has_enough_samples
from matrix.terms.documents.result import Latency

# A file has up to 3,712 bins (2^62 ns, in 58 groups of 64) of at most 40 characters for each of ten names at most.
MAX_BYTES = 2_000_000
PERCENTS = (50, 90, 99, 99.9, 99.99)

Name = Annotated[str, StringConstraints(pattern=r"^[a-z_]{1,40}$")]
# 2^62 ns are 146 years, and no disk completes so many operations in that time.
Count = Annotated[int, Field(ge=0, le=2**62)]


@dataclass(frozen=True)
class Histogram:
    """Counts by the middle of each bin (ns), and the longest latency of all if the agent has kept it."""

    bins: Mapping[int, int]
    longest_ns: int | None = None

    @property
    def longest_known_ns(self) -> int:
        """The longest latency (ns); the middle of the last bin if it is missing or not in that bin."""
        last_bin = max(self.bins, default=0)
        if last_bin and not self.bins[last_bin]:  # agents write no empty bins, and a search for them is slow
            last_bin = max((value for value, count in self.bins.items() if count), default=0)
        is_believed = self.longest_ns is not None and bin_value(bin_index(self.longest_ns)) == last_bin
        return self.longest_ns if is_believed and self.longest_ns is not None else last_bin


class Bins(Claims):
    """Counts by the middle of each bin (ns). Older agents did not write the longest latency too."""

    bins: dict[Count, Count] = Field(max_length=3712)
    max_ns: Count | None = None


class HistogramFile(Claims):
    """The latencies of one step on one instance: `create_lat`, `read_lat`, `write_lat`, `sync_lat`."""

    unit: Annotated[str, StringConstraints(pattern="^ns$")]
    histograms: dict[Name, Bins] = Field(max_length=10)


def read_histograms(content: bytes) -> dict[str, Histogram]:
    """Return the histograms of a file by name. Raises InvalidSamples if it is too large or of another shape."""
    return histograms_of(raw_file.read(HistogramFile, content, name="a histogram file", max_bytes=MAX_BYTES))


def histograms_of(uploaded: HistogramFile) -> dict[str, Histogram]:
    """Return the histograms of a file that was read, by name, without those that counted nothing."""
    return {
        name: Histogram(entry.bins, entry.max_ns)
        for name, entry in uploaded.histograms.items()
        if any(entry.bins.values())
    }


def latency(histograms: Sequence[Histogram]) -> Latency:
    """Return percentiles (µs) of the merged histograms, and their bins (ns), for a point's result.

    `p100` is the longest latency itself.

    A percentile of too few operations is None: 99.9 needs 3,688 operations, 99.99 ten times as many. `at_least` has
    what it exceeds with 97.5 % confidence, where that is above the median.

    The merged percentiles are of operations, and a slow instance does fewer of them: among ten instances, one that is
    ten times slower does 1 % of the operations and hides beyond P98. `p99_of_each` shows it: P50, P90 and P100 (µs)
    over the histograms' own P99, each the P99 of one instance in one repetition.
    """
    merged = merge(histogram.bins for histogram in histograms)
    operations = sum(merged.values())
    longest_ns = max(histogram.longest_known_ns for histogram in histograms)
    lacking = [percent for percent in PERCENTS if not has_enough_samples(percent, operations)]
    bounds = {_key(percent): _at_least_us(merged, percent, longest_ns) for percent in lacking}
    described = {
        "unit": "µs",
        "operations": operations,
        "histograms": len(histograms),
        **{
            _key(percent): None if percent in lacking else _percentile_us(merged, percent, longest_ns)
            for percent in PERCENTS
        },
        "at_least": {name: bound for name, bound in bounds.items() if bound is not None},
        "p100": longest_ns / 1000,
        "p99_of_each": _over_histograms(histograms, 99),
        "bins_ns": {str(value): count for value, count in merged.items()},
    }
    return cast("Latency", described)


def _key(percent: float) -> str:
    return f"p{percent:g}".replace(".", "_")


def _at_least_us(bins: Mapping[int, int], percent: float, longest_ns: int) -> float | None:
    """Return the order statistic that a percentile of too few operations exceeds; None if it says less than the median.

    It takes the operations as independent, which those of a stall are not.
    """
    operations = sum(bins.values())
    rank = sure_rank(percent, operations)
    bound = _percentile_us(bins, 100 * (rank - 0.5) / operations, longest_ns)
    return bound if bound > _percentile_us(bins, 50, longest_ns) else None


def _percentile_us(bins: Mapping[int, int], percent: float, longest_ns: int) -> float:
    """Return a percentile; no more than the longest latency, which may be below the middle of its bin."""
    return min(percentile(bins, percent), longest_ns) / 1000


def _over_histograms(histograms: Sequence[Histogram], percent: float) -> dict[str, float]:
    """P50, P90 and P100 (µs) over one percentile of each histogram that has operations."""
    each = [
        _percentile_us(histogram.bins, percent, histogram.longest_known_ns)
        for histogram in histograms
        if any(histogram.bins.values())
    ]
    return {f"p{level}": float(np.percentile(each, level)) for level in (50, 90, 100)}
