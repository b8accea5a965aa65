"""Scaling of a storage: the law that predicts best, its knee, predictions, and the size at which two storages cross.

The model is chosen by cross-validation: each size but the smallest is left out in turn and predicted (Stone 1974, J. R.
Stat. Soc. B 36, 111-147). The prediction of the largest is an extrapolation like the requested one. The knee and the
parameters are those of the chosen model. A prediction is the mean of all models that cross-validation cannot
distinguish. Its range spans every law that passes through the values within their noise (`reach`). A prediction with a
too wide range is refused. No law can show a bottleneck beyond the largest measured size. The quality of predictions is
in docs/tested.md.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from operator import itemgetter
from typing import Any, TypedDict

import numpy as np

from matrix.answer.scaling import laws
from matrix.answer.scaling.laws import MODELS, Curve
from matrix.answer.scaling.noise import ASSUMED, ASSUMED_NOISE, NORMAL_95, Noise, noise_of
from matrix.answer.scaling.reach import Reach
from matrix.answer.scaling.series import Series
from matrix.statistics.fleet_values import Floats

# A model with three parameters fits any three points, so a fourth is needed to judge it.
LEAST_SIZES = 4
# Predictions reach to twice the largest measured size; beyond that no measurement supports them.
FARTHEST = 2.0
# A handful of points cannot distinguish models with held-out errors that differ by less than this.
AS_GOOD = 0.10
# If possible laws differ by more than this factor, no prediction is printed.
WIDEST_RANGE = 2.0
# A factor above this only means that the slope of a law has no upper bound.
MOST_NAMED_FACTOR = 10
# Keeps every figure finite, even for a hostile series.
LEAST_TIME = 1e-300
# The knee is the largest size at which an instance is slowed down by less than this share.
KNEE = 0.10

# Why there is no prediction.
FEW_SIZES, TOO_FAR, NOT_SLOWED, NO_LAW, TOO_WIDE = "few-sizes", "too-far", "not-slowed", "no-law", "too-wide"
# Whether other instances slow an instance down: by 10 % within the measured sizes, by less, or unknown due to noise.
SLOWED, KEEPS_SPEED, HIDDEN = "slowed", "keeps-speed", "hidden-by-noise"
RANGE = (
    "all that the laws say that pass through the values within their noise; it holds the truth in 95 % of series if "
    "one of these laws goes on to hold, so if nothing new becomes the bottleneck"
)


@dataclass(frozen=True)
class Candidate:
    """A model fitted to all points, with its prediction errors."""

    curve: Curve
    held_out_error: float | None
    fit_error: float


@dataclass(frozen=True)
class Scaling:
    """A series and its fitted models, best first."""

    series: Series
    reads: str
    candidates: tuple[Candidate, ...]
    noise: Noise

    @cached_property
    def reach(self) -> Reach:
        """Every law that the noise of the values cannot exclude."""
        return Reach.of(self.noise)

    @property
    def chosen(self) -> Candidate:
        """The model that predicts unseen points best."""
        return self.candidates[0]

    @property
    def plausible(self) -> list[Candidate]:
        """The models that the held-out points cannot distinguish from the chosen one."""
        best = self.chosen.held_out_error
        if best is None:
            return list(self.candidates)
        return [
            candidate
            for candidate in self.candidates
            if candidate is self.chosen
            or (
                (candidate.held_out_error or 0.0) <= best + AS_GOOD
                and self._misses_largest_by(candidate.curve) <= AS_GOOD
            )
        ]

    def _misses_largest_by(self, curve: Curve) -> float:
        """Return the relative error of a curve at the largest measured size, where extrapolation starts."""
        n = np.array(self.series.n, dtype=float)
        known = _times(np.array(self.series.value), n, self.reads)[n == n.max()]
        return abs(float(np.log(curve.time(n[n == n.max()]) / known).mean()))

    def value(self, curve: Curve, n: float) -> float:
        """Return the value of a curve at size n, in the series' own unit."""
        size = np.array([float(n)])
        return float(_values(np.maximum(curve.time(size), LEAST_TIME), size, self.reads)[0])


