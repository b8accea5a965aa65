"""The time, in one place, so that the core needs no clock."""

import time


def now() -> float:
    """Return the time as epoch seconds."""
    return time.time()
