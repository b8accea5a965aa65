"""Traffic of the instances' mounts by the minute, for comparison with CloudWatch's minutes.

The traffic of each step, and of the time before it, is spread evenly over its time. Sums over whole minutes are exact,
except the first and the last minute, which have traffic outside the steps.
"""

import math
from collections.abc import Collection, Iterator, Mapping, Sequence

from matrix.samples.file import Sample, SampleFile
from matrix.storages.models import COUNTERS
from matrix.terms.documents.watched import MovedByMinute

MINUTE_S = 60
WAYS = ("read_bytes", "write_bytes", "read_operations", "write_operations")
# Counters of requests to servers begin so.
SERVERS = ("nfs_", "lustre_")
# Bytes among the work that a program reports. `bytes`, without a direction, were written.
WORKED = ("bytes", "read_bytes", "write_bytes")
# Stands for a point's name for the time between the steps, which belongs to no point.
BETWEEN = ""
# A day has 1,440 minutes. A file that claims more than a week is forged.
MAX_MINUTES = 10_000


def by_mount(file: SampleFile, counted: Mapping[str, float]) -> dict[str, float]:
    """Return the traffic of an instance's mount, by the names of WAYS.

    Empty if the kernel does not count it: a folder shares its disk with other users.
    """
    where = COUNTERS.get(file.mount.kind or "")
    names = {way: f"{where}_{way}" for way in WAYS}
    return {way: counted[name] for way, name in names.items() if name in counted}


def of_work(sample: Sample) -> dict[str, float]:
    """Return the bytes and requests that an instance exchanged with the servers of its storage for its work.

    The kernel counts fio's ramp too, and the program does not. So what was counted beyond the program's own bytes
    belongs to the work for the share of the time that the work took. Empty for a disk, and if nothing was counted.
    """
    counted = {
        name: amount
        for name, amount in sample.counters.items()
        if name.startswith(SERVERS) and name.endswith(("_bytes", "_operations"))
    }
    asked = worked_bytes(sample)
    moved = moved_bytes(counted)
    share = max(asked / moved, 1 - sample.overhead_share) if 0 < asked < moved else 1.0
    return {name: amount * share for name, amount in counted.items()}


def worked_bytes(sample: Sample) -> float:
    """Return the bytes in both directions that a program reports as its work."""
    return sum(sample.work.get(name, 0.0) for name in WORKED)


def moved_bytes(counted: Mapping[str, float]) -> float:
    """Return the bytes in both directions among the counters of `of_work`."""
    return sum(amount for name, amount in counted.items() if name.endswith(("_read_bytes", "_write_bytes")))


def by_minute(files: Sequence[SampleFile], instances: Collection[str]) -> MovedByMinute:
    """Return bytes and operations that the mounts of these instances moved together in each minute, by point."""
    sums: dict[tuple[str, str], dict[int, float]] = {}
    for file in files:
        if file.instance.id not in instances or sum(len(_minutes(*span)) for _, *span, _ in _spans(file)) > MAX_MINUTES:
            continue
        for point, begun, ended, counted in _spans(file):
            for way, amount in by_mount(file, counted).items():
                by_time = sums.setdefault((point, way), {})
                for minute in _minutes(begun, ended):
                    by_time[minute] = by_time.get(minute, 0.0) + amount * _share(minute, begun, ended)
    at = sorted({minute for by_time in sums.values() for minute in by_time})
    moved: dict[str, dict[str, list[float]]] = {}
    for (point, way), by_time in sums.items():
        moved.setdefault(point, {})[way] = [by_time.get(minute, 0.0) for minute in at]
    return {"at": [float(minute * MINUTE_S) for minute in at], "points": moved}


def _spans(file: SampleFile) -> Iterator[tuple[str, float, float, Mapping[str, float]]]:
    for sample in file.samples:
        if sample.between and sample.between.since <= sample.started_at:
            yield BETWEEN, sample.between.since, sample.started_at, sample.between.counters
        yield sample.point, sample.started_at, sample.ended_at, sample.counters


def _minutes(begun: float, ended: float) -> range:
    first = math.floor(begun / MINUTE_S)
    return range(first, max(math.ceil(ended / MINUTE_S), first + 1))


def _share(minute: int, begun: float, ended: float) -> float:
    """Share of a span that is in a minute."""
    if ended <= begun:
        return 1.0
    return max(0.0, min(ended, (minute + 1) * MINUTE_S) - max(begun, minute * MINUTE_S)) / (ended - begun)
