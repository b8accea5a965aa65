"""The range of predictions at a size over all laws and parameters that the noise of the values does not exclude.

A law is possible if its misfit is not significantly larger than that of the best one: Q <= Q_best + c, with Q the sum
of squared misses in standard errors, and c the 95 % quantile for three parameters (chi-square, or three times
Fisher's F if the noise itself was estimated). This is the likelihood-ratio region of a fit (Cox & Hinkley 1974,
Theoretical Statistics, 9.3; Bates & Watts 1988, Nonlinear Regression Analysis, 6.1), over the union of the laws.
If one of the laws is true, the true value lies between the region's lowest and highest in at least 95 % of series.

For a given knee each law is linear in its coefficients, none of which is negative. So the region is a part of an
ellipsoid, and a sum of coefficients is extreme if some of them are 0 and the rest lies on the ellipsoid. Each choice of
zero coefficients is tried, and each knee of a grid.

If even the best law misses the values significantly, no law holds, and nothing is predicted.
"""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from matrix.answer.scaling.noise import Noise
from matrix.statistics.fleet_values import Floats

KNEES = 400
# A wait may also grow ever slower, as with caches and queues that fill: T = a + b n^p. None of the fitted laws does.
POWERS = np.arange(0.1, 1.0, 0.1)
PARAMETERS = 3
CONFIDENCE = 0.95
# Level of the separate test that refuses a series that no law explains: it refuses 1 of 100 true ones by chance.
NO_LAW = 0.99
# Values that differ by more than a factor of e^50 follow no law, and their squares are beyond all numbers.
MOST_APART = 50.0


@dataclass(frozen=True)
class Shape:
    """A law without some of its terms, at each knee: its least misfit, and the growth of the misfit around that."""

    columns: Callable[[Floats], Floats]  # a row for each knee, a table of sizes x terms in each
    inverse: Floats
    center: Floats
    misfit: Floats

    @property
    def least(self) -> float:
        """The least misfit of coefficients without a negative one."""
        return float(np.where((self.center >= 0).all(axis=1), self.misfit, math.inf).min())


@dataclass(frozen=True)
class Reach:
    """The region of the possible laws of a series."""

    noise: Noise
    shapes: tuple[Shape, ...]
    best: float

    @classmethod
    def of(cls, noise: Noise) -> "Reach":
        """Fit every law."""
        if np.ptp(noise.means) > MOST_APART:
            return cls(noise, (), math.inf)
        shapes = tuple(_shape(columns, noise) for columns in _laws(noise))
        return cls(noise, shapes, min(shape.least for shape in shapes))

    @property
    def limit(self) -> float:
        """The misfit of the worst law that is possible."""
        return self.best + self._chance(CONFIDENCE, PARAMETERS)

    @property
    def is_empty(self) -> bool:
        """Whether every law misses the values by more than their noise."""
        return self.best > self._chance(NO_LAW, max(1, len(self.noise.sizes) - 2))

    @property
    def shows_growth(self) -> bool:
        """Whether a constant time is impossible: something has slowed down by more than chance explains."""
        return bool(self.shapes) and _shape(_constant, self.noise).least > self.limit

    def times(self, n: float) -> tuple[float, float]:
        """Return the lowest and the highest T at size n over all possible laws."""
        if not self.shapes:
            return 0.0, math.inf
        ends = [end for shape in self.shapes for end in self._ends(shape, n)]
        scale = math.exp(float(self.noise.means.mean()))
        return scale * max(0.0, min(ends)), scale * max(ends)

    def _ends(self, shape: Shape, n: float) -> Iterator[float]:
        at = shape.columns(np.array([float(n)]))[:, 0, :]
        room = self.limit - shape.misfit
        direction = np.einsum("kij,kj->ki", shape.inverse, at)
        across = np.einsum("ki,ki->k", at, direction)
        with np.errstate(invalid="ignore", divide="ignore"):
            step = direction * np.sqrt(room / across)[:, None]
        for weights in (shape.center - step, shape.center + step):
            # Impossible knees have no room, which makes their weights no numbers.
            is_possible = (weights >= 0).all(axis=1)
            if is_possible.any():
                ends = np.einsum("ki,ki->k", at, weights)[is_possible]
                yield from (float(ends.min()), float(ends.max()))

    def _chance(self, confidence: float, parameters: int) -> float:
        from scipy import special

        degrees = self.noise.degrees_of_freedom
        if math.isinf(degrees):
            return float(special.chdtri(parameters, 1 - confidence))
        return float(parameters * special.fdtri(parameters, degrees, confidence))


def _laws(noise: Noise) -> Iterator[Callable[[Floats], Floats]]:
    """Yield every law without each choice of its terms; a constant and a line are among them."""
    largest = float(noise.sizes.max())
    # The last knee lies right before the largest size: a law may rise steeply after it.
    knees = np.append(np.geomspace(1, largest, KNEES)[:-1], 0.999 * largest)[:, None]

    def usl(n: Floats) -> Floats:
        # Relative to the largest size: squares of large sizes added to 1 would lose all digits.
        return np.stack([np.ones_like(n), (n - 1) / largest, n * (n - 1) / largest**2], axis=1)[None]

    def ceiling(n: Floats) -> Floats:
        rise: Floats = np.maximum(1.0, n / knees)[:, :, None]
        return rise

    def knee(n: Floats) -> Floats:
        rise = np.maximum(0.0, n - knees) / largest
        return np.stack([np.ones_like(rise), rise], axis=2)

    def slowing(n: Floats) -> Floats:
        rise = (n / largest) ** POWERS[:, None]
        return np.stack([np.ones_like(rise), rise], axis=2)

    for law, terms in ((usl, 3), (ceiling, 1), (knee, 2), (slowing, 2)):
        for count in range(1, terms + 1):
            for kept in combinations(range(terms), count):
                yield lambda n, law=law, kept=kept: law(n)[:, :, list(kept)]  # type: ignore[misc]


def _constant(n: Floats) -> Floats:
    return np.ones((1, len(n), 1))


def _shape(columns: Callable[[Floats], Floats], noise: Noise) -> Shape:
    # Misses are relative to the values, as in the fits of `laws`, and in standard errors.
    unit = np.exp(noise.means - noise.means.mean()) * noise.errors
    design, target = columns(noise.sizes) / unit[None, :, None], 1 / noise.errors
    inverse = np.linalg.pinv(np.einsum("kni,knj->kij", design, design), hermitian=True)
    center = np.einsum("kij,knj,n->ki", inverse, design, target)
    misfit = ((np.einsum("kni,ki->kn", design, center) - target) ** 2).sum(axis=1)
    return Shape(columns, inverse, center, misfit)
