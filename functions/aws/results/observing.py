"""Additional facts of AWS about a measured cell: CloudWatch metrics, and limits of the instance type."""

from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache, partial
from typing import Any

from botocore.exceptions import BotoCoreError, ClientError

from aws.records import bucket, table
from aws.stack import denials
from aws.stack.clients import client, impatient_client
from aws.stack.clock import now
from matrix.answer import bottleneck
from matrix.answer.bottleneck.instance_limits import limits_of, reached
from matrix.samples import cloudwatch
from matrix.samples.file import SampleFile
from matrix.storages.base import FILE_SYSTEM_ID
from matrix.storages.models import metrics_of
from matrix.terms.documents.plan import PlanCell
from matrix.terms.documents.result import Limit, ResultDocument
from matrix.terms.documents.watched import CloudWatchMetrics, WatchedResources
from matrix.terms.keys import Board

# GetMetricData allows 50 calls a second (CloudWatch quotas).
READS_AT_ONCE = 8


def observe(run: str, cell: PlanCell, files: Sequence[SampleFile]) -> tuple[CloudWatchMetrics, dict[str, Limit]] | None:
    """Return CloudWatch's metrics and the limits of the instance type, for the cell's result; None without samples."""
    samples = [sample for file in files for sample in file.samples]
    if not samples:
        return None
    rows_of = partial(table.resources, run, cell["file_system"])
    about = cloudwatch.resources(
        cell["storage"],
        cell["fleet"]["instanceType"],
        [file.instance.id for file in files],
        _volumes(rows_of(cell["id"])),
        [cell["storage"][FILE_SYSTEM_ID]] if FILE_SYSTEM_ID in cell["storage"] else _file_systems(rows_of("")),
    )
    begun, ended = min(sample.started_at for sample in samples), max(sample.ended_at for sample in samples)
    return read_metrics(impatient_client("cloudwatch"), about, begun, ended), _limits_of(cell)


def refresh(run: str, results: dict[str, ResultDocument], environment: str) -> None:
    """Read the metrics of cells again that may have arrived since; write the results that changed.

    Analyse cell runs seconds after the last sample; CloudWatch has mostly published those minutes by the run's end.
    """
    late = {cell: result for cell, result in results.items() if bottleneck.is_late(result)}
    read = partial(read_metrics, impatient_client("cloudwatch"))
    with ThreadPoolExecutor(READS_AT_ONCE) as pool:
        refreshed = pool.map(lambda result: bottleneck.refreshed(result, environment, read), late.values())
        for (cell, before), result in zip(late.items(), refreshed, strict=True):
            known, asked = before["cloudwatch"], result["cloudwatch"]
            # Do not write or draw again if only the time of the query differs.
            if (known["series"], known["is_settled"]) != (asked["series"], asked["is_settled"]):
                bucket.put(Board.of_cell(run, cell).result, result)
                results[cell] = result


def _volumes(rows: Sequence[Mapping[str, Any]]) -> dict[str, str]:
    """Return the data volumes of a cell, each with the instance it was attached to."""
    return {
        row["id"]: row["instance"]
        for row in rows
        if row["kind"] == "volume" and row.get("is_data") and row.get("instance")
    }


def _file_systems(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    return [row["id"] for row in rows if metrics_of(row["kind"]).of_file_system]


def _limits_of(cell: PlanCell) -> dict[str, Limit]:
    described = described_type(cell["fleet"]["instanceType"])
    return reached(limits_of(described), described, cell["storage"], cell["fleet"])


@cache
def described_type(instance_type: str) -> dict[str, Any]:
    """Return EC2's description of an instance type; empty where EC2 may not be asked."""
    try:
        answer = client("ec2").describe_instance_types(InstanceTypes=[instance_type])
    except (ClientError, BotoCoreError):
        return {}
    return dict(answer["InstanceTypes"][0])


def read_metrics(client: Any, about: WatchedResources, begun: float, ended: float) -> CloudWatchMetrics:
    """Return the available metrics of `about` (matrix.cloudwatch.resources) from `begun` to `ended`, in epoch seconds.

    A refusal must not cost the result: without permission the document has a reason and no values.
    """
    try:
        return cloudwatch.read(client.get_paginator("get_metric_data").paginate, about, begun, ended, now())
    except (ClientError, BotoCoreError) as error:
        return cloudwatch.refused(about, begun, ended, now(), denials.reason(error))
