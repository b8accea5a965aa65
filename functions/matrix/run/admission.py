"""Decide whether a cell or file system may still start: only if its worst case fits into budget and time."""

from matrix.terms.documents.parts import Failure
from matrix.terms.errors import DeadlinePassed, OverBudget

# Errors that do not fail the cell, because it was never started.
SKIPPED_BECAUSE = {OverBudget.__name__: "budget", DeadlinePassed.__name__: "deadline"}


def too_late(*, needs_s: float, now: float, deadline_at: float) -> DeadlinePassed | None:
    """Return a refusal of what is not expected to end by the run's deadline, else None. Times are epoch seconds."""
    if now + needs_s <= deadline_at:
        return None
    left_s = max(0.0, deadline_at - now)
    return DeadlinePassed(
        f"expected to take {needs_s:.0f} s, but the run's deadline is in {left_s:.0f} s; raise deadlineHours"
    )


def over_budget(*, needs_usd: float, committed_usd: float, budget_usd: float) -> OverBudget:
    """Return the refusal of what may cost more than the budget has left. `committed_usd`: spent and reserved money."""
    return OverBudget(
        f"the worst case, {needs_usd:.4f} USD, and the {committed_usd:.4f} USD that are spent or set aside "
        f"for what runs would exceed budgetUsd {budget_usd:g}; raise it to measure this too"
    )


def skip_of(refusal: OverBudget | DeadlinePassed) -> Failure:
    """Return name and message of the skip that a refusal means."""
    return {"name": f"skipped: {SKIPPED_BECAUSE[type(refusal).__name__]}", "message": str(refusal)}


def skipped(error: Failure) -> Failure | None:
    """Return name and message of the skip that a caught error means, None for an error that is a failure."""
    reason = SKIPPED_BECAUSE.get(error["name"])
    return {**error, "name": f"skipped: {reason}"} if reason else None