def analyse(series: Series) -> Scaling:
    """Fit all models to a series and put them in order."""
    reads = _reads(series)
    n = np.array(series.n, dtype=float)
    time = _times(np.array(series.value), n, reads)
    sizes = len(set(series.n))
    candidates = [
        Candidate(curve, _held_out_error(name, n, time), _root_mean_square(_log_errors(curve, n, time)))
        for name in MODELS
        if MODELS[name].count <= sizes
        for curve in [laws.fit(name, n, time)]
    ]
    judged = [candidate.held_out_error for candidate in candidates]
    # Errors that differ by less than a thousandth are equal: the simpler model comes first.
    errors = [
        round(error if error is not None else candidate.fit_error, 3)
        for candidate, error in zip(candidates, judged, strict=True)
    ]
    ordered = [candidate for _, candidate in sorted(zip(errors, candidates, strict=True), key=itemgetter(0))]
    return Scaling(series, reads, tuple(ordered), noise_of(series, n, time))


@np.errstate(over="ignore")  # an overflow is reported as no number
def report(series: Series) -> dict[str, Any]:
    """Return the document that `matrix fit` prints."""
    scaling = analyse(series)
    chosen = scaling.chosen
    predictions = [predict(scaling, n) for n in series.predict]
    document = {
        "schema": 1,
        "reads": scaling.reads,
        "higher_is_better": series.higher_is_better,
        "points": len(series.n),
        "largest_n": max(series.n),
        **_candidate(chosen),
        "knee": knee(scaling),
        "peak_n": peak(scaling),
        "noise": {"source": scaling.noise.source, "largest": scaling.noise.largest},
        "predictions": predictions,
        "interval": RANGE,
        "rivals": [_candidate(candidate) for candidate in scaling.candidates[1:]],
        "refusals": [
            f"n = {prediction['n']}: {prediction['refused']}" for prediction in predictions if prediction["refused"]
        ],
        "warnings": _warnings(scaling),
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


def predict(scaling: Scaling, n: int) -> dict[str, Any]:
    """Return the predicted value at n with its range, or the reasons why there is none."""
    value, low, high = prediction_range(scaling, n)
    by_model = {candidate.curve.model: scaling.value(candidate.curve, n) for candidate in scaling.plausible}
    reasons = list(_refusals(scaling, n, low, high))
    known = {
        "n": n,
        "is_extrapolation": n > max(scaling.series.n),
        "refused": "; ".join(map(refusal_words, reasons)) or None,
        "reasons": reasons,
        "by_model": by_model,
        "bounds": bounds(scaling, n),
    }
    if reasons:
        return {**known, "value": None, "low": None, "high": None}
    return {**known, "value": value, "low": low, "high": high}


def prediction_range(scaling: Scaling, n: int) -> tuple[float, float, float]:
    """Return (value, low, high) at size n without judging their width. For a measured size, the measured ones.

    The value is the geometric mean over the plausible models. A mean of forecasts errs less than the forecast of the
    model that happened to win (Bates & Granger 1969, Oper. Res. Q. 20, 451-468; Clemen 1989, Int. J. Forecasting 5).
    """
    if n in scaling.series.n:
        return _measured(scaling, n)
    low, high = _range(scaling, n, scaling.reach.times(n))
    others = [scaling.value(candidate.curve, n) for candidate in scaling.plausible]
    return min(max(float(np.exp(np.mean(np.log(others)))), low), high), low, high


def bounds(scaling: Scaling, n: int) -> dict[str, float] | None:
    """Return bounds of the value beyond the measured sizes that hold for every law. None at other sizes.

    With more instances no instance gets faster than at the largest size, and the whole fleet does not get slower. The
    second is an assumption: a storage that collapses breaks it, and no measurement at smaller sizes can exclude that.
    """
    largest = max(scaling.series.n)
    if n <= largest:
        return None
    time, factor = float(scaling.noise.means[-1]), _factor(scaling, -1)
    low, high = _range(scaling, n, (math.exp(time) / factor, math.exp(time) * factor * n / largest))
    return {"low": low, "high": high}


def _measured(scaling: Scaling, n: int) -> tuple[float, float, float]:
    row = int(np.flatnonzero(scaling.noise.sizes == n)[0])
    time, factor = math.exp(float(scaling.noise.means[row])), _factor(scaling, row)
    low, high = _range(scaling, n, (time / factor, time * factor))
    return _range(scaling, n, (time, time))[0], low, high


def _factor(scaling: Scaling, row: int) -> float:
    """The factor by which a measured value may be off, upwards and downwards."""
    return math.exp(NORMAL_95 * float(scaling.noise.errors[row]))


def _range(scaling: Scaling, n: float, times: tuple[float, float]) -> tuple[float, float]:
    """Times as values of the series, the lower one first."""
    with np.errstate(over="ignore", divide="ignore"):
        ends = _values(np.maximum(np.array(times), LEAST_TIME), np.array([float(n)]), scaling.reads)
    return float(ends.min()), float(ends.max())


def knee(scaling: Scaling) -> dict[str, Any]:
    """Return the size up to which an instance loses less than 10 % to the others; None if it is not within the data.

    Also None if the noise hides a knee; `status` distinguishes the two.
    """
    curve = scaling.chosen.curve
    largest = max(scaling.series.n)
    sizes = np.arange(1, largest + 1, dtype=float) if largest <= 100_000 else np.geomspace(1, largest, 100_000)  # noqa: PLR2004
    beyond = np.flatnonzero(curve.time(sizes) > (1 + KNEE) * curve.time(np.array([1.0])))
    size = None if len(beyond) == 0 else int(sizes[max(0, beyond[0] - 1)])
    if not scaling.reach.shows_growth:
        # Possible laws may still bend by a tenth between the smallest and the largest size.
        may_be_slow = scaling.reach.times(largest)[1] > (1 + KNEE) * scaling.reach.times(min(scaling.series.n))[0]
        size, status = None, HIDDEN if may_be_slow else KEEPS_SPEED
    else:
        status = KEEPS_SPEED if size is None else SLOWED
    at_most = f"each needs at most {100 * KNEE:.0f} % more time than one alone"
    meanings = {
        SLOWED: f"up to {size} instances {at_most}",
        KEEPS_SPEED: f"up to {largest} instances, the most that were measured, {at_most}",
        HIDDEN: f"not enough to tell: {_noise_words(scaling.noise)}, so a slowdown by a tenth may or may not be there",
    }
    return {"n": size, "status": status, "meaning": meanings[status]}


def peak(scaling: Scaling) -> int | None:
    """Return the size beyond which more instances do less in all (USL: sqrt((1 - s) / c)); None if there is none."""
    parameters = scaling.chosen.curve.parameters
    coherency, contention = parameters.get("coherency", 0.0), parameters.get("contention", 0.0)
    if coherency <= 0 or contention >= 1:
        return None
    return max(1, math.floor(math.sqrt((1 - contention) / coherency)))


def crossover(first: Scaling, second: Scaling) -> dict[str, Any]:
    """Return the first size, among those both were measured up to, at which the better of two storages changes."""
    smallest = max(min(first.series.n), min(second.series.n))
    largest = min(max(first.series.n), max(second.series.n))
    sizes = np.arange(smallest, largest + 1)
    if first.series.higher_is_better != second.series.higher_is_better or len(sizes) == 0:
        return {"n": None, "meaning": "the two have no sizes or no direction in common"}
    lead = np.sign([first.value(first.chosen.curve, n) - second.value(second.chosen.curve, n) for n in sizes.tolist()])
    if not first.series.higher_is_better:
        lead = -lead
    ahead = lead[lead != 0]
    changed = np.flatnonzero((lead != 0) & (lead != (ahead[0] if len(ahead) else 0)))
    if len(changed) == 0:
        word = "the first" if len(ahead) and ahead[0] > 0 else "the second" if len(ahead) else "neither"
        return {"n": None, "meaning": f"{word} is ahead from {smallest} to {largest}"}
    n = int(sizes[changed[0]])
    order = ("the first", "the second") if ahead[0] > 0 else ("the second", "the first")
    return {"n": n, "meaning": f"{order[0]} is ahead below {n}, {order[1]} from {n} on"}


# --- meaning of a series ----------------------------------------------------------------------------------------------

DURATION, FLEET_RATE, INSTANCE_RATE = "durations", "rates of the whole fleet", "rates of each instance"


def _reads(series: Series) -> str:
    """The interpretation of the values: a rate that does not rise with the fleet is each instance's."""
    if not series.higher_is_better:
        return DURATION
    if series.per_instance is not None:
        return INSTANCE_RATE if series.per_instance else FLEET_RATE
    smallest, largest = series.n.index(min(series.n)), series.n.index(max(series.n))
    return INSTANCE_RATE if series.value[largest] <= series.value[smallest] else FLEET_RATE


def _times(value: Floats, n: Floats, reads: str) -> Floats:
    """The time of one piece of work on one instance."""
    return value if reads == DURATION else n / value if reads == FLEET_RATE else 1 / value


def _values(time: Floats, n: Floats, reads: str) -> Floats:
    """Back into the series' own unit: the same formulas, for they are their own inverses."""
    return _times(time, n, reads)


# --- judging ----------------------------------------------------------------------------------------------------------


def _held_out_error(model: str, n: Floats, time: Floats) -> float | None:
    """Root mean square of log errors at each size but the smallest, predicted from the other sizes."""
    sizes = np.unique(n)
    if len(sizes) < LEAST_SIZES:
        return None
    errors = [
        float(_log_errors(laws.fit(model, n[n != size], time[n != size]), n[n == size], time[n == size]).mean())
        for size in sizes[1:]
    ]
    return _root_mean_square(np.array(errors))


def _log_errors(curve: Curve, n: Floats, time: Floats) -> Floats:
    errors: Floats = np.log(np.maximum(curve.time(n), LEAST_TIME)) - np.log(time)
    return errors


def _root_mean_square(errors: Floats) -> float:
    return float(np.sqrt(np.mean(errors**2)))


def _refusals(scaling: Scaling, n: int, low: float, high: float) -> Iterator[dict[str, Any]]:
    """Yield the reasons against a prediction at n: codes, with the numbers that `refusal_words` needs."""
    sizes = sorted(set(scaling.series.n))
    largest = sizes[-1]
    if n in sizes:
        return
    if len(sizes) < LEAST_SIZES:
        yield {"code": FEW_SIZES, "sizes": len(sizes)}
        return
    if n > FARTHEST * largest:
        yield {"code": TOO_FAR, "largest": largest, "measure": n // 2}
    if scaling.reach.is_empty:
        yield {"code": NO_LAW, "noise": scaling.noise.largest, "source": scaling.noise.source}
    elif n > largest and not scaling.reach.shows_growth:
        yield {
            "code": NOT_SLOWED, "largest": largest, "noise": scaling.noise.largest, "source": scaling.noise.source,
        }  # fmt: skip
    elif n <= FARTHEST * largest and high > WIDEST_RANGE * low:
        between = (sizes[-2], largest) if n > largest else next(pair for pair in pairwise(sizes) if n < pair[1])
        yield {
            "code": TOO_WIDE, "low": low, "high": high, "between": list(between), "noise": scaling.noise.largest,
            "source": scaling.noise.source,
        }  # fmt: skip


def refusal_words(reason: Mapping[str, Any]) -> str:
    """Write why there is no prediction."""
    match reason["code"]:
        case "few-sizes":
            return f"{reason['sizes']} sizes were measured; fewer than {LEAST_SIZES} fit every model"
        case "too-far":
            return (
                f"more than {FARTHEST:g} times the largest measured size ({reason['largest']}); measure "
                f"{reason['measure']} or more"
            )
        case "no-law":
            return f"no law passes through the values: {_noise_words(reason)}, and the best law misses them by more"
        case "not-slowed":
            return (
                f"not enough to tell: up to {reason['largest']} nothing has slowed down by more than noise explains "
                f"({_noise_words(reason)}), so where it will is unknown"
            )
    first, second = reason["between"]
    factor = reason["high"] / reason["low"]
    apart = f"more than a factor of {MOST_NAMED_FACTOR}" if factor > MOST_NAMED_FACTOR else f"a factor of {factor:.1f}"
    return (
        f"not enough to tell: laws that pass through the values ({_noise_words(reason)}) differ by {apart}; "
        f"measure a size between {first} and {second}, or more repetitions"
    )


def _noise_words(noise: Noise | Mapping[str, Any]) -> str:
    if isinstance(noise, Noise):
        noise = {"noise": noise.largest, "source": noise.source}
    off = f"{100 * math.expm1(min(NORMAL_95 * noise['noise'], 50.0)):.0f} %"
    if noise["source"] == ASSUMED:
        return f"their noise is not known; up to {off} is assumed"
    return f"they may be off by up to {off}"


def _candidate(candidate: Candidate) -> dict[str, Any]:
    return {
        "model": candidate.curve.model,
        "formula": candidate.curve.formula,
        "parameters": candidate.curve.parameters,
        "held_out_error": candidate.held_out_error,
        "fit_error": candidate.fit_error,
    }


def _warnings(scaling: Scaling) -> list[str]:
    sizes = sorted(set(scaling.series.n))
    warnings = []
    if scaling.noise.source == ASSUMED:
        warnings.append(
            f"nothing is known of the noise of the values, so {100 * ASSUMED_NOISE:.0f} % is assumed; give `low` and "
            "`high`, or several values of a size"
        )
    if len(sizes) < LEAST_SIZES:
        warnings.append(f"{len(sizes)} sizes: models are ordered by their fit, for none could be held out")
    elif len(scaling.plausible) > 1:
        others = ", ".join(candidate.curve.model for candidate in scaling.plausible[1:])
        warnings.append(f"the data cannot tell {scaling.chosen.curve.model} from {others}")
    if sizes[0] > 1:
        warnings.append(f"no single instance was measured: the speed of one alone is extrapolated down from {sizes[0]}")
    return warnings


class HeldAgainst(TypedDict):
    """A prediction beside the measured value that it did not use."""

    n: int
    truth: float
    """NaN if it is not known."""
    value: float
    low: float
    high: float
    error: float
    """Error of the predicted value, as a share of the true value."""
    is_within: bool
    """Whether the truth lies between low and high."""
    refused: str | None
    """Why `matrix fit` would have refused the prediction."""
    model: str
    bounds: dict[str, float] | None
    """Bounds of the value for every law. None at measured sizes."""


def compare_with_truth(scaling: Scaling, truths: Sequence[tuple[int, float]]) -> list[HeldAgainst]:
    """Return predictions with the true values that are known, beside them."""
    rows: list[HeldAgainst] = []
    for n, truth in truths:
        value, low, high = prediction_range(scaling, n)
        prediction = predict(scaling, n)
        rows.append({
            "n": n, "truth": truth, "value": value, "low": low, "high": high, "error": value / truth - 1,
            "is_within": low <= truth <= high, "refused": prediction["refused"], "model": scaling.chosen.curve.model,
            "bounds": prediction["bounds"],
        })  # fmt: skip
    return rows
