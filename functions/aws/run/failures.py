"""A caught error of Step Functions as name and message for a person."""

import json
from typing import Any

from matrix.terms.documents.parts import Failure


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
    return {"name": failure.get("Error") or "Unknown", "message": str(message)[:4000]}
