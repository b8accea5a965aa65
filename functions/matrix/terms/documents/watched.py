"""CloudWatch's metrics while a cell was measured."""

from typing import NotRequired

from typing_extensions import TypedDict


class WatchedResources(TypedDict):
    """Resources of CloudWatch metrics."""

    type: str
    volume_type: str | None
    instance_type: str
    instances: list[str]
    of: int
    """How many instances there were; of a large fleet only some are asked for."""
    volumes: dict[str, str]
    """By volume: the instance that it was attached to."""
    file_systems: NotRequired[list[str]]
    """Resources that the instances share."""


class MetricSeries(TypedDict):
    """One metric of one resource."""

    namespace: str
    metric: str
    statistic: str
    unit: str
    period_s: int
    resource: dict[str, str]
    expression: str | None
    at: list[float]
    """Epoch seconds at which each period begins."""
    values: list[float]


# `from` is a word of Python, so this one cannot be written as a class.
CloudWatchMetrics = TypedDict(
    "CloudWatchMetrics",
    {
        "from": float,
        "to": float,
        "read_at": float,
        "is_settled": bool,
        "resources": WatchedResources,
        "series": NotRequired[list[MetricSeries]],
        "absent": list[str],
        "unasked": str | None,
    },
)
