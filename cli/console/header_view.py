"""What stands above all views: how far a run is, what it has cost, and how long it still takes. Pure."""

from collections.abc import Mapping, Sequence
from typing import Any

from typing_extensions import TypedDict

from cli.follow.progress import RunProgress
from matrix.terms.documents.parts import CostRange
from matrix.terms.documents.plan import PlanDocument
from matrix.terms.figures import rough_duration
from matrix.terms.sentences import EMULATED, ENVIRONMENT_NOTES, LOCAL_NOTE

SECONDS_PER_HOUR = 3600
CENT = 0.01
NOTHING: CostRange = {"low": 0.0, "expected": 0.0, "high": 0.0}


class Spent(TypedDict):
    """Cost so far."""

    least: float
    """What is certain: by the hour, by the plan's prices, and of what is billed by use the least."""
    most: float
    """The same with the most that can be billed by use. It never falls."""


def spent(rows: Sequence[Mapping[str, Any]], progress: RunProgress, plan: PlanDocument, now: float) -> Spent:
    """Return the least and the most that a run has cost: what is settled, and what runs now by its time and the plan.

    The budget's row has what was settled together with what is set aside for the worst case; the latter is no cost. AWS
    says late what is billed by use, so that a cell's is settled at its most, and counts so from its beginning.
    """
    row = next((row for row in rows if row.get("SK") == "PLAN"), {})
    settled = float(row.get("committed_usd") or 0) - sum(map(float, (row.get("reserved") or {}).values()))
    going = row.get("reserved") or {}
    began: dict[str, float] = {}
    running = unsure = to_come = 0.0
    planned = {cell["id"]: cell for cell in plan["cells"]}
    for at in progress.cells:
        if at.started_at is None or at.id not in planned:
            continue
        began[at.file_system] = min(at.started_at, began.get(at.file_system, at.started_at))
        cell = planned[at.id]
        metered = cell.get("metered_usd") or NOTHING
        if f"cell {at.id}" in going:
            to_come += metered["high"]
            rates: Mapping[str, Any] = cell.get("rates_usd") or {}
            running += cell["fleet"]["count"] * sum(map(float, rates.values())) * (at.elapsed_s(now) or 0.0)
        elif "taken_from" not in cell:
            unsure += metered["high"] - metered["low"]
    for system in plan["file_systems"]:
        if system["id"] in began and f"file system {system['id']}" in going:
            running += system.get("rates_usd", {"hour": 0.0})["hour"] * max(0.0, now - began[system["id"]])
    running /= SECONDS_PER_HOUR
    settled = max(0.0, settled)
    return {"least": max(0.0, settled - unsure) + running, "most": settled + running + to_come}


def spent_words(cost: Spent) -> str:
    """Write what a run has cost so far: one figure only where that is certain."""
    least, most = money(cost["least"]), money(cost["most"])
    if least == most:
        return f"{most} so far"
    return f"{least if cost['least'] >= CENT else '$0'} to at most {most} so far"


def place_words(environment: str, planned_for: str) -> str:
    """Say what a run's figures are not; empty on AWS. `planned_for`: the plan's environment, "" before it is known."""
    if environment == "aws":
        return ""
    where = {EMULATED: "Emulated, not AWS.", "local-vm": "Emulated machines, not AWS."}
    note = ENVIRONMENT_NOTES.get(planned_for, LOCAL_NOTE)
    return f"{where.get(planned_for, 'Local disk, not AWS.')} {note}"


def money(usd: float) -> str:
    """Write US dollars: to the cent, below one to the tenth of a cent."""
    return f"${usd:,.2f}" if usd >= 1 or usd == 0 else f"${usd:.3f}" if usd >= CENT else "less than $0.01"


def left_s(progress: RunProgress, now: float, *, is_local: bool) -> float | None:
    """Return how many seconds a run still takes; None where nobody can say.

    The time that its cells were planned to take, at the pace of those that have ended. On this machine waits are
    scaled, so that before the first cell has ended nobody knows the pace.
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
    """Say how long a run still takes."""
    return "" if seconds is None else f"about {rough_duration(seconds)} left"
