"""Note each creation before its call, so that no receipt reports too early that everything is gone.

When a run is stopped, its functions continue for minutes, and a new resource is visible only seconds after its call.
"""

from collections.abc import Iterator
from contextlib import contextmanager, suppress

from botocore.exceptions import ClientError

from aws.records import table
from aws.stack.clients import WANT_OF_CAPACITY
from matrix.terms.errors import RunEnded, StorageMatrixError

# An unfinished creation may still produce a resource for this time: the longest Lambda timeout, plus the time for which
# EC2 may not list launched instances (aws.ec2.resources).
# https://docs.aws.amazon.com/lambda/latest/api/API_CreateFunction.html
MAY_COME_S = 900.0 + 600.0
SERVER_ERROR = 500


@contextmanager
def noted(run: str, what: str) -> Iterator[None]:
    """Note a creation until its resources have rows or it was refused. Raises RunEnded after a run's end.

    A sweep notes the end before it looks for creations; this function notes the creation before it looks for the end.
    So at least one of the two sees the other. The note stays after a crash, or after an error that leaves the outcome
    open.
    """
    table.begin_creation(run, what)
    try:
        if table.ended_at(run) is not None:
            raise RunEnded("not created, since the run has ended; a run that is stopped creates nothing more")
        yield
    except (ClientError, StorageMatrixError) as error:
        if _is_refusal(error):
            with suppress(ClientError):  # the refusal is the more useful error
                table.end_creation(run, what)
        raise
    table.end_creation(run, what)


def unfinished(run: str, at: float) -> list[str]:
    """Return the creations of a run that may still produce a resource at a time (epoch seconds)."""
    return [row["what"] for row in table.open_creations(run) if float(row["begun_at"]) > at - MAY_COME_S]


def _is_refusal(error: Exception) -> bool:
    """Return whether an error means that nothing was created: any except a server error of the service."""
    cause = error if isinstance(error, ClientError) else error.__cause__
    if not isinstance(cause, ClientError):
        return True
    status = cause.response.get("ResponseMetadata", {}).get("HTTPStatusCode", 0)
    return status < SERVER_ERROR or cause.response["Error"]["Code"] in WANT_OF_CAPACITY
