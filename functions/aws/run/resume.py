"""The earlier run that a matrix resumes: its measured cells are taken over, its uploads are kept."""

from typing import Any

from aws.records import bucket, table
from aws.run import executions
from matrix.answer.results import without_samples
from matrix.plan.resume import Earlier, earlier_cells, refusal, taken_over
from matrix.terms.keys import Board, run_key


def earlier(run: str, environment: str, execution_arn: str) -> dict[str, Earlier]:
    """Return what an earlier run measured, by cell; `execution_arn` is that of the run that resumes it.

    Raises InvalidMatrix where that run does not exist, belongs to another environment, or is still running: its cells
    would be measured, and paid for, twice.
    """
    plan = bucket.get(run_key(run, "plan.json"))
    if plan is None:
        raise refusal(run, "has no plan in the bucket of this stack")
    if plan["environment"] != environment:
        raise refusal(run, f"was measured in the environment {plan['environment']}, this is {environment}")
    if executions.is_running(executions.sibling(execution_arn, run)):
        raise refusal(run, "is still running")
    return earlier_cells(run, plan, lambda cell: bucket.get(Board.of_cell(run, cell).result), _uploads(run))


def _uploads(run: str) -> Any:
    def uploads_of(cell: str) -> int:
        keys = (key for key, _ in bucket.listing(Board.of_cell(run, cell).instances))
        return sum(key.endswith("/samples.json") for key in keys)

    return uploads_of


def take_over(run: str, plan: dict[str, Any]) -> None:
    """Write the result of each cell that an earlier run has measured, marked with that run."""
    for cell in plan["cells"]:
        if "taken_from" not in cell:
            continue
        source = cell["taken_from"]
        result = taken_over(bucket.get(Board.of_cell(source["run"], source["cell"]).result), cell)
        bucket.put(Board.of_cell(run, cell["id"]).result, result)
        table.record_points(run, cell["id"], map(without_samples, result["points"]))
