"""Requests to S3 as an object store: PUT, GET, HEAD, LIST and DELETE, each alone or mixed by weights."""

from __future__ import annotations

import concurrent.futures
import hashlib
import random
from typing import TYPE_CHECKING, Any

from agent.board.blackboard import sdk_version, translated
from agent.engine import object_requests as engine
from agent.errors import JobInvalid, WorkIncomplete
from agent.programs.processes import Ended
from agent.workloads import engines
from agent.workloads.read import PLAYED_S3
from agent.workloads.trial import Outcome, Trial
from contract import histogram
from contract.sizes import name_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from agent.job import Job, Step
    from agent.machine.workspace import Workspace

CLIENT = "boto3"
MIX = "mix"
# Objects are made, checked and removed by so many hands, before and after the time.
WORKERS = 16
# S3 takes so many keys in one DeleteObjects, and lists so many in one page.
MAX_KEYS = 1_000
# Number of a step's objects that are read again as a check.
READ_AGAIN = 16


def prepare(job: Job, step: Step, workspace: Workspace) -> Trial:
    """PUT the objects to read or delete outside of the measured time, and start the engine at its gate."""
    mount, params = job.mount, step.params
    if mount.get("client") != CLIENT:
        raise JobInvalid(f"requests for objects need a mount with client {CLIENT}, not {mount['kind']}")
    plan = plan_of(params, mount, step, workspace)
    keep = Keeper(plan)
    noted = workspace.target.parent / hashlib.sha256(plan["root"].encode()).hexdigest()[:16]
    if not noted.exists():
        keep.put(engine.KEPT, plan["objects"])
        noted.touch()
    keep.put(engine.DOOMED, plan["requests"].get("delete", 0) * plan["keys_per_delete"])
    plan["open_loop"] = engines.open_loop(job, step, workspace)
    armed = engines.arm("object_requests", plan, workspace.scratch, needs_packages=True)

    def read(ended: list[Ended]) -> Outcome:
        outcome = read_engine(ended[0].stdout, params, plan)
        keep.verify_and_remove()
        if job.environment == "local":
            outcome.warnings.append(PLAYED_S3)
        return outcome

    return Trial(armed, params["threads"], read)


def plan_of(params: dict[str, Any], mount: dict[str, Any], step: Step, workspace: Workspace) -> dict[str, Any]:
    size, part = params["object_bytes"], params.get("part_bytes")
    objects, prefixes = params.get("objects", 0), params.get("prefixes", 1)
    sizes = params.get("sizes", "")
    root = f"{mount['prefix']}/objects-{size}-{part or 0}-{objects}-{prefixes}{name_of(sizes)}"
    return {
        "requests": requests_of_each(params),
        "region": mount["region"],
        "bucket": mount["bucket"],
        "root": root,
        "step": f"step-{step.number}",
        "objects": objects,
        "object_bytes": size,
        "sizes": sizes,
        "part_bytes": part,
        "prefixes": prefixes,
        **{name: params.get(name, 1) for name in ("keys_per_list", "keys_per_delete")},
        "threads": params["threads"],
        "seed": int.from_bytes(hashlib.sha256(root.encode()).digest()[:8], "big"),
        "order": f"{step.point}/{step.repetition}/{workspace.target.parent.name}",
        "mode": "auto",
    }


def requests_of_each(params: dict[str, Any]) -> dict[str, int]:
    """Return the number of requests of each operation; those of a mix are written as `get 450, put 150`."""
    if params["operation"] != MIX:
        return {params["operation"]: params["requests"]}
    return {name: int(count) for name, count in (part.split() for part in params["mix"].split(", "))}


