"""CloudWatch metrics that arrived after a run was analysed, read with the user's own rights."""

import time
from collections.abc import Mapping
from functools import partial
from typing import Any

from cli.messages import terminal
from cli.target.service import Service

Document = dict[str, Any]


def refreshed(service: Service, results: Mapping[str, Document], environment: str) -> dict[str, Document]:
    """Return the results of a run on AWS with its metrics as they are now, or as they were if that fails."""
    from botocore.exceptions import BotoCoreError, ClientError

    from matrix.answer import bottleneck
    from matrix.samples import cloudwatch

    def read(about: Mapping[str, Any], begun: float, ended: float) -> Document:
        return cloudwatch.read(service.metric_pages, about, begun, ended, time.time())

    late = {cell: result for cell, result in results.items() if environment == "aws" and bottleneck.is_late(result)}
    if not late:
        return dict(results)
    try:
        read_again = {cell: bottleneck.refreshed(result, environment, read) for cell, result in late.items()}
    except (ClientError, BotoCoreError) as error:
        terminal.stderr().print(f"CloudWatch could not be asked again, so its metrics are as they were: {error}")
        return dict(results)
    return {**results, **read_again}


def refreshed_summary(service: Service, summary: Document) -> Document:
    """Return the summary with the bottlenecks that follow from the metrics as they are now."""
    late = [cell["id"] for cell in summary.get("cells", []) if (cell.get("bottleneck") or {}).get("is_provisional")]
    read = partial(service.document, summary["run"])
    kept = {cell: result for cell in late if (result := read(f"cells/{cell}/result.json"))}
    return with_bottlenecks(summary, refreshed(service, kept, str(summary.get("environment"))))


def with_bottlenecks(summary: Document, results: Mapping[str, Document]) -> Document:
    """Return the summary with the bottlenecks of its cells' results."""
    cells = [
        {**cell, "bottleneck": hit} if (hit := results.get(cell["id"], {}).get("bottleneck")) else cell
        for cell in summary.get("cells", [])
    ]
    return {**summary, "cells": cells}
