"""Poll cache: has the populating instance filled the cache?"""

from typing import Any

from aws_lambda_powertools.utilities.typing import LambdaContext

from aws.ec2 import instances
from aws.fleet import watching
from aws.stack.entry import entry
from matrix.terms.errors import CacheFailed, CapacityUnavailable, LaunchRefused, QuotaExceeded, StorageMatrixError
from matrix.terms.keys import Board


@entry
def handler(event: dict[str, Any], _context: LambdaContext) -> dict[str, Any]:
    """Answer `populated` or `populating`; CacheFailed if the instance failed, died or sends no heartbeats."""
    run, name = event["run"], event["file_system"]
    board = Board.of_cache(run, name)
    try:
        watched = watching.watch(board)
    except (QuotaExceeded, CapacityUnavailable, LaunchRefused):  # as Populate cache raises them
        raise
    except StorageMatrixError as error:
        raise CacheFailed(str(error)) from error
    if watched.progress.state != "finished":
        return {"state": "populating", "poll_s": event["poll_s"]}
    instances.terminate(watched.fleet.instances)
    return {"state": "populated", "poll_s": event["poll_s"]}
