"""Warnings and assumptions of a plan about its budget: a refused run, skipped cells, what has no bound but AWS's."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from operator import itemgetter

from matrix.check.cells import Combination
from matrix.plan.document import PlannedCell
from matrix.price.book import Cost
from matrix.terms.documents.plan import PlanWarning
from matrix.terms.grouping import grouped
from matrix.terms.problems import Weight


def warnings(
    budget_usd: float | None, cost: Cost, cells: Sequence[PlannedCell], name_of: Callable[[PlannedCell], str]
) -> Iterator[PlanWarning]:
    """Yield a warning if the run would be refused, or if a cell may be skipped although the cost is as expected."""
    if budget_usd is None:
        return
    spare_usd = budget_usd - cost.expected
    if spare_usd < 0:
        message = (
            f"less than the {cost.expected:,.2f} USD that are expected: the run is refused before it makes anything"
        )
        yield {"path": "budgetUsd", "value": budget_usd, "message": message, "weight": Weight.MONEY}
        return
    # At its start a cell's worst case is reserved. Its expected cost, a part of that, is in the sum already.
    unmeasured = [cell for cell in cells if not cell.reused_from]
    riskiest = max(unmeasured, key=_beyond_usd, default=None)
    if riskiest and _beyond_usd(riskiest) > spare_usd:
        message = (
            f"leaves {spare_usd:,.2f} USD beside what is expected, and {name_of(riskiest)} alone may cost"
            f" {_beyond_usd(riskiest):,.2f} more: it is skipped if it comes when the rest is spent"
        )
        yield {"path": "budgetUsd", "value": budget_usd, "message": message, "weight": Weight.MONEY}


def unbounded(cells: Iterable[tuple[Combination, Cost]]) -> Iterator[PlanWarning]:
    """Yield a warning for each command or build whose bytes nobody knows, with its dearest cell on a storage."""
    for path, costs in grouped((cell.workload_path, (cell.storage_name, cost.high)) for cell, cost in cells).items():
        storage, usd = max(costs, key=itemgetter(1))
        message = (
            f"{storage} charges for what it moves, which nobody knows: {usd:,.2f} USD if a cell moves as much as AWS"
            " allows until its deadline; write expectedReadGiB and expectedWriteGiB, or run it with 1 instance first:"
            " the receipt has what it cost"
        )
        yield {"path": path, "value": None, "message": message, "weight": Weight.MONEY, "code": "bytes-are-bounded"}


def assumptions(budget_usd: float | None, cost: Cost) -> list[str]:
    """Return the assumption for a budget between the expected cost and the worst case of all cells."""
    if budget_usd is None or not cost.expected <= budget_usd < cost.high:
        return []
    return [
        f"budgetUsd {budget_usd:,g} is the most that the run may cost by its plan: it is below the worst case of all"
        " cells, and one whose own worst case no longer fits when it would begin is skipped"
    ]


def _beyond_usd(cell: PlannedCell) -> float:
    return cell.reserve_usd - cell.cost.expected - cell.shared_cost.expected
