"""Phases of elbencho's results files: `--jsonfile`, one JSON object for each phase, and `--csvfile`, one row for each.

Fields as Statistics::printPhaseResultsAsJSON, Statistics::printPhaseResultsToStringVec and ProgArgs::getAsStringVec
write them (github.com/breuner/elbencho, d085b19 of 2026-06-21, version 3.1-10). This module reads "Last done": all work
over the time until the slowest thread had ended. It does not read "First done", which leaves work out.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from typing import Any

from matrix.samples.tool_logs import LARGEST, MIN_S, SHORT, NotALog, Phase, object_of, workers_of
from matrix.terms.printable import printable

TOOL = "elbencho"
# Field of the JSON's `config`: column of the CSV. The command line has paths, and is read separately.
CONFIG = {
    "path_type": "path type", "paths": "paths", "threads": "threads", "dirs": "dirs", "files": "files",
    "file_size": "file size", "block_size": "block size", "direct_io": "direct IO", "random_offsets": "random",
    "random_aligned": "random aligned", "io_depth": "IO depth", "shared_service_paths": "shared paths",
    "truncate_files": "truncate",
}  # fmt: skip
# In the JSON of a custom tree only.
TREE = ("custom_tree_dirs", "custom_tree_files_shared", "files_not_shared")
FLAGS = frozenset({"direct_io", "random_offsets", "random_aligned", "shared_service_paths", "truncate_files"})
NAMES = {"threads": "threads", "file_size": "file_bytes", "block_size": "block_bytes"}
# The first version whose CSV has the start of a phase and not its end as its date.
WITH_START = (3, 0, 27)
# Options for the place of results and for verbosity, which do not change the work.
ASIDE = re.compile(r"--(json|csv|res|livecsv|opslog)\w*|--label|--nocsvlabels|--live\w*|--iterations|-i")
# A CSV counts whole MiB: of 100 and more the missing part is at most 1 %.
MIN_MIB = 100
# Latencies are whole microseconds, rounded down: from 10 on the missing part is less than 10 %.
MIN_US = 10
OWN = {
    "entries_per_s": {"unit": "entries/s", "better": "higher"},
    **{
        f"{mix}{kind}_lat_{what}_us": {"unit": "µs", "better": "lower"}
        for mix in ("", "rwmix_read_")
        for kind in ("io", "entry")
        for what in ("avg", "max")
    },
}
NO_PERCENTILES = (
    "elbencho keeps the least, the mean and the largest latency, and a histogram whose bins are 19 % wide: there are "
    "no percentiles"
)
WHOLE_MIB = "a CSV of elbencho counts whole MiB, too coarse for a rate below 100 MiB moved; read its --jsonfile"


def is_csv(text: str) -> bool:
    """Whether a text begins as elbencho's CSV does."""
    return text.startswith("ISO date,")


def phases_of_csv(text: str, file: str) -> list[Phase]:
    """Return the phases of a --csvfile that have a rate. Raises NotALog."""
    return _some(_of_csv(text, file))


def phases_of_json(documents: Iterable[Mapping[str, Any]], file: str) -> list[Phase]:
    """Return the phases of a --jsonfile that have a rate. Raises NotALog."""
    return _some(phase for document in documents if (phase := _phase_of_json(document, file)))


def _some(found: Iterable[Phase]) -> list[Phase]:
    read = list(found)
    if not read:
        raise NotALog("has no phase of elbencho that did anything: nothing to import")
    return read


# --- JSON -------------------------------------------------------------------------------------------------------------


def _phase_of_json(document: Mapping[str, Any], file: str) -> Phase | None:
    if "phase_type" not in document:
        raise NotALog("has documents of several tools")
    config, done = object_of(document, "config", TOOL), object_of(document, "last_done", TOOL)
    if not config:
        raise NotALog("has phases without `config`: write it with elbencho 3.0-37 or later")
    mixed, latency = object_of(done, "rwmix_read", TOOL), object_of(done, "latency", TOOL)
    seconds = _number(done.get("elapsed_time_ms")) / 1000
    figures = {
        f"{mix}{name}": _number(where[name])
        for mix, where in (("", done), ("mixed_", mixed))
        for name in ("iops", "bytes", "entries", "bytes/s", "entries/s")
        if where.get(name) is not None
    }
    latencies = {}
    for kind, name in (("io", "IO"), ("entry", "entries")):
        of_kind = object_of(latency, name, TOOL)
        for mix, where in (("", of_kind), ("rwmix_read_", object_of(of_kind, "rwmix_read", TOOL))):
            for what in ("avg", "max"):
                latencies[f"{mix}{kind}_lat_{what}_us"] = _number(where.get(f"{what}_us"))
    params = {name: config[name] for name in (*CONFIG, *TREE) if name in config}
    started_at = _moment(document.get("iso_start_date"))
    return _phase(
        str(document["phase_type"]), config, {**params, "label": document.get("label")}, file,
        started_at=started_at, seconds=seconds, figures=figures, latencies=latencies, warnings=(),
    )  # fmt: skip


