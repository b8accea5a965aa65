"""Names of runs that are started by time, and which runs of a matrix were before."""

import re
from collections.abc import Iterable
from datetime import UTC, datetime


def run_name(matrix: str, scheduled_at: str) -> str:
    """Name the run of a matrix for the time of its schedule, such as 2026-11-25T01:30:00Z.

    The same time gives the same name, so that an event that is delivered twice starts one run.
    """
    at = datetime.strptime(scheduled_at, "%Y-%m-%dT%H:%M:%SZ").replace(tzinfo=UTC)
    return f"{matrix}-{at:%Y%m%d-%H%M%S}"


def is_scheduled(matrix: str, run: str) -> bool:
    """Return whether a run belongs to the matrix's schedule."""
    return re.fullmatch(rf"{re.escape(matrix)}-[0-9]{{8}}-[0-9]{{6}}", run) is not None


def before(matrix: str, run: str, runs: Iterable[str]) -> list[str]:
    """Return the runs of a matrix before another one, newest first: those with the time in their names.

    `matrix run` makes up such names too, with two letters more.
    """
    named = re.compile(rf"{re.escape(matrix)}-([0-9]{{8}}-[0-9]{{6}})(-[0-9a-f]{{2}})?")
    return sorted((each for each in runs if named.fullmatch(each) and each < run), reverse=True)
