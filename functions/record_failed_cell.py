"""Record failed cell: record the reason of a cell's failure, and keep its samples until then."""

from typing import Any

from aws_lambda_powertools import Logger
from aws_lambda_powertools.utilities.typing import LambdaContext

from aws.records.plans import cell_of, plan_of
from aws.results import analysing
from aws.run.failures import readable
from aws.stack.entry import entry

logger = Logger()


@entry
def handler(event: dict[str, Any], _context: LambdaContext) -> dict[str, Any]:
    """Write the result of a failed cell: its error, and percentiles of the samples that did arrive."""
    run = event["run"]
    cell = cell_of(plan_of(run), event["cell"])
    uploads = analysing.uploads_of(run, cell["id"])
    files, refused = analysing.samples_of(cell, uploads)
    error = readable(event["failure"])
    if refused and error["name"] != "InvalidSamples":
        error["message"] += f" (and {'; '.join(refused[:3])})"
    analysing.write_result(cell, uploads, files, error=error)
    logger.error("cell failed", error=error)
    return {"cell": cell["id"], "state": "failed"}
