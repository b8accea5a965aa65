"""Import fio's output files as a run: each job becomes a point, each host an instance, each file a repetition.

Nothing is guessed. fio knows neither the storage nor the instance type, so the user names both, or they stay unknown.
Percentiles are from fio's bins (json+), or as fio printed them (json); percentiles of several jobs are from their
merged bins and never averaged.
"""

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import cast

from contract.histogram import LEVELS, latency_metrics, merge
from matrix.answer.results import cell_result
from matrix.published.imported import UNKNOWN, Given, ImportedRun, imported_summary, storage_of
from matrix.samples.file import SampleFile
from matrix.samples.fio_logs import (
    LARGEST,
    MIN_RUNTIME_MS,
    READ_BACK,
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
from matrix.terms.documents.parts import Params, Part
from matrix.terms.documents.plan import PlanCell
from matrix.terms.documents.result import ResultDocument
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
SAME_TIME = "files or documents of the same work are of the same time: they count as hosts, not as repetitions"
ALONE = "each is a test point of its own; if they are repetitions, say so: --files-are repetitions"
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


@dataclass(frozen=True)
class Phase:
    """The work of one point on one host in one repetition, with its figures."""

    version: str
    file: str
    instance: str
    # Which document of its file: the jobs of one document know their hosts.
    document: int
    # Parameters that distinguish points of runs.
    params: Params
    # Metrics that only fio has, as a matrix declares them.
    own: Part
    started_at: float
    seconds: float
    metrics: dict[str, float]
    moved_bytes: dict[str, float]
    histograms: dict[str, Histogram]
    # None if the file does not have all parameters.
    workers: int | None
    notes: tuple[str, ...]


# The phases of each instance, by their parameters as JSON.
Works = dict[str, dict[str, list[Phase]]]


def imported_run(run: str, files: Mapping[str, FioFile], given: Given) -> ImportedRun:
    """Return the run of some files (by name). Raises NotALog with the file, InvalidMatrix for an invalid storage.

    A storage from the user is checked, and completed with defaults, like one of a matrix.
    """
    works = [work for name, file in files.items() for work in _works(file, name)]
    # Jobs with the same or unknown options are distinguished by their names.
    names: dict[str, set[str]] = {}
    for work in works:
        names.setdefault(json.dumps(_options(work.jobs[0].options)), set()).add(work.jobs[0].name)
    phases: list[Phase] = []
    for work in works:
        options = _options(work.jobs[0].options)
        phases.append(_phase(work, options, is_named=not options or len(names[json.dumps(options)]) > 1))
    storage, file_system = storage_of(given.storage)
    results: list[ResultDocument] = []
    spans: list[tuple[float, float]] = []
    for count, of_cell in _cells(phases, given).items():
        cell, points = _cell(storage, file_system, given.instance_type or "", count, of_cell)
        histograms: dict[str, dict[str, list[Histogram]]] = {}
        instances = sorted({instance for of_point in of_cell.values() for instance in of_point})
        samples = [_sample_file(run, cell, instance, of_cell, points, histograms) for instance in instances]
        results.append(cell_result(cast("PlanCell", cell), samples, error=None, actual_s=None, histograms=histograms))
        spans += [(each.started_at, each.ended_at) for file in samples for each in file.samples if each.started_at]
    left_out = sum(file.interim for file in files.values())
    notes = [INTERIM.format(left_out)] if left_out else []
    return ImportedRun(imported_summary(run, list(files), results, spans, notes), results)


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
        at_once = Counter(
            (host, group) for (_, _, host, group), jobs in together.items() if READ_BACK not in jobs[0].notes
        )
        for (_, _, host, group), jobs in together.items():
            work = _Work(jobs, name, number, sorted({note for job in jobs for note in job.notes}))
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
    return Phase(
        version=first.version.removeprefix("fio-"),
        file=printable(work.file),
        instance=first.host or "host",
        document=work.document,
        params=params | ({"job": first.name} if is_named else {}),
        own=own,
        started_at=0.0 if first.ended_s is None else max(0.0, first.ended_s - work.seconds),
        seconds=work.seconds,
        metrics=metrics,
        moved_bytes=moved,
        histograms=bins,
        workers=len(work.jobs) if first.options else None,
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


def _cells(phases: Sequence[Phase], given: Given) -> dict[int, Works]:
    """Return the phases by the size of their fleet."""
    works: Works = {}
    for phase in phases:
        instance = phase.file if given.files_are == "hosts" else phase.instance
        params, notes = phase.params, phase.notes
        if phase.workers is None and given.files_are is None:  # whether another file had as many is not known
            params = {**params, "file": f"{phase.file} {phase.document}" if phase.document > 1 else phase.file}
            notes = (*notes, ALONE)
        hosts = works.setdefault(json.dumps(params, sort_keys=True), {})
        free = instance if given.files_are else _free_host(instance, hosts, phase)
        if free != instance:
            notes = (*notes, SAME_TIME)
        hosts.setdefault(free, []).append(replace(phase, notes=notes))
    cells: dict[int, Works] = {}
    for key, of_point in works.items():
        cells.setdefault(len(of_point), {})[key] = of_point
    return cells


def _free_host(host: str, hosts: Mapping[str, Sequence[Phase]], phase: Phase) -> str:
    """Return the host, or another name for it if it did the same work at the same time already."""
    number, name = 1, host
    while any(_overlap(phase, other) for other in hosts.get(name, ())):
        number += 1
        name = f"{host} {number}"
    return name


def _overlap(phase: Phase, other: Phase) -> bool:
    """Whether two phases share more than half of the shorter one's time. The jobs of a document know their hosts."""
    if (phase.file, phase.document) == (other.file, other.document):
        return False
    starts = [phase.started_at, other.started_at]
    ends = [start + each.seconds for start, each in zip(starts, (phase, other), strict=True)]
    return all(starts) and min(ends) - max(starts) > min(phase.seconds, other.seconds) / 2


def _cell(storage: Part, file_system: str, instance_type: str, count: int, works: Works) -> tuple[Part, dict[str, str]]:
    """Return a cell as a plan has it, and the id of each point by its key."""
    points = {key: f"p{number:02d}" for number, key in enumerate(works, start=1)}
    own: Part = {}
    for phase in (each for of_point in works.values() for repeated in of_point.values() for each in repeated):
        own |= phase.own
    cell = {
        "id": cell_id(file_system, "fio", f"{instance_type or UNKNOWN}-x{count}"),
        "file_system": file_system,
        "storage": storage,
        "workload": {"type": "fio"} | ({"metrics": own} if own else {}),
        "fleet": {"instanceType": instance_type, "count": count},
        "points": [{"id": point, "params": json.loads(key)} for key, point in points.items()],
        "expected_s": None,
        "steps": [
            {"point": point, "repetition": repetition + 1}
            for key, point in points.items()
            for repetition in range(max(map(len, works[key].values())))
        ],
    }
    return cell, points


def _sample_file(
    run: str,
    cell: Part,
    instance: str,
    works: Works,
    points: Mapping[str, str],
    histograms: dict[str, dict[str, list[Histogram]]],
) -> SampleFile:
    samples: list[Part] = []
    for key, of_point in works.items():
        for repetition, phase in enumerate(of_point.get(instance, ()), start=1):
            for name, histogram in phase.histograms.items():
                histograms.setdefault(points[key], {}).setdefault(name, []).append(histogram)
            samples.append(
                {
                    **{"point": points[key], "repetition": repetition, "step": len(samples)},
                    **{"metrics": phase.metrics, "work": phase.moved_bytes},
                    **{"started_at": phase.started_at, "ended_at": phase.started_at + phase.seconds},
                    "warnings": [f"{note} ({phase.file})"[:1000] for note in phase.notes],
                    "tool": {"name": "fio", "version": phase.version},
                    "workers": phase.workers or 0,
                }
            )
    identity = {"id": instance[:200], "type": cell["fleet"]["instanceType"]}
    return SampleFile.model_validate({"run": run, "cell": cell["id"], "instance": identity, "samples": samples})
