"""fio's own JSON, of fio 2 and 3: its records with the options that they certainly had, and as rows of a table.

fio 2 writes latencies as `clat` in microseconds, fio 3 as `clat_ns` in nanoseconds; json+ adds `bins`. fio before 2.3
writes no options. With `group_reporting` it writes one record for all sections of a group, with the name of the first
and the options of the last; `fio --client` before 3.39 merges the global options of all clients. So options that the
record's own figures contradict are those of another job, and count as unknown.
"""

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, TypeAlias

from contract.fio_job import FioJob
from contract.histogram import FIO_LAST_VALUE_NS, bin_index, bin_value, percentile, repaired
from matrix.samples.tool_logs import NotALog, objects_in
from matrix.terms.fio_cautions import cautions
from matrix.terms.printable import printable

# An object of fio's JSON: keys differ between versions of fio, and types of values are not guaranteed.
FioObject: TypeAlias = dict[str, Any]

# `mixed` is all of them, with unified_rw_reporting; `both` writes it beside the others.
WAYS = ("read", "write", "trim", "mixed")
# The directions of each `rw`, without a leading `rand`.
MODES = {
    "read": {"read"}, "write": {"write"}, "rw": {"read", "write"}, "readwrite": {"read", "write"},
    "trim": {"trim"}, "trimwrite": {"trim", "write"},
}  # fmt: skip
SHORT = "fio ran for less than a second: its clock counts milliseconds, so its rates mean little"
MIN_RUNTIME_MS = 1000
# How long a job goes on at most after fio has written that it ends in 0 s.
LAST_ETA_MS = 2000
KIB = 1024
LARGEST = 1e18  # more is not a rate, size or time of any storage
# fio 2 counted in microseconds: the middle of its last bin of 19 groups.
LAST_VALUE_US = bin_value(19 * 64 - 1)
# The part by which a figure may differ from the option: rounding, a short last block, a percent of shallow starts.
TOLERANCE, MIN_PERCENT = 0.1, 1.0
READ_BACK = "verify read them after the writes, so they are a result of their own"
READ_BETWEEN = "the reads of verify_backlog are left out: fio gives them no time of their own"
READ_AMONG = "the reads of verify, after the others, are among these and cannot be told apart"
UNTOLD = "its options are unknown, since the file has none: fio before 2.3 wrote none"


@dataclass(frozen=True)
class Job:
    """A record of fio: of one process, or of all processes of a group."""

    name: str
    # The address of its server, of `fio --client`; and its port if servers share the address.
    host: str
    port: str
    group: str
    error: int
    # Directions that did any I/O.
    sides: dict[str, FioObject]
    sync: FioObject
    # Empty if unknown.
    options: FioObject
    # Processes that the record stands for; None if unknown.
    processes: int | None
    version: str
    ended_s: float | None
    # Why its options are unknown, and what its figures are not, though they look like it.
    notes: tuple[str, ...]


@dataclass(frozen=True)
class FioFile:
    """The records of a file, of each of its documents."""

    runs: list[list[Job]]
    # How many documents the next one includes, as `--status-interval` writes them; they are left out.
    interim: int


@dataclass(frozen=True)
class Row:
    """One record in one direction."""

    file: str
    jobname: str
    rw: str
    block_kib: float | None
    jobs: int | None
    iodepth: int | None
    iops: float
    mib_per_s: float
    lat_p50_us: float | None
    lat_p99_us: float | None
    host: str
    error: int
    note: str


def read(text: str) -> FioFile:
    """Return the records of a file. Raises NotALog if none did any I/O."""
    documents = list(objects_in(text, "fio", ("jobs", "client_stats"), begins="fio version"))
    for document in documents:
        _jobs_of(document)
    last = [not _is_interim(*pair) for pair in pairwise(documents)] + [True]
    runs = [list(_read(document)) for document, is_last in zip(documents, last, strict=True) if is_last]
    if not any(job.sides for run in runs for job in run):
        failed = [failure(job) for run in runs for job in run if job.error]
        raise NotALog(" and ".join(failed) or "has no job that did any I/O")
    return FioFile(runs, last.count(False))


def failure(job: Job) -> str:
    """Return what went wrong with a job; its figures are not complete."""
    return f"has a job {job.name!r} that ended with error {job.error}"


def rows(file: FioFile, name: str) -> list[Row]:
    """Return a row for each record and direction."""
    return [
        row
        for run in file.runs
        for job in run
        for way, side in job.sides.items()
        for row in [_row(job, way, side, name)]
    ]


