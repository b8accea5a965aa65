"""CloudWatch: read the metrics of a cell's volumes, file system and instances over its window."""

from typing import Any

from botocore.exceptions import BotoCoreError, ClientError

from aws.stack.clock import now
from matrix.samples import cloudwatch
from matrix.terms.documents.watched import CloudWatchMetrics, WatchedResources


def read(client: Any, about: WatchedResources, begun: float, ended: float) -> CloudWatchMetrics:
    """Return the available metrics of `about` (matrix.cloudwatch.resources) from `begun` to `ended`, in epoch seconds.

    A refusal must not cost the result: without permission the document has a reason and no values.
    """
    try:
        return cloudwatch.read(client.get_paginator("get_metric_data").paginate, about, begun, ended, now())
    except (ClientError, BotoCoreError) as error:
        return cloudwatch.refused(about, begun, ended, now(), _reason(error))


def _reason(error: ClientError | BotoCoreError) -> str:
    return error.response["Error"]["Code"] if isinstance(error, ClientError) else type(error).__name__
