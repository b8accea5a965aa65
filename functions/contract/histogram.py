"""Latency histograms in fio's bins, so that histograms of instances and of fio merge by adding counts.

fio keeps 64 bins per power of two (FIO_IO_U_PLAT_BITS = 6): values below 128 ns are exact, above them a bin is at most
1/64 of its value wide and is represented by its middle, so an error is at most 1/128 = 0.78 %.

fio has 29 groups of bins and counts every slower operation in the last bin, which stands for 17.1 s. The histograms
here continue by the same rule without that end. `repaired` moves operations of fio's last bin to their bins, as far as
fio's output determines them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping

GROUP_BITS = 6
BINS_PER_GROUP = 1 << GROUP_BITS
# FIO_IO_U_PLAT_GROUP_NR of fio's stat.h.
FIO_GROUPS = 29
FIO_LAST_BIN = FIO_GROUPS * BINS_PER_GROUP - 1

# The percentiles of a step's latencies that are metrics, by their part of the metric's name.
LEVELS = {"p50": 50, "p90": 90, "p99": 99, "p999": 99.9, "p9999": 99.99}
# How many operations the last two need. With fewer, all operations are below the true percentile more than 2.5 % of
# the time (matrix.statistics.sample_size).
TAIL_OPERATIONS = {"p999": 3_688, "p9999": 36_887}


def bin_index(value_ns: int) -> int:
    """fio's plat_val_to_idx, without its end at FIO_LAST_BIN."""
    highest_bit = max(value_ns.bit_length() - 1, 0)
    if highest_bit <= GROUP_BITS:
        return value_ns
    dropped_bits = highest_bit - GROUP_BITS
    base = (dropped_bits + 1) << GROUP_BITS
    offset = (BINS_PER_GROUP - 1) & (value_ns >> dropped_bits)
    return base + offset


def bin_value(index: int) -> int:
    """fio's plat_idx_to_val: the value in nanoseconds that stands for a bin, as json+ prints it."""
    if index < BINS_PER_GROUP << 1:
        return index
    dropped_bits = (index >> GROUP_BITS) - 1
    base = 1 << (dropped_bits + GROUP_BITS)
    return base + int((index % BINS_PER_GROUP + 0.5) * (1 << dropped_bits))


# The middle of fio's last bin, 17.11 s: fio writes it for latencies of 17.05 s or more.
FIO_LAST_VALUE_NS = bin_value(FIO_LAST_BIN)


def repaired(bins: Mapping[int, int], longest_ns: int, total_ns: float) -> dict[int, int]:
    """Return fio's bins with the operations of its last bin in their own bins, as far as fio's output determines them.

    `longest_ns` is the longest latency, `total_ns` the sum of all. The longest operation gets its own bin. The sum
    gives the mean of the others in the last bin: it is used for a single one, or if all took about as long as the
    longest, as in one stall. Otherwise the others stay in the last bin, which then means "at least".
    """
    beyond = bins.get(FIO_LAST_VALUE_NS, 0)
    if not beyond or longest_ns <= FIO_LAST_VALUE_NS:
        return dict(bins)
    others = {value: count for value, count in bins.items() if value != FIO_LAST_VALUE_NS}
    others_ns = sum(value * count for value, count in others.items())
    left_ns = total_ns - others_ns - longest_ns
    mended = Counter(others)
    mended[bin_value(bin_index(longest_ns))] += 1
    if beyond > 1:
        mean_ns = left_ns / (beyond - 1)
        is_alone = beyond == 2  # noqa: PLR2004 - the longest and one more
        is_one_stall = mean_ns >= longest_ns * (1 - 1 / (2 * BINS_PER_GROUP))
        # The sum of the bins can be wrong by the same share as a bin, so the remainder must not be the smaller part.
        is_known = mean_ns >= FIO_LAST_VALUE_NS and others_ns <= left_ns and (is_alone or is_one_stall)
        mended[bin_value(bin_index(round(mean_ns))) if is_known else FIO_LAST_VALUE_NS] += beyond - 1
    return {value: mended[value] for value in sorted(mended)}


def entry(bins: Mapping[int, int], longest_ns: int) -> dict[str, object]:
    """Return a histogram's entry in a file; it includes the longest latency, which bins give only to 0.78 %."""
    longest = {"max_ns": longest_ns} if longest_ns else {}
    return {"bins": dict(bins), "samples": sum(bins.values()), **longest}


def from_latencies(latencies_ns: Iterable[int]) -> dict[int, int]:
    """Return the counts by bin value."""
    # Counting equal indexes first is several times faster than looking up the value of each latency.
    counts = Counter(map(bin_index, latencies_ns))
    return {bin_value(index): counts[index] for index in sorted(counts)}


def merge(histograms: Iterable[Mapping[int, int]]) -> dict[int, int]:
    """Return one histogram of all samples of several histograms."""
    total: Counter[int] = Counter()
    for histogram in histograms:
        total.update(histogram)
    return {value: total[value] for value in sorted(total) if total[value]}


def percentile(histogram: Mapping[int, int], percent: float) -> int:
    """Return the value of the first bin at which the running count reaches `percent` of all, like fio; 0 if empty."""
    wanted = percent / 100 * sum(histogram.values())
    seen = value = 0
    for value in sorted(histogram):
        seen += histogram[value]
        if seen >= wanted:
            break
    return value


def latency_metrics(name: str, bins: Mapping[int, int], longest_ns: int) -> dict[str, float]:
    """Return the latencies of a step (µs) as metrics, such as `<name>_p99_us` and `<name>_max_us`.

    P99.9 and P99.99 only of enough operations. `longest_ns` is 0 if it is unknown; the last bin stands for it then.
    """
    operations, longest_ns = sum(bins.values()), longest_ns or max(bins, default=0)
    figures = {
        level: min(percentile(bins, percent), longest_ns)
        for level, percent in LEVELS.items()
        if operations >= TAIL_OPERATIONS.get(level, 0)
    }
    return {f"{name}_{level}_us": figure / 1000 for level, figure in {**figures, "max": longest_ns}.items()}
