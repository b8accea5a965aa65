"""Hartigan's dip: the distance of a sample from a unimodal distribution.

The dip is the largest distance between the sample's distribution function and the nearest unimodal one, found with the
greatest convex minorant and the least concave majorant (Hartigan & Hartigan 1985, Ann. Statist. 13, 70-84; Hartigan
1985, Applied Statistics AS 217). It does not depend on the shape: skewed and heavy-tailed samples have small dips too.
A sample is called bimodal if its dip exceeds the 95 % quantile of the dips of uniform samples, the least favourable
unimodal distribution.

The package diptest does the same, but has no wheel for Linux on arm64 (version 0.12, November 2026), on which the
functions can run.
"""

import math

import numpy as np

from matrix.statistics.fleet_values import Floats

# 95th percentiles of sqrt(n) * dip of n uniform values, from 10,000 simulated samples each. A test recomputes one.
CRITICAL = {10: 0.443, 15: 0.461, 20: 0.475, 30: 0.485, 50: 0.497, 100: 0.509, 200: 0.518, 500: 0.530}
LEAST_VALUES = min(CRITICAL)


def is_bimodal(values: Floats) -> bool:
    """Whether one mode cannot explain the values (5 % level); never of fewer than ten."""
    count = len(values)
    if count < LEAST_VALUES:
        return False
    critical = float(np.interp(math.log(count), np.log(list(CRITICAL)), list(CRITICAL.values())))
    return math.sqrt(count) * dip(values) > critical


def dip(values: Floats) -> float:
    """Return the dip, between 1 / (2 n) and 1 / 4."""
    points, counts = np.unique(values, return_counts=True)
    above = np.cumsum(counts) / counts.sum()
    below = above - counts / counts.sum()
    # The modal interval shrinks until the two hulls differ there by no more than the sample differs from them outside.
    largest = 1 / len(values)
    first, last = 0, len(points) - 1
    while first < last:
        part = slice(first, last + 1)
        minorant = _hull(points[part], below[part])
        majorant = -_hull(points[part], -above[part])
        at_minorant = np.flatnonzero(np.isclose(minorant, below[part], atol=1e-12, rtol=0))
        at_majorant = np.flatnonzero(np.isclose(majorant, above[part], atol=1e-12, rtol=0))
        gap_left = majorant[at_minorant] - minorant[at_minorant]
        gap_right = majorant[at_majorant] - minorant[at_majorant]
        if gap_left.max() > gap_right.max():
            start = int(at_minorant[gap_left.argmax()])
            end = int(at_majorant[at_majorant >= start][0])
        else:
            end = int(at_majorant[len(gap_right) - 1 - gap_right[::-1].argmax()])
            start = int(at_minorant[at_minorant <= end][-1])
        if max(gap_left.max(), gap_right.max()) <= largest:
            break
        left = float((above[part] - minorant)[: start + 1].max()) if start else 0.0
        right = float((majorant - below[part])[end:].max()) if end < last - first else 0.0
        largest = max(largest, left, right)
        if start == 0 and end == last - first:
            break
        first, last = first + start, first + end
    return largest / 2


def _hull(points: Floats, heights: Floats) -> Floats:
    """Return the greatest convex function below the heights, at the points."""
    # Python's numbers: a loop over numpy's takes five times as long.
    across, up = points.tolist(), heights.tolist()
    kept: list[int] = []
    for index, (x, y) in enumerate(zip(across, up, strict=True)):
        while len(kept) > 1:
            first, second = kept[-2], kept[-1]
            before = (up[second] - up[first]) * (x - across[second])
            if before < (y - up[second]) * (across[second] - across[first]):
                break
            kept.pop()
        kept.append(index)
    return np.interp(points, points[kept], heights[kept])
