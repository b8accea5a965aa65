"""Phases of warp's benchmark data: its aggregated JSON, and the CSV of all requests that `--full` keeps.

Fields as `aggregate.Realtime` and `bench.Operations.CSV` write them (github.com/minio/warp, d06f8e6 of 2026-08-16; the
same files are in v1.5.0). An operation of a client is a phase: `throughput_by_client` has one client's work between
its first start and its last end. `throughput` is not read: it leaves out the first and last two seconds, but for
several clients divides the rest by the whole time.
"""

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from contract.histogram import bin_index, bin_value, percentile
from matrix.samples.histograms import Histogram
from matrix.samples.tool_logs import MIN_S, SHORT, NotALog, Phase, object_of, workers_of
from matrix.statistics.sample_size import has_enough_samples
from matrix.terms.printable import printable

TOOL = "warp"
HEAD = "idx\tthread\top\t"
COLUMNS = ("thread", "op", "n_objects", "bytes", "error", "start", "end", "duration_ns")
# This project's names of warp's operations; the others keep their names.
OPERATIONS = {"GET": "get", "PUT": "put", "STAT": "head", "LIST": "list", "DELETE": "delete"}
DATA_VERSIONS = (1, 2)
PERCENTS = {50: "dur_median_millis", 90: "dur_90_millis", 99: "dur_99_millis"}
OWN = {f"{name}_lat_avg_us": {"unit": "µs", "better": "lower"} for name in (*OPERATIONS.values(), "request")}
AVERAGED = (
    "warp's JSON has the percentiles of each ten seconds, which cannot be merged: they are left out; keep all requests "
    "with `warp --full` and import its .csv"
)
FAILED = "{} of {} {} requests failed and are in no figure"
TOGETHER = "{} ran at the same time: no figure is of these requests alone, and costs count the time for each"
WITHOUT_BYTES = ", and without throughput, as warp's JSON does not say what the others moved"


def phases_of_json(document: Mapping[str, Any], file: str) -> list[Phase]:
    """Return the phases of warp's aggregated data. Raises NotALog."""
    if "by_op_type" not in document and "mixed" not in document:
        raise NotALog("is not a file of elbencho or warp")
    if "by_op_type" not in document:
        raise NotALog("is an analysis of --full, which names no clients; import the .csv that it was made from")
    if document.get("v") not in DATA_VERSIONS:
        raise NotALog(f"has data of version {document.get('v')!r}; versions 1 and 2 of warp's data can be read")
    if document.get("final") is False:
        raise NotALog("was written while warp still ran: it is not final")
    operations = object_of(document, "by_op_type", TOOL)
    version = printable(str(document.get("warp_version") or ""))
    read: list[Phase] = []
    for name, aggregate in operations.items():
        if not isinstance(aggregate, dict):
            raise NotALog(f"has `by_op_type.{printable(name)}` that is not an object, as warp writes it")
        read += _of_aggregate(name, aggregate, file, version)
    return _marked(read)


def phases_of_csv(lines: Iterable[str], file: str) -> list[Phase]:
    """Return the phases of the CSV of all requests, read line by line: it has millions. Raises NotALog."""
    rest = iter(lines)
    head = next(rest, "").rstrip("\n").split("\t")
    missing = set(COLUMNS) - set(head)
    if missing:
        raise NotALog(f"lacks the columns {', '.join(sorted(missing))}")
    place = {name: head.index(name) for name in head}
    tallies: dict[tuple[str, str], _Tally] = {}
    for number, line in enumerate(rest, start=2):
        if line.startswith("#") or line == "\n":
            continue
        values = line.rstrip("\n").split("\t")
        if len(values) != len(head) or not line.endswith("\n"):
            raise NotALog(f"is broken at line {number}, as where warp was ended while it wrote")
        try:
            client = values[place["client_id"]] if "client_id" in place else ""
            tallies.setdefault((values[place["op"]], client), _Tally()).add(
                thread=values[place["thread"]],
                objects=int(values[place["n_objects"]]),
                size=int(values[place["bytes"]]),
                is_failed=bool(values[place["error"]]),
                start=datetime.fromisoformat(_in_microseconds(values[place["start"]])).timestamp(),
                duration_ns=int(values[place["duration_ns"]]),
            )
        except ValueError as error:
            raise NotALog(f"has a line {number} that warp does not write: {error}") from error
    return _marked([tally.phase(name, client, file) for (name, client), tally in tallies.items()])


