"""Import fio's output files as a run: each job becomes a point, each host an instance, each file a repetition.

Nothing is guessed. fio knows neither the storage nor the instance type, so the user names both, or they stay unknown.
Percentiles are from fio's bins (json+), or as fio printed them (json); percentiles of several jobs are from their
merged bins and never averaged.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import cast

from contract.histogram import merge, percentile
from matrix.answer.results import cell_result
from matrix.published.imported import UNKNOWN, ImportedRun, Told, imported_summary, storage_of
from matrix.samples.file import SampleFile
from matrix.samples.fio_logs import (
    LARGEST,
    FioObject,
    NotFio,
    bins_of,
    documents,
    jobs_of,
    number_of,
    object_of,
    printed_percentiles,
)
from matrix.samples.histograms import Histogram
from matrix.terms.documents.parts import Params, Part, Point, Step
from matrix.terms.documents.plan import PlanCell
from matrix.terms.ids import cell_id
from matrix.terms.printable import printable

DIRECTIONS = ("read", "write")
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
SHORT = "fio ran for less than a second: its clock counts milliseconds, so its rates mean little"
TOGETHER = "jobs of this file ran at the same time on one host, and each is a point of its own"
LEAST_RUNTIME_S = 1.0


@dataclass
class _Work:
    """The jobs of one point on one host in one repetition."""

    jobs: list[FioObject]
    file: str
    ended_s: float | None
    version: str
    warnings: list[str] = field(default_factory=list)


def imported_run(run: str, files: Mapping[str, str], told: Told) -> ImportedRun:
    """Return the run of some files (name: text). Raises NotFio with the file, InvalidMatrix for an invalid storage.

    A storage from the user is checked, and completed with defaults, like one of a matrix.
    """
    storage, file_system = storage_of(told.storage)
    works: dict[str, dict[str, list[_Work]]] = {}
    for name, text in files.items():
        try:
            for key, host, work in _works(text, name, name if told.is_file_a_host else None):
                works.setdefault(key, {}).setdefault(host, []).append(work)
        except NotFio as error:
            raise NotFio(f"{name} {error}") from error
    points = _points(list(works))
    # A cell has one fleet size: jobs on one host and jobs on ten hosts are two cells.
    by_count: dict[int, list[str]] = {}
    for key, of_point in works.items():
        by_count.setdefault(len(of_point), []).append(key)
    results, spans = [], []
    for count, keys in by_count.items():
        steps: list[Step] = [
            {"point": points[key]["id"], "repetition": repetition + 1}
            for key in keys
            for repetition in range(max(map(len, works[key].values())))
        ]
        of_points = [points[key] for key in keys]
        cell = _cell(storage, file_system, told.instance_type or "", count, of_points, steps)
        of_cell = {key: works[key] for key in keys}
        histograms: dict[str, dict[str, list[Histogram]]] = {}
        hosts = sorted({host for key in keys for host in works[key]})
        taken = [_sample_file(run, cell, host, of_cell, points, histograms) for host in hosts]
        results.append(cell_result(cell, taken, error=None, actual_s=None, histograms=histograms))
        spans += [(each.started_at, each.ended_at) for file in taken for each in file.samples if each.started_at]
    if not results:
        raise NotFio("has no job that read or wrote: nothing to import")
    return ImportedRun(imported_summary(run, list(files), results, spans, told, "fio"), results)


def _cell(
    storage: Part, file_system: str, instance_type: str, count: int, points: list[Point], steps: list[Step]
) -> PlanCell:
    """Return the planned cell that a result needs; an imported one has no planned costs and times."""
    cell = {
        "id": cell_id(file_system, "fio", f"{instance_type or UNKNOWN}-x{count}"),
        "file_system": file_system,
        "storage": storage,
        "workload": {"type": "fio"},
        "fleet": {"instanceType": instance_type, "count": count},
        "points": points,
        "steps": steps,
        "expected_s": None,
    }
    return cast("PlanCell", cell)


def _works(text: str, file: str, host_of_file: str | None) -> Iterator[tuple[str, str, _Work]]:
    """Yield each point (its key), host and work of a file. Raises NotFio."""
    for document in documents(text):
        shared = object_of(document, "global options")
        together: dict[tuple[str, str, str], list[FioObject]] = {}
        for job in jobs_of(document):
            if job.get("jobname") == "All clients":
                continue  # their sum, which is no job
            if job.get("error"):
                raise NotFio(f"has a job {job.get('jobname')!r} that ended with error {job['error']}")
            if not any(number_of(object_of(job, way).get("iops")) for way in DIRECTIONS):
                continue
            key = json.dumps([_options({**shared, **object_of(job, "job options")}), str(job.get("jobname", ""))])
            host = host_of_file or printable(str(job.get("hostname") or "host"))
            together.setdefault((key, host, str(job.get("groupid"))), []).append(job)
        groups = [(host, group) for _, host, group in together]
        for (key, host, group), jobs in together.items():
            seconds = number_of(document.get("timestamp_ms")) / 1000 or number_of(document.get("timestamp"))
            work = _Work(jobs, file, seconds or None, printable(str(document.get("fio version", "fio"))))
            if groups.count((host, group)) > 1:
                work.warnings.append(TOGETHER)
            yield key, host, work


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


def _points(keys: Sequence[str]) -> dict[str, Point]:
    """Return each point by its key; jobs with the same options are distinguished by their names."""
    read = {key: json.loads(key) for key in keys}
    asked = [json.dumps(options) for options, _ in read.values()]
    points: dict[str, Point] = {}
    for number, (key, (options, name)) in enumerate(read.items(), start=1):
        is_device = options.pop("device", False)
        params: Params = {"options": options or {"rw": name}} | ({"device": True} if is_device else {})
        if asked.count(asked[number - 1]) > 1:
            params["job"] = name
        points[key] = {"id": f"p{number:02d}", "params": params}
    return points


def _sample_file(
    run: str,
    cell: PlanCell,
    host: str,
    works: Mapping[str, Mapping[str, Sequence[_Work]]],
    points: Mapping[str, Point],
    histograms: dict[str, dict[str, list[Histogram]]],
) -> SampleFile:
    samples: list[dict[str, object]] = []
    for key, of_point in works.items():
        for repetition, work in enumerate(of_point.get(host, ()), start=1):
            point = points[key]["id"]
            metrics, bins = _figures(work)
            for name, histogram in bins.items():
                histograms.setdefault(point, {}).setdefault(name, []).append(histogram)
            ended_s = work.ended_s if work.ended_s is not None else metrics["duration_s"]
            moved = {
                f"{way}_bytes": metrics[f"{way}_mib_per_s"] * 2**20 * metrics["duration_s"]
                for way in DIRECTIONS
                if f"{way}_mib_per_s" in metrics
            }
            samples.append(
                {
                    **{"point": point, "repetition": repetition, "step": len(samples), "metrics": metrics},
                    **{"started_at": max(0.0, ended_s - metrics["duration_s"]), "ended_at": ended_s},
                    "work": moved,
                    "warnings": [f"{warning} ({work.file})"[:1000] for warning in work.warnings],
                    "tool": {"name": "fio", "version": work.version.removeprefix("fio-")},
                    "workers": len(work.jobs),
                }
            )
    instance = {"id": host[:200], "type": cell["fleet"]["instanceType"]}
    return SampleFile.model_validate({"run": run, "cell": cell["id"], "instance": instance, "samples": samples})


def _figures(work: _Work) -> tuple[dict[str, float], dict[str, Histogram]]:
    """Return a sample's metrics and its latencies in bins.

    Rates are all I/O over the longest runtime, like fio's own group report. A job's I/O is its rate times its runtime,
    because the units of fio's totals differ between its versions.
    """
    sides = {way: [object_of(job, way) for job in work.jobs] for way in DIRECTIONS}
    runtimes_s = {way: [number_of(side.get("runtime")) / 1000 for side in sides[way]] for way in DIRECTIONS}
    longest_s = max(max(each) for each in runtimes_s.values())
    if longest_s < LEAST_RUNTIME_S:
        work.warnings.append(SHORT)
    metrics = {"duration_s": longest_s, "iops": 0.0, "mb_per_s": 0.0}
    bins: dict[str, Histogram] = {}
    for way in DIRECTIONS:
        span_s = max(runtimes_s[way])
        if not any(number_of(side.get("iops")) for side in sides[way]):
            continue
        shares = [runtime_s / span_s if span_s else 1.0 for runtime_s in runtimes_s[way]]
        iops = sum(number_of(side.get("iops")) * share for side, share in zip(sides[way], shares, strict=True))
        bytes_per_s = sum(_bytes_per_s(side) * share for side, share in zip(sides[way], shares, strict=True))
        metrics["iops"] += iops
        metrics["mb_per_s"] += bytes_per_s / 1e6
        metrics[f"{way}_iops"] = iops
        metrics[f"{way}_mib_per_s"] = bytes_per_s / 2**20
        metrics |= _latencies(way, sides[way], work, bins)
    if syncs := [sync for job in work.jobs if number_of((sync := object_of(job, "sync")).get("total_ios"))]:
        metrics |= _latencies("sync", syncs, work, bins)
    return metrics, bins


def _bytes_per_s(side: FioObject) -> float:
    """Return the rate; fio 3 writes `bw_bytes` in bytes/s, fio 2 `bw` in KiB/s."""
    return number_of(side["bw_bytes"]) if "bw_bytes" in side else number_of(side.get("bw")) * 1024


def _latencies(way: str, sides: Sequence[FioObject], work: _Work, bins: dict[str, Histogram]) -> dict[str, float]:
    """Return P50, P90 and P99 in µs: of whole operations if fio kept those, else from submission to completion.

    The two are different metrics: completion begins after the submission, which blocks with buffered I/O.
    """
    busy = [side for side in sides if number_of(side.get("iops", 1))]
    for name, kinds in ((f"{way}_lat", ("lat_ns", "lat")), (f"{way}_completion_lat", ("clat_ns", "clat"))):
        for kind in kinds:
            kept = [object_of(side, kind) for side in busy]
            ns_per_unit = 1 if kind.endswith("_ns") else 1000
            counted = [{value * ns_per_unit: count for value, count in bins_of(each).items()} for each in kept]
            if all(counted):
                longest = max(int(number_of(each.get("max")) * ns_per_unit) for each in kept)
                bins[name] = Histogram(merge(counted), longest or None)
                return {f"{name}_p{p}_us": percentile(bins[name].bins, p) / 1000 for p in PERCENTS}
            printed = [printed_percentiles(each) for each in kept]
            if any(any(each.values()) for each in printed):
                if len(printed) > 1:
                    work.warnings.append(MERGED_LATER)
                    return {}
                return {f"{name}_p{p}_us": printed[0][p] * ns_per_unit / 1000 for p in PERCENTS if p in printed[0]}
    return {}