# --- CSV --------------------------------------------------------------------------------------------------------------


def _of_csv(text: str, file: str) -> Iterator[Phase]:
    # elbencho quotes nothing: it writes spaces for the commas of its label and its command line.
    if not text.endswith("\n"):
        raise NotALog("ends within a line, as where elbencho was ended while it wrote")
    lines = [line for line in text.splitlines() if line]
    head = lines[0].split(",")
    missing = {"operation", "time ms [last]", "IOPS [last]", "version", "command"} - set(head)
    if missing:
        raise NotALog(f"lacks the columns {', '.join(sorted(missing))}, as where elbencho was ended while it wrote")
    for number, line in enumerate(lines[1:], start=2):
        values = line.split(",")
        if len(values) != len(head):
            advice = "as where elbencho was ended while it wrote, or of another version than the first row"
            raise NotALog(f"has {len(values)} columns at line {number} and {len(head)} in its head: {advice}")
        if phase := _phase_of_row(dict(zip(head, values, strict=True)), file):
            yield phase


def _phase_of_row(row: Mapping[str, str], file: str) -> Phase | None:
    def figure(column: str) -> float | None:
        return _number(row[column]) if row.get(column) else None

    mib = {"bytes": figure("MiB [last]"), "mixed_bytes": figure("rwmix read MiB [last]")}
    counted = {name: value * 2**20 for name, value in mib.items() if value is not None and value >= MIN_MIB}
    is_coarse = any(value is not None and value < MIN_MIB for value in mib.values())
    figures = {} if is_coarse else counted
    for mix, before in (("", ""), ("mixed_", "rwmix read ")):
        for name, column in (("iops", "IOPS"), ("entries", "entries"), ("entries/s", "entries/s")):
            if row.get(cell := f"{before}{column} [last]"):
                figures[f"{mix}{name}"] = _number(row[cell])
    latencies = {}
    for mix, before in (("", ""), ("rwmix_read_", "rwmix read ")):
        for kind, name in (("io", "IO"), ("entry", "Ent")):
            for what in ("avg", "max"):
                latencies[f"{mix}{kind}_lat_{what}_us"] = figure(f"{before}{name} lat us [{what}]") or 0.0
    seconds = _number(row["time ms [last]"]) / 1000
    moment = _moment(row["ISO date"])
    if moment is not None and _version(row["version"]) < WITH_START:
        moment -= seconds
    config = {**row, "hosts": row.get("hosts", "1")}
    params = {name: row[column] for name, column in CONFIG.items() if row.get(column)}
    return _phase(
        row["operation"], config, {**params, "label": row.get("label")}, file,
        started_at=moment, seconds=seconds, figures=figures,
        latencies=latencies, warnings=(WHOLE_MIB,) if is_coarse else (),
    )  # fmt: skip


# --- both -------------------------------------------------------------------------------------------------------------


