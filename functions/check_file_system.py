"""Check file system: can instances mount it yet?"""

from typing import Any

from aws_lambda_powertools.utilities.typing import LambdaContext

from aws.records import table
from aws.records.plans import file_system_of, plan_of
from aws.stack.clock import now
from aws.stack.entry import entry
from matrix.input.pace import look_again_s
from matrix.terms.errors import FileSystemTimeout
from storages import clouds


@entry
def handler(event: dict[str, Any], _context: LambdaContext) -> dict[str, Any]:
    """Answer `ready`, or `creating` and the next poll; a file system that failed or takes too long is an error."""
    run, name = event["run"], event["file_system"]
    storage = file_system_of(plan_of(run), name)["storage"]
    kind = clouds.file_system(storage)
    # Check all of them: this call also creates missing parts of some, such as mount targets.
    waiting = [each for each in event["resource_ids"] if kind and not kind.is_ready(each, storage)]
    if kind is None or not waiting:
        table.set_file_system(run, name, "ready")
        return {"state": "ready"}
    waited_s = now() - event["started_at"]
    if waited_s > kind.CREATION_LIMIT_S:
        raise FileSystemTimeout(
            f"{', '.join(waiting)} not available {waited_s:.0f} s after its creation, limit {kind.CREATION_LIMIT_S} s"
        )
    return {"state": "creating", "wait_s": look_again_s(waited_s)}
