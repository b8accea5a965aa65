"""A caught error of Step Functions as name and message for a person."""

import re
from typing import Any

from matrix.terms import errors
from matrix.terms.documents.parts import Failure
from matrix.terms.sentences import message_of

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
    """Return name and message of a caught error (`Error`, `Cause`)."""
    if not failure:
        return {"name": "UnexpectedState", "message": "a function answered with a state that the state machine lacks"}
    name = failure.get("Error") or "Unknown"
    message = message_of(failure.get("Cause") or "")[:4000]
    if hasattr(errors, name):
        return {"name": name, "message": message}
    advice = next((advice for pattern, advice in _ADVICE.items() if pattern.search(f"{name} {message}")), "")
    return {"name": name, "message": f"{message}; {advice}" if advice else message}
