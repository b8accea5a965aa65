"""The header above all views: environment of a run, and its remaining time. Pure."""

from cli.follow.progress import RunProgress
from matrix.terms.figures import rough_duration
from matrix.terms.sentences import ENVIRONMENT_NOTES, LOCAL_NOTE


def place_words(environment: str, planned_for: str) -> str:
    """Return the warning that figures are not of AWS; empty on AWS. `planned_for`: the plan's environment, or ""."""
    return "" if environment == "aws" else ENVIRONMENT_NOTES.get(planned_for, LOCAL_NOTE)


def left_s(progress: RunProgress, now: float, *, is_local: bool) -> float | None:
    """Return the remaining seconds of a run. None: unknown.

    The planned time of the remaining cells, scaled by the actual over the planned time of the ended ones. Local runs
    scale their waits, so before the first cell has ended the factor is unknown.
    """
    if not progress.execution.is_running or not progress.cells:
        return None
    ended = [cell for cell in progress.cells if cell.has_ended and cell.expected_s and cell.started_at is not None]
    took = sum(cell.elapsed_s(now) or 0.0 for cell in ended)
    expected = sum(cell.expected_s for cell in ended)
    if is_local and (not expected or not took):
        return None
    pace = took / expected if expected and took else 1.0
    remaining = sum(_remaining_s(cell.expected_s, cell.elapsed_s(now), cell.has_ended, pace) for cell in progress.cells)
    # File systems that are measured at the same time: the plan's time is less than the sum of its cells'.
    whole = sum(cell.expected_s for cell in progress.cells)
    together = min(1.0, progress.expected_s / whole) if whole and progress.expected_s and not is_local else 1.0
    return remaining * together


def _remaining_s(expected_s: float, elapsed_s: float | None, has_ended: bool, pace: float) -> float:
    return 0.0 if has_ended else max(0.0, expected_s * pace - (elapsed_s or 0.0))


def left_words(seconds: float | None) -> str:
    """Format the remaining time of a run."""
    return "" if seconds is None else f"about {rough_duration(seconds)} left"
