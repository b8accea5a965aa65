"""Scaling of a storage: the laws that fit a series over fleet sizes, its knee, predictions with ranges.

T(n) is the time that one instance needs for one piece of work in a fleet of n: a duration itself, n / X of a fleet's
rate X, 1 / value of an instance's rate. `LAWS` lists the laws. Each is fitted by least squares of log T, in standard
errors of the values (`_noise_of`). If even the best law misses the values by more than their noise, all errors are
multiplied by its root mean square miss (Birge 1932, Phys. Rev. 40, 207-227).

The law with the least AIC = Q + 2 k is chosen: Q is the sum of squared misses, k the number of parameters. AICc differs
from it only if the noise is estimated from the same misses (Burnham & Anderson 2002, Model Selection and Multimodel
Inference, 2.4). A predicted value is the geometric mean of the laws by their Akaike weights (4.2).

The range of a prediction holds the uncertainty between the laws by discrete profiling (Dauncey, Kenzie, Wardle and
Davies 2015, J. Instrum. 10, P04015): each law is fitted again, held to pass through a supposed value. The value is
possible if any law then has a Q + k of at most t^2 above the least one: their correction of 1 for each parameter, and
Student's t for 95 %. The capacity law may reach its limit right behind the largest size, so values without a slowdown
have a range up to a fleet that gains nothing more.
"""

import math
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from matrix.answer.scaling.series import Series
from matrix.statistics.fleet_values import Floats

# Every law of two parameters passes through two values, so a third is needed.
MIN_SIZES = 3
# A wider range says nothing: no prediction is printed.
WIDEST_RANGE = 3.0
# Published series show nothing of how laws go on beyond four times the largest size: a range there would pretend to.
FARTHEST = 4
# The knee is the largest size at which an instance is slowed down by less than this share.
KNEE = 0.10
# Why there is no prediction.
FEW_SIZES, TOO_FAR, TOO_WIDE = "few-sizes", "too-far", "too-wide"
# Whether other instances slow an instance down: by 10 % within the measured sizes, by less, or unknown due to noise.
SLOWED, KEEPS_SPEED, HIDDEN = "slowed", "keeps-speed", "hidden-by-noise"
DURATION, FLEET_RATE, INSTANCE_RATE = "durations", "rates of the whole fleet", "rates of each instance"
# Sources of the noise.
INTERVALS, REPEATS, ASSUMED = "intervals", "repeats", "assumed"
# The published builds on EFS elastic were measured three times, months apart: the standard deviation of 8 figures of 10
# to 200 instances is 3.3 %. Unknown noise is assumed to be larger than that.
ASSUMED_NOISE = 0.05
# No value is exact: a run on another day hardly repeats one to 1 %, even if its repetitions are almost equal.
MIN_NOISE = 0.01
NORMAL_95 = 1.96
# Halvings that find either end of a range, to 1 %; an end farther off than a factor of e^1.5 (4.5) is not searched.
HALVINGS, MAX_APART = 7, 1.5
MAX_STEPS = 500
# Keeps every figure finite, even for a hostile series.
MIN_TIME, MAX_TIME, MAX_LOG = 1e-300, 1e300, 690.0
RANGE = (
    "every value through which a law passes that the measured values do not exclude (95 %), if nothing new becomes the "
    "bottleneck"
)


@dataclass(frozen=True)
class Law:
    """A law of T(n) = a f(n); the parameters of f are not negative, and shrink with these powers of the sizes."""

    formula: str
    powers: dict[str, int]
    shape: Callable[..., Floats]


