"""The functions, each with the blackboard of a run at its start: one fleet of `count` instances, 60 steps."""

from __future__ import annotations

import gzip
import importlib
import json
import os
import random
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from agent_client import carry
from bench.scale.cloud import Cloud
from contract.keys import BarrierKeys
from matrix.check.read import check_matrix
from matrix.plan.planning import plan
from matrix.run.job import measuring_job
from matrix.terms.keys import Board, booted_image_key, run_key

RUN, NONCE, CREATED_AT = "r", "0" * 32, 1_700_000_000.0
POINTS, REPETITIONS, DISKS = 12, 5, 8
STEPS = POINTS * REPETITIONS
STEP_S = 20.0
BINS = {str(64_000 + 1_000 * number): 40 for number in range(120)}  # about as wide as the latencies of creates are
CELLS_WITH_ONE_RESULT = 20  # instances of a cell in cases where the number of cells grows
VARIANTS = 16
# The files of a step of the tool that writes most files, and the metrics of its machine for each second.
RAW = ("fio", "histograms")
MOVED = ("network_received_bytes", "network_sent_bytes", "disk_write_bytes", "disk_write_operations")
POINTS_OF_A_PLAN = 4  # a plan holds at most 200,000 steps


class Context:
    """The context that Lambda passes to a function beside the event."""

    function_name, memory_limit_in_mb, aws_request_id = "bench", 1024, "0"
    invoked_function_arn = "arn:aws:lambda:us-east-1:123456789012:function:bench"

    def get_remaining_time_in_millis(self) -> int:
        """No time is left for another sweep, so that one is measured."""
        return 0


ENVIRONMENT = {
    "STACK": "storage-matrix", "BUCKET": "results", "DATA_BUCKET": "data", "FILES_BUCKET": "files",
    "TABLE": "table", "ENVIRONMENT": "aws",
    "GATE_MARGIN_SECONDS": "2", "SUBNET_IDS": "subnet-1,subnet-2,subnet-3",
    "INSTANCE_ROLE_ARN": "arn:aws:iam::123456789012:role/fleet", "MULTI_AZ_CIDR": "10.0.0.0/16",
    "FILE_SYSTEM_SECURITY_GROUP_ID": "sg-1", "LAUNCH_TEMPLATE_ID": "lt-1", "AWS_REGION": "us-east-1",
    "AWS_DEFAULT_REGION": "us-east-1", "AWS_ACCESS_KEY_ID": "testing", "AWS_SECRET_ACCESS_KEY": "testing",
    "POWERTOOLS_SERVICE_NAME": "bench",
    "STATE_MACHINE_ARN": "arn:aws:states:us-east-1:123456789012:stateMachine:storage-matrix-run",
    "AGENT_ROOT": str(Path(__file__).parents[2] / "agent"), "AGENT_CLIENT": str(carry.MADE),
    "POWERTOOLS_LOG_LEVEL": "CRITICAL",
}  # fmt: skip


def matrix_of(count: int, storages: int = 1, fleets: int = 1, points: int = POINTS) -> dict[str, Any]:
    """Return a matrix whose every cell has `count` instances with eight volumes each, and 60 steps of 12 points."""
    types = [f"{family}.{size}" for family in ("c5", "m5", "r5", "c6i", "m6i") for size in ("large", "xlarge")]
    return {
        "name": "scale",
        "storage": [
            {"type": "ebs", "volumeType": "gp3", "sizeGiB": 100, "raid0": DISKS, "iops": 3_000 + number}
            for number in range(storages)
        ],
        "workload": [{"type": "touch", "tool": "engine", "files": 27_720, "threads": list(range(1, points + 1))}],
        "fleet": [{"instanceType": name, "count": count} for name in types[:fleets]],
        "repetitions": REPETITIONS,
    }


