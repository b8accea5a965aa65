"""How a storage scales: the law that predicts best, its knee, sizes not measured, and where two storages cross.

A model is chosen by what it gets wrong on points that it has not seen, not by how well it fits those it has: each size
but the smallest is left out in turn, the largest among them, which is an extrapolation like the one asked for (Stone
1974, J. R. Stat. Soc. B 36, 111-147). The knee and the parameters are those of the chosen model. A prediction is the
mean of all models that this cannot tell apart, and its range spans them all; it is no confidence interval, and is not
called one. How good predictions are: docs/predictions.md.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from matrix.answer.scaling import laws
from matrix.answer.scaling.laws import MODELS, Curve
from matrix.answer.scaling.series import Series
from matrix.statistics.fleet_values import Floats

# A model with three parameters fits any three points, so a fourth is needed to judge it.
LEAST_SIZES = 4
# Predictions reach to twice the largest measured size; beyond that no measurement supports them.
FARTHEST = 2.0
# Models whose held-out errors differ by less than this cannot be told apart by a handful of points.
AS_GOOD = 0.10
# If plausible models differ by more than this factor, no prediction is printed.
WIDEST_RANGE = 2.0
# A model that missed known points by more than this is not used to predict unknown ones.
LARGEST_HELD_OUT_ERROR = 0.30
# Bounds that keep every figure a finite number, whatever a hostile series holds.
LEAST_TIME = 1e-300
MOST_SLACK = 50.0
# Below this growth of T the data do not show where it begins to grow.
GROWN = 0.05
# The knee is the largest size at which an instance is slowed down by less than this share.
KNEE = 0.10


@dataclass(frozen=True)
class Candidate:
    """A model fitted to all points, with what it got wrong."""

    curve: Curve
    held_out_error: float | None
    fit_error: float


@dataclass(frozen=True)
class Scaling:
    """A series and all that was fitted to it, best first."""

    series: Series
    reads: str
    candidates: tuple[Candidate, ...]

    @property
    def chosen(self) -> Candidate:
        """The model that predicts unseen points best."""
        return self.candidates[0]

    @property
    def plausible(self) -> list[Candidate]:
        """The models that the held-out points cannot tell from the chosen one."""
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
        """How far a curve lies from what was measured at the largest size, from where an extrapolation starts."""
        n = np.array(self.series.n, dtype=float)
        known = _times(np.array(self.series.value), n, self.reads)[n == n.max()]
        return abs(float(np.log(curve.time(n[n == n.max()]) / known).mean()))

    def value(self, curve: Curve, n: float) -> float:
        """What a curve says at size n, in the series' own unit."""
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
    rank = {
        id(candidate): round(error if error is not None else candidate.fit_error, 3)
        for candidate, error in zip(candidates, judged, strict=True)
    }
    return Scaling(series, reads, tuple(sorted(candidates, key=lambda candidate: rank[id(candidate)])))


@np.errstate(over="ignore")  # what is beyond all numbers is said to be none
def report(series: Series) -> dict[str, Any]:
    """Return what `matrix fit` prints."""
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
        "predictions": predictions,
        "interval": "range of all models whose held-out error is within 10 points of the best; no confidence interval",
        "rivals": [_candidate(candidate) for candidate in scaling.candidates[1:]],
        "refusals": [
            f"n = {prediction['n']}: {prediction['refused']}" for prediction in predictions if prediction["refused"]
        ],
        "warnings": _warnings(scaling),
    }
    finite: dict[str, Any] = _finite(document)
    return finite


def _finite(content: Any) -> Any:
    """What is beyond all numbers is None: JSON has neither NaN nor infinity."""
    if isinstance(content, dict):
        return {name: _finite(value) for name, value in content.items()}
    if isinstance(content, list):
        return [_finite(value) for value in content]
    return None if isinstance(content, float) and not math.isfinite(content) else content


def predict(scaling: Scaling, n: int) -> dict[str, Any]:
    """Return the predicted value at n with the range of the plausible models, or the reasons why there is none."""
    value, low, high = prediction_range(scaling, n)
    by_model = {candidate.curve.model: scaling.value(candidate.curve, n) for candidate in scaling.plausible}
    refused = "; ".join(_refusals(scaling, n, low, high))
    known = {"n": n, "is_extrapolation": n > max(scaling.series.n), "refused": refused or None, "by_model": by_model}
    if refused:
        return {**known, "value": None, "low": None, "high": None}
    return {**known, "value": value, "low": low, "high": high}


