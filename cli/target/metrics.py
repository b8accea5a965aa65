"""CloudWatch metrics that arrived after a run's analysis, read with the user's own permissions."""

import time
from collections.abc import Mapping
from functools import partial

from cli.messages import terminal
from cli.target import relaunched
from cli.target.documents import readable
from cli.target.run_documents import RunDocuments
from cli.target.run_store import MetricPages, RunStore
from matrix.terms.documents.result import ResultDocument
from matrix.terms.documents.summary import SummaryDocument
from matrix.terms.documents.watched import CloudWatchMetrics, WatchedResources


def refreshed(
    store: RunStore, summary: SummaryDocument, results: Mapping[str, ResultDocument]
) -> dict[str, ResultDocument]:
    """Return the results of a run on AWS with its current metrics, or unchanged if these cannot be read."""
    if store.metric_pages is None or summary.get("environment") != "aws":
        return dict(results)
    apart = [result for result in results.values() if "launches" in result and _is_provisional(result)]
    again = relaunched.joined(
        RunDocuments(store, summary["run"]), apart, refresh=partial(_refreshed, store.metric_pages)
    )
    return {**_refreshed(store.metric_pages, results), **again}


def _is_provisional(cell: ResultDocument) -> bool:
    return "bottleneck" in cell and cell["bottleneck"]["is_provisional"]


def _refreshed(pages: MetricPages, results: Mapping[str, ResultDocument]) -> dict[str, ResultDocument]:
    from botocore.exceptions import BotoCoreError, ClientError

    from matrix.answer import bottleneck
    from matrix.samples import cloudwatch

    def read(about: WatchedResources, begun: float, ended: float) -> CloudWatchMetrics:
        return cloudwatch.read(pages, about, begun, ended, time.time())

    late = {cell: result for cell, result in results.items() if bottleneck.is_late(result)}
    if not late:
        return dict(results)
    try:
        read_again = {cell: bottleneck.refreshed(result, "aws", read) for cell, result in late.items()}
    except (ClientError, BotoCoreError) as error:
        terminal.stderr().print(f"CloudWatch could not be asked again, so its metrics are as they were: {error}")
        return dict(results)
    return {**results, **read_again}


def refreshed_summary(store: RunStore, summary: SummaryDocument) -> SummaryDocument:
    """Return the summary with the bottlenecks that follow from the current metrics."""
    late = [cell["id"] for cell in summary.get("cells", []) if _is_provisional(cell)]
    if not late or store.metric_pages is None or summary.get("environment") != "aws":
        return summary
    run = RunDocuments(store, summary["run"])
    kept = {cell: result for cell in late if (result := readable(run.result, cell))}
    return with_bottlenecks(summary, refreshed(store, summary, kept))


def with_bottlenecks(summary: SummaryDocument, results: Mapping[str, ResultDocument]) -> SummaryDocument:
    """Return the summary with the bottlenecks of its cells' results."""
    cells: list[ResultDocument] = []
    for cell in summary.get("cells", []):
        hit = results[cell["id"]].get("bottleneck") if cell["id"] in results else None
        cells.append({**cell, "bottleneck": hit} if hit else cell)
    return {**summary, "cells": cells}
