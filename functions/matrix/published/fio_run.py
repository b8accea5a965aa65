"""Import fio's output files as a run: each job becomes a point, each host an instance, each file a repetition.

Nothing is guessed. fio knows neither the storage nor the instance type, so the user names both, or they stay unknown.
Jobs with unknown options are repetitions of each other only if the user says so. Percentiles are from fio's bins
(json+), or as fio printed them (json); percentiles of several jobs are from their merged bins and never averaged.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import cast

from contract.histogram import merge
from matrix.answer.results import cell_result
from matrix.published.imported import (
    ALONE,
    SAME_TIME,
    UNKNOWN,
    ImportedRun,
    Told,
    are_of_one_time,
    free_host,
    imported_summary,
    storage_of,
)
from matrix.samples.file import SampleFile
from matrix.samples.fio_logs import (
    LARGEST,
    LEAST_RUNTIME_MS,
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
from matrix.samples.tool_logs import NotALog
from matrix.terms.documents.parts import Params, Part, Point, Step
from matrix.terms.documents.plan import PlanCell
from matrix.terms.ids import cell_id
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


@dataclass
class _Work:
    """The jobs of one point on one host in one repetition."""

    jobs: list[Job]
    # The file, and which of its documents.
    file: str
    number: int
    warnings: list[str] = field(default_factory=list)

    @property
    def seconds(self) -> float:
        """The longest runtime of any direction."""
        return max(_runtime_s(side) for job in self.jobs for side in job.sides.values())

    @property
    def ended_s(self) -> float:
        """The end (epoch); of a file without a time, the time from 0 on."""
        ended = self.jobs[0].ended_s
        return self.seconds if ended is None else ended

    @property
    def span(self) -> tuple[float, float]:
        """Start and end (epoch)."""
        return self.ended_s - self.seconds, self.ended_s

    def is_beside(self, other: "_Work") -> bool:
        """Whether two documents were written about the same time. Jobs of one document may have waited for others."""
        if (self.file, self.number) == (other.file, other.number) or self.jobs[0].ended_s is None:
            return False
        return are_of_one_time(self.span, other.span)


def imported_run(run: str, files: Mapping[str, FioFile], told: Told) -> ImportedRun:
    """Return the run of some files (by name). Raises NotALog with the file, InvalidMatrix for an invalid storage.

    A storage from the user is checked, and completed with defaults, like one of a matrix.
    """
    storage, file_system = storage_of(told.storage)
    works: dict[str, dict[str, list[_Work]]] = {}
    for name, file in files.items():
        for key, host, work in _works(file, name, told):
            hosts = works.setdefault(key, {})
            free = host if told.files_are else free_host(host, hosts, work, _Work.is_beside)
            if free != host:
                work.warnings.append(SAME_TIME)
            hosts.setdefault(free, []).append(work)
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
        of_cell = {key: works[key] for key in keys}
        ways = {
            way for hosts in of_cell.values() for of_host in hosts.values() for work in of_host for way in _ways(work)
        }
        cell = _cell(storage, file_system, told.instance_type or "", count, of_points, steps, ways)
        histograms: dict[str, dict[str, list[Histogram]]] = {}
        hosts_of_cell = sorted({host for key in keys for host in works[key]})
        taken = [_sample_file(run, cell, host, of_cell, points, histograms) for host in hosts_of_cell]
        results.append(cell_result(cell, taken, error=None, actual_s=None, histograms=histograms))
        spans += [(each.started_at, each.ended_at) for file in taken for each in file.samples if each.started_at]
    left_out = sum(file.interim for file in files.values())
    notes = [INTERIM.format(left_out)] if left_out else []
    return ImportedRun(imported_summary(run, list(files), results, spans, told, "fio", notes), results)


def _cell(
    storage: Part,
    file_system: str,
    instance_type: str,
    count: int,
    points: list[Point],
    steps: list[Step],
    ways: set[str],
) -> PlanCell:
    """Return the planned cell that a result needs; an imported one has no planned costs and times."""
    units = {"iops": ("IOPS", "higher"), "mib_per_s": ("MiB/s", "higher")} | {
        f"{kind}_p{p}_us": ("µs", "lower") for kind in ("lat", "completion_lat") for p in PERCENTS
    }
    named = {f"{way}_{name}": unit for way in sorted(ways) for name, unit in units.items()}
    own = {name: {"unit": unit, "better": better} for name, (unit, better) in named.items() if name not in METRICS}
    cell = {
        "id": cell_id(file_system, "fio", f"{instance_type or UNKNOWN}-x{count}"),
        "file_system": file_system,
        "storage": storage,
        "workload": {"type": "fio"} | ({"metrics": own} if own else {}),
        "fleet": {"instanceType": instance_type, "count": count},
        "points": points,
        "steps": steps,
        "expected_s": None,
    }
    return cast("PlanCell", cell)


def _works(file: FioFile, name: str, told: Told) -> Iterator[tuple[str, str, _Work]]:
    """Yield each point (its key), host and work of a file. Raises NotALog."""
    for number, run in enumerate(file.runs, start=1):
        together: dict[tuple[str, str, str], list[Job]] = {}
        for job in run:
            if job.error:
                raise NotALog(f"{name} {failure(job)}")
            if not job.sides:
                continue
            # Whether another file had the same options is not known.
            place = name if job.doubt and told.files_are is None else ""
            if place and len(file.runs) > 1:
                place += f" {number}"
            key = json.dumps([_options(job.options), job.name, place])
            host = name if told.files_are == "hosts" else job.host or "host"
            together.setdefault((key, host, job.group), []).append(job)
        groups = [(host, group) for _, host, group in together]
        for (key, host, group), jobs in together.items():
            work = _Work(jobs, name, number)
            if groups.count((host, group)) > 1:
                work.warnings.append(TOGETHER)
            if len({job.port for job in jobs}) > 1:
                work.warnings.append(PORTS.format(host))
            alone = "" if told.files_are else f"; {ALONE}"
            work.warnings += [doubt + alone for doubt in sorted({job.doubt for job in jobs} - {""})]
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
    """Return each point by its key; jobs with the same or unknown options are distinguished by their names."""
    read = {key: json.loads(key) for key in keys}
    asked = [json.dumps(options) for options, _, _ in read.values()]
    points: dict[str, Point] = {}
    for number, (key, (options, name, place)) in enumerate(read.items(), start=1):
        is_device = options.pop("device", False)
        params: Params = ({"options": options} if options else {}) | ({"device": True} if is_device else {})
        if asked.count(asked[number - 1]) > 1 or not options:
            params["job"] = name
        if place:
            params["file"] = place
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
            metrics, moved, bins = _figures(work)
            for name, histogram in bins.items():
                histograms.setdefault(point, {}).setdefault(name, []).append(histogram)
            samples.append(
                {
                    **{"point": point, "repetition": repetition, "step": len(samples), "metrics": metrics},
                    **{"started_at": max(0.0, work.ended_s - work.seconds), "ended_at": work.ended_s},
                    "work": moved,
                    "warnings": [f"{warning} ({printable(work.file)})"[:1000] for warning in work.warnings],
                    "tool": {"name": "fio", "version": work.jobs[0].version.removeprefix("fio-")},
                    "workers": len(work.jobs),
                }
            )
    instance = {"id": host[:200], "type": cell["fleet"]["instanceType"]}
    return SampleFile.model_validate({"run": run, "cell": cell["id"], "instance": instance, "samples": samples})


def _figures(work: _Work) -> tuple[dict[str, float], dict[str, float], dict[str, Histogram]]:
    """Return a sample's metrics, the bytes it moved by direction, and its latencies in bins.

    Rates are all I/O over the longest runtime, like fio's own group report. A job's I/O is its rate times its runtime,
    because the units of fio's totals differ between its versions.
    """
    if work.seconds * 1000 < LEAST_RUNTIME_MS:
        work.warnings.append(SHORT)
    metrics = {"duration_s": work.seconds, "iops": 0.0}
    moved: dict[str, float] = {}
    bins: dict[str, Histogram] = {}
    for way in _ways(work):
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


def _ways(work: _Work) -> list[str]:
    return [way for way in WAYS if any(way in job.sides for job in work.jobs)]


def _runtime_s(side: FioObject) -> float:
    return number_of(side.get("runtime")) / 1000


def _latencies(way: str, sides: Sequence[FioObject], work: _Work, bins: dict[str, Histogram]) -> dict[str, float]:
    """Return P50, P90 and P99 in µs: of whole operations if fio kept those, else from submission to completion.

    The two are different metrics: completion begins after the submission, which blocks with buffered I/O.
    """
    for name, kind in ((f"{way}_lat", "lat"), (f"{way}_completion_lat", "clat")):
        kept: list[Timed] = [timed for side in sides if (timed := timed_of(side, kind))]
        if kept and all(each.bins for each in kept):
            bins[name] = Histogram(merge(each.bins for each in kept), max(each.longest_ns for each in kept) or None)
            of_all = Timed(dict(bins[name].bins), {}, 0.0, 0)
            return {f"{name}_p{p}_us": of_all.percentile_us(p) or 0.0 for p in PERCENTS}
        if any(each.printed for each in kept):
            if len(kept) > 1:
                work.warnings.append(MERGED_LATER)
                return {}
            return {f"{name}_p{p}_us": kept[0].percentile_us(p) or 0.0 for p in PERCENTS if p in kept[0].printed}
    return {}
