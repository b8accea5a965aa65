"""Record failed file system: record why its cells could not be measured, or why it could not be deleted."""

from typing import Any

from aws_lambda_powertools import Logger
from aws_lambda_powertools.utilities.typing import LambdaContext

from aws.records import bucket, table
from aws.records.plans import cell_of, file_system_of, plan_of
from aws.results import analysing
from aws.run.failures import readable
from aws.stack.entry import entry
from matrix.terms.keys import Board

logger = Logger()


@entry
def handler(event: dict[str, Any], _context: LambdaContext) -> dict[str, Any]:
    """Write a failed result for each cell that has none yet, with the file system's error.

    If the creation did not start for lack of budget or time, its cells are skipped, not failed. A deletion that failed
    (`is_deletion`) changes no result: Analyse run tells its reason, which the later sweep does not know.
    """
    run, name = event["run"], event["file_system"]
    error = readable(event["failure"])
    if event.get("is_deletion"):
        table.set_file_system(run, name, "failed", undeleted=error)
        logger.error("file system not deleted", error=error)
        return {"file_system": name, "state": "failed"}
    plan = plan_of(run)
    table.set_file_system(run, name, "failed", error=error)
    logger.error("file system failed", error=error)
    error["subject"] = f"file system {name}"
    for cell in file_system_of(plan, name)["cells"]:
        if not bucket.exists(Board.of_cell(run, cell).result):
            analysing.write_unmeasured(cell_of(plan, cell), analysing.uploads_of(run, cell), error)
    return {"file_system": name, "state": "failed"}
