"""The earlier run that a matrix resumes: its measured cells are taken over, its uploads are kept."""

from collections.abc import Callable
from functools import partial

from aws.records import bucket, table
from aws.run import executions
from contract.keys import SAMPLES
from matrix.answer.results import without_samples
from matrix.plan.resume import Earlier, earlier_cells, refusal, taken_over
from matrix.terms.documents.plan import PlanDocument
from matrix.terms.documents.result import ResultDocument
from matrix.terms.keys import Board, run_key


def earlier(run: str, environment: str, execution_arn: str) -> dict[str, Earlier]:
    """Return the results of an earlier run, by cell; `execution_arn` belongs to the run that resumes it.

    Raises InvalidMatrix if the earlier run does not exist, belongs to another environment, or is still running: its
    cells would be measured, and paid for, twice.
    """
    plan = bucket.read(run_key(run, "plan.json"), PlanDocument)
    if plan is None:
        raise refusal(run, "has no plan in the bucket of this stack")
    if plan["environment"] != environment:
        raise refusal(run, f"was measured in the environment {plan['environment']}, this is {environment}")
    if executions.is_running(executions.sibling(execution_arn, run)):
        raise refusal(run, "is still running")
    return earlier_cells(run, plan, partial(_result_of, run), _uploads(run))


def _result_of(run: str, cell: str) -> ResultDocument | None:
    return bucket.read(Board.of_cell(run, cell).result, ResultDocument)


def _uploads(run: str) -> Callable[[str], int]:
    def uploads_of(cell: str) -> int:
        keys = (key for key, _ in bucket.listing(Board.of_cell(run, cell).instances))
        return sum(key.endswith(f"/{SAMPLES}") for key in keys)

    return uploads_of


def take_over(run: str, plan: PlanDocument) -> None:
    """Write the result of each cell that an earlier run has measured, marked with that run."""
    for cell in plan["cells"]:
        if "taken_from" not in cell:
            continue
        source = cell["taken_from"]
        measured = _result_of(source["run"], source["cell"])
        if measured is None:
            raise LookupError(f"run {source['run']} has no result of {source['cell']} any more")
        result = taken_over(measured, cell)
        bucket.put(Board.of_cell(run, cell["id"]).result, result)
        table.record_points(run, cell["id"], map(without_samples, result["points"]))
