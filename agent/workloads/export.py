"""Measure the time until files of a file system become objects of its bucket."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from agent.board.blackboard import new_client, new_session, translated
from agent.engine.worker_pool import share
from agent.errors import JobInvalid
from agent.programs.processes import Ended
from agent.workloads import engines
from agent.workloads.trial import Outcome, Trial
from contract import histogram

if TYPE_CHECKING:
    from agent.job import Job, Step
    from agent.machine.workspace import Workspace

PERCENTS = (50, 90)


def prepare(job: Job, step: Step, workspace: Workspace) -> Trial:
    """Make the directories, outside of the time, find where they are in the bucket, and arm the engine."""
    exported, params = job.mount.get("exported_to"), step.params
    if exported is None:
        raise JobInvalid(f"what is written to a mount of kind {job.mount['kind']} becomes no object of the stack's")
    directories = [workspace.target / str(number) for number in range(params["threads"])]
    for directory in directories:
        directory.mkdir()
    root = prefix_of(exported)
    plan = {
        **{name: params[name] for name in ("file_bytes", "threads", "at_most_s")},
        "region": exported["region"],
        "bucket": exported["bucket"],
        "directories": [str(directory) for directory in directories],
        "prefixes": [f"{root}{directory.relative_to(workspace.mount)}/" for directory in directories],
        "counts": share(params["files"], params["threads"]),
        "seed": step.number,
        # Its workers sleep.
        "mode": "threads",
    }
    armed = engines.arm("exports", plan, workspace.scratch, needs_packages=True)

    def read(ended: list[Ended]) -> Outcome:
        done = engines.read_report(ended[0].stdout, threads=params["threads"], operations=params["files"])
        return outcome(done, params)

    return Trial(armed, params["threads"], read)


def prefix_of(exported: dict[str, str]) -> str:
    """The prefix of the bucket that the file system is, from its owner's mark there."""
    client = new_client(new_session(exported["region"]), "s3")
    with translated(f"GET s3://{exported['bucket']}/{exported['mark']}"):
        body = client.get_object(Bucket=exported["bucket"], Key=exported["mark"])["Body"].read()
    return str(json.loads(body)["prefix"])


def outcome(done: engines.Report, params: dict[str, Any]) -> Outcome:
    """Seconds from close() until each file was listed."""
    metrics = {f"visible_p{p}_s": histogram.percentile(done.bins, p) / 1e9 for p in PERCENTS}
    metrics.update({"visible_p100_s": done.longest_ns / 1e9, "duration_s": done.duration_s})
    tool = done.tool(
        f"write {params['files']} files of {params['file_bytes']} bytes and list the bucket each second "
        f"until each is an object, in {done.who}"
    )
    work = {"files": params["files"], "write_bytes": params["files"] * params["file_bytes"]}
    outcome = done.outcome("visible_lat", metrics, work, tool)
    # They are seen by a listing each second, so they have no rate of their own.
    outcome.operations = []
    return outcome
