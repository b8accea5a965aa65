"""Rows from fio's own JSON, of fio 2 and 3, so that old logs can be compared with new runs.

fio 2 writes completion latencies as `clat` in microseconds, fio 3 as `clat_ns` in nanoseconds; json+ adds `bins`, from
which percentiles missing in the list are computed. Warnings may precede the document.
"""

import json
import re
from collections.abc import Iterator
from dataclasses import asdict, dataclass, fields
from typing import Any, TypeAlias

from contract.histogram import percentile
from matrix.terms.printable import csv_text, printable

# An object of fio's JSON: keys differ between versions of fio, and types of values are not guaranteed.
FioObject: TypeAlias = dict[str, Any]

DIRECTIONS = ("read", "write", "trim")
PERCENTS = (50, 99)
NS_PER_US = 1000
KIB = 1024
LARGEST = 1e18  # more is no rate, size or time of any storage
_SIZE = re.compile(r"\s*([0-9]{1,15}(?:\.[0-9]{1,15})?)\s*([kmgt]?)(i?)b?\s*", re.IGNORECASE)
_OBJECT = re.compile(r"^[ \t]*\{", re.MULTILINE)
_POWERS = {"": 0, "k": 1, "m": 2, "g": 3, "t": 4}


class NotFio(ValueError):
    """The file is not JSON output of fio; the message has the reason."""


@dataclass(frozen=True)
class Row:
    """One job in one direction."""

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


COLUMNS = tuple(field.name for field in fields(Row))


def rows(text: str, file: str) -> list[Row]:
    """Return a row for each job and direction that did any I/O. Raises NotFio."""
    return [
        row
        for document in documents(text)
        for job in jobs_of(document)
        # fio --client adds a sum over all clients, which is not a job.
        if job.get("jobname") != "All clients"
        for row in _rows_of(job, object_of(document, "global options"), file)
    ]


def documents(text: str) -> list[FioObject]:
    """Return the document of each run in a file, without interim ones. Raises NotFio."""
    return _last_of_each_run(list(_documents(text)))


def jobs_of(document: FioObject) -> list[FioObject]:
    """Return the jobs of a document, of `fio --client` too. Raises NotFio."""
    jobs = document.get("jobs", document.get("client_stats"))
    if not isinstance(jobs, list):
        raise NotFio("has neither `jobs` nor `client_stats`; write it with `fio --output-format=json`")
    if not all(isinstance(job, dict) for job in jobs):
        raise NotFio("has a job that is no object")
    return jobs


def _last_of_each_run(documents: list[FioObject]) -> list[FioObject]:
    """Drop interim documents of `--status-interval`, since each later one counts from the start of the run again.

    A file can also hold several runs. A document is interim if the run of the next one had started before it was
    written.
    """
    return [
        document
        for document, following in zip(documents, [*documents[1:], {}], strict=True)
        if not 0 < _begun_ms(following) < number_of(document.get("timestamp_ms"))
    ]


def _begun_ms(document: FioObject) -> float:
    """Return the latest possible start of a document's run; 0 before fio 3, which writes no time."""
    ended_ms = number_of(document.get("timestamp_ms"))
    if not ended_ms:
        return 0.0
    jobs = jobs_of(document)
    lasted_ms = max((number_of(job.get("job_runtime")) for job in jobs), default=0.0)
    # Jobs that wait for each other (stonewall) take longer together than each alone; `elapsed` includes that. The 2 s
    # allow for fio's rounding up to whole seconds.
    elapsed_ms = max((1000 * (number_of(job.get("elapsed")) - 2) for job in jobs), default=0.0)
    return ended_ms - max(lasted_ms, elapsed_ms)


def object_of(whole: FioObject, name: str) -> FioObject:
    """Return the object below a name, empty if it is absent. Raises NotFio if it is no object."""
    below = whole.get(name) or {}
    if not isinstance(below, dict):
        raise NotFio(f"has `{name}` that is no object, as fio writes it")
    return below


def to_csv(rows: list[Row]) -> str:
    """Write rows as CSV."""
    return csv_text(COLUMNS, map(asdict, rows))


def _documents(text: str) -> Iterator[FioObject]:
    """Yield each JSON object that begins a line; other text around them is skipped."""
    begins = _OBJECT.search(text)
    if begins is None:
        raise NotFio("holds no JSON; fio's normal and terse outputs cannot be read")
    while begins is not None:
        try:
            document, end = json.JSONDecoder().raw_decode(text, begins.end() - 1)
        except (ValueError, RecursionError) as error:
            raise NotFio(f"is no JSON: {error}") from error
        yield document
        begins = _OBJECT.search(text, end)


