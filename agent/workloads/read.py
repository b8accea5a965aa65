"""Read files and objects, sequentially or randomly. Each instance writes its data once, and reads are checked."""

from __future__ import annotations

import importlib.metadata
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import agent
from agent.board.blackboard import BROKEN_OFF, REPEATED, sdk_version
from agent.engine import reads
from agent.engine.records import Records
from agent.errors import WorkIncomplete
from agent.file_client import Connection
from agent.file_server import Refused
from agent.machine.workspace import Workspace
from agent.programs.processes import Armed, Ended
from agent.workloads import engines, neighbours, uploads
from agent.workloads.trial import Outcome, Trial
from contract.records import record_bytes

if TYPE_CHECKING:
    from agent.job import Job, Step

MAX_CALIBRATED = 20_000
HOW = {
    "file": "preadv",
    "boto3": "ranged GETs by botocore, which boto3 wraps",
    "crt": "ranged GETs by the AWS Common Runtime",
    "file-server": "requests to our file server",
}
WHOSE = {"own": "", "neighbour": ", of a neighbour's data", "shared": ", of the same data as all"}
PLAYED_S3 = "S3 was played by the local cloud: these figures are an emulation's"


def calibration(params: dict[str, Any], room: int) -> tuple[dict[str, Any], str] | None:
    """Return fewer requests, through the page cache, because memory needs no disk and often lacks O_DIRECT."""
    size, threads = params["request_bytes"], params["threads"]
    requests = min(params["requests"], MAX_CALIBRATED, room // size) // threads * threads
    if not requests:
        return None
    # In its memory an instance has no neighbours, and no server that takes batches.
    alone = engines.closed({name: value for name, value in params.items() if name not in ("data", "batch")})
    return {**alone, "requests": requests, "data_bytes": requests * size, "caching": "cached"}, "mb_per_s"


def prepare(job: Job, step: Step, workspace: Workspace) -> Trial:
    """Write the data where this is the first step that needs it, and arm the engine."""
    params, kind = step.params, job.mount["kind"]
    by_requests = {"s3": data_object, "file-server": data_on_server}
    if "data" in params:
        where = data_of_others(params, workspace, job.instances)
    else:
        data = by_requests.get(kind, data_file)
        where = data(params, workspace.target.parent, job.mount)
    plan = plan_of(params, f"{step.point}/{step.repetition}", where)
    plan["emulation"] = engines.emulation(job, step, workspace)
    plan["open_loop"] = engines.open_loop(job, step, workspace)
    armed = arm_engine(plan, workspace.scratch)

    def read(ended: list[Ended]) -> Outcome:
        outcome = read_engine(ended[0].stdout, plan)
        outcome.warnings.extend(repeated(ended[0].stderr))
        if kind == "s3" and job.environment == "local":
            outcome.warnings.append(PLAYED_S3)
        return outcome

    return Trial(armed, params["threads"], read)


def plan_of(params: dict[str, Any], seed: str, where: dict[str, Any]) -> dict[str, Any]:
    # The Common Runtime has threads of its own, which a forked process would lack.
    mode = "threads" if where["reader"] == "crt" else "auto"
    return {**params, "mode": mode, "seed": seed, **where}


def _name(params: dict[str, Any]) -> str:
    return f"records-{record_bytes(params['request_bytes'])}-{params['data_bytes']}"


def _records(params: dict[str, Any]) -> tuple[Records, int]:
    """Return the maker of the data's records, and how many there are."""
    size = record_bytes(params["request_bytes"])
    return Records(size), params["data_bytes"] // size


def data_object(params: dict[str, Any], folder: Path, mount: dict[str, Any]) -> dict[str, Any]:
    """Return the object of records and its reader; it is uploaded once, as a file in the instance's folder records."""
    key = f"{mount['prefix']}/{_name(params)}"
    where = {"reader": mount["client"], "region": mount["region"], "bucket": mount["bucket"], "key": key}
    noted = folder / _name(params)
    if not noted.exists():
        uploads.put_records(where, *_records(params))
        noted.touch()
    return where


def data_on_server(params: dict[str, Any], folder: Path, mount: dict[str, Any]) -> dict[str, Any]:
    """Return the file of records on the file server and its reader; sent once, as a file in the folder records."""
    path = "/".join([*folder.parts[-3:], _name(params)])  # run, cell and instance, so no other instance writes there
    server = {name: mount[name] for name in ("host", "port", "token")}
    noted = folder / _name(params)
    if not noted.exists():
        try:
            connection = Connection(**server)
            maker, count = _records(params)
            for chunk in maker.chunks(count):
                connection.append(path, chunk)
            connection.close()
        except (OSError, Refused) as err:
            raise WorkIncomplete(f"the {params['data_bytes']} bytes to read could not be sent: {err}") from err
        noted.touch()
    return {"reader": "file-server", **server, "path": path}


def data_file(params: dict[str, Any], folder: Path, _mount: dict[str, Any] | None = None) -> dict[str, Any]:
    """Return the file of records and its reader; written once, because the instance's folder outlives a step."""
    path = folder / _name(params)
    if not path.exists():
        write_records(params, path)
    return {"reader": "file", "path": str(path)}


def data_of_others(params: dict[str, Any], workspace: Workspace, instances: int) -> dict[str, Any]:
    """Return the file of records that another instance of the fleet wrote, or one for all of them, and its reader."""
    name = _name(params)
    if params["data"] == "shared":
        path = neighbours.shared_data(
            workspace, name, instances, lambda path: write_records(params, path), params["data_bytes"]
        )
    else:
        path = neighbours.data_of_neighbour(workspace, name, instances, lambda path: write_records(params, path))
    return {"reader": "file", "path": str(path)}


def write_records(params: dict[str, Any], path: Path) -> None:
    """Write the records to a new file. Raises WorkIncomplete if there is not enough space."""
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        try:
            maker, count = _records(params)
            maker.write(descriptor, count)
            # Only data on the storage can be dropped from the cache, and then be read from the storage.
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
    except OSError as err:
        raise WorkIncomplete(
            f"the {params['data_bytes']} bytes to read could not be written: {err.strerror}; write a smaller dataSize"
        ) from err


def tool_of(reader: str) -> dict[str, str]:
    """Return the reading tool: the engine itself, or the client that it uses."""
    if reader in ("file", "file-server"):
        return {"name": "engine", "version": agent.VERSION}
    if reader == "boto3":
        return {"name": "botocore", "version": sdk_version()}
    return {"name": "awscrt", "version": importlib.metadata.version("awscrt")}


def past_cache(plan: dict[str, Any]) -> str:
    """Describe in words how reads pass the page cache. Empty for objects, which have none."""
    where = {"file": "", "file-server": " on the server"}.get(plan["reader"])
    if where is None:
        return ""
    direct, cached = f", O_DIRECT{where}", f", through the page cache{where}, given back before (fadvise)"
    return (direct if plan["caching"] == "direct" else cached) + WHOSE[plan.get("data", "own")]


def arm_engine(plan: dict[str, Any], scratch: Path) -> Armed:
    """Start the engine; on return it has chosen its mode and waits at the gate."""
    return engines.arm("reads", plan, scratch, needs_packages=plan["reader"] in ("boto3", "crt"))


def repeated(errors: Path) -> list[str]:
    """Return the warnings of a sample in which requests to S3 were repeated, by us or by botocore."""
    lines = errors.read_text(errors="replace").splitlines()
    broken_off = [line for line in lines if line.startswith(BROKEN_OFF)]
    refused = [line.partition(REPEATED)[2].strip() for line in lines if REPEATED in line]
    warnings = []
    if broken_off:
        warnings.append(
            f"{len(broken_off)} answers of S3 broke off and were asked for again, within the time of their requests"
        )
    if refused:
        warnings.append(
            f"{len(refused)} requests to S3 were repeated, within their time, the first after: {refused[0]}"
        )
    return warnings


def read_engine(report: Path, plan: dict[str, Any]) -> Outcome:
    operations = reads.operations_of_each(plan) * plan["threads"]
    done = engines.read_report(report, threads=plan["threads"], operations=operations)
    duration_s, read_bytes = done.duration_s, plan["requests"] * plan["request_bytes"]
    metrics = {
        "mb_per_s": read_bytes / 1e6 / duration_s,
        "mib_per_s": read_bytes / 2**20 / duration_s,
        "requests_per_s": operations / duration_s,
        "duration_s": duration_s,
        **done.latency_metrics("read_lat"),
        "longest_stall_s": done.longest_stall_s,
    }
    tool = {
        **tool_of(plan["reader"]),
        "command": f"{plan['access']} {HOW[plan['reader']]} of {plan['request_bytes']} bytes{past_cache(plan)}, "
        f"in {done.who}{engines.describe_rate(plan)}",
        "checked_records": plan["threads"] * -(-reads.operations_of_each(plan) // reads.operations_per_check(plan)),
        **done.how,
        **done.open_loop(plan),
    }
    work = {"read_bytes": read_bytes, "requests": plan["requests"]}
    is_past_cache = plan["reader"] == "file" and plan["caching"] == "direct" and not plan.get("emulation")
    outcome = done.outcome("read_lat", metrics, work, tool, done.warnings(plan))
    outcome.reached = {"read": read_bytes} if is_past_cache else {}
    outcome.steadiness = done.steadiness(plan)
    return outcome
