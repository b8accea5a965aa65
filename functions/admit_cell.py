"""Admit cell: let a cell start only if its worst case fits into the remaining budget and time."""

from typing import Any

from aws_lambda_powertools import Logger
from aws_lambda_powertools.utilities.typing import LambdaContext

from aws.records.plans import cell_of, plan_of
from aws.results import analysing
from aws.run import budget
from aws.stack.entry import entry
from matrix.run.admission import skip_of
from matrix.terms.errors import DeadlinePassed, OverBudget

logger = Logger()


@entry
def handler(event: dict[str, Any], _context: LambdaContext) -> dict[str, Any]:
    """Reserve the cell's worst case and answer `admitted`, or write its result as skipped and answer `skipped`."""
    run = event["run"]
    plan = plan_of(run)
    cell = cell_of(plan, event["cell"])
    try:
        budget.admit_cell(run, plan, cell)
    except (OverBudget, DeadlinePassed) as refusal:
        analysing.write_skipped(run, cell, skip_of(refusal))
        logger.warning("cell skipped", reason=str(refusal))
        return {"cell": cell["id"], "state": "skipped"}
    return {"cell": cell["id"], "state": "admitted"}
