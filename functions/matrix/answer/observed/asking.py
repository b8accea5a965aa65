"""CloudWatch queries for an existing storage: metrics, window and period."""

import math
from collections.abc import Mapping
from dataclasses import dataclass

from matrix.samples.cloudwatch import Query
from matrix.storages.metrics import Metric
from matrix.terms.documents.parts import Part

DAY_S = 86_400
# Days for which values are kept by the minute, by five minutes and by the hour (CloudWatch API reference,
# GetMetricData); a query with a period shorter than the stored one returns no values.
KEPT = ((15, 60), (63, 300), (455, 3_600))
# One less than the last: a window of whole periods begins a little before the requested number of days ago.
MAX_DAYS = KEPT[-1][0] - 1

VOLUME, EFS, FSX = "AWS/EBS", "AWS/EFS", "AWS/FSx"
_WANTED = {
    VOLUME: {
        "Sum": (
            "VolumeWriteBytes VolumeReadBytes VolumeWriteOps VolumeReadOps VolumeTotalWriteTime VolumeTotalReadTime "
            "VolumeIdleTime"
        ),
        "Average": "VolumeQueueLength",
        "Minimum": "BurstBalance",
    },
    EFS: {
        "Sum": (
            "DataWriteIOBytes DataReadIOBytes MetadataWriteIOBytes MetadataReadIOBytes TotalIOBytes MeteredIOBytes "
            "ClientConnections"
        ),
        "SampleCount": "TotalIOBytes DataReadIOBytes DataWriteIOBytes MetadataReadIOBytes MetadataWriteIOBytes",
        "Maximum": "PercentIOLimit",
        "Minimum": "PermittedThroughput BurstCreditBalance",
    },
    FSX: {
        "Sum": "DataWriteBytes DataReadBytes DataWriteOperations DataReadOperations MetadataOperations",
        "Maximum": (
            "ClientConnections NetworkThroughputUtilization FileServerDiskThroughputUtilization "
            "FileServerDiskIopsUtilization DiskIopsUtilization CPUUtilization"
        ),
        "Minimum": "FileServerDiskThroughputBalance FileServerDiskIopsBalance",
    },
}
# Nitro publishes these with both ids. They are 0 or 1 a minute, so that their mean is a share of the time.
_OF_ATTACHMENT = ("VolumeIOPSExceededCheck", "VolumeThroughputExceededCheck")


@dataclass(frozen=True)
class Subject:
    """A storage that exists, as its service describes it."""

    id: str
    namespace: str
    storage: Part | None  # as a matrix would write it; None if a matrix cannot have it
    words: str  # its description, if `storage` is None
    gib: float  # size of a volume, or stored data of a file system
    created_at: float  # epoch seconds
    instances: tuple[str, ...] = ()  # that a volume is attached to


@dataclass(frozen=True)
class Window:
    """Whole periods of time, in epoch seconds."""

    begun: float
    ended: float
    period_s: int

    @property
    def periods(self) -> int:
        """Number of periods."""
        return round((self.ended - self.begun) / self.period_s)


def window(days: int, now: float, created_at: float) -> Window:
    """Return the last `days` days, by CloudWatch's shortest period for them, but not before the subject existed.

    `days` is 1 to MAX_DAYS.
    """
    period_s = next(period_s for kept_days, period_s in KEPT if days < kept_days)
    ended = math.floor(now / period_s) * period_s
    since_created = math.floor(created_at / period_s) * period_s
    return Window(min(max(ended - days * DAY_S, since_created), ended - period_s), ended, period_s)


def queries(subject: Subject, period_s: int) -> list[Query]:
    """Return the queries for GetMetricData: at most 20 of its 500."""
    dimension = "VolumeId" if subject.namespace == VOLUME else "FileSystemId"
    wanted: list[tuple[str, str, Mapping[str, str]]] = [
        (name, statistic, {dimension: subject.id})
        for statistic, names in _WANTED[subject.namespace].items()
        for name in names.split()
    ]
    wanted += [
        (name, "Average", {dimension: subject.id, "InstanceId": instance})
        for name in _OF_ATTACHMENT
        for instance in subject.instances[:1]
    ]
    return [
        Query(f"m{number}", Metric(subject.namespace, name, statistic, "", period_s, tuple(resource)), resource)
        for number, (name, statistic, resource) in enumerate(wanted)
    ]
