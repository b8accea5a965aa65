"""The metrics: name, unit, whether higher is better, meaning and title."""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from contract.histogram import LEVELS, TAIL_OPERATIONS
from matrix.terms.documents.parts import Part


@dataclass(frozen=True)
class Metric:
    """A measured quantity."""

    unit: str
    higher_is_better: bool
    meaning: str


# What a latency is of, by the operation in its metrics' names.
_LATENCIES = {
    "create": "of one create on one instance",
    "stat": "of one stat on one instance",
    "open_read": "of opening, reading and closing a file",
    "list": "of listing a whole directory, or a page of keys, on one instance",
    "rename": "of one rename on one instance",
    "delete": "of one delete on one instance",
    "request": "of a request of a mix, over all operations",
    "put": "of a PUT of one object, all its parts included",
    "get": "of a GET of one object",
    "head": "of a HEAD of one object",
    "read": "of a read on one instance",
    "write": "of a write on one instance",
    "sync": "of an fsync or fdatasync on one instance",
    "read_completion": "from the submission of a read to its completion, in imported fio files",
    "write_completion": "from the submission of a write to its completion, in imported fio files",
}
# How a level is called in a meaning, by its name in contract.histogram.LEVELS; the maximum has no level.
_WORDS = {"p50": "median time", "max": "longest time"}


def _latency_metrics(operation: str) -> dict[str, Metric]:
    """Return the metrics of the latency of an operation, by name."""
    words = {name: f"{level:g}th percentile of the time" for name, level in LEVELS.items()} | _WORDS
    meant = _LATENCIES[operation]
    return {f"{operation}_lat_{name}_us": Metric("µs", False, f"{how} {meant}") for name, how in words.items()}


METRICS: dict[str, Metric] = {
    "duration_s": Metric("s", False, "wall time of one step on one instance, by the monotonic clock"),
    "files_per_s": Metric("files/s", True, "files created, copied or otherwise done per second by one instance"),
    "creates_per_s": Metric("files/s", True, "files created per second by one instance"),
    "stats_per_s": Metric("files/s", True, "stat calls per second by one instance"),
    "open_reads_per_s": Metric("files/s", True, "files opened, read and closed per second by one instance"),
    "lists_per_s": Metric("files/s", True, "entries of directories listed per second by one instance"),
    "renames_per_s": Metric("files/s", True, "files renamed per second by one instance"),
    "deletes_per_s": Metric("files/s", True, "files deleted per second by one instance"),
    "longest_stall_s": Metric(
        "s", False, "longest time without a finished operation on one instance; 0 if never more than 0.1 s"
    ),
    "mb_per_s": Metric("MB/s", True, "10^6 bytes per second moved by one instance"),
    "mib_per_s": Metric("MiB/s", True, "2^20 bytes per second moved by one instance"),
    "slowest_dd_s": Metric("s", False, "duration that the slowest dd of one step reports, as in the tutorial's table"),
    "slowest_dd_mb_per_s": Metric("MB/s", True, "10^6 bytes per second that the slowest dd of one step reports"),
    "requests_per_s": Metric("requests/s", True, "reads, or requests for objects, per second by one instance"),
    "objects_per_s": Metric("objects/s", True, "objects put, read, queried by HEAD, listed or deleted per second"),
    "throttled_requests": Metric("requests", False, "attempts that S3 throttled (503) and the client retried"),
    "failed_requests": Metric("requests", False, "attempts that failed for another reason and the client retried"),
    "highest_rate_per_s": Metric(
        "operations/s",
        True,
        "highest rate of an open-loop sweep up to which an instance kept up and its P99 stayed within p99AtMostMs",
    ),
    "fetch_s": Metric(
        "s", False, "time that one instance took to fill the cache on its own storage before its first build"
    ),
    "build_cpu_s": Metric("s", False, "processor time, user and system, of one build"),
    "command_cpu_s": Metric("s", False, "processor time, user and system, of one command"),
    "iops": Metric("IOPS", True, "reads and writes completed per second by one instance"),
    "read_iops": Metric("IOPS", True, "reads completed per second by one instance"),
    "write_iops": Metric("IOPS", True, "writes completed per second by one instance"),
    "read_mib_per_s": Metric("MiB/s", True, "2^20 bytes per second read by one instance"),
    "write_mib_per_s": Metric("MiB/s", True, "2^20 bytes per second written by one instance"),
    **{name: metric for operation in _LATENCIES for name, metric in _latency_metrics(operation).items()},
}


