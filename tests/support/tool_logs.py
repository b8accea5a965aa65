"""Files in the formats of elbencho and warp, by their sources: elbencho d085b19 (3.1-10), warp d06f8e6."""

import json
from datetime import UTC, datetime, timedelta

STARTED = datetime(2026, 6, 21, 10, 0, tzinfo=UTC)
COMMAND = ["./elbencho", "-w", "-r", "-t", "2", "-s", "1g", "-b", "1m", "--lat", "--jsonfile", "r.json", "/mnt/x"]
# Statistics::printPhaseStartISODateToStringVec, ProgArgs::getAsStringVec, Statistics::printPhaseResultsToStringVec.
LATENCY = [
    "Ent lat us [min]",
    "Ent lat us [avg]",
    "Ent lat us [max]",
    "IO lat us [min]",
    "IO lat us [avg]",
    "IO lat us [max]",
]
DONE = ["entries/s", "IOPS", "MiB/s"]
CSV_HEAD = [
    "ISO date", "label", "path type", "paths", "hosts", "threads", "dirs", "files", "file size", "block size",
    "direct IO", "random", "random aligned", "IO depth", "shared paths", "truncate", "operation",
    *(f"time ms [{end}]" for end in ("first", "last")),
    *(f"{name} [{end}]" for name in (*DONE, "CPU%", "entries", "MiB") for end in ("first", "last")),
    *LATENCY,
    *(f"rwmix read {name} [{end}]" for name in (*DONE, "entries", "MiB") for end in ("first", "last")),
    *(f"rwmix read {name}" for name in LATENCY),
    "version", "command",
]  # fmt: skip


def elbencho_phase(phase="WRITE", *, seconds=10.0, bytes_=None, iops=None, entries=None, latency=None, mixed=None,
                   command=COMMAND, after_s=0.0, **config):  # fmt: skip
    """One line of --jsonfile: Boost's property tree writes every value as text and escapes slashes."""
    done = {"elapsed_time_ms": str(int(seconds * 1000))}
    if entries:
        done |= {"entries/s": str(int(entries / seconds)), "entries": str(entries)}
    if iops:
        done["iops"] = str(iops)
    if bytes_:
        done |= {"bytes/s": str(int(bytes_ / seconds)), "bytes": str(bytes_)}
    if mixed:
        done["rwmix_read"] = {name: str(value) for name, value in mixed.items()}
    done["cpu%"] = "100"
    if latency:
        done["latency"] = latency
    whole = {
        "path_type": "file", "paths": "1", "hosts": "1", "threads": "2", "file_size": "1073741824",
        "block_size": "1048576", "direct_io": "true", "random_offsets": "false", "io_depth": "1",
        "truncate_files": "false", "version": "3.1-10",
        "command": "".join(f'"{word}" ' for word in command), **config,
    }  # fmt: skip
    document = {
        "phase_type": phase, "phase_id": "e1b86454-bef9-4bf7-b9f2-06cbe567921f",
        "iso_start_date": (STARTED + timedelta(seconds=after_s)).strftime("%Y-%m-%dT%H:%M:%S.000+0000"),
        "config": {name: value for name, value in whole.items() if value is not None},
        "first_done": {**done, "elapsed_time_ms": "1"}, "last_done": done,
    }  # fmt: skip
    return json.dumps(document, separators=(",", ":")).replace("/", "\\/") + "\n"


def elbencho_csv(*rows, version="3.1-10"):
    """A --csvfile: nothing is quoted, and missing values of a phase are empty."""
    usual = {
        "ISO date": "2026-06-21T10:00:00.000+0000", "path type": "file", "paths": "1", "hosts": "1", "threads": "2",
        "file size": "1073741824", "block size": "1048576", "direct IO": "1", "random": "0", "IO depth": "1",
        "truncate": "0", "version": version, "command": "".join(f'"{word}" ' for word in COMMAND),
    }  # fmt: skip
    lines = [",".join({**dict.fromkeys(CSV_HEAD, ""), **usual, **row}.values()) for row in rows]
    return "\n".join([",".join(CSV_HEAD), *lines]) + "\n"


def moment(seconds):
    """A time in the format of Go's RFC3339Nano: without zeros at its end."""
    whole, ns = divmod(round(seconds * 1e9), 10**9)
    text = (STARTED + timedelta(seconds=whole)).strftime("%Y-%m-%dT%H:%M:%S")
    return f"{text}.{ns:09d}".rstrip("0").rstrip(".") + "Z"


def warp_client(*, seconds=9.0, requests=900, bytes_=None, errors=0):
    """`aggregate.Throughput` of one client: `ops` and `bytes` count failed requests with the others."""
    return {
        "start_time": moment(0.25), "end_time": moment(0.25 + seconds), "errors": errors,
        "measure_duration_millis": int(seconds * 1000), "bytes": requests * 2**20 if bytes_ is None else bytes_,
        "objects": requests, "ops": requests,
    }  # fmt: skip


def warp_segment(requests, *, millis=40.0, size=2**20):
    """`aggregate.RequestSegment`: ten seconds of one client."""
    return {
        "start_time": moment(0), "end_time": moment(10),
        "single_sized_requests": {
            "dur_median_millis": millis, "fastest_millis": millis / 2, "slowest_millis": 9 * millis,
            "std_dev_millis": millis / 3, "dur_99_millis": 4 * millis, "dur_90_millis": 2 * millis,
            "dur_avg_millis": 1.2 * millis, "requests": requests, "obj_size": size, "merged_entries": 1,
        },
    }  # fmt: skip


def warp_json(operations, **changes):
    """`aggregate.Realtime`: {operation: {client: (throughput, segments)}}."""
    by_type = {
        name: {
            "Title": f"Operation: {name} (Final)", "concurrency": 8 * len(clients), "hosts": 1, "clients": len(clients),
            # The effect of merging: two seconds at each end are missing from the work, but not from the time.
            "throughput": {"measure_duration_millis": 10_000, "ops": 371, "bytes": 390025806.5},
            "throughput_by_client": {client: done for client, (done, _) in clients.items()},
            "requests_by_client": {client: segments for client, (_, segments) in clients.items()},
        }
        for name, clients in operations.items()
    }  # fmt: skip
    return json.dumps({"v": 2, "commandline": "warp get", "final": True, "warp_version": "v1.6.1",
                       "total": {}, "by_op_type": by_type, **changes}, indent=2)  # fmt: skip


WARP_HEAD = "idx thread op client_id n_objects bytes endpoint file error start first_byte last_byte end duration_ns cat"


def warp_csv(*requests):
    """All requests, of --full: (operation, client, thread, start s, duration ms, bytes, error)."""
    lines = [WARP_HEAD.replace(" ", "\t")]
    for number, (operation, client, thread, start, millis, size, error) in enumerate(requests):
        end, ns = start + millis / 1000, round(millis * 1e6)
        fields = [number, thread, operation, client, 1, size, "http://127.0.0.1:9000", "a/b.rnd", error,
                  moment(start), "", "", moment(end), ns, 0]  # fmt: skip
        lines.append("\t".join(map(str, fields)))
    return "\n".join([*lines, "# warp get --full"]) + "\n"