# The simplest first: it is chosen of two that are equally good. Only by the USL a larger fleet may do less in all.
LAWS = {
    # Instances do not disturb each other, as with own volumes.
    "constant": Law("T = a", {}, np.ones_like),
    # A rate that saturates: Amdahl's law, n / T = n / (1 + b (n - 1)) (Gunther 2007, Guerrilla Capacity Planning, 4.3).
    "amdahl": Law("T = a (1 + b (n - 1))", {"b": 1}, lambda n, b: 1 + b * (n - 1)),
    # Full speed up to k, then a shared limit, which work of one's own (q) softens: with q = 0 the asymptotic bounds of
    # Lazowska et al. 1984, 5.2.
    "capacity": Law(
        "T = a (1 + max(0, n / k - 1) / (1 + q))", {"k": -1, "q": 0},
        lambda n, k, q: 1 + np.maximum(0.0, n / k - 1) / (1 + q),
    ),
    # A wait that grows ever slower, as with caches and queues that fill: by a power of n between 0 and 1.
    "power": Law("T = a (1 + b n^(1 / (1 + q)))", {"b": 1, "q": 0}, lambda n, b, q: 1 + b * n ** (1 / (1 + q))),
    # Gunther's Universal Scalability Law (6.3).
    "usl": Law(
        "T = a (1 + contention (n - 1) + coherency n (n - 1))", {"contention": 1, "coherency": 2},
        lambda n, contention, coherency: 1 + contention * (n - 1) + coherency * n * (n - 1),
    ),
}  # fmt: skip


@dataclass(frozen=True)
class Noise:
    """A value for each size: the mean of the logarithms of T and its standard error (0.05: known to about 5 %)."""

    source: str
    sizes: Floats
    logs: Floats
    errors: Floats
    t: float
    """Student's t of a 95 % interval, by the degrees of freedom of the errors."""


@dataclass(frozen=True)
class Curve:
    """A fitted law."""

    model: str
    parameters: dict[str, float]
    misfit: float
    """The sum of squared misses, in standard errors."""

    @property
    def profile(self) -> float:
        """Q + k, by which ranges are found."""
        return self.misfit + len(self.parameters)

    @property
    def aic(self) -> float:
        return self.misfit + 2 * len(self.parameters)

    def time(self, n: Floats) -> Floats:
        """T at sizes n."""
        with np.errstate(over="ignore"):
            a, *others = self.parameters.values()
            times: Floats = a * LAWS[self.model].shape(n, *others)
        return np.clip(times, MIN_TIME, MAX_TIME)


@dataclass(frozen=True)
class Scaling:
    """A series, and the laws that were fitted to it, best first."""

    series: Series
    reads: str
    noise: Noise
    curves: tuple[Curve, ...]

    @property
    def chosen(self) -> Curve:
        """The law with the least AIC."""
        return self.curves[0]

    @cached_property
    def weights(self) -> Floats:
        """The Akaike weight of each law."""
        likely = np.exp([(self.chosen.aic - curve.aic) / 2 for curve in self.curves])
        weights: Floats = likely / likely.sum()
        return weights

    @property
    def plausible(self) -> list[Curve]:
        """The laws that the values do not exclude."""
        return [curve for curve in self.curves if curve.profile <= self.limit]

    @property
    def limit(self) -> float:
        """The Q + k of the worst possible law."""
        return min(curve.profile for curve in self.curves) + self.noise.t**2

    @property
    def largest_noise(self) -> float:
        """The standard error of the noisiest size."""
        return float(self.noise.errors.max())

    def value(self, curve: Curve, n: float) -> float:
        """Return the value of a curve at size n, in the series' own unit."""
        size = np.array([float(n)])
        return float(_times(curve.time(size), size, self.reads)[0])


def analyse(series: Series) -> Scaling:
    """Fit all laws to a series and put them in order."""
    reads = _reads(series)
    n = np.array(series.n, dtype=float)
    noise = _noise_of(series, n, np.log(_times(np.array(series.value), n, reads)))
    curves = [*_fits(noise)]
    best = min(curve.misfit / max(1, len(noise.sizes) - len(curve.parameters)) for curve in curves)
    if best > 1:
        noise = replace(noise, errors=noise.errors * math.sqrt(best))
        curves = [replace(curve, misfit=curve.misfit / best) for curve in curves]
    # Laws that differ by less than a thousandth are equally good.
    return Scaling(series, reads, noise, tuple(sorted(curves, key=lambda curve: round(curve.aic, 3))))


