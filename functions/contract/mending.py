"""Which failures of a request another attempt can mend, and which none can.

Classes are known by their names: the agent and the functions have different releases of botocore, and either may lack
some of them.
"""

from __future__ import annotations

import errno
from dataclasses import dataclass
from typing import Any, Callable

# What is not named here no attempt mends: parameters that botocore refuses, missing keys, unknown services.
MENDABLE = frozenset(
    {
        # botocore 1.43, exceptions.py and parsers.py: no connection, no answer in time, an answer that broke off. Its
        # own retries (retries/standard.py) name the first two, with the classes below them.
        *("ConnectionError", "HTTPClientError", "IncompleteReadError", "ChecksumError", "FlexibleChecksumError"),
        "ResponseParserError",
        # The instance's metadata service, which gives the role's keys, was busy; the client's own pace has no room.
        *("CredentialRetrievalError", "MetadataRetrievalError", "CapacityNotAvailableError"),
        # urllib3, whose errors older releases of botocore let through while a body is read.
        *("ProtocolError", "TimeoutError"),
        # Python: `timeout` is that of sockets before 3.10.
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
# 501 is none of them: what a service does not implement it will not implement the next time.
MENDABLE_STATUSES = frozenset({429, 500, 502, 503, 504})
# botocore's event after each attempt of a call.
ATTEMPT_ENDED = "needs-retry"
# A refusal of parameters names all that there are.
REASON_MOST_LETTERS = 300


@dataclass(frozen=True)
class Verdict:
    """Whether another attempt can mend a failure, and the failure in one line."""

    is_mendable: bool
    reason: str


def verdict(error: BaseException) -> Verdict:
    """Judge a failure. A class of ours says it by `is_mendable`; one that does not is what its cause is."""
    return Verdict(_is_mendable(error), reason_of(error))


def reason_of(error: BaseException) -> str:
    """Return a failure in one line."""
    line = " ".join(str(error).split()) or type(error).__name__
    return line if len(line) <= REASON_MOST_LETTERS else f"{line[: REASON_MOST_LETTERS - 2]} …"


def _is_mendable(error: BaseException) -> bool:
    own_word: Any = getattr(error, "is_mendable", None)
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
    is_known = bool(kinds & MENDABLE) or (isinstance(error, OSError) and error.errno in UNREACHABLE)
    return is_known or (below is not None and _is_mendable(below))


class _Refusal(Exception):
    """What a service has answered, as botocore's ClientError has it, which is not imported here."""

    def __init__(self, call: str, error: dict[str, Any], status: int) -> None:
        super().__init__(f"An error occurred ({error.get('Code')}) when calling {call}: {error.get('Message', '')}")
        self.response = {"Error": error, "ResponseMetadata": {"HTTPStatusCode": status}}


def hear_repeats(client: Any, first: Callable[[str, str], None], answered: Callable[[str, int], None]) -> Any:
    """Return a client of botocore that reports the calls which it repeats by itself: botocore does so in silence.

    `first` gets the call's name and the reason of its first failure, if another attempt can mend it; `answered` the
    name and the number of attempts of a call that took several.
    """

    def hear(
        operation: Any, attempts: int, response: Any = None, caught_exception: BaseException | None = None, **_: Any
    ) -> None:
        error = caught_exception
        if response is not None and "Error" in response[1]:
            # The status is that of the response: functions/aws/stack/clients.py changes it for a want of capacity.
            error = _Refusal(operation.name, response[1]["Error"], response[0].status_code)
        if error is None:
            if attempts > 1:
                answered(operation.name, attempts)
        elif attempts == 1 and (judged := verdict(error)).is_mendable:
            first(operation.name, judged.reason)

    client.meta.events.register(ATTEMPT_ENDED, hear)
    return client
