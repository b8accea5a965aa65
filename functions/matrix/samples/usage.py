"""A point's use of its instances and its storage: rates and shares from the agents' counters around each sample.

Each figure is the median over the samples that have it, so one disturbed instance does not decide it.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from statistics import median
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from matrix.terms.grouping import grouped

if TYPE_CHECKING:
    from matrix.samples.file import FileSample, Sample, SampleFile

MB, MIB = 1e6, 2.0**20
# Counters with a rate of the same name, such as `disk_read_bytes_per_s`.
RATES = (
    *("network_received_bytes", "network_sent_bytes", "network_received_packets", "network_sent_packets"),
    *("disk_read_bytes", "disk_write_bytes"),
    *("disk_read_operations", "disk_write_operations", "nfs_read_bytes", "nfs_write_bytes"),
    *("nfs_read_operations", "nfs_write_operations", "nfs_other_operations", "nfs_timeouts"),
    *("lustre_read_bytes", "lustre_write_bytes", "lustre_read_operations", "lustre_write_operations"),
    *("lustre_creates", "lustre_unlinks", "lustre_directories", "lustre_rmdirs"),
)
ALLOWANCE = "_allowance_exceeded"
# Rates by the workload's own clock, which runs while it works; the counters are read around its programs.
OWN_RATES = frozenset({"operations_per_s", "files_per_s", "requests_per_s", "bytes_per_s"})
LATENCIES = (
    *("create_lat_p50_us", "read_lat_p50_us", "write_lat_p50_us", "sync_lat_p50_us"),
    *("stat_lat_p50_us", "open_read_lat_p50_us", "rename_lat_p50_us", "delete_lat_p50_us"),
)
# A sample that took no time by the wall clock counts as one millisecond, so that its rate is finite.
MIN_S = 1e-3


class Used(NamedTuple):
    """A sample and its own use: rates in units per second, shares from 0 to 1."""

    sample: "Sample"
    figures: dict[str, float]


def used(file_samples: Iterable["FileSample"]) -> list[Used]:
    """Return the use of each sample of a point."""
    return [Used(sample, dict(_of_sample(file, sample))) for file, sample in file_samples]


def use_of(of_point: Iterable[Used]) -> dict[str, float]:
    """Return the medians of one point: rates in units per second of one instance, shares from 0 to 1.

    - `bytes_per_s`, `operations_per_s`, `files_per_s`, `requests_per_s`: the workload's own counts
    - `disk_…`, `nfs_…`, `lustre_…`: the kernel's requests to the disk or the servers
    - `cpu_share`, `steal_share`: of all processors; `worker_share`: of the processors that the workers can use at once
    - `…_allowance_exceeded_per_s`: packets that EC2 queued or dropped
    - `tool_share`: of the tool's rate on this instance without a storage (calibration)
    - `seconds`, `workers`, `latency_s` (median of one operation), `nfs_round_trip_s` (mean of one request)
    """
    return _medians((name, value) for _, figures in of_point for name, value in figures.items())


def fleet_use_of(of_point: Iterable[Used]) -> dict[str, float]:
    """Return the rates of all instances of one point together, in units per second: medians over its repetitions.

    On a shared storage the rates of single instances do not add up: an instance that ends early had a larger share,
    but only until it ended. Only the work of the first k instances until the end of the k-th is certain. The
    result is the largest of these sums divided by the time since the first start: the fleet reached at least this
    rate, and a straggler cannot lower it.
    """
    repetitions = grouped((use.sample.repetition, use) for use in of_point)
    return _medians(figure for together in repetitions.values() for figure in _together(together))


def _medians(figures: Iterable[tuple[str, float]]) -> dict[str, float]:
    by_name = grouped((name, value) for (name, value) in figures)
    return {name: median(values) for name, values in sorted(by_name.items())}


def _together(together: Sequence[Used]) -> Iterator[tuple[str, float]]:
    by_programs = _Spans([(sample.started_at, sample.ended_at) for sample, _ in together])
    by_work = _Spans([sample.work_span for sample, _ in together])
    for name in {name for _, figures in together for name in figures}:
        if name.endswith("_per_s") and ALLOWANCE not in name:
            # The work is a rate times the span of that rate; another span would give another amount.
            spans = by_work if name in OWN_RATES else by_programs
            yield name, spans.best_rate([figures.get(name, 0.0) for _, figures in together])


class _Spans:
    """When the instances of one repetition worked: (start, end) of each, in epoch seconds."""

    def __init__(self, spans: Sequence[tuple[float, float]]) -> None:
        start, end = np.array(spans).T
        self._order = np.argsort(end, kind="stable")
        self._lasted_s = np.maximum(end - start, MIN_S)[self._order]
        self._since_first_s = np.maximum(end - start.min(), MIN_S)[self._order]

    def best_rate(self, rates: Sequence[float]) -> float:
        """Return the largest work of the first k to end over the time that they took, by each one's own rate."""
        done = np.cumsum(np.array(rates)[self._order] * self._lasted_s)
        return float((done / self._since_first_s).max())


