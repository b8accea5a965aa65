"""Drawn sizes of files and objects: exponentially distributed, as smallfile draws them."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import random

EXPONENTIAL = "exponential"
# smallfile cuts its exponential distribution there (random_size_limit), and has no empty file.
MAX_MEANS, MIN_BYTES = 8, 1024


def drawn(mean: int, draw: random.Random) -> int:
    """Return one size of this mean, in bytes."""
    return max(min(MIN_BYTES, mean), min(int(draw.expovariate(1 / mean)), MAX_MEANS * mean))
