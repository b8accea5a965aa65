"""Autocorrelation of successive repetitions, and the wider intervals that it requires.

Repetitions are minutes apart. If a busy hour lasts longer than they do, each one resembles the one before it, and the
effective sample size of R repetitions is below R. With a correlation of rho^k between repetitions that are k apart (an
autoregressive process of order 1), the variance of their mean is F / R times that of one, with

    F = 1 + 2 sum_{k=1}^{R-1} (1 - k/R) rho^k

(Bayley & Hammersley 1946, Suppl. J. R. Stat. Soc. 8, 184-197), while their sample variance is on average only
(R - F) / (R - 1) times as large as it should be. Together: the usual variance of the mean is too small by
F (R - 1) / (R - F), and its degrees of freedom are tr(M)^2 / tr(M^2) of the centred correlation matrix M (Box 1954,
Ann. Math. Stat. 25, 290-302).

rho is estimated by the lag-1 coefficient r = sum e_t e_{t+1} / sum e_t^2 of the deviations from the mean. Of short
series it is too small: -1/R on average without correlation (Moran 1948, Biometrika 35, 255-260; Kendall 1954,
Biometrika 41, 403-404). So the estimate is the rho for which expected numerator and denominator have the observed
ratio. No trend is removed before: that would cost degrees of freedom, and a slow change is part of the correlation.

Few repetitions cannot show rho: r of three is between -2/3 and 0 for any rho, and of five, half of all estimates are
between 0 and 0.44 if rho is 0, and between 0 and 0.95 if it is 0.5. Such an estimate made intervals of independent
repetitions a third wider, so below eight repetitions rho is unknown, and intervals assume 0.
"""

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

MIN_IN_A_ROW = 8
# Of a standard normal.
UPPER_QUARTILE = 0.674
# Beyond it, the results depend on the last digit of rho.
MOST = 0.95
STEPS = 96

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Autocorrelation:
    """The lag-1 coefficient of a series (0 to 0.95), and its effect on the variance of the series' mean."""

    lag1: float
    factor: float  # how many times as large the variance of the mean is as that of independent values
    degrees_of_freedom: float  # of that variance

    @classmethod
    def none(cls, count: int) -> "Autocorrelation":
        """Return that of `count` independent values."""
        return cls(0.0, 1.0, float(count - 1))

    @classmethod
    def planned(cls, count: int) -> "Autocorrelation":
        """Return what three of four series of `count` independent values do not exceed: of ten, a factor of 1.5.

        For plans, as chance alone makes most intervals of eight and more repetitions wider. The coefficient has a
        standard error of 1 / sqrt(count).
        """
        if count < MIN_IN_A_ROW:
            return cls.none(count)
        lag1 = UPPER_QUARTILE / math.sqrt(count)
        return cls(lag1, (1 + lag1) / (1 - lag1), float(count - 1))


def measured(series: Floats) -> Autocorrelation | None:
    """Return the autocorrelation of a series in the order of time; None of fewer than eight values: it is unknown.

    Negative coefficients count as 0: chance makes them, and none may narrow an interval.
    """
    count = len(series)
    if count < MIN_IN_A_ROW:
        return None
    deviations = series - series.mean()
    squares = float((deviations**2).sum())
    if squares <= count * (np.finfo(float).eps * float(np.abs(series).max())) ** 2:
        return Autocorrelation.none(count)
    seen = float((deviations[1:] * deviations[:-1]).sum()) / squares
    rhos, ratios, factors, degrees = _known(count)
    lag1, factor, freedom = (float(np.interp(seen, ratios, column)) for column in (rhos, factors, degrees))
    return Autocorrelation(lag1, factor, freedom)


def assumed(series: Floats) -> Autocorrelation:
    """Return the autocorrelation that intervals assume: the measured one, or none if it is unknown."""
    return measured(series) or Autocorrelation.none(len(series))


@lru_cache(maxsize=32)
def _known(count: int) -> tuple[Any, ...]:
    """Return rho, the expected ratio r, the factor and the degrees of freedom for `count` values, rho from 0 up."""
    rhos = np.linspace(0.0, MOST, STEPS)
    lags = np.abs(np.arange(count)[:, None] - np.arange(count)[None, :])
    rows = []
    for rho in rhos:
        correlations = rho**lags
        of_rows, whole = correlations.mean(axis=1), float(correlations.mean())
        centred = correlations - of_rows[:, None] - of_rows[None, :] + whole
        sum_of_squares, times = float(np.trace(centred)), count * whole
        rows.append((
            float(np.trace(centred, offset=1)) / sum_of_squares,
            times * (count - 1) / (count - times),
            sum_of_squares**2 / float((centred**2).sum()),
        ))  # fmt: skip
    ratios, factors, degrees = map(np.array, zip(*rows, strict=True))
    # The ratio rises with rho but for rounding; `interp` needs it to.
    return rhos, np.maximum.accumulate(ratios), factors, degrees


def is_beyond_chance(series: Floats) -> bool:
    """Whether independent values have so high an autocorrelation in less than 5 % of all series of that length.

    By the normal approximation of r, with Moran's mean -1/R and variance (R - 2)^2 / (R^2 (R - 1)).
    """
    count = len(series)
    deviations = series - series.mean()
    squares = float((deviations**2).sum())
    if count < MIN_IN_A_ROW or squares == 0:
        return False
    seen = float((deviations[1:] * deviations[:-1]).sum()) / squares
    return (seen + 1 / count) * count * math.sqrt(count - 1) / (count - 2) > 1.645  # noqa: PLR2004 - 95 % of a normal