def own_metrics(workload: Part) -> dict[str, Metric]:
    """Return the metrics that a workload (its document) declares itself."""
    declared: Mapping[str, Mapping[str, str]] = workload.get("metrics") or {}
    return {
        name: Metric(metric["unit"], metric["better"] == "higher", f"{name}, as the command prints it")
        for name, metric in declared.items()
    }


def metrics_of(workload: Part) -> dict[str, Metric]:
    """Return all metrics that samples of a workload (its document) may have: those it declares, and METRICS."""
    return {**own_metrics(workload), **METRICS}


def latencies(*operations: str) -> set[str]:
    """Return the names of the latency metrics of these operations."""
    return {name for operation in operations for name in _latency_metrics(operation)}


def measured_names(samples: Sequence[Collection[str]]) -> list[str]:
    """Return the names of the metrics of samples (or launches), given the names that each has.

    A tail percentile that any of them lacks is left out of all: slow instances do the fewest operations, so the
    percentile of the others would be too good.
    """
    return sorted(name for name in set().union(*samples) if not any(lacks_tail(each, name) for each in samples))


def latency_of(name: str) -> tuple[str, float] | None:
    """Return the operation and the level of a metric that is a percentile of latencies; None for others."""
    latency = _LATENCY.fullmatch(name)
    return (latency["operation"], LEVELS[latency["level"]]) if latency and latency["level"] in LEVELS else None


def lacks_tail(names: Collection[str], name: str) -> bool:
    """Whether metrics with these names are of too few operations for this percentile of their latency."""
    latency = _LATENCY.fullmatch(name)
    if latency is None or latency["level"] not in TAIL_OPERATIONS:
        return False
    return name not in names and f"{latency['operation']}_lat_p50_us" in names


# Titles of metrics for people. The title of a latency is made from its operation.
_TITLES = {
    "duration_s": "Duration",
    "files_per_s": "File rate",
    "creates_per_s": "Create rate",
    "stats_per_s": "Stat rate",
    "open_reads_per_s": "Open and read rate",
    "lists_per_s": "List rate",
    "renames_per_s": "Rename rate",
    "deletes_per_s": "Delete rate",
    "longest_stall_s": "Longest stall",
    "mb_per_s": "Throughput",
    "mib_per_s": "Throughput",
    "slowest_dd_s": "Duration of the slowest dd",
    "slowest_dd_mb_per_s": "Throughput of the slowest dd",
    "requests_per_s": "Request rate",
    "objects_per_s": "Object rate",
    "throttled_requests": "Throttled requests",
    "failed_requests": "Failed requests",
    "highest_rate_per_s": "Highest rate within the limit",
    "fetch_s": "Time to fill the cache",
    "build_cpu_s": "Processor time",
    "command_cpu_s": "Processor time of a command",
    "iops": "I/O rate",
    "read_iops": "Read rate",
    "write_iops": "Write rate",
    "read_mib_per_s": "Read throughput",
    "write_mib_per_s": "Write throughput",
}
_DURATIONS = {"build": "Build time", "yocto": "Build time", "transfer": "Transfer time"}
_LATENCY = re.compile(r"(?P<operation>[a-z_]+)_lat_(?P<level>p[0-9]+|max)_us")


def metric_title(name: str, workload: str = "") -> str:
    """Return the title of a metric, such as `Build time` or `Read latency P99`; an unknown metric keeps its name.

    Tables and charts show it; CSV and JSON have the name.
    """
    if name == "duration_s" and workload in _DURATIONS:
        return _DURATIONS[workload]
    if latency := _LATENCY.fullmatch(name):
        level = LEVELS.get(latency["level"])
        words = "maximum" if level is None else f"P{level:g}"
        return f"{latency['operation'].replace('_', ' and ').capitalize()} latency {words}"
    return _TITLES.get(name, name)


def describe_measure(name: str, unit: str) -> str:
    """Return the measured quantity for a table's title: the unit, `duration`, or the name of a command's metric."""
    if name not in METRICS:
        return f"{name} in {unit}"
    if unit != "s":
        return unit
    title = _TITLES.get(name, "duration")
    return title[0].lower() + title[1:]


# Without `iops`, which is also a field of storages: messages name that field as the matrix does.
_NAMES = re.compile(rf"\b({'|'.join(sorted(METRICS.keys() - {'iops'}, key=len, reverse=True))})\b")


def readable(text: str, workload: str = "") -> str:
    """Replace the names of metrics in a sentence by their titles: `P90 of build time` for `P90 of duration_s`."""

    def title(match: re.Match[str]) -> str:
        words = metric_title(match[0], workload)
        return words if words[:2].isupper() or words[1:2] == "/" else words[0].lower() + words[1:]

    return _NAMES.sub(title, text)
