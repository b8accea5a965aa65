"""A caught error of Step Functions as name and message for a person."""

import json
import re
from typing import Any

from matrix.terms import errors
from matrix.terms.documents.parts import Failure

# Advice after an AWS error, by its text; our own errors contain their advice.
_ADVICE = {
    re.compile(r"AccessDenied|UnauthorizedOperation|not authorized"): "`matrix verify` says which right is missing",
    re.compile(r"SlowDown|RequestLimitExceeded|TooManyRequests|Throttling|Rate exceeded"): (
        "AWS went on refusing so many calls: resume the run later, or with a lower maxConcurrentFileSystems"
    ),
    re.compile(r"Internal(Server)?(Error|Failure)|ServiceException|Unavailable"): (
        "AWS went on failing: resume the run later"
    ),
}


def readable(failure: dict[str, Any] | None) -> Failure:
    """Return name and message of a caught error (`Error`, `Cause`).

    For an exception in a Lambda function, Cause is the runtime's JSON, and its errorMessage the full message of our
    errors.
    """
    if not failure:
        return {"name": "UnexpectedState", "message": "a function answered with a state that the state machine lacks"}
    cause = failure.get("Cause") or ""
    try:
        message = json.loads(cause)["errorMessage"]
    except (ValueError, TypeError, KeyError):
        message = cause
    name = failure.get("Error") or "Unknown"
    return {"name": name, "message": advised(name, str(message)[:4000])}


def advised(name: str, message: str) -> str:
    """Return the message of an error, with advice if AWS's text has none."""
    if hasattr(errors, name):
        return message
    words = f"{name} {message}"
    advice = next((advice for pattern, advice in _ADVICE.items() if pattern.search(words)), "")
    return f"{message}; {advice}" if advice else message
