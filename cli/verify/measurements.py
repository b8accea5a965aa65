"""Steps that run matrices: a plan only, one instance, a fleet behind a gate, and each kind of storage once."""

import json
import re
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from cli.follow import running
from cli.follow.running import RunOptions
from cli.inputs import planning
from cli.inputs.planning import Planned
from cli.messages.errors import CommandError, ExitCode
from cli.target.run_documents import RunDocuments
from cli.target.service import Service
from cli.target.unzipping import MAX_ZIPPED_BYTES, Unzipped
from cli.verify import expectations
from cli.verify.checks import Check, required
from cli.verify.expectations import Evidence
from cli.verify.stack import Stack
from matrix.terms.documents.samples import SamplesDocument

# The cheapest type that has one vCPU: a fleet of four fits the five vCPUs of a new account.
INSTANCE_TYPE = "m7g.medium"
EBS = {"type": "ebs", "volumeType": "gp3", "sizeGiB": 8}
EFS = {"type": "efs", "throughputMode": "elastic"}
S3 = {"type": "s3"}
FSX = {"type": "fsx-openzfs", "storageCapacityGiB": 64, "throughputCapacityMBps": 64}
# The tool `engine` is part of the agent, so it needs no package that an image may lack.
TOUCH = {"type": "touch", "tool": "engine", "files": 256, "threads": [1, 2]}
READ = {"type": "read", "requestSize": "64KiB", "requests": 8, "threads": 1}
# Above the worst-case cost of any step; a plan that costs more is refused.
BUDGET_USD = 2
# One minute on AWS.
MAX_SWEEPS = 6
# Texts of access denials: Lambda logs the exception, the agent logs its failed call.
DENIAL = re.compile(r"AccessDenied|UnauthorizedOperation|not authorized to perform")


@dataclass(frozen=True)
class Measurement:
    """One matrix of one storage, with a cell for each number of instances."""

    name: str
    proves: str
    storage: dict[str, Any]
    workload: dict[str, Any]
    counts: tuple[int, ...] = (1,)

    def matrix(self, *, is_dry: bool = False) -> dict[str, Any]:
        """Return the matrix as a user would write it."""
        return {
            "name": f"verify-{self.name}", "storage": [self.storage], "workload": [self.workload],
            "fleet": [{"instanceType": INSTANCE_TYPE, "count": list(self.counts)}],
            "repetitions": 2, "budgetUsd": BUDGET_USD, "owner": "matrix-verify", "dryRun": is_dry,
        }  # fmt: skip

    def planned(self, region: str | None, *, is_dry: bool = False) -> Planned:
        """Return the matrix with its plan by this tree's code."""
        return planning.plan_text(json.dumps(self.matrix(is_dry=is_dry)).encode(), region)


ONE_INSTANCE = Measurement("ebs", "an instance boots, mounts, measures, uploads and is gone", EBS, TOUCH)
# Together six vCPUs: in a new account the second fleet waits for the end of the first, if ending instances count.
FLEET = Measurement("fleet", "four instances start together behind a gate, then two after them", EBS, TOUCH, (4, 2))
ON_EFS = Measurement("efs", "EFS is created, resolved, mounted, shared by two and deleted", EFS, TOUCH, (2,))
ON_S3 = Measurement("s3", "objects are written and read with the instance's role", S3, READ)
# The parameters of the stack that name your bucket, and a command that must be able to read it and not to write.
LOOK = 'ls "$CACHE_DIR" && ! touch "$CACHE_DIR/matrix-verify"'
LOOKING = {"type": "command", "name": "look", "command": LOOK, "workDirectory": "local", "expectedSeconds": 5}
ON_FSX = Measurement("fsx", "FSx for OpenZFS is created, mounted and deleted without a backup", FSX, TOUCH)


def on_mountpoint(stack: Stack) -> Measurement:
    """Return the measurement on the bucket of the user that the stack's parameters name."""
    bucket, prefix = (stack.parameters.get(name, "") for name in ("ExistingBucket", "ExistingPrefix"))
    if not bucket:
        advice = "deploy with ExistingBucket and ExistingPrefix, or leave out --with mountpoint"
        raise CommandError("the stack may read no bucket of yours", advice, ExitCode.BAD_INPUT)
    storage = {"type": "mountpoint", "bucket": bucket, "prefix": prefix}
    return Measurement("mountpoint", "a bucket of yours is mounted, read, and not written", storage, LOOKING)


