"""Cost of runs by owner, matrix and month, from their receipts."""

from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any

from typing_extensions import TypedDict

from matrix.terms.documents.plan import PlanDocument
from matrix.terms.documents.receipt import ReceiptDocument


class Spending(TypedDict):
    """The cost of the runs of one owner, matrix and month."""

    owner: str
    matrix: str
    month: str
    environment: str
    runs: int
    open: int
    """How many of these have a receipt that is not complete."""
    cost_usd: float


def spent(runs: Iterable[tuple[PlanDocument, ReceiptDocument]]) -> list[Spending]:
    """Return a row for each owner, matrix and month (of the plan, in UTC), the latest month first, then by cost.

    `cost_usd` is the sum of receipts in US dollars, `runs` the number of receipts, and `open` the number of incomplete
    ones: those runs cost more until all their resources are deleted. A run of the local cloud (see `environment`) has
    paid nothing.
    """
    rows: dict[tuple[str, ...], Spending] = {}
    for plan, receipt in runs:
        at = datetime.fromtimestamp(plan["created_at"], UTC)
        owner, environment = plan.get("owner", "unknown"), plan.get("environment", "aws")
        key = (owner, plan["name"], f"{at:%Y-%m}", environment)
        empty: Spending = {
            "owner": owner, "matrix": plan["name"], "month": f"{at:%Y-%m}", "environment": environment,
            "runs": 0, "open": 0, "cost_usd": 0.0,
        }  # fmt: skip
        row = rows.setdefault(key, empty)
        row["runs"] += 1
        row["open"] += not receipt["is_complete"]
        row["cost_usd"] = round(row["cost_usd"] + receipt["totals"]["cost_usd"], 4)
    return sorted(rows.values(), key=_order)


def _order(row: Spending) -> tuple[Any, ...]:
    return -int(row["month"].replace("-", "")), -row["cost_usd"], row["owner"], row["matrix"]
