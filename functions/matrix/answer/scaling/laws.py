"""Scaling laws T(n): seconds that one instance needs for one unit of work in a fleet of n instances.

The same laws serve all series: T is the value of a duration, n / X for a fleet's rate X, and 1 / value for an
instance's rate. A fleet that scales linearly has a constant T. The laws:

constant    T = a                                  instances do not disturb each other (own volumes)
linear      T = a + b (n - 1)                      a rate that saturates: X = n / T is Michaelis-Menten's hyperbola
                                                   and Amdahl's law (Gunther 2007, 4.3)
ceiling     T = max(a, b n)                        asymptotic bounds of a closed network: full speed, then a shared
                                                   limit of 1 / b (Lazowska et al. 1984, 5.2; the roofline)
knee        T = a + b max(0, n - k)                work of one's own, and from k instances on a wait that grows
usl         T = a (1 + s (n - 1) + c n (n - 1))    Gunther's Universal Scalability Law: contention s, coherency c
                                                   (Gunther 2007, Guerrilla Capacity Planning, 6.3)

Fits are by least squares of relative errors, with coefficients that cannot be negative (Lawson & Hanson 1974).
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from matrix.statistics.fleet_values import Floats

# The knee is searched on a grid of this many sizes, then on an equally fine grid around the best of them.
KNEES = 100

Found = TypeVar("Found")


@dataclass(frozen=True)
class Curve:
    """A fitted model."""

    model: str
    parameters: dict[str, float]

    def time(self, n: Floats) -> Floats:
        """T at sizes n."""
        return MODELS[self.model].time(n, self.parameters)

    @property
    def formula(self) -> str:
        """The law in words of its parameters."""
        return MODELS[self.model].formula


@dataclass(frozen=True)
class Model:
    """A law: how it is written, computed and fitted, and how many parameters it has."""

    formula: str
    count: int
    time: Callable[[Floats, dict[str, float]], Floats]
    fit: Callable[[Floats, Floats], dict[str, float]]


def fit(model: str, n: Floats, time: Floats) -> Curve:
    """Fit one model to times at sizes n."""
    return Curve(model, MODELS[model].fit(n, time))


def _weights(columns: list[Floats], time: Floats) -> tuple[Floats, float]:
    """Return coefficients (none negative) that bring the columns' sum nearest to `time`, and the relative misfit."""
    from scipy import optimize

    weights, misfit = optimize.nnls(np.array(columns).T / time[:, None], np.ones(len(time)))
    return weights, float(misfit)


def _fit_constant(n: Floats, time: Floats) -> dict[str, float]:
    weights, _ = _weights([np.ones_like(n)], time)
    return {"a": float(weights[0])}


def _fit_linear(n: Floats, time: Floats) -> dict[str, float]:
    weights, _ = _weights([np.ones_like(n), n - 1], time)
    return {"a": float(weights[0]), "b": float(weights[1])}


def _fit_usl(n: Floats, time: Floats) -> dict[str, float]:
    (a, linear, square), _ = _weights([np.ones_like(n), n - 1, n * (n - 1)], time)
    # The fit may put all of the time into the slope if the data have no information about a single instance.
    base = a if a > 0 else float(time.min()) * 1e-6
    return {"a": float(base), "contention": float(linear / base), "coherency": float(square / base)}


def _fit_ceiling(n: Floats, time: Floats) -> dict[str, float]:
    def misfit(knee: float) -> tuple[float, float]:
        weights, missed = _weights([np.maximum(1.0, n / knee)], time)
        return missed, float(weights[0])

    knee, base = _best(misfit, n)
    return {"a": base, "b": base / knee}


def _fit_knee(n: Floats, time: Floats) -> dict[str, float]:
    def misfit(knee: float) -> tuple[float, Floats]:
        weights, missed = _weights([np.ones_like(n), np.maximum(0.0, n - knee)], time)
        return missed, weights

    knee, (base, slope) = _best(misfit, n)
    return {"a": float(base), "b": float(slope), "k": knee}


def _best(misfit: Callable[[float], tuple[float, Found]], n: Floats) -> tuple[float, Found]:
    """Return the knee of least misfit; of equally good ones the first, with the gentlest slope."""
    coarse = np.geomspace(1, n.max(), KNEES)
    place = _first_best([misfit(float(knee))[0] for knee in coarse])
    fine = np.geomspace(coarse[max(0, place - 1)], coarse[min(KNEES - 1, place + 1)], KNEES)
    fits = [misfit(float(knee)) for knee in fine]
    place = _first_best([missed for missed, _ in fits])
    return float(fine[place]), fits[place][1]


def _first_best(misfits: list[float]) -> int:
    return next(place for place, missed in enumerate(misfits) if missed <= min(misfits) + 1e-9)


def _usl(n: Floats, p: dict[str, float]) -> Floats:
    return np.asarray(p["a"] * (1 + p["contention"] * (n - 1) + p["coherency"] * n * (n - 1)))


# Simplest first: of two models that predict equally well, the first one is chosen.
MODELS: dict[str, Model] = {
    "constant": Model("T = a", 1, lambda n, p: np.full_like(n, p["a"]), _fit_constant),
    "linear": Model("T = a + b (n - 1)", 2, lambda n, p: p["a"] + p["b"] * (n - 1), _fit_linear),
    "ceiling": Model("T = max(a, b n)", 2, lambda n, p: np.maximum(p["a"], p["b"] * n), _fit_ceiling),
    "knee": Model("T = a + b max(0, n - k)", 3, lambda n, p: p["a"] + p["b"] * np.maximum(0.0, n - p["k"]), _fit_knee),
    "usl": Model("T = a (1 + contention (n - 1) + coherency n (n - 1))", 3, _usl, _fit_usl),
}