def _phase(
    name: str,
    config: Mapping[str, Any],
    given: Mapping[str, Any],
    file: str,
    *,
    started_at: float | None,
    seconds: float,
    figures: Mapping[str, float],
    latencies: Mapping[str, float],
    warnings: tuple[str, ...],
) -> Phase | None:
    """Return a phase; None if it has no rate, like SYNC and DROPCACHE, or took less than a millisecond."""
    if seconds <= 0 or not any(figures.get(each) for each in ("iops", "mixed_iops", "entries", "mixed_entries")):
        return None
    metrics = {"duration_s": seconds, **{each: value for each, value in latencies.items() if value >= MIN_US}}
    moved: dict[str, float] = {}
    iops = figures.get("iops", 0.0) + figures.get("mixed_iops", 0.0)
    if iops:
        metrics["iops"] = iops
    if "bytes" in figures or "mixed_bytes" in figures:
        metrics["mb_per_s"] = sum(_per_s(figures, name, seconds) for name in ("bytes", "mixed_bytes")) / 1e6
    if entries := sum(_per_s(figures, name, seconds) for name in ("entries", "mixed_entries")):
        metrics["entries_per_s"] = entries
    for way, kind in _ways(name):
        if figures.get(f"{kind}iops"):
            metrics[f"{way}_iops"] = figures[f"{kind}iops"]
        if f"{kind}bytes" in figures:
            metrics[f"{way}_mib_per_s"] = _per_s(figures, f"{kind}bytes", seconds) / 2**20
            moved[f"{way}_bytes"] = figures[f"{kind}bytes"]
    if any(latencies.values()):
        warnings = (*warnings, NO_PERCENTILES)
    hosts = max(1, int(_number(config.get("hosts"))))
    threads = int(_number(config["threads"])) if config.get("threads") else None
    # Each thread of each host has up to `io_depth` operations in flight.
    at_once = hosts * max(1, int(_number(given.get("io_depth"))))
    in_flight = sum(figures.get(f"{mix}iops", 0.0) * latencies.get(f"{of}io_lat_avg_us", 0.0)
                    for mix, of in (("", ""), ("mixed_", "rwmix_read_"))) / 1e6  # fmt: skip
    workers, notes = workers_of(threads, in_flight / at_once)
    if seconds < MIN_S:
        notes += (f"elbencho {SHORT}",)
    primary = "iops" if iops else "entries_per_s"
    return Phase(
        tool=TOOL,
        version=printable(str(config.get("version", ""))),
        file=printable(file),
        instance="host",
        hosts=hosts,
        params=_params(name, {key: value for key, value in given.items() if workers is not None or key != "threads"}),
        workload={
            "type": "command",
            "name": TOOL,
            "primaryMetric": primary,
            "metrics": {own: OWN[own] for own in OWN if own in metrics},
        },
        started_at=started_at,
        seconds=seconds,
        metrics=metrics,
        moved_bytes=moved,
        workers=workers,
        options=_telling(str(config.get("command", ""))),
        notes=notes,
        warnings=warnings,
    )


def _per_s(figures: Mapping[str, float], name: str, seconds: float) -> float:
    """Return a rate: amount over time, or the printed rate (whole units) if the time is too short in milliseconds."""
    total, printed = figures.get(name, 0.0), figures.get(f"{name}/s", 0.0)
    return printed if printed and seconds < MIN_S else total / seconds


def _ways(phase: str) -> list[tuple[str, str]]:
    """Return the directions of a phase with the prefixes of their figures; none if elbencho does not separate them."""
    if phase.startswith("RWMIX"):
        return [("write", ""), ("read", "mixed_")]
    way = {"WRITE": "write", "WRITE+s": "write", "READ": "read", "READ+s": "read"}.get(phase)
    return [(way, "")] if way else []


def _params(phase: str, given: Mapping[str, Any]) -> dict[str, Any]:
    # The name is the CSV's. `phase` belongs to the metadata workload, which has all phases in one chart by one metric.
    params: dict[str, Any] = {"operation": printable(phase)}
    for name, value in given.items():
        text = str(value or "")
        if not text:
            continue
        if name in FLAGS:
            params[name] = text in {"1", "true"}
        else:
            params[NAMES.get(name, name)] = int(text) if re.fullmatch(r"[0-9]{1,15}", text) else printable(text)
    return params


def _telling(command: str) -> str:
    """Return the options of a command line, without the program, its paths and the place of its results."""
    words = re.findall(r'"([^"]*)"', command)[1:]
    kept: list[str] = []
    skip = False
    for word in words:
        if skip:
            skip = False
        elif ASIDE.fullmatch(word.partition("=")[0]):
            skip = "=" not in word and not word.startswith(("--nocsvlabels", "--live1"))
        elif "/" not in word:
            kept.append(printable(word))
    return " ".join(kept)[:500]


def _number(value: object) -> float:
    """Return a figure, which elbencho's JSON has as text. Raises NotALog."""
    try:
        figure = float(str(value or 0))
    except ValueError:
        raise NotALog(f"has a figure that is not a number: {printable(str(value))[:60]!r}") from None
    if not 0 <= figure < LARGEST * 1000:  # bytes of a phase may be petabytes
        raise NotALog(f"has a figure that cannot be: {printable(str(value))[:60]}")
    return figure


def _moment(text: object) -> float | None:
    """Return the time of a phase (epoch seconds); None without a time zone, because that is ambiguous."""
    try:
        moment = datetime.fromisoformat(str(text))
    except ValueError:
        return None
    return moment.timestamp() if moment.tzinfo else None


def _version(text: str) -> tuple[int, ...]:
    return tuple(int(part) for part in re.findall(r"[0-9]{1,6}", text)[:3])