def _row(job: Job, way: str, side: FioObject, file: str) -> Row:
    mode = printable(str(_option(job.options, "rw", "readwrite") or way))
    timed = timed_of(side, "clat") or timed_of(side, "lat")
    is_short = 0 < number_of(side.get("runtime")) < MIN_RUNTIME_MS
    p50, p99 = (timed.percentile_us(p) if timed else None for p in (50, 99))
    return Row(
        file=printable(file),
        jobname=job.name,
        rw=mode if mode.removeprefix("rand") == way else f"{mode} ({way})",
        block_kib=_block_kib(job.options, way) or _moved_kib(side),
        jobs=job.processes,
        iodepth=_whole(job.options.get("iodepth", 1)) if job.options else None,
        iops=number_of(side.get("iops")),
        mib_per_s=bytes_per_s(side) / KIB**2,
        lat_p50_us=p50,
        lat_p99_us=p99,
        host=f"{job.host}:{job.port}" if job.port else job.host,
        error=job.error,
        note="; ".join([f"error {job.error}"] * bool(job.error) + [*job.notes] + [SHORT] * is_short),
    )


# --- documents --------------------------------------------------------------------------------------------------------


def _read(document: FioObject) -> Iterator[Job]:
    # fio --client adds a sum over all clients, which is not a job.
    records = [record for record in _jobs_of(document) if record.get("jobname") != "All clients"]
    several = document.get("global options") or {}
    alike = Counter(_identity(record) for record in records)
    servers = {(record.get("hostname"), record.get("port")) for record in records}
    for record in records:
        shared = several
        if isinstance(several, list):  # of each client, as fio 3.39 and later write them
            own = (record.get("hostname"), record.get("port"))
            shared = next(
                (each for each in map(_an_object, several) if (each.get("hostname"), each.get("port")) == own), {}
            )
        options = {**_an_object(shared), **object_of(record, "job options")}
        options = {name: value for name, value in options.items() if name not in {"hostname", "port"}}
        sides = {way: side for way in WAYS if _has_moved(record, way, side := object_of(record, way))}
        if len(sides) > 1:
            sides.pop("mixed", None)
        # Without group_reporting each process has a record of its own.
        processes = 1 if alike[_identity(record)] > 1 else _whole(options.get("numjobs", 1))
        doubt = _doubt(record, sides, options, processes) if options else UNTOLD
        host = printable(str(record.get("hostname") or ""))
        error = number_of(record.get("error"))
        yield from _phases(
            Job(
                name=printable(str(record.get("jobname", ""))),
                host=host,
                port=str(record.get("port")) if [each for each, _ in servers].count(host) > 1 else "",
                group=str(record.get("groupid")),
                error=int(error),
                sides=sides,
                sync=object_of(record, "sync"),
                options={} if doubt else options,
                processes=None if doubt else processes,
                notes=(doubt,) if doubt else tuple(_cautions(record, options)),
                version=printable(str(document.get("fio version", "fio"))),
                ended_s=_ended_s(document, sides),
            )
        )


def _phases(job: Job) -> Iterator[Job]:
    """Yield a job; of one that writes and then reads that back (`verify`), both by themselves: they never ran together.

    Seen with fio 3.33: the runtime of either is its own, but of the reads of `verify_backlog` it is next to nothing.
    """
    if not (_verifies(job.options) and "read" in job.sides and len(job.sides) > 1):
        yield _noted(job, READ_AMONG) if _verifies(job.options) and "mixed" in job.sides else job
        return
    if "read" in MODES.get(_mode(job.options), ()):
        yield _noted(job, READ_AMONG)
        return
    writes = {way: side for way, side in job.sides.items() if way != "read"}
    if _reads_between(job.options):
        yield _noted(replace(job, sides=writes), READ_BETWEEN)
        return
    read = job.sides["read"]
    wrote_until_s = None if job.ended_s is None else job.ended_s - number_of(read.get("runtime")) / 1000
    yield replace(job, sides=writes, ended_s=wrote_until_s)
    yield _noted(replace(job, name=f"{job.name}, read back", sides={"read": read}, sync={}), READ_BACK)


def _noted(job: Job, note: str) -> Job:
    return replace(job, notes=(*job.notes, note))


