"""Costs and ratios as they stand in a sentence."""

from matrix.answer.costs import PointCost
from matrix.answer.decision.candidates import Candidate
from matrix.terms.figures import number


def at_cost(candidate: Candidate) -> str:
    """Write what a result costs, as the end of a clause."""
    return f", {money(candidate.cost.usd)} per {candidate.cost.per}{_beside(candidate.cost)}" if candidate.cost else ""


def _beside(cost: PointCost) -> str:
    return f" and {cost.missing}" if cost.missing else ""


def money(usd: float | None) -> str:
    """Write US dollars: `$1.58`, `$0.0124`, `$4,425`; what is not known is a dash."""
    return "–" if usd is None else f"${usd:,.2f}" if usd >= 1 else f"${number(usd)}"


def times(ratio: float) -> str:
    """Write a ratio: `2.5 times`."""
    return f"{ratio:.1f} times" if ratio < 10 else f"{ratio:.0f} times"  # noqa: PLR2004
