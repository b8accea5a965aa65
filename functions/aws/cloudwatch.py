"""CloudWatch: read the metrics of a cell's volumes, file system and instances over its window."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from botocore.exceptions import BotoCoreError, ClientError

from aws.clock import now
from matrix import cloudwatch


def read(client: Any, about: Mapping[str, Any], begun: float, ended: float) -> dict[str, Any]:
    """Return the metrics of `about` (matrix.cloudwatch.resources) from `begun` to `ended`, as far as they are there.

    What measures a result must not cost it: where CloudWatch may not be asked, the document says so and has no values.
    """
    start, end = cloudwatch.window(begun, ended)
    answers: list[tuple[cloudwatch.Query, list[tuple[float, float]]]] = []
    try:
        for queries in cloudwatch.calls(about):
            found = _ask(client, queries, start, end)
            answers += [(query, found.get(query.id, [])) for query in queries]
    except (ClientError, BotoCoreError) as error:
        return cloudwatch.document(about, (begun, ended), answers, read_at=now(), unasked=_reason(error))
    return cloudwatch.document(about, (begun, ended), answers, read_at=now())


def _ask(client: Any, queries: list[cloudwatch.Query], start: int, end: int) -> dict[str, list[tuple[float, float]]]:
    pages = client.get_paginator("get_metric_data").paginate(
        MetricDataQueries=[query.to_request() for query in queries],
        StartTime=datetime.fromtimestamp(start, UTC),
        EndTime=datetime.fromtimestamp(end, UTC),
        ScanBy="TimestampAscending",
    )
    found: dict[str, list[tuple[float, float]]] = {}
    for page in pages:
        for one in page["MetricDataResults"]:
            points = zip((at.timestamp() for at in one["Timestamps"]), one["Values"], strict=True)
            found.setdefault(one["Id"], []).extend(points)
    return found


def _reason(error: ClientError | BotoCoreError) -> str:
    return error.response["Error"]["Code"] if isinstance(error, ClientError) else type(error).__name__