def _marked(read: list[Phase]) -> list[Phase]:
    """Return the phases that have a rate, each with its concurrent phases. Raises NotALog without any."""
    read = [phase for phase in read if phase.metrics.get("requests_per_s")]
    if not read:
        raise NotALog("has no request that went well: nothing to import")
    marked = []
    for phase in read:
        others = " ".join(sorted({each.name for each in read if each.name != phase.name and _overlap(phase, each)}))
        if others:
            params = {**phase.params, "mixed_with": others}
            marked.append(replace(phase, params=params, warnings=(*phase.warnings, TOGETHER.format(others))))
        else:
            marked.append(phase)
    return marked


def _overlap(phase: Phase, other: Phase) -> bool:
    """Whether two phases ran at the same time; phases one after another touch at most in a moment."""
    if phase.started_at is None or other.started_at is None:
        return False
    first, last = sorted((phase, other), key=lambda each: each.started_at or 0.0)
    return (first.started_at or 0.0) + first.seconds > (last.started_at or 0.0) + MIN_S / 10


# --- aggregated -------------------------------------------------------------------------------------------------------


def _of_aggregate(name: str, aggregate: Mapping[str, Any], file: str, version: str) -> Iterator[Phase]:
    clients = object_of(aggregate, "throughput_by_client", TOOL)
    if not clients:
        raise NotALog("has no `throughput_by_client`: write it with warp 1.1 or later")
    for client, done in clients.items():
        if not isinstance(done, dict):
            raise NotALog("has a client that is not an object, as warp writes it")
        seconds = _number(done.get("measure_duration_millis")) / 1000
        segments = object_of(aggregate, "requests_by_client", TOOL).get(client) or []
        single = [each.get("single_sized_requests") for each in segments if isinstance(each, dict)]
        sizes = {int(_number(each.get("obj_size"))) for each in single if isinstance(each, dict)}
        is_of_one_size = len(sizes) == 1 and all(isinstance(each, dict) for each in single)
        requests, failed = _number(done.get("ops")), _number(done.get("errors"))
        latencies: dict[str, float] = {}
        warnings: list[str] = []
        if single and isinstance(single[0], dict) and not failed:
            # All requests of this client, if they fell into one of warp's segments of ten seconds.
            of_all = single[0]
            if _number(of_all.get("requests")) == requests and of_all.get("merged_entries") == 1:
                latencies = {f"p{p}": 1000 * _number(of_all.get(key)) for p, key in PERCENTS.items()
                             if has_enough_samples(p, int(requests))}  # fmt: skip
                latencies["avg"] = 1000 * _number(of_all.get("dur_avg_millis"))
        if not latencies:
            warnings.append(AVERAGED)
        yield _phase(
            name, str(client), file, version, started_at=_moment(done.get("start_time")), seconds=seconds,
            requests=requests, failed=failed, objects=_number(done.get("objects")), size=_number(done.get("bytes")),
            object_bytes=sizes.pop() if is_of_one_size else None,
            threads=int(_number(aggregate.get("concurrency")) / max(1, len(clients))),
            latencies=latencies, histogram=None, warnings=warnings,
        )  # fmt: skip


# --- all requests -----------------------------------------------------------------------------------------------------


