"""Latency histograms in fio's bins, so that those of all instances and of fio itself merge by adding counts.

fio keeps 64 bins per power of two (FIO_IO_U_PLAT_BITS = 6): values below 128 ns are exact, above them a bin is at most
1/64 of its value wide and is represented by its middle, so an error is at most 1/128 = 0.78 %.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping

GROUP_BITS = 6
BINS_PER_GROUP = 1 << GROUP_BITS
GROUPS = 29
BINS = GROUPS * BINS_PER_GROUP


def bin_index(value_ns: int) -> int:
    """fio's plat_val_to_idx."""
    highest_bit = max(value_ns.bit_length() - 1, 0)
    if highest_bit <= GROUP_BITS:
        return value_ns
    dropped_bits = highest_bit - GROUP_BITS
    base = (dropped_bits + 1) << GROUP_BITS
    offset = (BINS_PER_GROUP - 1) & (value_ns >> dropped_bits)
    return min(base + offset, BINS - 1)


def bin_value(index: int) -> int:
    """fio's plat_idx_to_val: the value in nanoseconds that stands for a bin, as json+ prints it."""
    if index < BINS_PER_GROUP << 1:
        return index
    dropped_bits = (index >> GROUP_BITS) - 1
    base = 1 << (dropped_bits + GROUP_BITS)
    return base + int((index % BINS_PER_GROUP + 0.5) * (1 << dropped_bits))


def from_latencies(latencies_ns: Iterable[int]) -> dict[int, int]:
    """Counts by bin value."""
    # Counting equal indexes first is several times faster than looking up the value of each latency.
    counts = Counter(map(bin_index, latencies_ns))
    return {bin_value(index): counts[index] for index in sorted(counts)}


def merge(histograms: Iterable[Mapping[int, int]]) -> dict[int, int]:
    """One histogram of all the samples of several."""
    total: Counter[int] = Counter()
    for histogram in histograms:
        total.update(histogram)
    return {value: total[value] for value in sorted(total)}


def percentile(histogram: Mapping[int, int], percent: float) -> int | None:
    """The value of the first bin at which the running count reaches `percent` of all, as fio finds it."""
    wanted = percent / 100 * sum(histogram.values())
    seen = 0
    for value in sorted(histogram):
        seen += histogram[value]
        if seen >= wanted:
            return value
    return None
