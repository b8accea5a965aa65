"""Classify failures of a request: transient, so that a retry can succeed, or permanent.

Error classes are compared by name: the agent and the functions have different releases of botocore, and either may lack
some of the classes.
"""

from __future__ import annotations

import errno
from dataclasses import dataclass
from typing import Any, Callable

# All errors that are not listed here are permanent: parameters that botocore refuses, missing keys, unknown services.
RETRYABLE = frozenset(
    {
        # botocore 1.43, exceptions.py and parsers.py: no connection, no response in time, a response that broke off.
        # Its own retries (retries/standard.py) name the first two, with their subclasses.
        *("ConnectionError", "HTTPClientError", "IncompleteReadError", "ChecksumError", "FlexibleChecksumError"),
        "ResponseParserError",
        # The instance's metadata service, which gives the role's keys, was busy; or the client's own rate limit was
        # reached.
        *("CredentialRetrievalError", "MetadataRetrievalError", "CapacityNotAvailableError"),
        # urllib3: older releases of botocore let its errors through while a body is read.
        *("ProtocolError", "TimeoutError"),
        # Python: `timeout` is the class of sockets before 3.10.
        *("timeout", "gaierror", "HTTPException"),
    }
)
UNREACHABLE = frozenset({errno.ENETDOWN, errno.ENETUNREACH, errno.EHOSTDOWN, errno.EHOSTUNREACH})
# botocore 1.43, retries/standard.py: throttled, and transient.
MENDABLE_CODES = frozenset(
    {
        *("Throttling", "ThrottlingException", "ThrottledException", "RequestThrottledException"),
        *("TooManyRequestsException", "ProvisionedThroughputExceededException", "TransactionInProgressException"),
        *("RequestLimitExceeded", "BandwidthLimitExceeded", "LimitExceededException", "RequestThrottled", "SlowDown"),
        *("PriorRequestNotComplete", "EC2ThrottledException", "RequestTimeout", "RequestTimeoutException"),
        # S3's conflicts with another request to the same key, after which it asks for the upload again.
        # https://docs.aws.amazon.com/AmazonS3/latest/API/ErrorResponses.html
        *("ConditionalRequestConflict", "OperationAborted"),
    }
)
# 501 is not included: a service that does not implement a call will not implement it at the next attempt.
MENDABLE_STATUSES = frozenset({429, 500, 502, 503, 504})
# botocore's event after each attempt of a call.
ATTEMPT_ENDED = "needs-retry"
# A refusal of parameters lists all of them.
REASON_MOST_LETTERS = 300


@dataclass(frozen=True)
class Verdict:
    """Whether a retry can succeed, and the failure in one line."""

    is_retryable: bool
    reason: str


def verdict(error: BaseException) -> Verdict:
    """Judge a failure. The project's errors decide it by `is_retryable`; without it, the error's cause is judged."""
    return Verdict(_is_mendable(error), reason_of(error))


def reason_of(error: BaseException) -> str:
    """Return a failure in one line."""
    line = " ".join(str(error).split()) or type(error).__name__
    return line if len(line) <= REASON_MOST_LETTERS else f"{line[: REASON_MOST_LETTERS - 2]} …"


def _is_mendable(error: BaseException) -> bool:
    own_word: Any = getattr(error, "is_retryable", None)
    if isinstance(own_word, bool):
        return own_word
    kinds = {kind.__name__ for kind in type(error).__mro__}
    answer: Any = getattr(error, "response", None)
    if isinstance(answer, dict):  # of botocore's ClientError
        status = answer.get("ResponseMetadata", {}).get("HTTPStatusCode")
        return answer.get("Error", {}).get("Code") in MENDABLE_CODES or status in MENDABLE_STATUSES
    if {"HTTPError", "URLError"} <= kinds:  # urllib's
        return getattr(error, "code", None) in MENDABLE_STATUSES
    if "certificate verify failed" in str(error).lower():
        return False
    within: Any = getattr(error, "reason", None)  # of urllib's URLError
    below = within if isinstance(within, BaseException) else error.__cause__
    is_known = bool(kinds & RETRYABLE) or (isinstance(error, OSError) and error.errno in UNREACHABLE)
    return is_known or (below is not None and _is_mendable(below))


class _Refusal(Exception):
    """The response of a service in an error with the shape of botocore's ClientError, which is not imported here."""

    def __init__(self, call: str, error: dict[str, Any], status: int) -> None:
        super().__init__(f"An error occurred ({error.get('Code')}) when calling {call}: {error.get('Message', '')}")
        self.response = {"Error": error, "ResponseMetadata": {"HTTPStatusCode": status}}


def log_retries(client: Any, first: Callable[[str, str], None], answered: Callable[[str, int], None]) -> Any:
    """Make a botocore client report the calls that it retries, because botocore retries silently; return the client.

    `first` gets the call's name and the reason of its first failure, if a retry can succeed; `answered` gets the name
    and the number of attempts of a call that needed several.
    """

    def on_attempt(
        operation: Any, attempts: int, response: Any = None, caught_exception: BaseException | None = None, **_: Any
    ) -> None:
        error = caught_exception
        if response is not None and "Error" in response[1]:
            # The status is the response's: functions/aws/stack/clients.py changes it if AWS lacks capacity.
            error = _Refusal(operation.name, response[1]["Error"], response[0].status_code)
        if error is None:
            if attempts > 1:
                answered(operation.name, attempts)
        elif attempts == 1 and (judged := verdict(error)).is_retryable:
            first(operation.name, judged.reason)

    client.meta.events.register(ATTEMPT_ENDED, on_attempt)
    return client
