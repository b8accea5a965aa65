"""fio's options by its own help (fio_options.json, written by `make fio`), and what of them is not passed on."""

import difflib
import json
import re
from pathlib import Path
from typing import Any

from contract.fio_job import MAX_JOBS, FioJob

_KNOWN: dict[str, Any] = json.loads(Path(__file__).with_name("fio_options.json").read_text(encoding="utf-8"))
VERSION, OPTIONS, ENGINE_OPTIONS = _KNOWN["fio"], _KNOWN["options"], _KNOWN["engines"]
ALIASES = {option["alias"]: name for name, option in OPTIONS.items() if "alias" in option}
# A name that is so like another one is it, misspelt.
MEANS_THE_SAME = 0.9
MAX_RUNTIME_S = 86_400

# What leaves the storage under test, or changes the machine.
_PROGRAM = "it would run a program as root on the instance"
_TRACE = "a trace names the files and the times of another machine"
_MACHINE = "it would change the machine, and not the job"
# What the figures need. Seen with fio 3.33: without latencies a sample cannot be read.
_NO_TRIMS = "trims are neither reads nor writes, and have no figure"
_LATENCIES = "the agent needs the latencies of whole operations"
REFUSED = {
    "opendir": "it would read files of another place than the storage",
    "exec_prerun": _PROGRAM, "exec_postrun": _PROGRAM,
    "read_iolog": _TRACE, "merge_blktrace_file": _TRACE,
    "ioscheduler": _MACHINE, "cgroup": _MACHINE, "uid": _MACHINE, "gid": _MACHINE,
    "wait_for": "each point is one job, and a jobFile has several",
    "profile": "it has options of its own in place of a job's",
    "gtod_reduce": _LATENCIES, "disable_clat": _LATENCIES, "disable_lat": _LATENCIES,
    "trim_percentage": _NO_TRIMS, "trim_backlog": _NO_TRIMS, "verify_only": "it reads what an earlier job wrote",
}  # fmt: skip
# Options of the command `fio` by which the agent starts it, and files beside a job.
OURS = re.compile(
    "include|output.*|client|server|status-interval|section|parse-only|idle-prof|eta.*|max-jobs|terse-version"
)
# What fio writes beside its figures, what happens to the files before and after them, and (threads) an option of a
# profile, with which it does nothing else.
REPORTS = re.compile(
    "description|new_group|threads|unlink|allow_file_create|unified_rw_reporting|write_.*_?log|log_.*|per_job_logs"
    "|[cs]?lat_percentiles|percentile_list|error_dump|block_error_percentiles|filename_format|unique_filename"
)
ENGINES = (
    "libaio", "io_uring", "psync", "sync", "vsync", "pvsync", "pvsync2", "posixaio", "mmap", "splice",
)  # fmt: skip
_REMOTE = "it goes over the network, past the storage"
_NO_FILES = "it reads and writes no files"
_OTHER_WORK = "it counts other work than reads and writes as these, and has no figure"
_OTHER_DEVICES = "it needs a device that no storage of AWS is"
REFUSED_ENGINES = {
    **dict.fromkeys(
        ("net", "netsplice", "rdma", "gfapi", "gfapi_async", "rados", "rbd", "nbd", "http", "libiscsi", "nfs",
         "libhdfs", "dfs", "ime_psync", "ime_psyncv", "ime_aio"), _REMOTE
    ),
    **dict.fromkeys(("null", "cpuio", "exec", "cpp_null", "page_fault"), _NO_FILES),
    **dict.fromkeys(("ftruncate", "filecreate", "filestat", "filedelete", "falloc", "e4defrag"), _OTHER_WORK),
    **dict.fromkeys(("sg", "mtd", "pmemblk", "dev-dax", "libpmem", "io_uring_cmd", "libzbc"), _OTHER_DEVICES),
    "external": "it would load a file of the instance",
}  # fmt: skip
# One part of a value: a number with a unit of sizes or of times. fio reads 3.5k as 3 bytes, 10Q as 10 and -4k as 18 EB,
# and 0.5m as 0 s.
_NUMBER = re.compile(r"(0x[0-9a-f]+|[0-9]{1,18})([kmgtp]?i?b?|[mun]s(ec)?|[smhd])?", re.IGNORECASE)
_A_TIME = "[0-9]{1,12}([mun]?s(ec)?|[mhd])?"
_TIME = re.compile(f"{_A_TIME}(-{_A_TIME})?", re.IGNORECASE)
_SHARE = re.compile(rf"{_NUMBER.pattern}|(100|[0-9]?[0-9])%", re.IGNORECASE)
_FORMS = {
    "number": (_NUMBER, "16, or 4k"), "time": (_TIME, "10s"), "share": (_SHARE, "1G, or 50%"),
    "switch": (re.compile("[01]"), "1 or 0"),
}  # fmt: skip
# Texts of numbers, which fio misreads as it does single ones.
_SIZES = ("bsrange", "bssplit", "filesize", "number_ios")
# Texts that begin with one of the listed values, or are of one of these each.
_BETWEEN = re.compile("[,:]")
# Where a path begins: a trace, a pattern or a library in a file of the instance.
_PATH = re.compile(r"(^|[:='\"])\.{0,2}/")