def _has_moved(record: FioObject, way: str, side: FioObject) -> bool:
    """Whether a direction did any I/O. Raises NotALog if it did, but without a rate that can be: it has no figures."""
    if number_of(side.get("iops")):
        number_of(side.get("total_ios"))
        return True
    if any(number_of(side.get(name)) for name in ("total_ios", "io_bytes")):
        job, rate = printable(str(record.get("jobname", ""))), printable(json.dumps(side.get("iops")))
        if error := record.get("error"):
            raise NotALog(f"has a job {job!r} that ended with error {printable(str(error))}")
        raise NotALog(f"has a job {job!r} whose {way}s have no rate: iops is {rate}")
    return False


def _identity(record: FioObject) -> str:
    return json.dumps([record.get(key) for key in ("jobname", "groupid", "hostname", "port", "job options")])


def _jobs_of(document: FioObject) -> list[FioObject]:
    """Return the records of a document, of `fio --client` too. Raises NotALog."""
    jobs = document.get("jobs", document.get("client_stats"))
    if not isinstance(jobs, list) or not all(isinstance(job, dict) for job in jobs):
        raise NotALog("has `jobs` or `client_stats` that are not a list of objects, as fio writes them")
    return jobs


def _ended_s(document: FioObject, sides: Mapping[str, FioObject]) -> float | None:
    """Return when a job ended (epoch, s). The time of a document is that of its end, of `fio --client` of its start."""
    moment = number_of(document.get("timestamp_ms")) / 1000 or number_of(document.get("timestamp"))
    if moment and "client_stats" in document:
        moment += max((number_of(side.get("runtime")) / 1000 for side in sides.values()), default=0.0)
    return moment or None


def _is_interim(document: FioObject, following: FioObject) -> bool:
    """Whether a document is an interim one of `--status-interval`, since the next one counts its run from the start.

    A file can also hold several runs, or those of several hosts. The run of the next document had started before this
    one was written, has the same jobs, and no counter of them fell.
    """
    first, later = _jobs_of(document), _jobs_of(following)
    ended_s, began_s = _moments(document)[1], _moments(following)[0]
    if not 0 < began_s < ended_s or [*map(_identity, first)] != [*map(_identity, later)]:
        return False
    # fio's `eta` is above 0 while a job goes on, 0 in its last second, and 2^31 - 1 if unknown.
    etas = [job.get("eta") for job in first]
    is_going = any(0 < number_of(eta) < 2**31 - 1 for eta in etas)
    longest_ms = LAST_ETA_MS if all(eta == 0 for eta in etas) else float("inf")
    pairs = list(zip(first, later, strict=True))
    return all(_grown(after, job, name) >= 0 for job, after in pairs for name in ("ctx", "minf", "majf")) and all(
        _goes_on(object_of(job, way), object_of(after, way), longest_ms, is_going=is_going)
        for job, after in pairs
        for way in WAYS
    )


def _goes_on(side: FioObject, later: FioObject, longest_ms: float, *, is_going: bool) -> bool:
    """Whether a later record of a direction can be of the same run: no counter fell, and I/O took its time."""
    ios, size, runtime = (_grown(later, side, name) for name in ("total_ios", "io_bytes", "runtime"))
    if min(ios, size, runtime) < 0:
        return False
    for kind in ("clat_ns", "clat", "lat_ns", "lat"):
        before, after = object_of(side, kind), object_of(later, kind)
        bins, more = object_of(before, "bins"), object_of(after, "bins")
        if number_of(before.get("max")) and (_grown(after, before, "max") < 0 or _grown(after, before, "min") > 0):
            return False
        if any(_grown(more, bins, name) < 0 for name in bins):
            return False
    # A job that may have ended: not without I/O in more time, or ten times as fast as on the whole.
    is_plausible = bool(runtime) == bool(ios) and ios <= number_of(later.get("iops")) * runtime / 100
    return is_going or (is_plausible and runtime <= longest_ms)


def _grown(later: FioObject, earlier: FioObject, name: str) -> float:
    return number_of(later.get(name)) - number_of(earlier.get(name))


def _moments(document: FioObject) -> tuple[float, float]:
    """Return the latest possible start of a document's run, and when it was written (epoch, s); 0 without a time."""
    ended_s = number_of(document.get("timestamp_ms")) / 1000 or number_of(document.get("timestamp"))
    if not ended_s:
        return 0.0, 0.0
    jobs = _jobs_of(document)
    lasted_s = max((number_of(job.get("job_runtime")) / 1000 for job in jobs), default=0.0)
    # Jobs that wait for each other (stonewall) take longer together than each alone; `elapsed` includes that. The 2 s
    # allow for fio's rounding up to whole seconds.
    elapsed_s = max((number_of(job.get("elapsed")) - 2 for job in jobs), default=0.0)
    return ended_s - max(lasted_s, elapsed_s), ended_s


