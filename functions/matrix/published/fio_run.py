"""Import fio's output files as a run: each job becomes a point, each host an instance, each file a repetition.

Nothing is guessed. fio knows neither the storage nor the instance type, so the user names both, or they stay unknown.
Percentiles are from fio's bins (json+), or as fio printed them (json); percentiles of several jobs are from their
merged bins and never averaged.
"""

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from contract.histogram import LEVELS, latency_metrics, merge
from matrix.published.imported import Given, ImportedRun
from matrix.published.logs_run import logs_run
from matrix.samples.fio_logs import (
    LARGEST,
    MIN_RUNTIME_MS,
    SHORT,
    WAYS,
    FioFile,
    FioObject,
    Job,
    Timed,
    bytes_per_s,
    failure,
    number_of,
    timed_of,
)
from matrix.samples.histograms import Histogram
from matrix.samples.tool_logs import NotALog, Phase
from matrix.terms.documents.parts import Params
from matrix.terms.metrics import METRICS
from matrix.terms.printable import printable

PERCENTS = (50, 90, 99)
# Places of files and options of the output are not parameters of a measurement.
NO_PARAMETERS = frozenset(
    {
        "name", "directory", "filename", "filename_format", "opendir", "description", "output", "output-format",
        "write_bw_log", "write_lat_log", "write_iops_log", "write_hist_log", "log_avg_msec", "per_job_logs",
        "percentile_list", "clat_percentiles", "lat_percentiles", "slat_percentiles", "group_reporting",
    }
)  # fmt: skip
MERGED_LATER = (
    "fio kept no latency bins: the percentiles of several jobs cannot be merged and are left out; write json+, or use "
    "group_reporting"
)
TOGETHER = "jobs of this file ran at the same time on one host, and each is a point of its own"
PORTS = "several servers of `fio --client` share the address {}: they count as one host"
INTERIM = "documents of --status-interval that were left out, since a later one includes them: {}"
# Units and directions of the metrics that a kind of I/O may have.
UNITS = {"iops": ("IOPS", "higher"), "mib_per_s": ("MiB/s", "higher")} | {
    f"{kind}_{level}_us": ("µs", "lower") for kind in ("lat", "completion_lat") for level in (*LEVELS, "max")
}


@dataclass
class _Work:
    """The jobs of one point on one host in one repetition."""

    jobs: list[Job]
    file: str
    document: int
    notes: list[str] = field(default_factory=list)

    @property
    def ways(self) -> list[str]:
        """The kinds of I/O that any job did."""
        return [way for way in WAYS if any(way in job.sides for job in self.jobs)]

    @property
    def seconds(self) -> float:
        """The longest runtime of any direction."""
        return max(_runtime_s(side) for job in self.jobs for side in job.sides.values())


def imported_run(run: str, files: Mapping[str, FioFile], given: Given) -> ImportedRun:
    """Return the run of some files (by name). Raises NotALog with the file, InvalidMatrix for an invalid storage.

    A storage from the user is checked, and completed with defaults, like one of a matrix.
    """
    works = [work for name, file in files.items() for work in _works(file, name)]
    # Jobs with the same or unknown options are distinguished by their names.
    names: dict[str, set[str]] = {}
    for work in works:
        names.setdefault(json.dumps(_options(work.jobs[0].options)), set()).add(work.jobs[0].name)
    phases: dict[str, list[Phase]] = {}
    for work in works:
        options = _options(work.jobs[0].options)
        is_named = not options or len(names[json.dumps(options)]) > 1
        phases.setdefault(work.file, []).append(_phase(work, options, is_named=is_named))
    left_out = sum(file.interim for file in files.values())
    return logs_run(run, phases, given, [INTERIM.format(left_out)] if left_out else [])


def _works(file: FioFile, name: str) -> Iterator[_Work]:
    """Yield the work of each point and host of a file. Raises NotALog."""
    for number, run in enumerate(file.runs, start=1):
        together: dict[tuple[str, str, str, str], list[Job]] = {}
        for job in run:
            if job.error:
                raise NotALog(f"{name} {failure(job)}")
            if job.sides:
                key = (json.dumps(_options(job.options)), job.name, job.host, job.group)
                together.setdefault(key, []).append(job)
        at_once = Counter((host, group) for _, _, host, group in together)
        for (_, _, host, group), jobs in together.items():
            work = _Work(jobs, name, number, sorted({job.doubt for job in jobs} - {""}))
            if at_once[host, group] > 1:
                work.notes.append(TOGETHER)
            if len({job.port for job in jobs}) > 1:
                work.notes.append(PORTS.format(host))
            yield work