def _fits(noise: Noise, *pin: float) -> Iterator[Curve]:
    """Fit each law that has no more parameters than there are sizes; `pin` is a size and the log T to pass through."""
    return (fit(name, noise, *pin) for name, law in LAWS.items() if len(law.powers) < len(noise.sizes))


def fit(name: str, noise: Noise, *pin: float) -> Curve:
    """Fit one law. For any f, a follows from the values, or from the pin."""
    from scipy.optimize import OptimizeWarning, curve_fit

    powers = np.array([*LAWS[name].powers.values()], dtype=float)
    scales = noise.sizes[-1] ** -powers

    def log_shape(n: Floats, roots: Sequence[float]) -> Floats:
        # Squares are never negative, and a search without bounds is ten times as quick.
        shape: Floats = np.log(np.clip(LAWS[name].shape(n, *(np.square(roots) * scales)), MIN_TIME, MAX_TIME))
        return shape

    def log_a(roots: Sequence[float]) -> float:
        if pin:
            return pin[1] - float(log_shape(np.array(pin[:1]), roots)[0])
        return float(np.average(noise.logs - log_shape(noise.sizes, roots), weights=noise.errors**-2))

    def log_time(n: Floats, *roots: float) -> Floats:
        return log_a(roots) + log_shape(n, roots)

    starts = [np.ones(len(powers))]
    if name == "capacity":
        # The bend may have a best place between any two sizes.
        starts = [np.sqrt([0.9 * size / noise.sizes[-1], 0.1]) for size in np.append(noise.sizes, pin[:1])]
    fits = []
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore", OptimizeWarning)
        for start in starts:
            roots = start
            if len(start):
                with suppress(RuntimeError):  # no least misfit within so many steps
                    roots, _ = curve_fit(log_time, noise.sizes, noise.logs, start, noise.errors, maxfev=MAX_STEPS)
            fits.append((float((((log_time(noise.sizes, *roots) - noise.logs) / noise.errors) ** 2).sum()), [*roots]))
    misfit, best = min(fits)
    others = dict(zip(LAWS[name].powers, (np.square(best) * scales).tolist(), strict=True))
    return Curve(name, {"a": math.exp(min(log_a(best), MAX_LOG)), **others}, misfit)


# --- predictions ------------------------------------------------------------------------------------------------------


def predict(scaling: Scaling, n: int) -> dict[str, Any]:
    """Return the predicted value at n with its range, or the reasons why there is none."""
    by_model = {curve.model: scaling.value(curve, n) for curve in scaling.curves}
    low, high = _range(scaling, n)
    value = min(max(float(np.exp(scaling.weights @ np.log([*by_model.values()]))), low), high)
    reasons = list(_refusals(scaling, n, low, high))
    known = {
        "n": n,
        "is_extrapolation": n > max(scaling.series.n),
        "refused": "; ".join(map(describe_refusal, reasons)) or None,
        "reasons": reasons,
        "by_model": by_model,
    }
    if reasons:
        return {**known, "value": None, "low": None, "high": None}
    return {**known, "value": value, "low": low, "high": high}


def _range(scaling: Scaling, n: int) -> tuple[float, float]:
    """Return the lowest and the highest value at size n through which a law may pass."""
    size = np.array([float(n)])
    of_chosen = math.log(scaling.chosen.time(size)[0])

    def is_possible(log_time: float) -> bool:
        return any(curve.profile <= scaling.limit for curve in _fits(scaling.noise, float(n), log_time))

    ends = []
    for side in (-1, 1):
        possible, impossible = 0.0, MAX_APART
        for _ in range(HALVINGS):
            half = (possible + impossible) / 2
            possible, impossible = (half, impossible) if is_possible(of_chosen + side * half) else (possible, half)
        ends.append(math.exp(min(of_chosen + side * impossible, MAX_LOG)))
    values = _times(np.array(ends), size, scaling.reads)
    return float(values.min()), float(values.max())