def prediction_range(scaling: Scaling, n: int) -> tuple[float, float, float]:
    """Return value, low and high at n, whatever they are worth.

    The value is the geometric mean over the plausible models. A mean of forecasts errs less than the forecast of the
    model that happened to win (Bates & Granger 1969, Oper. Res. Q. 20, 451-468; Clemen 1989, Int. J. Forecasting 5).
    """
    others = [scaling.value(candidate.curve, n) for candidate in scaling.plausible]
    value = float(np.exp(np.mean(np.log(others))))
    error = scaling.chosen.held_out_error if scaling.chosen.held_out_error is not None else scaling.chosen.fit_error
    # Expect the error seen at known sizes, and more of it the farther the size lies beyond them.
    slack = math.exp(min(error * max(1.0, n / max(scaling.series.n)), MOST_SLACK))
    chosen = scaling.value(scaling.chosen.curve, n)
    return value, min([*others, chosen / slack]), max([*others, chosen * slack])


def knee(scaling: Scaling) -> dict[str, Any]:
    """Return the size up to which an instance loses less than 10 % to the others; None if it is not within the data."""
    curve = scaling.chosen.curve
    largest = max(scaling.series.n)
    sizes = np.arange(1, largest + 1, dtype=float) if largest <= 100_000 else np.geomspace(1, largest, 100_000)  # noqa: PLR2004
    beyond = np.flatnonzero(curve.time(sizes) > (1 + KNEE) * curve.time(np.array([1.0])))
    size = None if len(beyond) == 0 else int(sizes[max(0, beyond[0] - 1)])
    meaning = (
        f"none up to {largest}: each instance still has 90 % of the speed that it has alone"
        if size is None
        else f"up to {size} instances each has at least {100 / (1 + KNEE):.0f} % of the speed that it has alone"
    )
    return {"n": size, "meaning": meaning}


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


# --- what a series means ----------------------------------------------------------------------------------------------

DURATION, FLEET_RATE, INSTANCE_RATE = "durations", "rates of the whole fleet", "rates of each instance"


def _reads(series: Series) -> str:
    """How the values are understood: a rate that does not rise with the fleet is each instance's."""
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


def _refusals(scaling: Scaling, n: int, low: float, high: float) -> list[str]:
    """Say why the data cannot carry a prediction at n."""
    sizes = sorted(set(scaling.series.n))
    largest = sizes[-1]
    if len(sizes) < LEAST_SIZES and n not in sizes:
        return [f"{len(sizes)} sizes were measured; fewer than {LEAST_SIZES} fit every model"]
    if n in sizes:
        return []
    reasons = []
    if n > FARTHEST * largest:
        reasons.append(f"more than {FARTHEST:g} times the largest measured size ({largest}); measure {n // 2} or more")
    if n > largest and not _has_grown(scaling):
        reasons.append(f"up to {largest} nothing has slowed down yet, so where it will cannot be known")
    error = scaling.chosen.held_out_error
    if error is not None and error > LARGEST_HELD_OUT_ERROR:
        reasons.append(f"the best model missed known sizes by {100 * error:.0f} %")
    if n <= FARTHEST * largest and high > WIDEST_RANGE * low:
        names = ", ".join(candidate.curve.model for candidate in scaling.plausible)
        reasons.append(f"equally good models ({names}) lie between {low:.4g} and {high:.4g}")
    return reasons


def _has_grown(scaling: Scaling) -> bool:
    n = np.array(scaling.series.n, dtype=float)
    time = _times(np.array(scaling.series.value), n, scaling.reads)
    return float(time[n == n.max()].mean()) > (1 + GROWN) * float(time[n == n.min()].mean())


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
    if len(sizes) < LEAST_SIZES:
        warnings.append(f"{len(sizes)} sizes: models are ordered by their fit, for none could be held out")
    elif len(scaling.plausible) > 1:
        others = ", ".join(candidate.curve.model for candidate in scaling.plausible[1:])
        warnings.append(f"the data cannot tell {scaling.chosen.curve.model} from {others}")
    if sizes[0] > 1:
        warnings.append(f"no single instance was measured: the speed of one alone is extrapolated down from {sizes[0]}")
    return warnings


def compare_with_truth(scaling: Scaling, truths: Sequence[tuple[int, float]]) -> list[dict[str, Any]]:
    """Return the prediction beside each value that is known after all: what docs/predictions.md is made of."""
    rows = []
    for n, truth in truths:
        value, low, high = prediction_range(scaling, n)
        prediction = predict(scaling, n)
        rows.append({
            "n": n, "truth": truth, "value": value, "low": low, "high": high, "error": value / truth - 1,
            "is_within": low <= truth <= high, "refused": prediction["refused"], "model": scaling.chosen.curve.model,
        })  # fmt: skip
    return rows
