"""Delete file system: end its remaining instances, then start to delete it. Runs after success and failure."""

from typing import Any

from aws_lambda_powertools.utilities.typing import LambdaContext

from aws.records import table
from aws.stack.clock import now
from aws.stack.entry import entry
from aws.teardown import deleting
from matrix.input.pace import poll_again_s


@entry
def handler(event: dict[str, Any], _context: LambdaContext) -> dict[str, Any]:
    """Take the first step of the deletion; answer `gone` or `deleting`, and when the deletion began."""
    run, name = event["run"], event["file_system"]
    table.set_file_system(run, name, "deleting")
    return {"state": deleting.step(run, name), "since": now(), "wait_s": poll_again_s(0)}
