"""CloudWatch's metrics of a cell: the queries, and the interpretation of their responses. No call is made here.

Each storage lists its own metrics (`matrix/storages/<type>_metrics.py`). This module lists those of every instance,
from the user guide of EC2, read in November 2026. A resource does not publish every metric: some are for Nitro or gp2
only. Such a metric has no values in the response. It is listed as absent, and absent never counts as zero.
"""

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, cast

from matrix.storages.metrics import FIVE_MINUTES_S, Metric, metrics_table
from matrix.storages.models import metrics_of
from matrix.terms.documents.parts import StorageFields
from matrix.terms.documents.watched import CloudWatchMetrics, MetricSeries, WatchedResources

# GetMetricData takes 500 queries a call, expressions among them, and answers 100,800 values (API reference).
QUERIES_A_CALL = 500
# For a larger fleet only this many instances are queried: GetMetricData costs 0.01 USD per 1,000 metrics, and agents'
# own counters have most of these figures for every instance.
MAX_INSTANCES = 20
# Minute values arrive some minutes late, five-minute values of EC2 up to ten (EC2 guide, basic monitoring).
SETTLED_AFTER_S = 15 * 60
EC2 = metrics_table(
    "AWS/EC2",
    ("InstanceId",),
    FIVE_MINUTES_S,
    """
    CPUUtilization Average %
    NetworkIn      Sum     bytes
    NetworkOut     Sum     bytes
    """,
)
# T types alone live on processor credits.
EC2_CREDITS = metrics_table("AWS/EC2", ("InstanceId",), FIVE_MINUTES_S, "CPUCreditBalance Minimum credits")


def resources(
    storage: StorageFields, instance_type: str, instances: Sequence[str], volumes: Mapping[str, str],
    file_systems: Sequence[str],
) -> WatchedResources:  # fmt: skip
    """Return the resources whose metrics a cell needs. `volumes` names the instance of each data volume.

    Of a large fleet these are some instances, chosen evenly, and their volumes; `of` is the size of the fleet.
    """
    step = max(1, math.ceil(len(instances) / MAX_INSTANCES))
    chosen = sorted(instances)[::step]
    return {
        "type": storage["type"],
        "volume_type": storage.get("volumeType"),
        "instance_type": instance_type,
        "instances": chosen,
        "of": len(instances),
        "volumes": {volume: instance for volume, instance in sorted(volumes.items()) if instance in chosen},
        "file_systems": list(file_systems),
    }


def window(begun: float, ended: float) -> tuple[int, int]:
    """Return a cell's window, widened to multiples of five minutes of the clock, where CloudWatch's periods begin."""
    first = math.floor(begun / FIVE_MINUTES_S) * FIVE_MINUTES_S
    return first, max(math.ceil(ended / FIVE_MINUTES_S) * FIVE_MINUTES_S, first + FIVE_MINUTES_S)


@dataclass(frozen=True)
class Series:
    """Values of one metric of one resource; each covers the period that begins at its time."""

    resource: Mapping[str, str]
    period_s: float
    at: Sequence[float]
    values: Sequence[float]

    def __iter__(self) -> Iterator[tuple[float, float]]:
        """Yield (time, value)."""
        return iter(zip(self.at, self.values, strict=True))


@dataclass(frozen=True)
class Query:
    """One series to query: the metric of a resource, or an expression over two of its metrics."""

    id: str
    metric: Metric
    resource: Mapping[str, str]
    expression: str | None = None

    def to_request(self) -> dict[str, Any]:
        """Return the query as GetMetricData takes it."""
        if self.expression:
            return {"Id": self.id, "Expression": self.expression, "Label": self.metric.name}
        dimensions = [{"Name": name, "Value": self.resource[name]} for name in self.metric.dimensions]
        named = {"Namespace": self.metric.namespace, "MetricName": self.metric.name, "Dimensions": dimensions}
        asked = {"Metric": named, "Period": self.metric.period_s, "Stat": self.metric.statistic}
        return {"Id": self.id, "MetricStat": asked}


def calls(about: WatchedResources) -> Iterator[list[Query]]:
    """Yield the queries of each call; queries of one resource share a call, since an expression needs its metrics."""
    call: list[Query] = []
    for index, group in enumerate(_groups(about)):
        named = [
            Query(f"r{index}m{number}", metric, resource, _expression(metric, index))
            for number, (metric, resource) in enumerate(group)
        ]
        if len(call) + len(named) > QUERIES_A_CALL:
            yield call
            call = []
        call += named
    if call:
        yield call


def _expression(metric: Metric, index: int) -> str | None:
    return metric.expression.format(f"r{index}m0", f"r{index}m1") if metric.expression else None