def _rows_of(job: FioObject, shared: FioObject, file: str) -> Iterator[Row]:
    options = {**shared, **object_of(job, "job options")}
    for place, direction in enumerate(DIRECTIONS):
        side = job.get(direction)
        if not isinstance(side, dict) or not number_of(side.get("iops")):
            continue
        mode = printable(str(options.get("rw", options.get("readwrite", direction))))
        latency = _latencies(side)
        yield Row(
            file=printable(file),
            jobname=printable(str(job.get("jobname", ""))),
            rw=mode if mode.removeprefix("rand") == direction else f"{mode} ({direction})",
            block_kib=_block_kib(options, place) or _moved_kib(side),
            jobs=_whole(options.get("numjobs", 1)),
            iodepth=_whole(options.get("iodepth", 1)),
            iops=number_of(side.get("iops")),
            mib_per_s=_mib_per_s(side),
            lat_p50_us=latency[50],
            lat_p99_us=latency[99],
        )


def _mib_per_s(side: FioObject) -> float:
    """Return the rate; fio 3 writes `bw_bytes` in bytes/s, fio 2 `bw` in KiB/s."""
    if "bw_bytes" in side:
        return number_of(side["bw_bytes"]) / KIB**2
    return number_of(side.get("bw")) / KIB


def _latencies(side: FioObject) -> dict[int, float | None]:
    """Return P50 and P99 of the completion latency in µs, or of the total latency if clat was disabled."""
    for name, per_us in (("clat_ns", NS_PER_US), ("clat", 1), ("lat_ns", NS_PER_US), ("lat", 1)):
        latency = side.get(name)
        if not isinstance(latency, dict):
            continue
        listed = {
            float(key): number_of(value) for key, value in object_of(latency, "percentile").items() if _is_number(key)
        }
        bins = {int(key): int(number_of(value)) for key, value in object_of(latency, "bins").items() if _is_whole(key)}
        latencies: dict[int, float | None] = {p: listed.get(float(p)) for p in PERCENTS}
        if bins:
            latencies = {p: percentile(bins, p) if value is None else value for p, value in latencies.items()}
        # fio 2 prints zeros if it kept no percentiles.
        if any(latencies.values()):
            return {p: None if value is None else value / per_us for p, value in latencies.items()}
    return dict.fromkeys(PERCENTS)


def printed_percentiles(latency: FioObject) -> dict[float, float]:
    """Return the percentiles that fio printed, in its unit; empty without any. Raises NotFio."""
    printed = object_of(latency, "percentile").items()
    return {float(key): number_of(value) for key, value in printed if _is_number(key)}


def bins_of(latency: FioObject) -> dict[int, int]:
    """Return how many operations took how long, in fio's unit, of json+; empty without bins. Raises NotFio."""
    return {int(key): int(number_of(value)) for key, value in object_of(latency, "bins").items() if _is_whole(key)}


def _block_kib(options: FioObject, place: int) -> float | None:
    """Return the block size option of a direction (`bs=4k,64k`) in KiB; None for ranges and without options."""
    if not options or "bssplit" in options or "bsrange" in options:
        return None
    asked = str(options.get("bs", options.get("blocksize", "4k"))).split(",")
    size = _SIZE.fullmatch(asked[min(place, len(asked) - 1)] or "4k")
    return float(size[1]) * KIB ** _POWERS[size[2].lower()] / KIB if size else None


def _moved_kib(side: FioObject) -> float:
    """Return the KiB of a mean operation, by rates: the unit of io_bytes differs between versions of fio."""
    moved = _mib_per_s(side) * KIB / number_of(side["iops"])
    if moved > LARGEST:
        raise NotFio(f"has figures that cannot be: {side['iops']} operations/s of {moved:.3g} KiB each")
    return round(moved, 2)


def _whole(value: object) -> int | None:
    return int(str(value)) if _is_whole(value) else None


def _is_whole(text: object) -> bool:
    return bool(re.fullmatch(r"[0-9]{1,18}", str(text)))


def _is_number(text: object) -> bool:
    return bool(re.fullmatch(r"[0-9]{1,18}(\.[0-9]{1,18})?", str(text)))


def number_of(value: object) -> float:
    """Return a number, 0 if there is none: some versions of fio write NaN, which is not JSON. Raises NotFio."""
    if isinstance(value, bool) or (isinstance(value, (int, float)) and value < 0):
        raise NotFio(f"has a figure that cannot be: {json.dumps(value)}")
    return float(value) if isinstance(value, (int, float)) and value < LARGEST else 0.0
