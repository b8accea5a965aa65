"""Cost of a run so far. Pure."""

from collections.abc import Mapping, Sequence
from typing import Any

from typing_extensions import TypedDict

from cli.follow.progress import RunProgress
from cli.target.documents import ProgressRow
from matrix.terms.documents.parts import CostRange
from matrix.terms.documents.plan import PlanDocument

SECONDS_PER_HOUR = 3600
CENT = 0.01
NOTHING: CostRange = {"low": 0.0, "expected": 0.0, "high": 0.0}


class Spent(TypedDict):
    """Cost so far."""

    least: float
    """Lower bound in USD: time-based costs by the plan's prices, plus the minimum of usage-based costs."""
    most: float
    """Upper bound in USD: the same with the maximum of usage-based costs. It never falls."""


def spent(rows: Sequence[ProgressRow], progress: RunProgress, plan: PlanDocument, now: float) -> Spent:
    """Return the least and the most that a run has cost: settled costs, and running cells by elapsed time.

    The budget's row adds reservations for the worst case to the settled costs; a reservation is not a cost. AWS reports
    usage-based costs late, so a cell's usage counts from its start as the most that it may be by the plan, and from its
    end by what its mounts counted.
    """
    unplanned: ProgressRow = {"SK": "PLAN"}
    row = next((row for row in rows if row.get("SK") == "PLAN"), unplanned)
    going = row.get("reserved") or {}
    settled = (row.get("committed_usd") or 0.0) - sum(going.values())
    began: dict[str, float] = {}
    running = unsure = to_come = 0.0
    planned = {cell["id"]: cell for cell in plan["cells"]}
    for at in progress.cells:
        if at.started_at is None or at.id not in planned:
            continue
        began[at.file_system] = min(at.started_at, began.get(at.file_system, at.started_at))
        cell = planned[at.id]
        metered = at.metered_usd or cell.get("metered_usd") or NOTHING
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


def describe_spending(cost: Spent, *, is_over: bool = False) -> str:
    """Format the cost of a run so far, or in total if it is over: one figure if the cost is certain, else a range."""
    least, most = money(cost["least"]), money(cost["most"])
    words = most if least == most else f"{least if cost['least'] >= CENT else '$0'} to at most {most}"
    return words if is_over else f"{words} so far"


def money(usd: float) -> str:
    """Write US dollars: to the cent, below one to the tenth of a cent."""
    return f"${usd:,.2f}" if usd >= 1 or usd == 0 else f"${usd:.3f}" if usd >= CENT else "less than $0.01"
