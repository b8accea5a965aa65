"""Check file system: can instances mount it yet?"""

from typing import Any

from aws_lambda_powertools import Logger
from aws_lambda_powertools.utilities.typing import LambdaContext

from aws.records import table
from aws.records.plans import file_system_of, plan_of
from aws.stack.clock import now
from aws.stack.entry import entry
from aws.stack.retrying import NotYet, unknown_is_not_yet
from aws.storages import clouds
from matrix.input.pace import poll_again_s
from matrix.storages.models import existing_id
from matrix.terms.errors import FileSystemTimeout

# For so long a new file system, or a part of it, may be unknown to a service that has just created it: services are
# eventually consistent, and few say so.
NEW_S = 60


@entry
def handler(event: dict[str, Any], _context: LambdaContext) -> dict[str, Any]:
    """Answer `ready`, or `creating` and the next poll; a file system that failed or takes too long is an error."""
    run, name = event["run"], event["file_system"]
    storage = file_system_of(plan_of(run), name)["storage"]
    kind = clouds.file_system(storage)
    if kind is None:
        table.set_file_system(run, name, "ready")
        return {"state": "ready"}
    waited_s = now() - event["started_at"]
    waiting, is_seen = [], True
    # Check all of them: this call also creates missing parts of some, such as mount targets.
    for resource_id in event["resource_ids"]:
        try:
            with unknown_is_not_yet():
                is_ready = kind.is_ready(resource_id, storage)
        except NotYet as error:
            if event.get("is_seen") or existing_id(storage) or waited_s > NEW_S:
                raise error.__cause__ or error from None
            Logger().warning("tried again at the next look", what=resource_id, reason=str(error))
            is_ready = is_seen = False
        if not is_ready:
            waiting.append(resource_id)
    if not waiting:
        table.set_file_system(run, name, "ready")
        return {"state": "ready"}
    if waited_s > kind.CREATION_LIMIT_S:
        raise FileSystemTimeout(
            f"{', '.join(waiting)} not available {waited_s:.0f} s after its creation, limit {kind.CREATION_LIMIT_S} s"
        )
    return {"state": "creating", "wait_s": poll_again_s(waited_s), "is_seen": is_seen}