# --- options ----------------------------------------------------------------------------------------------------------


def _doubt(record: FioObject, sides: Mapping[str, FioObject], options: FioObject, processes: int | None) -> str:
    """Return why the options cannot be those of the record; empty if they can."""
    if "read_iolog" in options:  # the log has the directions and sizes
        return ""
    evidence = next(_contradictions(record, sides, options, processes or 1), "")
    return f"its options are unknown, since the file has those of another job or client: {evidence}" if evidence else ""


def _contradictions(
    record: FioObject, sides: Mapping[str, FioObject], options: FioObject, processes: int
) -> Iterator[str]:
    mode = _mode(options)
    for way, side in sides.items():
        # A job that verifies reads what it wrote.
        if way not in MODES.get(mode, WAYS) and way != "mixed" and not _verifies(options):
            yield f"rw is {printable(mode)}, but it has {way}s"
        asked, iops = _block_kib(options, way), number_of(side["iops"])
        rate = bytes_per_s(side) / KIB
        # fio 2 writes whole KiB/s.
        if asked and rate and abs(rate - asked * iops) > TOLERANCE * asked * iops + 1:
            yield f"bs is {asked:g} KiB, but its operations have {_moved_kib(side):g} KiB"
    depth = _whole(options.get("iodepth", 1)) or 1
    levels = {int(level.lstrip(">=")): number_of(share) for level, share in object_of(record, "iodepth_level").items()
              if _is_whole(level.lstrip(">="))}  # fmt: skip
    deepest = max((level for level, share in levels.items() if share > MIN_PERCENT), default=0)
    if deepest > depth:
        yield f"iodepth is {depth}, but it had {deepest} or more in flight"
    # Little's law: as many operations are in flight as are done in the time that one of them takes.
    in_flight: list[float] = []
    longest = 0.0
    for way, side in sides.items():
        if way == "read" and _reads_between(options):
            continue
        timed = next((each for kind in ("lat", "clat") if (each := timed_of(side, kind))), None)
        runtime_ns = number_of(side.get("runtime")) * 1e6
        if timed and runtime_ns:
            in_flight.append(number_of(side["iops"]) * timed.mean_ns / 1e9)
            longest = max(longest, timed.longest_ns / runtime_ns)
    # Reads of verify come after the writes.
    most = max(in_flight, default=0.0) if _verifies(options) else sum(in_flight)
    if most > processes * depth * (1 + TOLERANCE) * (1 + longest):
        yield f"numjobs × iodepth is {processes * depth}, but {most:.3g} operations were in flight"
    ran_s, elapsed_s = number_of(record.get("job_runtime")) / 1000, number_of(record.get("elapsed"))
    if elapsed_s and ran_s > processes * (elapsed_s + 1):
        yield f"numjobs is {processes}, but its jobs ran for {ran_s:.3g} s in {elapsed_s:g} s"


def _mode(options: FioObject) -> str:
    """Return the access pattern without `rand`, such as `write`."""
    return str(_option(options, "rw", "readwrite") or "read").partition(":")[0].removeprefix("rand")


def _verifies(options: FioObject) -> bool:
    return options.get("verify", "0") not in {"0", "null"} and options.get("do_verify", "1") != "0"


def _reads_between(options: FioObject) -> bool:
    """Whether verify reads between the writes: fio gives these reads a runtime of next to nothing."""
    return (
        _verifies(options) and options.get("verify_backlog", "0") != "0" and "read" not in MODES.get(_mode(options), ())
    )


def _option(options: FioObject, *names: str) -> object:
    return next((options[name] for name in names if options.get(name)), None)


def _block_kib(options: FioObject, way: str) -> float | None:
    """Return the block size option of a direction (`bs=4k,64k`) in KiB; None for ranges and without options."""
    if not options or "bssplit" in options or "bsrange" in options:
        return None
    asked = str(options.get("bs", options.get("blocksize", "4k"))).split(",")
    if way == "mixed" and len(set(asked)) > 1:
        return None
    size = FioJob(options).size((asked[min(WAYS.index(way) % 3, len(asked) - 1)] or "4k").strip().lower())
    return size / KIB or None