def _of_sample(file: "SampleFile", sample: "Sample") -> Iterator[tuple[str, float]]:
    seconds = max(sample.ended_at - sample.started_at, MIN_S)
    start, end = sample.work_span
    yield "seconds", seconds
    yield from _of_work(sample, max(end - start, MIN_S))
    yield from _of_processors(sample, seconds, _count(file.host.cpus))
    yield from _of_counters(sample.counters, seconds)
    yield from _of_calibration(file, sample)
    if sample.workers:
        yield "workers", float(sample.workers)
    latencies = [sample.metrics[name] for name in LATENCIES if name in sample.metrics]
    if latencies:
        yield "latency_s", max(latencies) / 1e6


def _of_work(sample: "Sample", seconds: float) -> Iterator[tuple[str, float]]:
    """Yield the workload's own rates if it has any, since a sample's time includes the start of its programs."""
    metrics, work = sample.metrics, sample.work
    if "iops" in metrics:
        yield "operations_per_s", metrics["iops"]
    for name in ("files_per_s", "requests_per_s"):
        if name in metrics:
            yield name, metrics[name]
    if "mb_per_s" in metrics:
        yield "bytes_per_s", metrics["mb_per_s"] * MB
    elif "mib_per_s" in metrics:
        yield "bytes_per_s", metrics["mib_per_s"] * MIB
    elif moved := sum(amount for name, amount in work.items() if name in ("bytes", "read_bytes", "write_bytes")):
        yield "bytes_per_s", moved / seconds


def _of_processors(sample: "Sample", seconds: float, cpus: int | None) -> Iterator[tuple[str, float]]:
    counted = sample.counters
    if cpus is None or "cpu_s" not in counted:
        return
    stolen = counted.get("steal_s", 0.0)
    # The counters are read shortly before the start and after the end of the sample, and the kernel counts in ticks of
    # 10 ms, so a share may exceed 1 and is cut there.
    between = max(seconds, counted.get("counted_s", 0.0))
    yield "cpu_share", min(1.0, (counted["cpu_s"] + stolen) / (between * cpus))
    yield "steal_share", min(1.0, stolen / (between * cpus))
    if sample.workers and "tool_cpu_s" in counted:
        yield "worker_share", min(1.0, counted["tool_cpu_s"] / (seconds * min(cpus, sample.workers)))


def _of_calibration(file: "SampleFile", sample: "Sample") -> Iterator[tuple[str, float]]:
    for ceiling in file.calibration:
        if sample.point in ceiling.points and ceiling.metric in sample.metrics:
            yield "tool_share", sample.metrics[ceiling.metric] / ceiling.value


def _of_counters(counted: Mapping[str, float], seconds: float) -> Iterator[tuple[str, float]]:
    for name, amount in counted.items():
        if name in RATES or name.endswith(ALLOWANCE):
            yield f"{name}_per_s", amount / seconds
    if "disk_busy_s" in counted:
        yield "disk_busy_share", min(1.0, counted["disk_busy_s"] / seconds)
    requests = sum(counted.get(f"nfs_{kind}_operations", 0.0) for kind in ("read", "write", "other"))
    if requests:
        yield "nfs_round_trip_s", counted.get("nfs_round_trip_s", 0.0) / requests


def _count(text: str | None) -> int | None:
    return int(text) if text is not None and text.isdecimal() and 0 < int(text) < 10**6 else None