def _groups(about: WatchedResources) -> Iterator[list[tuple[Metric, dict[str, str]]]]:
    metrics = metrics_of(about["type"])
    for volume, instance in about["volumes"].items():
        of_volume = metrics.of_volume(about["volume_type"])
        yield [(metric, _named(metric, VolumeId=volume, InstanceId=instance)) for metric in of_volume]
    credits_ = EC2_CREDITS if about["instance_type"].startswith("t") else ()
    for instance in about["instances"]:
        yield [(metric, _named(metric, InstanceId=instance)) for metric in (*EC2, *credits_, *metrics.of_instance)]
    for file_system in about.get("file_systems", ()) if metrics.of_file_system else ():
        yield [(metric, _named(metric, FileSystemId=file_system)) for metric in metrics.of_file_system]


def _named(metric: Metric, **ids: str) -> dict[str, str]:
    return {name: ids[name] for name in metric.dimensions}


def document(
    about: WatchedResources, span: tuple[float, float], answers: Iterable[tuple[Query, Sequence[tuple[float, float]]]],
    *, read_at: float, unasked: str | None = None,
) -> CloudWatchMetrics:  # fmt: skip
    """Return the document for a cell's result: each series with values, and the names of metrics without values.

    `span` is from the first start to the last end of the cell's samples; `unasked` is the reason for not querying.
    """
    begun, ended = span
    series: list[MetricSeries] = []
    names: dict[str, bool] = {}
    for query, points in answers:
        metric = query.metric
        # The answer covers whole five minutes; only periods that overlap the measurement are kept.
        kept = [(at, value) for at, value in points if begun - metric.period_s < at < ended]
        name = f"{metric.namespace} {metric.name}"
        names[name] = names.get(name, False) or bool(kept)
        if kept:
            series.append(
                {
                    "namespace": metric.namespace, "metric": metric.name, "statistic": metric.statistic,
                    "unit": metric.unit, "period_s": metric.period_s, "resource": dict(query.resource),
                    "expression": query.expression, "at": [at for at, _ in kept], "values": [v for _, v in kept],
                }
            )  # fmt: skip
    return {
        "from": begun,
        "to": ended,
        "read_at": read_at,
        "is_settled": read_at >= ended + SETTLED_AFTER_S,
        "resources": about,
        "series": series,
        "absent": sorted(name for name, has_values in names.items() if not has_values),
        "unasked": unasked,
    }


def read(
    pages: Callable[..., Iterable[Mapping[str, Any]]], about: WatchedResources, begun: float, ended: float,
    read_at: float,
) -> CloudWatchMetrics:  # fmt: skip
    """Return the metrics of `about` (see `resources`) from `begun` to `ended`, as far as they exist.

    `pages` calls GetMetricData page by page: a botocore paginator's `paginate`. The caller handles its errors.
    """
    answers: list[tuple[Query, Sequence[tuple[float, float]]]] = []
    for queries in calls(about):
        answers += answered(pages, queries, *window(begun, ended))
    return document(about, (begun, ended), answers, read_at=read_at)


def answered(
    pages: Callable[..., Iterable[Mapping[str, Any]]], queries: Sequence[Query], begun: float, ended: float
) -> list[tuple[Query, Sequence[tuple[float, float]]]]:
    """Return each query with its values by their times, of all pages that GetMetricData answers to one call."""
    start, end = (datetime.fromtimestamp(at, UTC) for at in (begun, ended))
    asked = [query.to_request() for query in queries]
    values_by_id: dict[str, list[tuple[float, float]]] = {}
    for page in pages(MetricDataQueries=asked, StartTime=start, EndTime=end, ScanBy="TimestampAscending"):
        for result in page["MetricDataResults"]:
            times = (at.timestamp() for at in result["Timestamps"])
            values_by_id.setdefault(result["Id"], []).extend(zip(times, result["Values"], strict=True))
    return [(query, values_by_id.get(query.id, [])) for query in queries]


def refused(about: WatchedResources, begun: float, ended: float, read_at: float, reason: str) -> CloudWatchMetrics:
    """Return the document of a cell whose metrics may not be queried: the reason, and no values."""
    return document(about, (begun, ended), [], read_at=read_at, unasked=reason)


def without_series(kept: CloudWatchMetrics) -> CloudWatchMetrics:
    """Return the document without its values, which result.json keeps."""
    return cast("CloudWatchMetrics", {name: value for name, value in kept.items() if name not in ("series", "moved")})


def values(kept: CloudWatchMetrics | None, name: str, statistic: str | None = None) -> list[Series]:
    """Return each series of a metric (`AWS/EBS BurstBalance`); empty if it is absent.

    With several statistics the series are the values themselves and not their count, unless `statistic` selects it.
    """
    wanted = [
        series
        for series in (kept.get("series", []) if kept else [])
        if f"{series['namespace']} {series['metric']}" == name
        and (series["statistic"] == statistic if statistic else series["statistic"] != "SampleCount")
    ]
    return [Series(series["resource"], series["period_s"], series["at"], series["values"]) for series in wanted]