def _cautions(record: FioObject, options: FioObject) -> Iterator[str]:
    """Yield what speaks against a record's figures as those of its storage, by its options and its steady state."""
    job = FioJob(options)
    for option, risk, _ in cautions(job):
        yield f"{option}: {risk}"
    # A plan need not say it of reads: the agent drops the caches before each step.
    if job.reads and job.keeps_cache and not (job.is_direct or job.reads_again or job.engine == "mmap"):
        yield "invalidate: its reads went through the instance's page cache, and what that held is not known"
    steady = object_of(record, "steadystate")
    if steady and not number_of(steady.get("attained")):
        yield f"{printable(str(steady.get('ss')))}: the steady state that it asked for was not reached"


# --- figures ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Timed:
    """The latencies of a direction. `bins` is empty unless fio wrote json+."""

    bins: dict[int, int]
    # Percentiles that fio printed (ns).
    printed: dict[float, float]
    mean_ns: float
    longest_ns: int

    def percentile_us(self, percent: float) -> float | None:
        """Return a percentile, as printed if fio printed it."""
        value = self.printed.get(percent) or (percentile(self.bins, percent) if self.bins else None)
        return None if value is None else value / 1000


def timed_of(side: FioObject, kind: str) -> Timed | None:
    """Return the latencies of whole operations (`lat`) or from submission on (`clat`); None without any."""
    for name, ns_per_unit in ((f"{kind}_ns", 1), (kind, 1000)):
        latency = object_of(side, name)
        mean_ns, longest_ns = (number_of(latency.get(key)) * ns_per_unit for key in ("mean", "max"))
        percentiles = object_of(latency, "percentile").items()
        printed = {float(key): _cut_off(number_of(value), ns_per_unit) for key, value in percentiles if _is_number(key)}
        bins: Counter[int] = Counter()
        for key, count in object_of(latency, "bins").items():
            if _is_whole(key):
                value = int(_cut_off(int(key), ns_per_unit))
                bins[value if ns_per_unit == 1 else bin_value(bin_index(value))] += int(number_of(count))
        # fio 2 prints zeros if it kept no percentiles.
        printed = printed if any(printed.values()) else {}
        if mean_ns or printed or bins:
            known = repaired(bins, int(longest_ns), mean_ns * bins.total())
            return Timed(known, printed, mean_ns, int(longest_ns))
    return None


def _cut_off(value: float, ns_per_unit: int) -> float:
    """Return a value in nanoseconds; the last bin of fio 2 as that of fio 3, which means "at least"."""
    return FIO_LAST_VALUE_NS if ns_per_unit > 1 and value == LAST_VALUE_US else value * ns_per_unit


def bytes_per_s(side: FioObject) -> float:
    """Return the rate; fio 3 writes `bw_bytes` in bytes/s, fio 2 `bw` in KiB/s."""
    return number_of(side["bw_bytes"]) if "bw_bytes" in side else number_of(side.get("bw")) * KIB


def _moved_kib(side: FioObject) -> float:
    """Return the KiB of a mean operation, by rates: the unit of io_bytes differs between versions of fio."""
    moved = bytes_per_s(side) / KIB / number_of(side["iops"])
    if moved > LARGEST:
        raise NotALog(f"has figures that cannot be: {side['iops']} operations/s of {moved:.3g} KiB each")
    return round(moved, 2)


# --- values -----------------------------------------------------------------------------------------------------------


def object_of(whole: FioObject, name: str) -> FioObject:
    """Return the object below a name, empty if it is absent. Raises NotALog if it is not an object."""
    return _an_object(whole.get(name) or {}, name)


def _an_object(below: object, name: str = "global options") -> FioObject:
    if not isinstance(below, dict):
        raise NotALog(f"has `{name}` that is not an object, as fio writes it")
    return below


def number_of(value: object) -> float:
    """Return a number, 0 if there is none: some versions of fio write NaN, which is not JSON. Raises NotALog."""
    if isinstance(value, bool) or (isinstance(value, (int, float)) and value < 0):
        raise NotALog(f"has a figure that cannot be: {json.dumps(value)}")
    return float(value) if isinstance(value, (int, float)) and value < LARGEST else 0.0


def _whole(value: object) -> int | None:
    return (int(str(value)) or None) if _is_whole(value) else None


def _is_whole(text: object) -> bool:
    return bool(re.fullmatch(r"[0-9]{1,18}", str(text)))


def _is_number(text: object) -> bool:
    return bool(re.fullmatch(r"[0-9]{1,18}(\.[0-9]{1,18})?", str(text)))