def _refusals(scaling: Scaling, n: int, low: float, high: float) -> Iterator[dict[str, Any]]:
    """Yield the reasons against a prediction at n: codes, with the numbers that `describe_refusal` needs."""
    sizes = sorted(set(scaling.series.n))
    if len(sizes) < MIN_SIZES:
        yield {"code": FEW_SIZES, "sizes": len(sizes)}
    elif n > FARTHEST * sizes[-1]:
        yield {"code": TOO_FAR, "largest": sizes[-1], "measure": math.ceil(n / FARTHEST)}
    elif high > WIDEST_RANGE * low:
        between = max((size for size in sizes if size < n), default=1), min((s for s in sizes if s > n), default=n)
        noise = {"noise": scaling.largest_noise, "source": scaling.noise.source}
        yield {"code": TOO_WIDE, "between": list(between), **noise}


def describe_refusal(reason: Mapping[str, Any]) -> str:
    """Write why there is no prediction."""
    if reason["code"] == FEW_SIZES:
        return f"{reason['sizes']} sizes were measured; fewer than {MIN_SIZES} fit every law"
    if reason["code"] == TOO_FAR:
        far = f"more than {FARTHEST} times the largest measured size ({reason['largest']})"
        return f"{far}; measure {reason['measure']} or more"
    first, second = reason["between"]
    noise = _describe_noise(reason["noise"], reason["source"])
    return (
        f"laws that pass through the values ({noise}) differ by more than a "
        f"factor of {WIDEST_RANGE:g}; measure a size between {first} and {second}, or more repetitions"
    )


def _describe_noise(noise: float, source: str) -> str:
    off = f"{100 * math.expm1(min(NORMAL_95 * noise, 50.0)):.0f} %"
    return f"their noise is not known; up to {off} is assumed" if source == ASSUMED else f"they may be off by {off}"


# --- what a series shows ----------------------------------------------------------------------------------------------


def report(series: Series) -> dict[str, Any]:
    """Return the document that `matrix fit` prints."""
    scaling = analyse(series)
    predictions = [predict(scaling, n) for n in series.predict]
    chosen, *rivals = map(_candidate, scaling.curves, scaling.weights.tolist())
    document = {
        "schema": 2,
        "reads": scaling.reads,
        "higher_is_better": series.higher_is_better,
        "points": len(series.n),
        "largest_n": max(series.n),
        **chosen,
        "knee": knee(scaling),
        "peak_n": peak(scaling),
        "noise": {"source": scaling.noise.source, "largest": scaling.largest_noise},
        "predictions": predictions,
        "interval": RANGE,
        "rivals": rivals,
        "refusals": [f"n = {each['n']}: {each['refused']}" for each in predictions if each["refused"]],
        "warnings": list(_warnings(scaling)),
    }
    finite: dict[str, Any] = _finite(document)
    return finite


def _finite(content: Any) -> Any:
    """Return None for NaN and infinity, which JSON does not have."""
    if isinstance(content, dict):
        return {name: _finite(value) for name, value in content.items()}
    if isinstance(content, list):
        return [_finite(value) for value in content]
    return None if isinstance(content, float) and not math.isfinite(content) else content


def _candidate(curve: Curve, weight: float) -> dict[str, Any]:
    formula = LAWS[curve.model].formula
    return {
        "model": curve.model, "formula": formula, "parameters": curve.parameters, "aic": curve.aic, "weight": weight,
    }  # fmt: skip


def _warnings(scaling: Scaling) -> Iterator[str]:
    if scaling.noise.source == ASSUMED:
        yield (
            f"nothing is known of the noise of the values, so {100 * ASSUMED_NOISE:.0f} % is assumed; give `low` and "
            "`high`, or several values of a size"
        )
    if others := [curve.model for curve in scaling.plausible if curve is not scaling.chosen]:
        yield f"the data cannot tell {scaling.chosen.model} from {', '.join(others)}"
    if (smallest := min(scaling.series.n)) > 1:
        yield f"no single instance was measured: the speed of one alone is extrapolated down from {smallest}"


