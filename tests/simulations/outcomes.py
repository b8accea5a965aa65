"""What the agent reports of each workload whose work took so long: by the agent's own code, from its tools' reports."""

from collections.abc import Callable, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast
from unittest import mock

from agent.workloads import dd, engines, fio, objects, read
from agent.workloads.engines import Report
from agent.workloads.touch import engine_outcome
from agent.workloads.trial import Outcome
from contract import histogram

NOWHERE = Path("report")
Params = dict[str, Any]


def report_of(operations: int, threads: int, seconds: float, latencies_ns: Sequence[int] = ()) -> Report:
    """Return the report of an engine whose operations took equally long, or so long."""
    each_ns = round(seconds * 1e9 * threads / operations)
    bins = histogram.from_latencies(latencies_ns) if len(latencies_ns) else {each_ns: operations}
    longest_ns = max(latencies_ns) if len(latencies_ns) else each_ns
    return Report(0, round(seconds * 1e9), operations, bins, longest_ns, {"mode": "threads"}, [], 0.0, {})


def of_touch(params: Params, seconds: float, latencies_ns: Sequence[int] = ()) -> Outcome:
    return engine_outcome(report_of(params["files"], params["threads"], seconds, latencies_ns), params)


def of_read(params: Params, seconds: float) -> Outcome:
    report = report_of(params["requests"], params["threads"], seconds)
    with mock.patch.object(engines, "read_report", return_value=report):
        return read.read_engine(NOWHERE, read.plan_of(params, "seed", {"reader": "file"}))


def of_objects(params: Params, seconds: float) -> Outcome:
    report, wanted = report_of(params["requests"], params["threads"], seconds), objects.requests_of_each(params)
    moved = params["requests"] * params["object_bytes"]
    extra = {
        "by_operation": {name: {"bins": report.bins, "longest_ns": report.longest_ns} for name in wanted},
        "throttled": 0, "attempts": params["requests"], "read_bytes": moved, "written_bytes": 0, "objects": wanted,
        "refused": {},
    }  # fmt: skip
    plan = {"requests": wanted, "part_bytes": None, "sizes": "", "prefixes": 1, **params}
    with (
        mock.patch.object(engines, "read_report", return_value=report),
        mock.patch.object(engines, "read_reports", return_value=[extra]),
    ):
        return objects.read_engine(NOWHERE, params, plan | {"requests": wanted})


def of_dd(params: Params, seconds: float) -> Outcome:
    armed = cast("Any", SimpleNamespace(duration_s=lambda: seconds))
    return Outcome(dd._metrics(params, armed, []), {"bytes": params["data_bytes"]}, {"name": "dd"})


def of_fio(params: Params, seconds: float) -> Outcome:
    """The work is that of the job's runtime, in which a quicker storage does more."""
    options = params["options"]
    block, runtime_ms = 65_536, 1000 * int(options["runtime"])
    operations = round(1e5 * runtime_ms / 1000 / seconds)
    idle = {"runtime": 0, "total_ios": 0, "io_bytes": 0}
    timed = {"lat_ns": {"max": 10**6, "mean": 1e6, "bins": {"1000000": operations}}}
    job = {
        "read": {"runtime": runtime_ms, "total_ios": operations, "io_bytes": operations * block, **timed},
        "write": idle,
    }
    document = {"jobs": [job]}
    return Outcome(fio.metrics(document), fio.work(document), {"name": "fio"})


OUTCOMES: dict[str, Callable[[Params, float], Outcome]] = {
    "touch": of_touch, "read": of_read, "objects": of_objects, "dd": of_dd, "fio": of_fio,
}  # fmt: skip
