"""Record failed image: record why no cell could be measured. Only the builder was created until then."""

from typing import Any

from aws_lambda_powertools import Logger
from aws_lambda_powertools.utilities.typing import LambdaContext

from aws.records import table
from aws.records.plans import cell_of, plan_of
from aws.results import analysing
from aws.run.failures import readable
from aws.stack.entry import entry
from matrix.run.admission import skipped

logger = Logger()


@entry
def handler(event: dict[str, Any], _context: LambdaContext) -> dict[str, Any]:
    """Write a result for each cell: skipped if baking did not start for lack of budget or time, else failed."""
    run = event["run"]
    plan = plan_of(run)
    error = readable(event["failure"])
    error["subject"] = "baking its image"
    logger.error("image failed", error=error)
    skip = skipped(error)
    for file_system in plan["file_systems"]:
        for name in file_system["cells"]:
            if skip:
                analysing.write_skipped(run, cell_of(plan, name), skip)
            else:
                analysing.write_result(cell_of(plan, name), analysing.uploads_of(run, name), [], error=error)
        if file_system["cells"]:
            table.set_file_system(run, file_system["id"], "failed", error=error)
    return {"state": "discarding"}
