"""Retries by a function: its log has the first failure with its reason, and the outcome.

botocore retries throttled and transient errors by itself, ten times in two minutes (clients.py). Errors that it raises
are not retried here; only answers that depend on the moment (NotYet) are.
"""

import re
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

from aws_lambda_powertools import Logger
from botocore.exceptions import ClientError

from contract import retryable

T = TypeVar("T")
# In the codes of EFS, FSx, S3 Files and S3.
NOT_FOUND = re.compile(r"NotFound|NoSuch|DoesNotExist")


class NotYet(Exception):
    """A temporary answer of AWS; the message describes it."""


@contextmanager
def unknown_is_not_yet() -> Iterator[None]:
    """Raise NotYet, caused by the answer, where a service does not know what it was asked for."""
    try:
        yield
    except ClientError as error:
        if NOT_FOUND.search(error.response["Error"]["Code"]):
            raise NotYet(str(error)) from error
        raise


def retried(what: str, call: Callable[[], T], pauses_s: Iterable[float]) -> T:
    """Return the result of `call`, called again after each pause while it raises NotYet; any other error is raised.

    After the last pause, the cause of the last NotYet is raised, or NotYet itself if it has none.
    """
    failures, began = 0, time.monotonic()
    pauses = iter(pauses_s)
    while True:
        try:
            answer = call()
        except NotYet as error:
            failures += 1
            pause_s = next(pauses, None)
            if pause_s is None:
                Logger().warning("given up", what=what, failures=failures, after_s=_since(began), reason=str(error))
                raise error.__cause__ or error from None
            if failures == 1:
                Logger().warning("tried again", what=what, reason=str(error))
        else:
            if failures:
                Logger().info("well at last", what=what, failures=failures, after_s=_since(began))
            return answer
        time.sleep(pause_s)


def _since(began: float) -> float:
    return round(time.monotonic() - began, 1)


def logging_retries(client: Any) -> Any:
    """Return a client of boto3 that logs the first failure of a call that it repeats by itself."""

    def first(call: str, reason: str) -> None:
        Logger().warning("asked again by botocore", call=call, reason=reason)

    def answered(call: str, attempts: int) -> None:
        Logger().info("answered at last", call=call, attempts=attempts)

    return retryable.log_retries(client, first, answered)