def plan_only(stack: Stack, measurement: Measurement) -> Iterator[Check]:
    """Let the deployed state machine plan, which creates nothing, and compare with this tree's plan."""
    planned = measurement.planned(stack.deployment.region, is_dry=True)
    run, execution = _run(stack.service, planned)
    yield execution
    document = RunDocuments(stack.service, run).plan()
    if document is not None:
        yield from expectations.same_plan(planned.plan, document)


def measure(stack: Stack, measurement: Measurement) -> Iterator[Check]:
    """Run a matrix as `matrix run` does, and compare the observations with the assumptions."""
    began_at = time.time()
    service = stack.service
    run, execution = _run(service, measurement.planned(stack.deployment.region))
    complete_receipt(service, run)
    yield execution
    evidence = evidence_of(stack, run, began_at)
    if evidence is not None:
        yield from expectations.compare(evidence)


def complete_receipt(service: Service, run: str) -> None:
    """Run sweeps until the receipt is complete, because the next scheduled sweep on AWS may be long away.

    DescribeExecution may lag by seconds; a sweep that still sees a running execution does nothing.
    """
    patience = running.LOCAL_RETRY if service.deployment.environment == "local" else running.AWS_RETRY
    for _ in range(MAX_SWEEPS):
        service.reap(run)
        receipt = RunDocuments(service, run).receipt()
        if receipt is None or receipt["is_complete"]:
            return
        time.sleep(patience.pause_s)


def _run(service: Service, planned: Planned) -> tuple[str, Check]:
    run = running.made_up_name(planned.plan["name"])
    # With --json, progress is one line for each change, on stderr.
    ended = running.follow_to_end(service, planned, RunOptions(run, as_json=True))
    execution = ended.execution
    advice = f"look at the run: `matrix watch {run} {service.deployment.flag}`, and its graph in the console"
    seen = ": ".join(filter(None, [execution.status, execution.reason]))
    return run, required(f"run {run}", "SUCCEEDED", seen, is_so=execution.status == "SUCCEEDED", fix=advice)


def evidence_of(stack: Stack, run: str, began_at: float) -> Evidence | None:
    """Return the documents of a run. None if it ended before its analysis."""
    service = stack.service
    left = RunDocuments(service, run)
    plan, summary, receipt = left.plan(), left.written_summary(), left.receipt()
    if plan is None or summary is None or receipt is None:
        return None
    samples: list[SamplesDocument] = []
    ready_at: dict[str, dict[int, float]] = {}
    objects: Counter[str] = Counter()
    denials = list(denials_of_functions(stack, began_at))
    for path in service.names(run):
        match path.split("/"):
            case ["cells", _, "instances", userid, *rest]:
                instance, name = userid.rpartition(":")[2], "/".join(rest)
                objects[instance] += 1
                if name == "samples.json":
                    if (document := left.document(SamplesDocument, path)) is not None:
                        samples.append(document)
                elif name == "log.gz":
                    denials += denials_of_instance(stack, f"runs/{run}/{path}")
            case ["cells", _, "meet", _, "ready", step, userid]:
                instance = userid.rpartition(":")[2]
                objects[instance] += 1
                mark = service.document(run, path) or {}
                ready_at.setdefault(instance, {})[int(step)] = float(mark["at"])
    return Evidence(plan, summary, receipt, samples, ready_at, objects, denials)


def denials_of_functions(stack: Stack, began_at: float) -> Iterator[str]:
    """Yield the log lines of functions and state machine since a moment that report a denied call."""
    pages = stack.client("logs").get_paginator("filter_log_events")
    for group in (stack.resources["FunctionLogGroup"], stack.resources["RunLogGroup"]):
        wanted = {"logGroupName": group, "startTime": int(began_at * 1000)}
        # CloudWatch filters by words, which other messages may contain too, so check the text again.
        for page in pages.paginate(**wanted, filterPattern="?AccessDenied ?UnauthorizedOperation ?authorized"):
            yield from (
                f"{event['logStreamName']}: {event['message'].strip()}"
                for event in page["events"]
                if DENIAL.search(event["message"])
            )


def denials_of_instance(stack: Stack, key: str) -> Iterator[str]:
    """Yield the lines of an agent's log that report a denied call."""
    stored = stack.client("s3").get_object(Bucket=stack.deployment.outputs["BucketName"], Key=key)["Body"]
    for line in Unzipped(stored.read(MAX_ZIPPED_BYTES + 1)).lines():
        if DENIAL.search(line):
            yield f"{key.rpartition('/')[0]}: {line}"
