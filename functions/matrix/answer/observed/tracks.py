"""A storage over time from CloudWatch: throughput, operations, utilisation, waiting and credits.

Every track has a value for each period of the window. A missing value is NaN, not zero.
"""

import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from matrix.answer.observed.asking import EFS, FSX, VOLUME, Window
from matrix.samples.cloudwatch import Query
from matrix.storages.base import Storage
from matrix.terms.charges import METERED_DATA_BYTES, METERED_METADATA_BYTES
from matrix.terms.documents.observed import ObservedMetric

Values = NDArray[np.float64]
Answers = Mapping[tuple[str, str], Values]

MIB, GIB = 2**20, 2**30
# Sums of a storage at its limit differ from minute to minute by a percent, as an operation counts when it ends.
AT_LIMIT = 0.98
# A balance that is paid from as fast as it is earned swings about nothing.
EMPTY_PERCENT = 1.0
# Parts of the window that a picture shows.
PARTS = 60
MINUTE_S = 60


@dataclass(frozen=True)
class Track:
    """One figure over the periods of the window."""

    name: str
    unit: str
    values: Values
    limit: float | Values | None = None
    is_balance: bool = False  # much is good, and nothing is the limit
    is_share_at_limit: bool = False  # the values are shares of each period at the limit


@dataclass(frozen=True)
class Use:
    """Use of a storage in each period."""

    tracks: list[Track]
    bytes_per_s: Values
    iops: Values
    read_bytes: float  # of the whole window, as EFS would meter them
    written_bytes: float


def gridded(
    answers: Iterable[tuple[Query, Sequence[tuple[float, float]]]], window: Window
) -> dict[tuple[str, str], Values]:
    """Return the values of each metric by name and statistic, one for each period of the window."""
    grid: dict[tuple[str, str], Values] = {}
    for query, points in answers:
        values = np.full(window.periods, np.nan)
        for at, value in points:
            place = round((at - window.begun) / window.period_s)
            if 0 <= place < window.periods:
                values[place] = value
        grid[query.metric.name, query.metric.statistic] = values
    return grid


def use(namespace: str, answers: Answers, storage: Storage | None, period_s: int) -> Use:
    """Return the use of a storage of the namespace, from the result of `gridded`."""
    return {VOLUME: _volume, EFS: _efs, FSX: _fsx}[namespace](answers, storage, period_s)


def _together(*parts: Values) -> Values:
    """Add the tracks that have a value in a period. Without any, the sum is NaN."""
    values: Values = np.where(np.all(np.isnan(parts), axis=0), np.nan, np.nansum(parts, axis=0))
    return values


def _throughput(answers: Answers, written: str, read: str, period_s: int) -> Values:
    """Return ((m1+m2)/1048576)/PERIOD(m1), the expression of the published EBS benchmark, in MiB/s."""
    return _together(answers[written, "Sum"], answers[read, "Sum"]) / MIB / period_s


def _metered(sums: Values, operations: Values, least_bytes: int = METERED_DATA_BYTES) -> float:
    """Return bytes as EFS bills them: AWS does not say whether the sums of these metrics include the least sizes."""
    return max(float(np.nansum(sums)), least_bytes * float(np.nansum(operations)))


def _volume(answers: Answers, storage: Storage | None, period_s: int) -> Use:
    def total(name: str) -> Values:
        return answers[name, "Sum"]

    mibps = _throughput(answers, "VolumeWriteBytes", "VolumeReadBytes", period_s)
    operations = _together(total("VolumeWriteOps"), total("VolumeReadOps"))
    waited_s = _together(total("VolumeTotalWriteTime"), total("VolumeTotalReadTime"))
    is_used = operations > 0
    # The mean latency is defined only for periods with operations.
    latency_ms = np.where(is_used, 1_000 * waited_s / np.where(is_used, operations, 1.0), np.nan)
    iops = operations / period_s
    balances = [Track("Burst balance", "%", answers["BurstBalance", "Minimum"], EMPTY_PERCENT, is_balance=True)]
    exceeded = [
        Track(f"{words} limit exceeded", "% of the time", 100 * answers[name, "Average"], None, is_share_at_limit=True)
        for words, name in (("IOPS", "VolumeIOPSExceededCheck"), ("Throughput", "VolumeThroughputExceededCheck"))
        if (name, "Average") in answers
    ]
    tracks = [
        Track("Throughput", "MiB/s", mibps, storage.bandwidth_bytes_per_s / MIB if storage else None),
        Track("IOPS", "IOPS", iops, float(storage.effective_iops) if storage else None),
        Track("Busy", "%", 100 * (1 - np.minimum(total("VolumeIdleTime"), period_s) / period_s)),
        Track("Queue length", "operations", answers["VolumeQueueLength", "Average"]),
        Track("Time of an operation", "ms", latency_ms),
        *balances,
        *exceeded,
    ]
    return Use(
        tracks,
        mibps * MIB,
        iops,
        _metered(total("VolumeReadBytes"), total("VolumeReadOps")),
        _metered(total("VolumeWriteBytes"), total("VolumeWriteOps")),
    )


