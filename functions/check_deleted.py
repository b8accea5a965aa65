"""Check deleted: take the deletion one step further, until AWS itself reports that nothing remains."""

from typing import Any

from aws_lambda_powertools.utilities.typing import LambdaContext

from aws.stack.clock import now
from aws.stack.entry import entry
from aws.teardown import deleting
from matrix.input.pace import poll_again_s
from matrix.terms.errors import FileSystemLeftBehind

# FSx takes up to 30 minutes, mount targets and instances some minutes.
DELETION_LIMIT_S = 3600


@entry
def handler(event: dict[str, Any], _context: LambdaContext) -> dict[str, Any]:
    """Answer `gone` or `deleting`; a file system still there after DELETION_LIMIT_S is an error, left to the sweep."""
    run, name = event["run"], event["file_system"]
    state = deleting.step(run, name)
    waited_s = now() - event["since"]
    if state == "deleting" and waited_s > DELETION_LIMIT_S:
        raise FileSystemLeftBehind(f"still there {waited_s:.0f} s after its deletion began")
    return {"state": state, "since": event["since"], "wait_s": poll_again_s(waited_s)}
