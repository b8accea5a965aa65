"""What can be measured: each metric's unit, whether more of it is better, and which one a workload is judged by."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Metric:
    """A measured quantity."""

    unit: str
    higher_is_better: bool
    meaning: str


METRICS: dict[str, Metric] = {
    "duration_s": Metric("s", False, "wall time of one step on one instance, by the monotonic clock"),
    "files_per_s": Metric("files/s", True, "files created or copied per second by one instance"),
    "create_lat_p50_us": Metric("µs", False, "median time of one create on one instance"),
    "create_lat_p99_us": Metric("µs", False, "99th percentile of the time of one create on one instance"),
    "mb_per_s": Metric("MB/s", True, "10^6 bytes per second moved by one instance"),
    "mib_per_s": Metric("MiB/s", True, "2^20 bytes per second moved by one instance"),
    "slowest_dd_s": Metric(
        "s", False, "time that the slowest dd of one step says of itself, as the tutorial's table shows"
    ),
    "slowest_dd_mb_per_s": Metric("MB/s", True, "10^6 bytes per second that the slowest dd of one step says of itself"),
    "records_per_s": Metric("records/s", True, "records read per second by one instance"),
    "requests_per_s": Metric("requests/s", True, "requests for pages or batches of records per second by one instance"),
    "burst_mb_per_s": Metric(
        "MB/s", True, "10^6 bytes per second of one instance before its rate fell, each second's median"
    ),
    "baseline_mb_per_s": Metric("MB/s", True, "10^6 bytes per second of one instance after its rate fell"),
    "burst_s": Metric("s", True, "seconds before the rate of one instance fell"),
    "bw_in_allowance_exceeded": Metric(
        "packets", False, "queued or dropped: the instance's inbound bandwidth was used up"
    ),
    "bw_out_allowance_exceeded": Metric(
        "packets", False, "queued or dropped: the instance's outbound bandwidth was used up"
    ),
    "cpu_steal_s": Metric("s", False, "processor time withheld by the hypervisor, as where CPU credits are used up"),
    "build_cpu_s": Metric("s", False, "processor time, user and system, of one build"),
    "iops": Metric("IOPS", True, "reads and writes completed per second by one instance"),
    "read_iops": Metric("IOPS", True, "reads completed per second by one instance"),
    "write_iops": Metric("IOPS", True, "writes completed per second by one instance"),
    "read_mib_per_s": Metric("MiB/s", True, "2^20 bytes per second read by one instance"),
    "write_mib_per_s": Metric("MiB/s", True, "2^20 bytes per second written by one instance"),
    "read_lat_p50_us": Metric("µs", False, "median time of a read on one instance"),
    "read_lat_p90_us": Metric("µs", False, "90th percentile of the time of a read on one instance"),
    "read_lat_p99_us": Metric("µs", False, "99th percentile of the time of a read on one instance"),
    "write_lat_p50_us": Metric("µs", False, "median time of a write on one instance"),
    "write_lat_p90_us": Metric("µs", False, "90th percentile of the time of a write on one instance"),
    "write_lat_p99_us": Metric("µs", False, "99th percentile of the time of a write on one instance"),
    "sync_lat_p50_us": Metric("µs", False, "median time of an fsync or fdatasync on one instance"),
    "sync_lat_p90_us": Metric("µs", False, "90th percentile of the time of an fsync or fdatasync on one instance"),
    "sync_lat_p99_us": Metric("µs", False, "99th percentile of the time of an fsync or fdatasync on one instance"),
}

PRIMARY: dict[str, str] = {
    "touch": "files_per_s",
    "dd": "mb_per_s",
    "fio": "iops",
    "read": "mb_per_s",
    "build": "duration_s",
    "transfer": "mb_per_s",
    "yocto": "duration_s",
    "instance-throughput": "mb_per_s",
}

_LATENCY = ("p50_us", "p90_us", "p99_us")
# The metrics of each workload type besides duration_s; some need a certain tool or direction.
YIELDS: dict[str, frozenset[str]] = {
    "touch": frozenset({"files_per_s", "create_lat_p50_us", "create_lat_p99_us"}),
    "dd": frozenset(
        {"mb_per_s", "mib_per_s", "slowest_dd_s", "slowest_dd_mb_per_s", *(f"write_lat_{level}" for level in _LATENCY)}
    ),
    "fio": frozenset(
        {"iops", "mb_per_s"}.union(
            *({f"{d}_iops", f"{d}_mib_per_s", *(f"{d}_lat_{level}" for level in _LATENCY)} for d in ("read", "write")),
            {f"sync_lat_{level}" for level in _LATENCY},
        )
    ),
    "read": frozenset(
        {"mb_per_s", "mib_per_s", "records_per_s", "requests_per_s", *(f"read_lat_{level}" for level in _LATENCY)}
    ),
    "build": frozenset({"build_cpu_s"}),
    "transfer": frozenset({"mb_per_s", "files_per_s"}),
    "yocto": frozenset(),
    "instance-throughput": frozenset(
        {
            *("mb_per_s", "burst_mb_per_s", "baseline_mb_per_s", "burst_s", "cpu_steal_s"),
            *("bw_in_allowance_exceeded", "bw_out_allowance_exceeded"),
        }
    ),
}