@dataclass
class _Tally:
    """The requests of one operation of one client."""

    requests: int = 0
    failed: int = 0
    objects: int = 0
    size: int = 0
    sizes: set[int] = field(default_factory=set)
    threads: set[str] = field(default_factory=set)
    started_at: float = float("inf")
    ended_at: float = 0.0
    total_ns: int = 0
    longest_ns: int = 0
    bins: Counter[int] = field(default_factory=Counter)

    def add(self, *, thread: str, objects: int, size: int, is_failed: bool, start: float, duration_ns: int) -> None:
        """Count one request. Raises ValueError of a duration that cannot be."""
        if duration_ns < 0 or objects < 0 or size < 0:
            raise ValueError("a duration, a count or a size below 0")
        self.requests += 1
        self.threads.add(thread)
        self.started_at = min(self.started_at, start)
        self.ended_at = max(self.ended_at, start + duration_ns / 1e9)
        if is_failed:
            self.failed += 1
            return
        self.objects += objects
        self.size += size
        if len(self.sizes) <= 1:
            self.sizes.add(size)
        self.total_ns += duration_ns
        self.longest_ns = max(self.longest_ns, duration_ns)
        self.bins[bin_value(bin_index(duration_ns))] += 1

    def phase(self, name: str, client: str, file: str) -> Phase:
        """Return the counted operations as a phase."""
        done = self.requests - self.failed
        latencies = {}
        if done:
            latencies = {f"p{p}": percentile(self.bins, p) / 1000 for p in PERCENTS if has_enough_samples(p, done)}
            latencies["avg"] = self.total_ns / done / 1000
        return _phase(
            name, client, file, "", started_at=self.started_at, seconds=self.ended_at - self.started_at,
            requests=self.requests, failed=self.failed, objects=self.objects, size=self.size,
            object_bytes=next(iter(self.sizes)) if len(self.sizes) == 1 else None, threads=len(self.threads),
            latencies=latencies, histogram=Histogram(dict(self.bins), self.longest_ns) if done else None, warnings=[],
        )  # fmt: skip


def _phase(
    name: str,
    client: str,
    file: str,
    version: str,
    *,
    started_at: float | None,
    seconds: float,
    requests: float,
    failed: float,
    objects: float,
    size: float,
    object_bytes: int | None,
    threads: int,
    latencies: Mapping[str, float],
    histogram: Histogram | None,
    warnings: list[str],
) -> Phase:
    operation = OPERATIONS.get(name, printable(name.lower()))
    workers, notes = workers_of(threads, (requests - failed) * latencies.get("avg", 0.0) / 1e6 / (seconds or 1.0))
    metrics = {"duration_s": seconds}
    moved: dict[str, float] = {}
    done = requests - failed
    # The JSON counts objects and bytes of failed requests with the others; the CSV has each request.
    is_known = not failed or histogram is not None
    if failed:
        failure = FAILED.format(f"{failed:,.0f}", f"{requests:,.0f}", printable(name))
        notes += (failure + ("" if is_known else WITHOUT_BYTES),)
    if seconds > 0 and done > 0:
        metrics["requests_per_s"] = done / seconds
        if is_known:
            metrics["objects_per_s"] = objects / seconds
        if size and is_known:
            metrics["mb_per_s"] = size / seconds / 1e6
            moved["read_bytes" if operation == "get" else "write_bytes"] = size
    if seconds < MIN_S:
        notes += (f"warp {SHORT}",)
    kind = f"{operation if name in OPERATIONS else 'request'}_lat"
    metrics |= {f"{kind}_{level}_us": value for level, value in latencies.items()}
    params: dict[str, Any] = {"operation": operation} | ({"threads": workers} if workers is not None else {})
    if object_bytes:
        params["object_bytes"] = object_bytes
    return Phase(
        tool=TOOL,
        version=version.removeprefix("v"),
        file=printable(file),
        instance=printable(client) or "client",
        hosts=1,
        params=params,
        workload={
            "type": "objects",
            "name": TOOL,
            "metrics": {own: OWN[own] for own in OWN if own in metrics},
        },
        started_at=started_at,
        seconds=seconds,
        metrics=metrics,
        moved_bytes=moved,
        histograms={kind: histogram} if histogram else {},
        workers=workers,
        notes=notes,
        warnings=tuple(warnings),
    )


def _number(value: object) -> float:
    """Return a figure, 0 if there is none. Raises NotALog."""
    if value is None:
        return 0.0
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value < 1e18:  # noqa: PLR2004
        raise NotALog(f"has a figure that cannot be: {json.dumps(value)[:60]}")
    return float(value)


def _in_microseconds(text: str) -> str:
    """Cut a time of Go's RFC3339Nano to microseconds, which Python can read; it ends in Z or an offset."""
    whole, dot, rest = text.partition(".")
    if not dot:
        return text
    digits = rest.rstrip("Z")
    sign = max(digits.find("+"), digits.find("-"))
    zone = digits[sign:] if sign >= 0 else "+00:00"
    fraction = digits[:sign] if sign >= 0 else digits
    return f"{whole}.{fraction[:6].ljust(6, '0')}{zone}"


def _moment(text: object) -> float | None:
    try:
        return datetime.fromisoformat(_in_microseconds(str(text))).timestamp()
    except ValueError:
        return None
