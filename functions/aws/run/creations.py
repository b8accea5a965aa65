"""Notes of planned creations, written before the first call, so that no receipt says too early that all is deleted.

A run that is stopped ends while its functions go on, for minutes, and what a call has created shows seconds later.
"""

from collections.abc import Iterator
from contextlib import contextmanager, suppress

from botocore.exceptions import ClientError

from aws.records import table
from aws.stack.clients import WANT_OF_CAPACITY
from matrix.terms.errors import RunEnded, StorageMatrixError

# For so long something may come of a creation whose end nobody noted: the longest that Lambda lets a function run, and
# the time for which EC2 may not show what it has launched (aws.inventory.resources).
# https://docs.aws.amazon.com/lambda/latest/api/API_CreateFunction.html
MAY_COME_S = 900.0 + 600.0
SERVER_ERROR = 500


@contextmanager
def noted(run: str, what: str) -> Iterator[None]:
    """Note that something is being created, until it has its rows or was refused. Raises RunEnded after a run's end.

    A sweep notes the end before it looks for creations, and this notes the creation before it looks for the end: one of
    both sees the other. After a crash, or an error that does not say what became of the call, the note stays.
    """
    table.begin_creation(run, what)
    try:
        if table.has_ended(run):
            raise RunEnded(f"{what}: not created, since {run} has ended; a run that is stopped creates nothing more")
        yield
    except (ClientError, StorageMatrixError) as error:
        if _is_refusal(error):
            with suppress(ClientError):  # the refusal says more
                table.end_creation(run, what)
        raise
    table.end_creation(run, what)


def unfinished(run: str, at: float) -> list[str]:
    """Return the creations of a run of which something may still come at a time (epoch seconds)."""
    return [row["what"] for row in table.open_creations(run) if float(row["begun_at"]) > at - MAY_COME_S]


def _is_refusal(error: Exception) -> bool:
    """Say whether nothing was created: any answer but that of a service that failed itself."""
    cause = error if isinstance(error, ClientError) else error.__cause__
    if not isinstance(cause, ClientError):
        return True
    status = cause.response.get("ResponseMetadata", {}).get("HTTPStatusCode", 0)
    return status < SERVER_ERROR or cause.response["Error"]["Code"] in WANT_OF_CAPACITY
