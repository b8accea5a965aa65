"""CloudWatch's values arrive minutes later, so metrics of a result that were read too early are read again."""

from collections.abc import Callable

from matrix.answer.bottleneck.verdict import find
from matrix.answer.layers import of_server
from matrix.terms.documents.result import ResultDocument
from matrix.terms.documents.watched import CloudWatchMetrics, WatchedResources


def is_late(result: ResultDocument) -> bool:
    """Return whether CloudWatch may have published metrics of a result after they were read."""
    kept = result.get("cloudwatch")
    return kept is not None and not kept["is_settled"]


def refreshed(
    result: ResultDocument, environment: str, read: Callable[[WatchedResources, float, float], CloudWatchMetrics]
) -> ResultDocument:
    """Return a result with metrics that are read again, and with its bottleneck and layers computed anew.

    `read` gets the resources and the first and last moment. Earlier values stay if CloudWatch could not be queried or
    has deleted its own (values per minute after 15 days).
    """
    kept = result["cloudwatch"]
    now = read(kept["resources"], kept["from"], kept["to"])
    if now["unasked"] or _count(now) < _count(kept):
        return result
    if moved := kept.get("moved"):
        now["moved"] = moved
    refreshed: ResultDocument = {**result, "cloudwatch": now}
    return {**refreshed, "bottleneck": find(refreshed, environment), "server_layers": of_server(refreshed)}


def _count(kept: CloudWatchMetrics) -> int:
    return sum(len(series["values"]) for series in kept["series"])
