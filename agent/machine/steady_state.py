"""Find whether the rate of each second became steady, and from when on.

The rule is that of SNIA's performance test specification (PTS 2.0.2, "steady state"): in a window of at least five
rounds the rates of the rounds differ by at most 20 % of their mean (excursion), and their best-fitting line rises or
falls by at most 10 % of it (slope). There rounds take a minute and are repeated until a window is steady. Here the
length of the step is fixed, so the window is its last part, as long as the rule allows: no later data are left out.

Our rounds may be as short as a second, and then noise alone breaks the rule: of even rates that differ by 10 % from one
second to the next, two thirds of steps of 10 s broke it. So a step is called not steady only if noise does not explain
it. A periodic rate, for example one limited by credits or flushes, looks like noise from one round to the next, but its
autocorrelation has a second peak at its period (Box, Jenkins & Reinsel 2015, Time Series Analysis, 2.1). Such a step is
not steady either.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt
from operator import mul
from statistics import fmean, median
from typing import Any

MAX_EXCURSION, MAX_SLOPE = 0.2, 0.1
WINDOW_ROUNDS = 5
# A step has this many rounds, or up to twice as many less one; with fewer seconds there is no result. A step of ten
# seconds has nine whole ones by the clock, and fio may not log its last one.
ROUNDS = 9
STEADY, NOT_STEADY, TOO_SHORT, TOO_NOISY = "steady", "not steady", "too short", "too noisy"
# Second differences of independent values have sqrt(6) times their deviation, and the median of a normal's absolute
# value is 0.6745 deviations. A line's second differences are 0, and a fall leaves two large ones: neither is noise.
SECOND_DIFFERENCE = 0.6745 * sqrt(6)
# In the shortest window of an even rate, in deviations of its rounds: 95 % of excursions are below 3.86 (studentised
# range of five), 95 % of changes of the line below 1.96 * 4 / sqrt(10), 10 being the squares of -2 … 2 added up.
EXCURSION_BY_NOISE, CHANGE_BY_NOISE = 3.86, 2.48
# A swing has a peak this high in the autocorrelation, and three whole periods in the step. Chance does not make such a
# peak in a hundred independent values; in fewer it does, so they are not asked.
MIN_PEAK, MIN_PERIODS, MIN_VALUES = 0.5, 3, 100
# So many values are enough to see a period, and few enough for a quick answer.
MAX_VALUES = 240


@dataclass(frozen=True)
class Steadiness:
    """From which second on a rate was steady, up to the end of its step."""

    seconds: int
    state: str  # STEADY, NOT_STEADY, TOO_SHORT or TOO_NOISY
    from_s: float | None = None  # None unless steady
    ratio: float | None = None  # rate in the steady part, divided by the rate of the whole step
    period_s: float | None = None  # of a rate that swings, and is not steady for that

    def to_document(self) -> dict[str, Any]:
        """Return the document for samples.json."""
        known = {"state": self.state, "from_s": self.from_s, "ratio": self.ratio, "seconds": self.seconds}
        return known | ({"period_s": self.period_s} if self.period_s is not None else {})


def find(rates: Sequence[float]) -> Steadiness | None:
    """Return the steadiness of a rate that was taken each second; None if nothing was done."""
    each = len(rates) // ROUNDS
    if not each:
        return Steadiness(len(rates), TOO_SHORT)
    whole = sum(rates) / len(rates)
    if whole <= 0:
        return None
    # Extra seconds belong to the first round, in which a step is least steady.
    starts = [0, *range(each + len(rates) % each, len(rates), each)]
    rounds = [fmean(rates[start:end]) for start, end in zip(starts, [*starts[1:], len(rates)])]
    for first, start in enumerate(starts[: 1 - WINDOW_ROUNDS]):
        if _is_steady(rounds[first:]):
            return Steadiness(len(rates), STEADY, float(start), fmean(rates[start:]) / whole)
    swing_s = period(rates)
    if swing_s is not None:
        return Steadiness(len(rates), NOT_STEADY, period_s=swing_s)
    is_noise = _is_steady(rounds[-WINDOW_ROUNDS:], noise(rounds))
    return Steadiness(len(rates), TOO_NOISY if is_noise else NOT_STEADY)


def period(rates: Sequence[float]) -> float | None:
    """Return the period of a rate in seconds, to a 240th of the step; None if there is none, or below 100 s.

    The autocorrelation has peaks at each multiple of the period; the first one that is nearly as high as the highest
    counts.
    """
    if len(rates) < MIN_VALUES:
        return None
    each = -(-len(rates) // MAX_VALUES)
    values = [fmean(rates[start : start + each]) for start in range(0, len(rates) - each + 1, each)]
    middle, rise, mean = (len(values) - 1) / 2, slope(values), fmean(values)
    left = [value - mean - rise * (place - middle) for place, value in enumerate(values)]
    power = sum(value * value for value in left) / len(left)
    if power <= 0:
        return None
    lags = range(1, len(left) // MIN_PERIODS + 1)
    alike = [sum(map(mul, left, left[lag:])) / (len(left) - lag) / power for lag in lags]
    # Neighbours are correlated in any slow change, so a period lies beyond the first lag with a negative correlation.
    opposed = next((place for place, share in enumerate(alike) if share < 0), len(alike))
    peak = max(alike[opposed:], default=0.0)
    if peak < MIN_PEAK:
        return None
    first = next(place for place in range(opposed, len(alike)) if alike[place] >= 0.9 * peak)
    while first + 1 < len(alike) and alike[first + 1] > alike[first]:
        first += 1
    return float(each * lags[first])


def noise(rounds: Sequence[float]) -> float:
    """Return the deviation of rounds from their neighbours, as a share of the rate; lines and falls have none."""
    triples = [triple for triple in zip(rounds, rounds[1:], rounds[2:]) if sum(triple) > 0]
    bends = [3 * abs(before - 2 * middle + after) / (before + middle + after) for before, middle, after in triples]
    return median(bends) / SECOND_DIFFERENCE if bends else 0.0


def _is_steady(window: Sequence[float], deviation: float = 0.0) -> bool:
    """Return whether rounds keep to both limits, or exceed them by no more than noise of this deviation explains."""
    mean = sum(window) / len(window)
    most_excursion = MAX_EXCURSION + EXCURSION_BY_NOISE * deviation
    most_change = MAX_SLOPE + CHANGE_BY_NOISE * deviation
    is_close = max(window) - min(window) <= most_excursion * mean
    return mean > 0 and is_close and abs(slope(window)) * (len(window) - 1) <= most_change * mean


def slope(window: Sequence[float]) -> float:
    """How much the line of least squares rises from one round to the next."""
    middle = (len(window) - 1) / 2
    mean = sum(window) / len(window)
    up = sum((place - middle) * (rate - mean) for place, rate in enumerate(window))
    return up / sum((place - middle) ** 2 for place in range(len(window)))
