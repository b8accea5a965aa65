"""Sizes of files and objects: all equal, or spread over a distribution. Plan and agents compute the same ones.

A distribution is a text: `exponential`, `lognormal 1.5` (sigma), or sizes in bytes with their weights, such as
`4096:70 1048576:30`; `seed 7` behind it gives others of the same distribution.

File number n has the quantile of the fraction of start + n * golden ratio (Kronecker's sequence), which fills the
interval evenly: any number of files has nearly the mean of the distribution, on each storage and in each run.
"""

from __future__ import annotations

import math
import re
import zlib
from bisect import bisect_right
from itertools import accumulate
from statistics import NormalDist

EXPONENTIAL, LOGNORMAL = "exponential", "lognormal"
# smallfile cuts its exponential distribution there (random_size_limit). A lognormal one has a longer tail.
MAX_MEANS = {EXPONENTIAL: 8, LOGNORMAL: 32}
_LISTED = r"[1-9][0-9]{0,15}:[1-9][0-9]{0,6}"
TEXT = re.compile(rf"(exponential|lognormal [0-9]\.?[0-9]{{0,4}}|{_LISTED}( {_LISTED}){{0,19}})( seed [0-9]{{1,9}})?")
GOLDEN = (math.sqrt(5) - 1) / 2
_NORMAL = NormalDist()


class Sizes:
    """Sizes in bytes. `mean_bytes` is that of a list's weights, or as given."""

    def __init__(self, mean_bytes: int, text: str = "") -> None:
        """Read a distribution that TEXT matches; empty: all are of `mean_bytes`."""
        shape, _, seed = text.partition(" seed ")
        self._kind = shape.partition(" ")[0]
        self._start = (0.5 + int(seed or 0) * math.sqrt(2)) % 1
        self.mean_bytes = mean_bytes
        self.largest = mean_bytes * MAX_MEANS.get(self._kind, 1)
        self._listed: list[int] = []
        if self._kind == LOGNORMAL:
            self._sigma = float(shape.partition(" ")[2])
            self._median = _median(mean_bytes, self._sigma, self.largest)
        elif ":" in shape:
            pairs = [(int(size), int(weight)) for size, weight in (each.split(":") for each in shape.split())]
            self._listed = [size for size, _ in pairs]
            self._up_to = list(accumulate(weight for _, weight in pairs))
            self.mean_bytes = round(sum(size * weight for size, weight in pairs) / self._up_to[-1])
            self.largest = max(self._listed)

    def of(self, number: int) -> int:
        """Return the size of a file; no file is empty."""
        if not self._kind:
            return self.mean_bytes
        share = (self._start + number * GOLDEN) % 1
        if self._listed:
            return self._listed[bisect_right(self._up_to, share * self._up_to[-1])]
        if self._kind == EXPONENTIAL:
            size = -self.mean_bytes * math.log(1 - share)
        else:
            size = self._median * math.exp(self._sigma * _NORMAL.inv_cdf(max(share, 1e-12)))
        return max(1, min(round(size), self.largest))


def _median(mean: float, sigma: float, largest: float) -> float:
    """Return the median of the lognormal distribution that has this mean where its sizes are cut at `largest`."""
    low, high = 0.0, float(mean)
    for _ in range(60):
        median = (low + high) / 2
        cut = math.log(largest / median) / sigma
        below = median * math.exp(sigma**2 / 2) * _NORMAL.cdf(cut - sigma)
        is_less = below + largest * (1 - _NORMAL.cdf(cut)) < mean
        low, high = (median, high) if is_less else (low, median)
    return high


def name_of(text: str) -> str:
    """Return what names of folders and objects have of a distribution, safe for shells; empty if all are equal."""
    return f"-{zlib.crc32(text.encode()):08x}" if text else ""
