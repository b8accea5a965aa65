"""CloudWatch metrics that arrived after a run's analysis, read with the user's own permissions."""

import time
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any

from cli.messages import terminal
from cli.target import relaunched
from cli.target.documents import readable
from cli.target.run_documents import RunDocuments
from cli.target.run_folders import RunStore
from matrix.terms.documents.result import ResultDocument
from matrix.terms.documents.summary import SummaryDocument
from matrix.terms.documents.watched import CloudWatchMetrics, WatchedResources


def with_late_metrics(
    store: RunStore, summary: SummaryDocument, results: Mapping[str, ResultDocument]
) -> dict[str, ResultDocument]:
    """Return the results of a run on AWS, each with the metrics that arrived after its analysis.

    Results stay as they are if CloudWatch cannot be asked.
    """
    if store.metric_pages is None or summary.get("environment") != "aws":
        return dict(results)
    read_again = partial(_read_again, store.metric_pages)
    # The metrics of a cell that was launched several times are in the results of its launches.
    several = [result for result in results.values() if "launches" in result and _is_provisional(result)]
    joined = relaunched.joined(RunDocuments(store, summary["run"]), several, refresh=read_again)
    return {**read_again(results), **joined}


def _is_provisional(cell: ResultDocument) -> bool:
    return "bottleneck" in cell and cell["bottleneck"]["is_provisional"]


def _read_again(
    pages: Callable[..., Iterator[dict[str, Any]]], results: Mapping[str, ResultDocument]
) -> dict[str, ResultDocument]:
    from botocore.exceptions import BotoCoreError, ClientError

    from matrix.answer import bottleneck
    from matrix.samples import cloudwatch

    def read(about: WatchedResources, begun: float, ended: float) -> CloudWatchMetrics:
        return cloudwatch.read(pages, about, begun, ended, time.time())

    late = {cell: result for cell, result in results.items() if bottleneck.is_late(result)}
    if not late:
        return dict(results)
    try:
        current = {cell: bottleneck.refreshed(result, "aws", read) for cell, result in late.items()}
    except (ClientError, BotoCoreError) as error:
        terminal.stderr().print(f"CloudWatch could not be asked again, so its metrics are as they were: {error}")
        return dict(results)
    return {**results, **current}


def summary_with_late_metrics(store: RunStore, summary: SummaryDocument) -> SummaryDocument:
    """Return the summary with the bottlenecks that follow from the current metrics."""
    late = [cell["id"] for cell in summary.get("cells", []) if _is_provisional(cell)]
    if not late or store.metric_pages is None or summary.get("environment") != "aws":
        return summary
    run = RunDocuments(store, summary["run"])
    kept = {cell: result for cell in late if (result := readable(run.result, cell))}
    return with_bottlenecks(summary, with_late_metrics(store, summary, kept))


def with_bottlenecks(summary: SummaryDocument, results: Mapping[str, ResultDocument]) -> SummaryDocument:
    """Return the summary with the bottlenecks of its cells' results."""
    cells: list[ResultDocument] = []
    for cell in summary.get("cells", []):
        hit = results[cell["id"]].get("bottleneck") if cell["id"] in results else None
        cells.append({**cell, "bottleneck": hit} if hit else cell)
    return {**summary, "cells": cells}