def _efs(answers: Answers, storage: Storage | None, period_s: int) -> Use:
    def total(name: str) -> Values:
        return answers[name, "Sum"]

    def metadata(name: str) -> float:
        return _metered(total(name), answers[name, "SampleCount"], METERED_METADATA_BYTES)

    bytes_per_s = total("TotalIOBytes") / period_s
    iops = answers["TotalIOBytes", "SampleCount"] / period_s
    permitted = answers["PermittedThroughput", "Minimum"]
    metered = total("MeteredIOBytes") / period_s
    is_known = permitted > 0
    # EFS guide, metric math: metered throughput counts against the permitted one; reads count a third.
    used = np.where(is_known, 100 * metered / np.where(is_known, permitted, 1.0), np.nan)
    tracks = [
        Track("Throughput", "MiB/s", bytes_per_s / MIB),
        Track("Metered throughput", "MiB/s", metered / MIB, permitted / MIB),
        Track("Permitted throughput used", "%", used, 100.0),
        Track("IOPS", "IOPS", iops, float(storage.effective_iops) if storage else None),
        Track("I/O limit of General Purpose used", "%", answers["PercentIOLimit", "Maximum"], 100.0),
        Track("Burst credits", "GiB", answers["BurstCreditBalance", "Minimum"] / GIB, 0.0, is_balance=True),
        # The sum of a minute is the number of clients; a longer period adds up its minutes.
        Track("Clients", "connections", total("ClientConnections") * MINUTE_S / period_s),
    ]
    return Use(
        tracks,
        bytes_per_s,
        iops,
        _metered(total("DataReadIOBytes"), answers["DataReadIOBytes", "SampleCount"]) + metadata("MetadataReadIOBytes"),
        _metered(total("DataWriteIOBytes"), answers["DataWriteIOBytes", "SampleCount"])
        + metadata("MetadataWriteIOBytes"),
    )


def _fsx(answers: Answers, storage: Storage | None, period_s: int) -> Use:
    def total(name: str) -> Values:
        return answers[name, "Sum"]

    def used(words: str, name: str) -> Track:
        return Track(words, "%", answers[name, "Maximum"], 100.0)

    mibps = _throughput(answers, "DataWriteBytes", "DataReadBytes", period_s)
    names = ("DataWriteOperations", "DataReadOperations", "MetadataOperations")
    iops = _together(*(total(name) for name in names)) / period_s
    del storage  # its cache serves more than its disks could, so only AWS's utilisations show the use
    tracks = [
        Track("Throughput", "MiB/s", mibps),
        Track("IOPS", "IOPS", iops),
        used("Network used", "NetworkThroughputUtilization"),
        used("Disk throughput of the server used", "FileServerDiskThroughputUtilization"),
        used("Disk IOPS of the server used", "FileServerDiskIopsUtilization"),
        used("Provisioned IOPS used", "DiskIopsUtilization"),
        used("Processor used", "CPUUtilization"),
        *(
            Track(words, "%", answers[name, "Minimum"], EMPTY_PERCENT, is_balance=True)
            for words, name in (
                ("Disk throughput credits", "FileServerDiskThroughputBalance"),
                ("Disk IOPS credits", "FileServerDiskIopsBalance"),
            )
        ),
        Track("Clients", "connections", answers["ClientConnections", "Maximum"]),
    ]
    return Use(
        tracks,
        mibps * MIB,
        iops,
        _metered(total("DataReadBytes"), total("DataReadOperations")),
        _metered(total("DataWriteBytes"), total("DataWriteOperations")),
    )


def described(tracks: Iterable[Track], window: Window) -> Iterator[ObservedMetric]:
    """Yield how each track was distributed that has any value."""
    for track in tracks:
        values = track.values[~np.isnan(track.values)]
        if not len(values):
            continue
        levels = [50.0, 10.0, 1.0, 0.0] if track.is_balance else [50.0, 90.0, 99.0, 100.0]
        p50, p90, p99, worst = (float(value) for value in np.percentile(values, levels))
        yield {
            "name": track.name,
            "unit": track.unit,
            "p50": p50,
            "p90": p90,
            "p99": p99,
            "worst": worst,
            "limit": _steady_limit(track.limit),
            "hours_at_limit": _hours_at_limit(track, window.period_s),
            "covered": len(values) / len(track.values),
            "over_time": list(_worst_of_parts(track)),
        }


def _steady_limit(limit: float | Values | None) -> float | None:
    """Return a limit if it is constant. A changing limit is shown by the utilisation instead."""
    if limit is None or isinstance(limit, float | int):
        return limit
    known = limit[~np.isnan(limit)]
    return float(known[0]) if len(known) and np.all(known == known[0]) else None


def _hours_at_limit(track: Track, period_s: int) -> float | None:
    if track.is_share_at_limit:
        return float(np.nansum(track.values)) / 100 * period_s / 3_600
    if track.limit is None:
        return None
    with np.errstate(invalid="ignore"):
        is_at = track.values <= track.limit if track.is_balance else track.values >= AT_LIMIT * np.asarray(track.limit)
    return int(np.count_nonzero(is_at)) * period_s / 3_600


def _worst_of_parts(track: Track) -> Iterator[float | None]:
    worst = np.nanmin if track.is_balance else np.nanmax
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # parts without any value
        for part in np.array_split(track.values, min(PARTS, len(track.values))):
            value = float(worst(part))
            yield None if np.isnan(value) else value
