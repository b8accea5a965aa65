"""Import logs of elbencho or warp as a run: phases become points, clients instances, and repeats repetitions.

Nothing is guessed. elbencho logs only the sum of several hosts, which is not a figure of an instance, so such logs make
no run. Latencies with only a mean have no percentiles.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import cast

from matrix.answer.results import cell_result
from matrix.published.imported import UNKNOWN, Given, ImportedRun, imported_summary, storage_of
from matrix.samples.file import SampleFile
from matrix.samples.histograms import Histogram
from matrix.samples.tool_logs import NotALog, Phase
from matrix.terms.documents.parts import Part
from matrix.terms.documents.plan import PlanCell
from matrix.terms.documents.result import ResultDocument
from matrix.terms.ids import cell_id

# A phase's parameters and its instance.
Works = dict[str, dict[str, list[Phase]]]

ADDED_UP = (
    "has phases of {hosts} hosts, of which elbencho keeps only the sum: a run needs the figures of each; give each "
    "host a --jsonfile of its own and import them with --files-are hosts"
)
ANONYMOUS = (
    "are of several clients each, and warp names clients anew in each run: which ones are the same is not known; "
    "import each file as a run of its own"
)
SAME_TIME = "files or documents of the same work are of the same time: they count as hosts, not as repetitions"
ALONE = "each is a test point of its own; if they are repetitions, say so: --files-are repetitions"
UNDATED = "has phases without a time and a time zone, as elbencho before 2.0 wrote them"
DIFFERENT = "the command lines of one point differ, besides paths and where results go: {}"


def logs_run(run: str, logs: Mapping[str, Sequence[Phase]], given: Given, remarks: Sequence[str] = ()) -> ImportedRun:
    """Return the run of some files (name: phases), all of one tool. Raises NotALog, InvalidMatrix of a storage."""
    tools = sorted({phase.tool for phases in logs.values() for phase in phases})
    if len(tools) != 1:
        raise NotALog(
            f"{' and '.join(logs)} are files of {' and '.join(tools)}: import those of each tool by themselves"
        )
    storage, file_system = storage_of(given.storage)
    results: list[ResultDocument] = []
    spans: list[tuple[float, float]] = []
    for (count, kind), works in _cells(logs, given).items():
        example = next(iter(next(iter(works.values())).values()))[0]
        name = f"{example.tool}-{kind}" if example.workload["type"] == "command" else example.tool
        cell, points = _cell(storage, file_system, given.instance_type or "", count, name, works)
        histograms: dict[str, dict[str, list[Histogram]]] = {}
        instances = sorted({instance for of_point in works.values() for instance in of_point})
        files = [_sample_file(run, cell, instance, works, points, histograms) for instance in instances]
        results.append(cell_result(cast("PlanCell", cell), files, error=None, actual_s=None, histograms=histograms))
        spans += [(each.started_at, each.ended_at) for file in files for each in file.samples if each.started_at]
    return ImportedRun(imported_summary(run, list(logs), results, spans, given, tools[0], remarks), results)


def _cells(logs: Mapping[str, Sequence[Phase]], given: Given) -> dict[tuple[int, str], Works]:
    """Return the phases by the size of their fleet and the metric that they are judged by. Raises NotALog."""
    # warp names a client anew in each run, so a single one counts as the same machine.
    is_warp = any(phase.tool == "warp" for phases in logs.values() for phase in phases)
    of_clients = [name for name, phases in logs.items() if len({phase.instance for phase in phases}) > 1]
    if is_warp and of_clients and len(logs) > 1:
        raise NotALog(f"{' and '.join(logs)} {ANONYMOUS}")
    works: Works = {}
    for name, phases in logs.items():
        for phase in phases:
            notes = phase.notes
            if phase.hosts > 1:
                raise NotALog(f"{name} {ADDED_UP.format(hosts=phase.hosts)}")
            if phase.started_at is None:
                raise NotALog(f"{name} {UNDATED}")
            instance = "host" if is_warp and not of_clients else phase.instance
            if given.files_are == "hosts":
                instance = name
            params = phase.params
            if phase.workers is None and given.files_are is None:  # whether another file had as many is not known
                params = {**params, "file": f"{name} {phase.document}" if (phase.document or 1) > 1 else name}
                notes = (*notes, ALONE)
            key = json.dumps([params, phase.workload.get("primaryMetric")], sort_keys=True)
            hosts = works.setdefault(key, {})
            free = instance if given.files_are else _free_host(instance, hosts, phase)
            if free != instance:
                notes = (*notes, SAME_TIME)
            hosts.setdefault(free, []).append(replace(phase, notes=notes))
    cells: dict[tuple[int, str], Works] = {}
    for key, of_point in works.items():
        kind = {"iops": "io", "entries_per_s": "entries"}.get(json.loads(key)[1], "")
        cells.setdefault((len(of_point), kind), {})[key] = of_point
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
    if phase.document is not None and (phase.file, phase.document) == (other.file, other.document):
        return False
    starts = [each.started_at or 0.0 for each in (phase, other)]
    ends = [start + each.seconds for start, each in zip(starts, (phase, other), strict=True)]
    return all(starts) and min(ends) - max(starts) > min(phase.seconds, other.seconds) / 2


def _cell(
    storage: Part, file_system: str, instance_type: str, count: int, name: str, works: Works
) -> tuple[Part, dict[str, str]]:
    """Return a cell as a plan has it, and the id of each point by its key."""
    points = {key: f"p{number:02d}" for number, key in enumerate(works, start=1)}
    phases = [phase for of_point in works.values() for repeated in of_point.values() for phase in repeated]
    own: Part = {}
    for phase in phases:
        own |= phase.workload.get("metrics", {})
    cell = {
        "id": cell_id(file_system, name, f"{instance_type or UNKNOWN}-x{count}"),
        "file_system": file_system,
        "storage": storage,
        "workload": phases[0].workload | ({"metrics": own} if own else {}),
        "fleet": {"instanceType": instance_type, "count": count},
        "points": [{"id": point, "params": json.loads(key)[0]} for key, point in points.items()],
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
        options = {phase.options for repeated in of_point.values() for phase in repeated}
        for repetition, phase in enumerate(of_point.get(instance, ()), start=1):
            for name, histogram in phase.histograms.items():
                histograms.setdefault(points[key], {}).setdefault(name, []).append(histogram)
            different = [DIFFERENT.format(" / ".join(sorted(options)))] if len(options) > 1 else []
            started_at = phase.started_at or 0.0
            samples.append(
                {
                    **{"point": points[key], "repetition": repetition, "step": len(samples)},
                    **{"metrics": phase.metrics, "work": phase.moved_bytes},
                    **{"started_at": started_at, "ended_at": started_at + phase.seconds},
                    "warnings": [
                        f"{warning} ({phase.file})"[:1000] for warning in (*phase.notes, *phase.warnings, *different)
                    ],
                    "tool": {"name": phase.tool, "version": phase.version},
                    "workers": phase.workers or 0,
                }
            )
    identity = {"id": instance[:200], "type": cell["fleet"]["instanceType"]}
    return SampleFile.model_validate({"run": run, "cell": cell["id"], "instance": identity, "samples": samples})