def _phase(work: _Work, options: Params, *, is_named: bool) -> Phase:
    metrics, moved, bins = _figures(work)
    is_device = options.pop("device", False)
    params: Params = ({"options": options} if options else {}) | ({"device": True} if is_device else {})
    named = {f"{way}_{name}": unit for way in work.ways for name, unit in UNITS.items()}
    own = {name: {"unit": unit, "better": better} for name, (unit, better) in named.items() if name not in METRICS}
    first = work.jobs[0]
    workload: dict[str, Any] = {"type": "fio"} | ({"metrics": own} if own else {})
    return Phase(
        tool="fio",
        version=first.version.removeprefix("fio-"),
        file=printable(work.file),
        instance=first.host or "host",
        hosts=1,
        params=params | ({"job": first.name} if is_named else {}),
        workload=workload,
        started_at=0.0 if first.ended_s is None else max(0.0, first.ended_s - work.seconds),
        seconds=work.seconds,
        metrics=metrics,
        moved_bytes=moved,
        histograms=bins,
        workers=None if first.doubt else len(work.jobs),
        document=work.document,
        notes=tuple(work.notes),
    )


def _options(options: FioObject) -> Params:
    """Return a job's options as a matrix writes them: whole numbers as numbers."""
    kept = {name: value for name, value in options.items() if name not in NO_PARAMETERS}
    asked: Params = {
        printable(name): int(value)
        if str(value).isdecimal() and len(str(value)) < len(f"{LARGEST:.0f}")
        else printable(str(value))
        for name, value in sorted(kept.items())
    }
    if str(options.get("filename", "")).startswith("/dev/"):
        asked["device"] = True
    return asked


def _figures(work: _Work) -> tuple[dict[str, float], dict[str, float], dict[str, Histogram]]:
    """Return a sample's metrics, the bytes it moved by direction, and its latencies in bins.

    Rates are all I/O over the longest runtime, like fio's own group report. A job's I/O is its rate times its runtime,
    because the units of fio's totals differ between its versions.
    """
    if work.seconds * 1000 < MIN_RUNTIME_MS:
        work.notes.append(SHORT)
    metrics = {"duration_s": work.seconds, "iops": 0.0}
    moved: dict[str, float] = {}
    bins: dict[str, Histogram] = {}
    for way in work.ways:
        sides = [job.sides[way] for job in work.jobs if way in job.sides]
        span_s = max(map(_runtime_s, sides))
        shares = [_runtime_s(side) / span_s if span_s else 1.0 for side in sides]
        iops = sum(number_of(side["iops"]) * share for side, share in zip(sides, shares, strict=True))
        rate = sum(bytes_per_s(side) * share for side, share in zip(sides, shares, strict=True))
        metrics["iops"] += iops
        metrics[f"{way}_iops"] = iops
        if way != "trim":
            metrics["mb_per_s"] = metrics.get("mb_per_s", 0.0) + rate / 1e6
            metrics[f"{way}_mib_per_s"] = rate / 2**20
        if way in ("read", "write"):  # of `mixed`, which is priced as which is not known
            moved[f"{way}_bytes"] = rate * span_s
        metrics |= _latencies(way, sides, work, bins)
    if syncs := [job.sync for job in work.jobs if number_of(job.sync.get("total_ios"))]:
        metrics |= _latencies("sync", syncs, work, bins)
    return metrics, moved, bins


def _runtime_s(side: FioObject) -> float:
    return number_of(side.get("runtime")) / 1000


def _latencies(way: str, sides: Sequence[FioObject], work: _Work, bins: dict[str, Histogram]) -> dict[str, float]:
    """Return percentiles in µs: of whole operations if fio kept those, else from submission to completion.

    The two are different metrics: completion begins after the submission, which blocks with buffered I/O.
    """
    for name, kind in ((f"{way}_lat", "lat"), (f"{way}_completion_lat", "clat")):
        kept: list[Timed] = [timed for side in sides if (timed := timed_of(side, kind))]
        if kept and all(each.bins for each in kept):
            bins[name] = Histogram(merge(each.bins for each in kept), max(each.longest_ns for each in kept) or None)
            return latency_metrics(name, bins[name].bins, bins[name].longest_known_ns)
        if any(each.printed for each in kept):
            if len(kept) > 1:
                work.notes.append(MERGED_LATER)
                return {}
            return {f"{name}_p{p}_us": kept[0].percentile_us(p) or 0.0 for p in PERCENTS if p in kept[0].printed}
    return {}