class Keeper:
    """Makes, checks and removes the objects of a step, outside of the measurement."""

    def __init__(self, plan: dict[str, Any]) -> None:
        """Draw the contents that the engine draws, too."""
        # Listing and removing the remaining objects takes as few requests as S3 allows.
        self._plan = {**plan, "threads": WORKERS, "keys_per_list": MAX_KEYS}
        self._wanted = plan["requests"]
        self._contents = engine.Contents(plan["object_bytes"], plan["part_bytes"], plan["seed"], plan["sizes"])
        self._bucket = engine.Bucket(self._plan, self._contents, chance=random.Random())  # noqa: S311 no secret

    def put(self, kind: str, count: int) -> None:
        """Put objects 0 to `count` - 1 of a kind. Raises BlackboardUnavailable where S3 refuses."""
        with translated(f"PUT s3://{self._plan['bucket']}/{self._plan['root']}"):
            self._by_workers(range(count), lambda number: self._bucket.putting(kind, number)())

    def verify_and_remove(self) -> None:
        """Compare the written and deleted objects with the plan, then remove all.

        Raises WorkIncomplete. DELETE requests are free, so no object is kept longer than its step.
        """
        bucket, plan = self._bucket, self._plan
        with translated(f"LIST s3://{plan['bucket']}/{plan['root']}/{plan['step']}"):
            there = {kind: dict(self._sizes(kind)) for kind in (engine.WRITTEN, engine.DOOMED, engine.PILOT)}
            written, left = there[engine.WRITTEN], there[engine.DOOMED]
            numbers = range(self._wanted.get("put", 0))
            keys = {bucket.key(engine.WRITTEN, n): self._contents.size(n) for n in numbers}
            if written.keys() != keys.keys():
                raise WorkIncomplete(f"{len(written)} objects are there after {len(keys)} were put")
            wrong = [key for key, size in written.items() if size != keys[key]]
            if wrong:
                raise WorkIncomplete(f"{wrong[0]} has {written[wrong[0]]} bytes, not {keys[wrong[0]]}")
            if left:
                raise WorkIncomplete(f"{len(left)} objects are still there after all were deleted")
            every = max(1, len(keys) // READ_AGAIN)
            try:
                self._by_workers(range(0, len(keys), every), lambda number: bucket.get(engine.WRITTEN, number))
            except engine.ObjectWrong as err:
                raise WorkIncomplete(f"read again after it was put: {err}") from err
            doomed = [key for sizes in there.values() for key in sizes]
            for first in range(0, len(doomed), MAX_KEYS):
                bucket.delete_all(doomed[first : first + MAX_KEYS])

    def _sizes(self, kind: str) -> Iterator[tuple[str, int]]:
        for prefix in range(self._plan["prefixes"]):
            token = ""
            while True:
                page = self._bucket.list_page(engine.folder_of(self._plan, kind, prefix), token)
                yield from ((entry["Key"], entry["Size"]) for entry in page.get("Contents", []))
                token = page.get("NextContinuationToken", "")
                if not token:
                    break

    @staticmethod
    def _by_workers(numbers: Iterable[int], act: Any) -> None:
        with concurrent.futures.ThreadPoolExecutor(WORKERS) as workers:
            for _ in workers.map(act, numbers):
                pass


def read_engine(report: Path, params: dict[str, Any], plan: dict[str, Any]) -> Outcome:
    """Return rates, latencies of each operation, and refusals by S3."""
    requests = sum(plan["requests"].values())
    done = engines.read_report(report, threads=plan["threads"], operations=requests)
    extra = [of_worker for of_worker in engines.read_reports(report) if "by_operation" in of_worker]
    by_operation = {
        name: (
            histogram.merge(of_worker["by_operation"][name]["bins"] for of_worker in extra),
            max(of_worker["by_operation"][name]["longest_ns"] for of_worker in extra),
        )
        for name in plan["requests"]
    }
    total = {
        name: sum(of_worker[name] for of_worker in extra)
        for name in ("throttled", "attempts", "read_bytes", "written_bytes")
    }
    objects = {name: sum(of_worker["objects"][name] for of_worker in extra) for name in plan["requests"]}
    refused = _summed(of_worker["refused"] for of_worker in extra)
    repeated = sum(refused.values())
    duration_s, moved = done.duration_s, total["read_bytes"] + total["written_bytes"]
    metrics = {
        "requests_per_s": requests / duration_s,
        "objects_per_s": sum(objects.values()) / duration_s,
        "duration_s": duration_s,
        "longest_stall_s": done.longest_stall_s,
        "throttled_requests": total["throttled"],
        "failed_requests": repeated - total["throttled"],
    }
    if moved:
        metrics["mb_per_s"] = moved / 1e6 / duration_s
    if params["operation"] == MIX:
        metrics.update(done.latency_metrics("request_lat"))
    for name, kept in by_operation.items():
        metrics.update(histogram.latency_metrics(f"{name}_lat", *kept))
    tool = {
        "name": "botocore",
        "version": sdk_version(),
        "command": f"{describe_requests(plan)} in {done.who}{engines.describe_rate(params)}",
        "http_requests": total["attempts"],
        "repeated_after": refused,
        "objects": objects,
        **done.how,
        **done.open_loop(params),
    }
    latencies = {f"{name}_lat": kept for name, kept in by_operation.items()}
    if params["operation"] == MIX:
        latencies["request_lat"] = done.bins, done.longest_ns
    work = {"read_bytes": total["read_bytes"], "write_bytes": total["written_bytes"], "requests": requests}
    warnings = [*done.warnings(params), *refusals(total["throttled"], refused, requests)]
    outcome = done.outcome(latencies, metrics, work, tool, warnings)
    outcome.steadiness = done.steadiness(params)
    return outcome


def describe_requests(plan: dict[str, Any]) -> str:
    """Return the requests in words, as the command of a sample."""
    names = {"put": "PUT", "get": "GET", "head": "HEAD", "list": "LIST", "delete": "DELETE"}
    counted = ", ".join(f"{count} {names[name]}" for name, count in plan["requests"].items())
    parts = f" in parts of {plan['part_bytes']}" if plan["part_bytes"] else ""
    keys = "".join(
        f", {plan[f'keys_per_{name}']} keys a {names[name]}" for name in ("list", "delete") if name in plan["requests"]
    )
    mean = " on average" if plan["sizes"] else ""
    return f"{counted} of objects of {plan['object_bytes']} bytes{mean}{parts}{keys}, {plan['prefixes']} prefixes,"


def refusals(throttled: int, refused: dict[str, int], requests: int) -> list[str]:
    """The warning of a sample in which requests were repeated; their pauses are in its latencies."""
    if not refused:
        return []
    codes = ", ".join(f"{code} {count}" for code, count in sorted(refused.items()))
    return [
        f"S3 refused or broke off {sum(refused.values())} attempts of {requests} requests, {throttled} of them as too "
        f"many (503): {codes}; they were repeated after a pause, within the measured time"
    ]


def _summed(counts: Iterable[dict[str, int]]) -> dict[str, int]:
    total: dict[str, int] = {}
    for each in counts:
        for code, count in each.items():
            total[code] = total.get(code, 0) + count
    return total