def canonical(name: str) -> str:
    """Return fio's own name for an option or its alias."""
    return str(ALIASES.get(name, name))


def is_off(name: str, value: object) -> bool:
    """Whether a value of an option (by its own name) is the one that it has without it, or switches it off."""
    text = str(value).lower()
    option = OPTIONS.get(name, {"kind": "switch"})
    is_word = option["kind"] != "text" or "values" in option
    return text == option.get("default") or (is_word and (text in {"off", "none", "false"} or not text.strip("0s")))


def name_fault(name: str) -> tuple[str, str, str] | None:
    """Return (code, rule, fix) of a name that is no option of a job."""
    if canonical(name) in OPTIONS or REPORTS.fullmatch(name):
        return None
    if OURS.fullmatch(name):
        return "option_owned", "is not passed on: the agent starts fio, with one job file", "leave it out"
    close = difflib.get_close_matches(name[:40], [*OPTIONS, *ALIASES, "type", "name"], n=1, cutoff=MEANS_THE_SAME)
    rule = f"is no option of a job of fio {VERSION}"
    return "option_unknown", rule, f"did you mean {close[0]}?" if close else "leave it out"


def refusal_of(name: str, value: object) -> tuple[str, str] | None:
    """Return (rule, fix) if a value of an option, by its own name, is not passed on."""
    text, leave = str(value), "leave it out"
    is_place, is_report = name in ("filename", "directory", "filename_format"), REPORTS.fullmatch(name)
    rows = (
        (name in REFUSED, REFUSED.get(name, ""), leave),
        (name == "rw" and "trim" in text, _NO_TRIMS, "leave this job out"),
        (name == "zonemode" and text == "zbd", "no storage of AWS is a zoned device", leave),
        (
            "${" in text or ("$" in text and name != "filename_format"),
            "a variable would be one of the instance",
            "write its value",
        ),
        (not (is_place or is_report) and _PATH.search(text), "it is a path outside of the storage", leave),
    )
    if is_off(name, value):
        return None
    if name == "ioengine":
        return _engine_refusal(text.partition(":")[0])
    return next(((f"is not passed on: {why}", fix) for holds, why, fix in rows if holds), None)


def _engine_refusal(engine: str) -> tuple[str, str] | None:
    if engine in ENGINES:
        return None
    why = REFUSED_ENGINES.get(engine)
    fix = "a touch or metadata workload measures files" if why == _OTHER_WORK else f"write one of {', '.join(ENGINES)}"
    return (f"is not passed on: {why}" if why else f"is no engine of fio {VERSION}"), fix


def value_fault(name: str, value: object) -> tuple[str, str] | None:
    """Return (rule, fix) of a value that fio refuses, or reads as something else than is meant."""
    option, text = OPTIONS.get(name, {"kind": "text"}), str(value)
    values = option.get("values") if name != "ioengine" else None
    if values:
        first = _BETWEEN.split(text)[0]
        fixed = f"fio {VERSION} has {', '.join(dict.fromkeys(values))}"
        return None if first in values else (f"is no {name} of fio", fixed)
    form, example = _FORMS.get("number" if name in _SIZES else option["kind"], (None, ""))
    if form is None:
        return None
    parts = [part for part in re.split("[,:/-]" if name in _SIZES else ",", text) if part or name != "filesize"]
    if not any(parts) or not all(form.fullmatch(part) for part in parts if part):
        return "is nothing that fio reads as it is meant", f"write such as {example}"
    numbers = [int(part) if part.isdecimal() else FioJob({}).size(part.lower()) for part in parts if part]
    least = option.get("least", 0)
    most = {"numjobs": MAX_JOBS, "runtime": MAX_RUNTIME_S, "ramp_time": MAX_RUNTIME_S}.get(name, option.get("most"))
    if any(number < least or (most is not None and number > most) for number in numbers):
        return f"must be {least:,} or more" + (f", and {most:,} at most" if most is not None else ""), "write one"
    return None
