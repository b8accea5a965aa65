"""Rates above a sustained limit, which end when the burst credits are used up."""

from collections.abc import Sequence

from typing_extensions import TypedDict

from matrix.terms.quantities import number, rough_duration


class OnCredits(TypedDict):
    """A rate above the sustained limit."""

    of: str
    """Which limit: volume IOPS, instance network …"""
    counts: str
    """IOPS or bytes/s."""
    rate: float
    sustained: float
    """The measured rate, and the lower one that lasts, both in the unit of `counts`."""
    lasts_s: float | None
    """How long a full balance lasts at this rate; None where AWS does not say."""


def shortest(paid: Sequence[OnCredits]) -> OnCredits:
    """Return the burst of a point after which the rate falls most."""
    return min(paid, key=lambda burst: burst["sustained"] / burst["rate"])


def describe_credits(burst: OnCredits) -> str:
    """Format how long a burst lasts and the rate afterwards: `on credits for 33m 20s, then 300 IOPS (volume)`."""
    lasts_s = burst["lasts_s"]
    until = "" if lasts_s is None else f" for {rough_duration(lasts_s)}"
    left = burst["sustained"]
    then = f"{number(left)} IOPS" if burst["counts"] == "IOPS" else f"{number(left / 1e6)} MB/s"
    return f"on credits{until}, then {then} ({burst['of'].removesuffix(' IOPS').removesuffix(' throughput')})"