def prepared(count: int, *, cells: int = 1) -> tuple[Cloud, dict[str, Any]]:
    """Return the cloud of a run whose first cell has a fleet of `count`, and the run's plan."""
    os.environ.update(ENVIRONMENT)
    document: dict[str, Any] = {**plan(check_matrix(matrix_of(count, -(-cells // 10), min(cells, 10)))).to_document()}
    document |= {
        "run": RUN, "execution_arn": ENVIRONMENT["STATE_MACHINE_ARN"], "created_at": CREATED_AT, "owner": "me",
        "deadline_at": CREATED_AT + 1e9, "budget_usd": None, "region": "us-east-1", "objective": None,
        "environment": "aws", "agent_key": "agents/0.pyz",
    }  # fmt: skip
    cell = document["cells"][0]
    board = Board.of_cell(RUN, cell["id"])
    cloud = Cloud(1 + DISKS, below=board.instances, content=Content(cell))
    cloud.tags = {
        "Name": "x", "storage-matrix:stack": "storage-matrix", "storage-matrix:run": RUN, "storage-matrix:owner": "me",
        "storage-matrix:deadline": "2020-01-01T00:00:00Z", "storage-matrix:file-system": cell["file_system"],
        "storage-matrix:cell": cell["id"],
    }  # fmt: skip
    put = {run_key(RUN, "plan.json"): document}
    for image in document["images"]:
        put[booted_image_key(RUN, image["id"])] = {"image_id": "ami-0123456789abcdef0", "baked": False}
    cloud.objects = {key: json.dumps(value).encode() for key, value in put.items()}
    cloud.rows["RUN#r", "PLAN"] = {"PK": {"S": "RUN#r"}, "SK": {"S": "PLAN"}, "reserved": {"M": {}}}
    cloud.play()
    return cloud, document


def launched(count: int, step: int, *, are_rows_known: bool = True) -> tuple[Cloud, dict[str, Any]]:
    """Return the cloud of a launched fleet, and its cell: all are ready for this step, whose gate is not open yet.

    After the last step each instance has written all of its files.
    """
    cloud, document = prepared(count)
    cell = document["cells"][0]
    board = Board.of_cell(RUN, cell["id"])
    fleet = {"instances": cloud.launch(count), "expected": count, "shortfall": "", "launched_at": cloud.launched_at}
    job = measuring_job(
        cell=cell, run=RUN, mount={"kind": "root"}, bucket="results", environment="aws", now=cloud.launched_at,
        gate_margin_s=2.0,
    )  # fmt: skip
    for key, value in ((board.fleet, fleet), (board.job, job), (board.barrier_nonce, {"nonce": NONCE})):
        cloud.objects[key] = json.dumps(value).encode()
    _meet(cloud, board.barrier(NONCE), step)
    cloud.names = _names(cell, step)
    if are_rows_known:
        for kind, resource, facts in _resources(cloud):
            key = f"RESOURCE#{cell['file_system']}#{cell['id']}#{resource}"
            cloud.rows["RUN#r", key] = {
                "PK": {"S": "RUN#r"}, "SK": {"S": key}, "kind": {"S": kind}, "id": {"S": resource},
                "cell": {"S": cell["id"]}, "file_system": {"S": cell["file_system"]},
                "created_at": {"N": str(cloud.launched_at)}, **facts,
            }  # fmt: skip
    return cloud, cell


def _resources(cloud: Cloud) -> Iterator[tuple[str, str, dict[str, Any]]]:
    for at, instance in enumerate(cloud.instances):
        yield "instance", instance, {}
        for number in range(cloud.volumes_each):
            facts = {"is_data": {"BOOL": number > 0}, "instance": {"S": instance}}
            yield "volume", f"vol-{at:015x}{number:02x}", facts


def _meet(cloud: Cloud, place: BarrierKeys, step: int) -> None:
    """Put the start barrier's objects: marks up to this step, gates of the steps before it."""
    for ready in range(min(step + 1, STEPS)):
        prefix = place.ready(ready)
        cloud.listed[prefix] = [f"{prefix}AROAROLE:{instance}" for instance in cloud.instances]
    cloud.listed[place.gates] = [place.gate(opened) for opened in range(step)]
    for opened in range(step):
        gate = {"step": opened, "start_at": cloud.written_at + 3, "opener": f"AROAROLE:{cloud.instances[-1]}"}
        cloud.objects[place.gate(opened)] = json.dumps(gate).encode()


def _names(cell: Mapping[str, Any], steps: int) -> list[str]:
    """Return an agent's files after this many steps: fio's two files for each, and up to five other files."""
    stems = [f"raw/{step['point']}-r{step['repetition']}" for step in cell["steps"][:steps]]
    return [
        *(["done.json", "latencies-0000.json.gz", "log.gz"] if steps == len(cell["steps"]) else []),
        "heartbeat",
        *(f"{stem}.{kind}.json.gz" for stem in stems for kind in RAW),
        *(["samples.json"] if steps else []),
    ]


class Content:
    """The content of the files of a cell's instances, in sixteen variants, because figures of instances differ."""

    def __init__(self, cell: Mapping[str, Any]) -> None:
        """A step each 20 s, half of which is measured."""
        self._samples = [_samples(cell, random.Random(seed)).encode() for seed in range(VARIANTS)]  # noqa: S311
        histograms = {"unit": "ns", "histograms": {"create_lat": {"bins": BINS}}}
        seconds = list(range(60))
        counted = {name: [second * 100_000_007 for second in seconds] for name in MOVED}
        stems = [f"{step['point']}-r{step['repetition']}" for step in cell["steps"]]
        together = {
            "schema": 1,
            "steps": dict.fromkeys(stems, histograms),
            "curves": {
                stem: {"begun_at": CREATED_AT + STEP_S * at, "seconds": seconds, "counted": counted}
                for at, stem in enumerate(stems)
            },
        }
        self._raw = {kind: gzip.compress(json.dumps(document).encode()) for kind, document in
                     (("histograms", histograms), ("fio", {}), ("latencies", together))}  # fmt: skip

    def __call__(self, name: str) -> bytes:
        """Return the content of a file, by its name below `instances/`."""
        instance = name.partition("/")[0].rpartition(":")[2]
        if name.endswith("samples.json"):
            return self._samples[int(instance[2:], 16) % VARIANTS].replace(b"INSTANCE", instance.encode())
        return next(content for kind, content in self._raw.items() if kind in name)


def _samples(cell: Mapping[str, Any], chance: random.Random) -> str:
    document = {
        "run": RUN, "cell": cell["id"], "instance": {"id": "INSTANCE", "type": "c5.large", "availability_zone": "a"},
        "agent": {"version": "1", "sha256": "0" * 64}, "host": {"cpus": "2", "kernel": "6.1"},
        "mount": {"kind": "ebs"},
        "calibration": [{"points": [p["id"]], "metric": "files_per_s", "value": 1e5} for p in cell["points"]],
        "samples": [_sample(step, at, chance) for at, step in enumerate(cell["steps"])],
    }  # fmt: skip
    return json.dumps(document)


def _sample(step: Mapping[str, Any], at: int, chance: random.Random) -> dict[str, Any]:
    rate = 1_000 * chance.lognormvariate(0, 0.1)
    begun, took_s = CREATED_AT + STEP_S * at, STEP_S / 2
    counters = (
        "cpu_s steal_s counted_s disk_read_bytes disk_write_bytes disk_read_operations disk_write_operations "
        "network_sent_bytes network_received_bytes disk_busy_s tool_cpu_s"
    )
    return {
        **step, "step": at, "started_at": begun, "ended_at": begun + took_s, "work_started_at": begun + 0.1,
        "work_ended_at": begun + took_s - 0.1, "start_skew_s": chance.random() / 100, "work": {"files": 27720},
        "workers": 4,
        "metrics": {"files_per_s": rate, "duration_s": 27720 / rate, "longest_stall_s": chance.random(),
                    "create_lat_p50_us": 100 + chance.random(), "create_lat_p99_us": 900 + chance.random()},
        "tool": {"name": "engine", "version": "1"}, "counters": dict.fromkeys(counters.split(), 3.0),
        "raw": [f"raw/{step['point']}-r{step['repetition']}.{kind}.json.gz" for kind in RAW],
    }  # fmt: skip


Case = Callable[[int], tuple[Cloud, Callable[[], object]]]


def _handler(name: str, **event: Any) -> Callable[[], object]:
    function = importlib.import_module(name)
    return lambda: function.handler({"run": RUN, **event}, Context())


def plan_matrix(cells: int) -> tuple[Cloud, Callable[[], object]]:
    """Plan this many cells of one instance."""
    cloud, _ = prepared(1)
    matrix = matrix_of(1, -(-cells // 10), min(10, cells), points=POINTS_OF_A_PLAN)
    return cloud, _handler("plan_matrix", matrix=matrix, execution_arn=ENVIRONMENT["STATE_MACHINE_ARN"])


def launch_fleet(count: int) -> tuple[Cloud, Callable[[], object]]:
    """Launch the fleet."""
    cloud, document = prepared(count)
    return cloud, _handler("launch_fleet", cell=document["cells"][0]["id"], resource_ids=[])


def poll_fleet(count: int) -> tuple[Cloud, Callable[[], object]]:
    """Poll a fleet that waits for its last gate, which no instance opens: no other successful poll lists more keys."""
    cloud, cell = launched(count, STEPS - 1)
    return cloud, _handler("poll_fleet", cell=cell["id"], poll_s=20)


def analyse_cell(count: int) -> tuple[Cloud, Callable[[], object]]:
    """Analyse 12 points in 5 repetitions on the fleet, with a histogram of each step."""
    cloud, cell = launched(count, STEPS)
    return cloud, _handler("analyse_cell", cell=cell["id"])


def stop_fleet(count: int) -> tuple[Cloud, Callable[[], object]]:
    """End the fleet of a launch that crashed before it wrote a row: nine rows for each instance."""
    cloud, cell = launched(count, 0, are_rows_known=False)
    return cloud, _handler("stop_fleet", cell=cell["id"])


def reap(count: int) -> tuple[Cloud, Callable[[], object]]:
    """Sweep a run that left its whole fleet, and make its receipt of nine rows for each instance."""
    cloud, _ = launched(count, STEPS - 1)
    return cloud, _handler("reap", detail={"name": RUN, "status": "FAILED"})


def analyse_run(cells: int) -> tuple[Cloud, Callable[[], object]]:
    """Summarise this many cells of 20 instances, and draw the report."""
    cloud, document = prepared(CELLS_WITH_ONE_RESULT, cells=cells)
    from matrix.answer.results import cell_result
    from matrix.samples.file import read_samples

    content = Content(document["cells"][0])
    for cell in document["cells"]:
        names = [f"i-{number:017x}" for number in range(CELLS_WITH_ONE_RESULT)]
        if cell is document["cells"][0]:
            files = [read_samples(content(f"A:{name}/samples.json"), instance=name, cell=cell["id"]) for name in names]
            result = cell_result(cell, files, error=None, actual_s=600.0)
        of_cell = {**result, "id": cell["id"], "file_system": cell["file_system"], "storage": cell["storage"],
                   "fleet": cell["fleet"]}  # fmt: skip
        cloud.objects[Board.of_cell(RUN, cell["id"]).result] = json.dumps(of_cell).encode()
    return cloud, _handler("analyse_run")


# Sizes in instances of one fleet, or in cells of one run.
CASES: dict[str, tuple[Case, str, tuple[int, int, int]]] = {
    "plan_matrix": (plan_matrix, "cells", (100, 1_000, 10_000)),
    "launch_fleet": (launch_fleet, "instances", (50, 200, 1_000)),
    "poll_fleet": (poll_fleet, "instances", (50, 200, 1_000)),
    "stop_fleet": (stop_fleet, "instances", (50, 200, 1_000)),
    "analyse_cell": (analyse_cell, "instances", (50, 200, 1_000)),
    "analyse_run": (analyse_run, "cells", (10, 50, 200)),
    "reap": (reap, "instances", (50, 200, 1_000)),
}
