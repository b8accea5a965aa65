"""CloudWatch's values arrive minutes later: a result whose metrics were read too early is looked at again."""

from collections.abc import Callable, Mapping
from typing import Any

from matrix.answer.bottleneck.verdict import find

Document = dict[str, Any]


def is_late(result: Mapping[str, Any]) -> bool:
    """Say whether metrics of a result may have arrived since they were read."""
    kept = result.get("cloudwatch")
    return kept is not None and not kept["is_settled"]


def refreshed(
    result: Mapping[str, Any], environment: str, read: Callable[[Mapping[str, Any], float, float], Document]
) -> Document:
    """Return a result with its metrics as they are now, and the bottleneck that follows from them.

    `read` is given the resources and the first and last moment. What was there before stays where it could not ask, or
    where CloudWatch has thrown away what it had: minutes after 15 days.
    """
    kept = result["cloudwatch"]
    now = read(kept["resources"], kept["from"], kept["to"])
    if now["unasked"] or _count(now) < _count(kept):
        return dict(result)
    refreshed = {**result, "cloudwatch": now}
    return {**refreshed, "bottleneck": find(refreshed, environment)}


def _count(kept: Mapping[str, Any]) -> int:
    return sum(len(series["values"]) for series in kept["series"])