def knee(scaling: Scaling) -> dict[str, Any]:
    """Return the size up to which an instance loses less than 10 % to the others; None if it is not within the data.

    `status` tells a storage that keeps its speed from one whose laws do not agree on it.
    """
    largest = max(scaling.series.n)
    ends = np.array([1.0, largest])
    slowed = [curve.time(ends)[1] > (1 + KNEE) * curve.time(ends)[0] for curve in scaling.plausible]
    status = SLOWED if all(slowed) else HIDDEN if any(slowed) else KEEPS_SPEED
    size = None
    if status == SLOWED:
        sizes = np.arange(1.0, largest + 1)
        times = scaling.chosen.time(sizes)
        size = int(sizes[np.flatnonzero(times > (1 + KNEE) * times[0])[0] - 1])
    at_most = f"each needs at most {100 * KNEE:.0f} % more time than one alone"
    noise = _describe_noise(scaling.largest_noise, scaling.noise.source)
    meanings = {
        SLOWED: f"up to {size} instances {at_most}",
        KEEPS_SPEED: f"up to {largest} instances, the most that were measured, {at_most}",
        HIDDEN: f"not enough to tell: {noise}, so a slowdown by a tenth may or may not be there",
    }
    return {"n": size, "status": status, "meaning": meanings[status]}


def peak(scaling: Scaling) -> int | None:
    """Return the size beyond which more instances do less in all (USL: sqrt((1 - s) / c)); None if there is none."""
    parameters = scaling.chosen.parameters
    coherency, contention = parameters.get("coherency", 0.0), parameters.get("contention", 0.0)
    if coherency <= 0 or contention >= 1:
        return None
    return max(1, math.floor(math.sqrt((1 - contention) / coherency)))


# --- meaning and noise of the values ----------------------------------------------------------------------------------


def _reads(series: Series) -> str:
    """The interpretation of the values: a rate that does not rise with the fleet is each instance's."""
    if not series.higher_is_better:
        return DURATION
    if series.per_instance is not None:
        return INSTANCE_RATE if series.per_instance else FLEET_RATE
    smallest, largest = series.n.index(min(series.n)), series.n.index(max(series.n))
    return INSTANCE_RATE if series.value[largest] <= series.value[smallest] else FLEET_RATE


def _times(value: Floats, n: Floats, reads: str) -> Floats:
    """Values as times, and times as values: the formulas are their own inverses."""
    return value if reads == DURATION else n / value if reads == FLEET_RATE else 1 / value


def _noise_of(series: Series, n: Floats, logs: Floats) -> Noise:
    sizes = np.unique(n)
    of_size = [logs[n == size] for size in sizes]
    counts = np.array([len(each) for each in of_size], dtype=float)
    means = np.array([each.mean() for each in of_size])
    spare = int((counts - 1).sum())
    known = _of_intervals(series, n, sizes)
    if known is not None:
        return Noise(INTERVALS, sizes, means, known, NORMAL_95)
    if spare > 0:
        from scipy import special

        # One noise for all sizes, because two measurements of a size hardly show its own.
        within = math.sqrt(sum(float(((each - each.mean()) ** 2).sum()) for each in of_size) / spare)
        t = float(special.stdtrit(spare, 0.975))
        return Noise(REPEATS, sizes, means, max(within, MIN_NOISE) / np.sqrt(counts), t)
    return Noise(ASSUMED, sizes, means, np.full(len(sizes), ASSUMED_NOISE), NORMAL_95)


def _of_intervals(series: Series, n: Floats, sizes: Floats) -> Floats | None:
    """Return each size's standard error by the intervals; None if no value has one.

    An interval of few repetitions is narrow by luck as often as wide, so no size gets a smaller error than the root
    mean square of all. A size without an interval, such as a single instance, gets the largest error.
    """
    halves = [
        None if low is None or high is None else math.log(high / low) / 2 / NORMAL_95
        for low, high in zip(series.low or [None] * len(n), series.high or [None] * len(n), strict=True)
    ]
    known = [half for half in halves if half is not None]
    if not known:
        return None
    typical = max(MIN_NOISE, math.sqrt(float(np.mean(np.square(known)))))
    worst = max(*known, typical)
    each = np.array([worst if half is None else max(half, typical) for half in halves])
    # Several values of one size: their mean is at most as noisy as the noisiest of them.
    return np.array([each[n == size].max() for size in sizes])
