"""The findings of a step: comparisons with the expected value, the observed value and a fix."""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum


class Verdict(StrEnum):
    """How a comparison ended."""

    AS_ASSUMED = "as assumed"
    DIFFERS = "differs"
    """A figure differs from the assumption of the plan or the local cloud; runs work all the same."""
    BROKEN = "broken"
    """A requirement of every run is not met, so the remaining steps are skipped."""


@dataclass(frozen=True)
class Check:
    what: str
    expected: str
    seen: str
    verdict: Verdict
    fix: str = ""


def required(what: str, expected: str, seen: str, *, is_so: bool, fix: str) -> Check:
    """Return a check that every run must pass."""
    return Check(what, expected, seen, Verdict.AS_ASSUMED if is_so else Verdict.BROKEN, "" if is_so else fix)


def assumed(what: str, expected: str, seen: str, *, is_so: bool, fix: str = "") -> Check:
    """Return a check of a figure that the plan or the local cloud assumes."""
    return Check(what, expected, seen, Verdict.AS_ASSUMED if is_so else Verdict.DIFFERS, "" if is_so else fix)


def shown(found: list[str], most: int) -> str:
    """Return the first `most` findings, and how many more there are."""
    return "; ".join(found[:most]) + (f"; and {len(found) - most} more" if len(found) > most else "")


def is_broken(checks: Iterable[Check]) -> bool:
    """Return whether a requirement failed, so that the next step would fail too."""
    return any(check.verdict is Verdict.BROKEN for check in checks)
