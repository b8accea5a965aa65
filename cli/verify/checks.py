"""The findings of a step: comparisons with the expected value, the observed value and a way out."""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum


class Verdict(StrEnum):
    """How a comparison ended."""

    AS_ASSUMED = "as assumed"
    DIFFERS = "differs"
    """A figure is other than plan or local cloud assume; everything works all the same."""
    BROKEN = "broken"
    """Something that every run needs does not work: no further step is taken."""


@dataclass(frozen=True)
class Check:
    """One comparison."""

    what: str
    expected: str
    seen: str
    verdict: Verdict
    way_out: str = ""


def required(what: str, expected: str, seen: str, *, is_so: bool, way_out: str) -> Check:
    """Return a check without which no run works."""
    return Check(what, expected, seen, Verdict.AS_ASSUMED if is_so else Verdict.BROKEN, "" if is_so else way_out)


def assumed(what: str, expected: str, seen: str, *, is_so: bool, way_out: str = "") -> Check:
    """Return a check of a figure that plan or local cloud assume."""
    return Check(what, expected, seen, Verdict.AS_ASSUMED if is_so else Verdict.DIFFERS, "" if is_so else way_out)


def is_broken(checks: Iterable[Check]) -> bool:
    """Return whether the next step is in vain."""
    return any(check.verdict is Verdict.BROKEN for check in checks)
