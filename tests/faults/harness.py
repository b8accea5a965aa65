"""Proof by faults: record every AWS call of good runs, run them again once for each call with that call failing.

    python tests/faults/harness.py            all cases, then docs/faults.md
    python tests/faults/harness.py --list     only the cases
    python tests/faults/harness.py --only EXPRESSION

Each finished case is a line of .local/faults/cases.jsonl; started again, the harness goes on with those that are
missing (`--again` begins anew). Each line says the commit it befell: `--stale` also runs again what befell another one,
after the missing ones. After each case it asserts that

- nothing is left after the run's end and the sweeps: no instance, volume, file system, agent process or folder;
- the receipt says of everything that it is gone, one more sweep later at the latest;
- every samples.json that was uploaded is still there, whole, and counted in the summary;
- the run's results name the fault: its error, the service's or the function's;
- red stays red: a run with a failed cell never succeeds, and one that succeeds has every sample.
"""

import argparse
import hashlib
import json
import re
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from functools import cache
from itertools import chain, zip_longest
from pathlib import Path
from queue import SimpleQueue
from tempfile import TemporaryDirectory
from typing import Any

ROOT = Path(__file__).parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "tests" / "statemachine")]

from runs import EBS, EFS, Cloud, Run, matrix, start_cloud  # noqa: E402

WORK = ROOT / ".local" / "faults"
# What costs time is the processor: faster clocks only make for more polls, and runs at once hide the waits.
TIME_SCALE, LOOK_EACH_S = 10, 1.0
# Moto is one process with one interpreter lock: two clouds use two cores.
CLOUDS_AT_ONCE, RUNS_PER_CLOUD = 2, 4
# Moto keeps all that ever was and looks through all of it: after so many cases a new cloud is faster.
RUNS_OF_A_CLOUD = 40
MOST_FAULTS_OF_A_RUN = 8
ATTEMPTS = 4
RUN_LIMIT_S = 400
SWEEP_LIMIT_S, SWEEPS = 12, 5

TOUCH = {"type": "touch", "name": "t", "files": 8, "threads": 1}
BUILD = {"type": "build", "name": "b", "expectedSeconds": 1}
FSX = {
    "type": "fsx-openzfs",
    "name": "fsx",
    "deploymentType": "SINGLE_AZ_1",
    "storageCapacityGiB": 64,
    "throughputCapacityMBps": 64,
}
READ = {"type": "read", "name": "r", "access": ["random"], "records": 16, "pageBytes": "64KiB", "threads": 1}
# An image is found again by its recipe: with its own in each run, each run bakes.
OWN_IMAGE = {"bake": True, "packages": ["of-$RUN"]}
ONE, TWO = ({"instanceType": "m6i.large", "count": count} for count in (1, 2))
# What is run, the cheapest first: each call is taken from the first scenario that makes it.
SCENARIOS: dict[str, dict[str, Any]] = {
    "alone": matrix(storage=[EBS | {"name": "ebs"}], workload=[TOUCH], fleet=[ONE]),
    "shared": matrix(storage=[EFS | {"name": "efs"}], workload=[TOUCH], fleet=[TWO]),
    "fsx": matrix(storage=[FSX], workload=[TOUCH], fleet=[ONE]),
    "cached": matrix(
        storage=[EFS | {"name": "efs"}],
        workload=[BUILD | {"populate": "echo source > $CACHE_DIR/source", "build": "cp $CACHE_DIR/source out"}],
    ),
    "failing": matrix(
        storage=[EBS | {"name": "ebs"}],
        workload=[BUILD | {"build": "exit 7"}],
        include=[
            {
                "storage": EFS | {"name": "efs"},
                "workload": BUILD | {"populate": "exit 8", "build": "true"},
                "fleet": ONE,
            }
        ],
    ),
    "stopped": matrix(storage=[EFS | {"name": "efs"}], workload=[BUILD | {"build": "sleep 30"}]),
    "objects": matrix(storage=[{"type": "s3", "name": "s3"}], workload=[READ], fleet=[ONE]),
    "baked": matrix(storage=[EBS | {"name": "ebs"}], workload=[TOUCH], fleet=[ONE], image=OWN_IMAGE),
    "unbaked": matrix(storage=[EBS | {"name": "ebs"}], workload=[TOUCH], fleet=[ONE], image=OWN_IMAGE),
}
OF_IMAGES = {"Name": "tag-key", "Values": ["storage-matrix:image"]}
# What befalls a scenario anyway, and how it ends then; the others succeed.
FATE: dict[str, dict[str, Any]] = {
    "stopped": {"fault": "stopped", "who": "Run", "action": "enter", "what": "Poll fleet", "nth": 3},
    "unbaked": {"fault": "denied", "who": "CheckImage", "action": "ec2:CreateImage", "times": None},
}
STATUS = {"failing": "FAILED", "unbaked": "FAILED", "stopped": "ABORTED"}
OUTCOMES = {"SUCCEEDED": "survived", "ABORTED": "stopped"}  # all others: failed

# A fault and how many calls in a row it befalls; None: all that follow.
Kind = tuple[str, int | None]
THROTTLED, THROTTLED_FOR_GOOD, DENIED = ("throttled", 3), ("throttled", None), ("denied", None)
BROKEN, BROKEN_FOR_GOOD, LOST, CRASH = ("internal error", 2), ("internal error", None), ("lost answer", 1), ("crash", 1)
# The first call of each function meets every fault. Of its others, those that fail for good do so as denied ones (one
# ClientError is caught as another), and a read has no effect to lose and is retried after a 500 as when throttled.
KINDS_OF_FIRST: tuple[Kind, ...] = (THROTTLED, THROTTLED_FOR_GOOD, DENIED, BROKEN, LOST, CRASH)
KINDS_OF_WRITES: tuple[Kind, ...] = (THROTTLED, DENIED, BROKEN, LOST, CRASH)
KINDS_OF_READS: tuple[Kind, ...] = (THROTTLED, DENIED, CRASH)
# Step Functions calls functions: there is nothing to crash but what it calls, and its own retries are worth a look.
KINDS_OF_INVOKE: tuple[Kind, ...] = (THROTTLED, THROTTLED_FOR_GOOD, DENIED, BROKEN_FOR_GOOD, LOST)
# The words by which results tell of a fault. An instance that is killed cannot say so: EC2's word counts.
WORDS = {
    "throttled": r"SlowDown|RequestLimitExceeded|TooManyRequests|Throttling|Rate exceeded",
    "denied": r"AccessDenied|UnauthorizedOperation|not authorized|may not read it",
    "internal error": r"InternalError|InternalServerError|InternalFailure|ServiceException|internal error",
    "lost answer": r"Connection was closed|ConnectionClosed|ServiceException",
    "crash": r"Runtime\.ExitError|signal: 9|InstanceDied",
    "stopped": r"Stopped",
}


@dataclass(frozen=True)
class Case:
    """One run with one fault."""

    scenario: str
    who: str
    action: str
    what: str
    fault: str
    times: int | None

    @property
    def id(self) -> str:
        """A readable name, the same for each run of the harness."""
        times = "always" if self.times is None else f"{self.times}x"
        return " ".join(part for part in (self.scenario, self.who, self.action, self.what, self.fault, times) if part)

    def rule(self, run: str) -> dict[str, Any]:
        """The rule for local/faults.py."""
        about = {name: getattr(self, name) for name in ("who", "action", "what", "fault", "times")}
        return {"id": f"{run} {self.id}", "run": run, **about}


@dataclass
class CloudWithClients(Cloud):
    """A cloud that makes each client once: the harness asks so often that it would spend half of its time on them."""

    clients: dict[str, Any] = field(default_factory=dict)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def client(self, service: str) -> Any:
        """A client with the operator's rights."""
        with self.lock:
            if service not in self.clients:
                self.clients[service] = super().client(service)
            return self.clients[service]


# Cases that share a run.
Trial = tuple[Case, ...]


@cache
def _commit() -> str:
    git = ["git", "-C", str(ROOT), "log", "-1", "--format=%h"]
    return subprocess.run(git, capture_output=True, text=True, check=False).stdout.strip() or "unknown"


@dataclass
class Verdict:
    """What became of a case."""

    id: str
    case: dict[str, Any]
    run: str
    shared_by: int = 1
    status: str = ""
    outcome: str = ""  # survived, failed, stopped
    error: str = ""
    injected: int = 0
    left_at_end: list[str] = field(default_factory=list)
    sweeps: int = 1  # the one that follows each run, and those that had to come after it
    swept_s: float = 0.0
    problems: list[str] = field(default_factory=list)
    seconds: float = 0.0
    commit: str = field(default_factory=_commit)


@dataclass
class Judged:
    """What became of a run."""

    trial: Trial
    status: str = ""
    outcome: str = ""
    error: str = ""
    left_at_end: list[str] = field(default_factory=list)
    sweeps: int = 1
    swept_s: float = 0.0
    problems: list[str] = field(default_factory=list)
    seconds: float = 0.0

    def verdict(self, case: Case, run: str, injected: int) -> Verdict:
        """The same for one of the cases that shared the run."""
        problems = [*self.problems, *([] if injected else ["the fault was not injected"])]
        facts = {name: value for name, value in vars(self).items() if name not in ("trial", "problems")}
        return Verdict(
            case.id, asdict(case), run, injected=injected, shared_by=len(self.trial), problems=problems, **facts
        )


class Laboratory:
    """A cloud with faults, and the runs on it."""

    def __init__(self, cloud: Cloud, rules: Path) -> None:
        self.cloud = cloud
        self._path = rules
        self._rules: dict[str, list[dict[str, Any]]] = {}
        self._lock = threading.Lock()

    def execute(self, trial: Trial, name: str) -> list[Verdict]:
        """Run cases together and judge the run."""
        began = time.monotonic()
        scenario = trial[0].scenario
        rules = [case.rule(name) for case in trial]
        self._set(name, rules + fate(scenario, name))
        run = self.start(name, scenario)
        judged = Judged(trial)
        if not _wait(lambda: run.status != "RUNNING", RUN_LIMIT_S):
            judged.problems.append(f"still running after {RUN_LIMIT_S} s")
            self.cloud.client("stepfunctions").stop_execution(executionArn=run.arn)
        judged.left_at_end = sorted(set(left_behind(run)) - {"open resources"})
        if not _wait(lambda: any(call["who"] == "Reap" for call in self.calls(name)), 20):
            judged.problems.append("no sweep followed the run's end")
        for case in trial:
            if case.who == "Reap":
                _wait(lambda case=case: self.injected(name, case), 20)
        self._set(name, [])  # the account is well again: what is left now is for the sweeps
        self._judge(run, judged)
        judged.seconds = round(time.monotonic() - began, 1)
        return [judged.verdict(case, name, self.injected(name, case)) for case in trial]

    def sweep(self) -> None:
        """What the schedule does each 15 minutes; it waits for the end of the sweep."""
        self.cloud.client("lambda").invoke(FunctionName=self.cloud.output("ReapFunctionName"), Payload=b"{}")

    def left_by_all(self) -> dict[str, list[str]]:
        """What exists in the whole cloud, whoever's tags it has or has not: nothing, once all runs have ended."""
        ec2, alive = self.cloud.client("ec2"), ["pending", "running", "shutting-down", "stopping", "stopped"]
        instances = ec2.get_paginator("describe_instances").paginate(
            Filters=[{"Name": "instance-state-name", "Values": alive}]
        )
        everything = {
            "instances": [i["InstanceId"] for page in instances for r in page["Reservations"] for i in r["Instances"]],
            "volumes": [volume["VolumeId"] for volume in ec2.describe_volumes()["Volumes"]],
            "interfaces": [one["NetworkInterfaceId"] for one in ec2.describe_network_interfaces()["NetworkInterfaces"]],
            "file systems": [
                found["FileSystemId"]
                for service in ("efs", "fsx")
                for found in self.cloud.client(service).describe_file_systems()["FileSystems"]
            ],
            "folders": [str(path) for path in (self.cloud.folder / "storage").glob("*/*")],
            "objects": [key for key, _ in data_objects(self.cloud)],
            "images": [image["ImageId"] for image in ec2.describe_images(Owners=["self"])["Images"]],
            "snapshots": [one["SnapshotId"] for one in ec2.describe_snapshots(Filters=[OF_IMAGES])["Snapshots"]],
        }
        return {kind: found for kind, found in everything.items() if found}

    def sweep_images(self) -> None:
        """What `matrix reap --images` does: images are kept until then."""
        payload = json.dumps({"images": True}).encode()
        self.cloud.client("lambda").invoke(FunctionName=self.cloud.output("ReapFunctionName"), Payload=payload)

    def start(self, name: str, scenario: str) -> Run:
        """Start a run without waiting for it."""
        started = self.cloud.client("stepfunctions").start_execution(
            stateMachineArn=self.cloud.output("StateMachineArn"),
            name=name,
            input=json.dumps(SCENARIOS[scenario]).replace("$RUN", name),
        )
        return Run(self.cloud, name, started["executionArn"])

    def calls(self, run: str) -> list[dict[str, Any]]:
        """All calls of a run, in their order."""
        lines = (self.cloud.folder / "calls.jsonl").read_text().splitlines()
        return [call for line in lines if f'"{run}"' in line and (call := json.loads(line))["run"] == run]

    def injected(self, run: str, case: Case) -> int:
        """How many calls of a run the fault of a case has befallen."""
        wanted = {name: getattr(case, name) for name in ("who", "action", "what", "fault")}
        return sum(wanted.items() <= call.items() for call in self.calls(run))

    def record(self, scenario: str, name: str) -> list[dict[str, Any]]:
        """The calls of a scenario without faults, and of the sweep that follows it."""
        self._set(name, fate(scenario, name))
        run = self.start(name, scenario)
        assert _wait(lambda: run.status != "RUNNING", RUN_LIMIT_S), f"{scenario} does not end"
        assert run.status == STATUS.get(scenario, "SUCCEEDED"), (
            f"{scenario}: {said(run.describe(), document(run, 'summary.json'))}"
        )
        assert _wait(lambda: any(call["who"] == "Reap" for call in self.calls(name)), 20), "no sweep after the end"
        assert _wait(lambda: not set(left_behind(run)) - {"open resources"}, SWEEP_LIMIT_S), left_behind(run)
        return self.calls(name)

    def _set(self, run: str, rules: list[dict[str, Any]]) -> None:
        with self._lock:
            self._rules[run] = rules
            whole = {"rules": [rule for rules in self._rules.values() for rule in rules]}
            partial = self._path.with_suffix(".new")
            partial.write_text(json.dumps(whole))
            partial.rename(self._path)

    def _judge(self, run: Run, judged: Judged) -> None:
        description = run.describe()
        judged.status = description["status"]
        summary = document(run, "summary.json")
        judged.outcome = OUTCOMES.get(judged.status, "failed")
        words = said(description, summary)
        judged.error = words[:300]
        case = judged.trial[0]
        judged.problems += colour_problems(case, judged.status, summary)
        is_due = judged.outcome == "failed" and STATUS.get(case.scenario) != "FAILED"
        if is_due and not re.search(WORDS[case.fault], words):
            judged.problems.append(f"the results do not name the fault: {words[:500]}")
        judged.problems += sample_problems(case, run, summary)
        began = time.monotonic()
        while not _wait(lambda: not set(left_behind(run)) - {"open resources"}, SWEEP_LIMIT_S):
            if judged.sweeps == SWEEPS:
                judged.problems.append(f"left behind: {left_behind(run)}")
                break
            judged.sweeps += 1
            self.sweep()
        if not _wait(lambda: not unlisted_images(run), SWEEP_LIMIT_S):
            judged.problems.append(f"left behind: images that the receipt lacks: {unlisted_images(run)}")
        judged.swept_s = round(time.monotonic() - began, 1) if judged.left_at_end else 0.0
        if not is_settled(run):
            self.sweep()  # what was still going when the last one looked is gone by now
            if not _wait(lambda: is_settled(run), SWEEP_LIMIT_S):
                judged.problems.append("the receipt does not say of everything that it is gone")


def fate(scenario: str, run: str) -> list[dict[str, Any]]:
    """The rule for what befalls a scenario anyway."""
    return [{"id": f"fate of {run}", "run": run, **FATE[scenario]}] if scenario in FATE else []


def left_behind(run: Run) -> dict[str, list[Any]]:
    """What a run has left, with the folders of its own resources only: other runs go on meanwhile."""
    everything = run.left_behind()
    own = {key.removeprefix("RESOURCE#") for key in run.rows()} | set(everything.get("file systems", []))
    pages = run.cloud.client("ec2").get_paginator("describe_instances")
    for page in pages.paginate(Filters=[{"Name": "tag:storage-matrix:run", "Values": [run.name]}]):
        own |= {one["InstanceId"] for reservation in page["Reservations"] for one in reservation["Instances"]}
    folders = [path for path in everything.pop("folders", []) if Path(path).name in own]
    objects = [key for key, whose in data_objects(run.cloud) if f'"{run.name}"' in whose]
    return everything | ({"folders": folders} if folders else {}) | ({"objects": objects} if objects else {})


def data_objects(cloud: Cloud) -> Iterator[tuple[str, str]]:
    """Each object of the data bucket, with the text of the one that says whose its prefix is, empty where it lacks."""
    s3 = cloud.client("s3")
    [bucket] = [one["Name"] for one in s3.list_buckets()["Buckets"] if "databucket" in one["Name"]]
    keys = [one["Key"] for one in s3.list_objects_v2(Bucket=bucket).get("Contents", [])]
    for key in keys:
        tags = f"{key.partition('/')[0]}/_tags.json"
        try:
            yield key, s3.get_object(Bucket=bucket, Key=tags)["Body"].read().decode() if tags in keys else ""
        except s3.exceptions.NoSuchKey:
            continue  # it has gone meanwhile


def is_settled(run: Run) -> bool:
    """Whether the receipt says of everything that it is gone, or kept; a run without a plan has created nothing."""
    receipt = document(run, "receipt.json")
    return receipt["is_complete"] if receipt else document(run, "plan.json") is None


def unlisted_images(run: Run) -> list[str]:
    """Images that a run has baked and its receipt does not have: they cost money each month."""
    made = run.cloud.client("ec2").describe_images(
        Filters=[{"Name": "tag:storage-matrix:made-by", "Values": [run.name]}]
    )
    receipt = document(run, "receipt.json") or {"resources": []}
    kept = {one["id"] for one in receipt["resources"] if one["kept"]}
    return [image["ImageId"] for image in made["Images"] if image["ImageId"] not in kept]


def document(run: Run, key: str) -> dict[str, Any] | None:
    """A document of a run, None if it was not written."""
    client = run.cloud.client("s3")
    try:
        return run.document(key)
    except client.exceptions.ClientError:
        return None


def said(description: dict[str, Any], summary: dict[str, Any] | None) -> str:
    """All that the results say of errors: the execution's, the cells', and what is left behind."""
    words = [description.get("error", ""), description.get("cause", "")]
    for cell in (summary or {}).get("cells", []):
        error = cell["error"] or {}
        words += [error.get("name", ""), error.get("message", "")]
    words += [json.dumps(part) for part in (summary or {}).get("warnings", [])]
    return " | ".join(word for word in words if word)


def colour_problems(case: Case, status: str, summary: dict[str, Any] | None) -> list[str]:
    """Red stays red, and green is complete."""
    if case.scenario == "stopped" or case.fault == "stopped":
        return [] if status == "ABORTED" else [f"{status} instead of ABORTED"]
    if status != "SUCCEEDED":
        return []
    if summary is None:
        return ["succeeded without a summary"]
    problems = [
        f"{cell['id']} failed, but the run succeeded" for cell in summary["cells"] if cell["state"] != "measured"
    ]
    for cell in summary["cells"]:
        for point in cell["points"]:
            found = {(metric["n"], metric["expected_n"]) for metric in point["metrics"].values()}
            problems += [f"{cell['id']}: {n} of {expected} samples" for n, expected in found if n != expected]
            problems += [f"{cell['id']}: no metrics"] if not found else []
    return problems


def sample_problems(case: Case, run: Run, summary: dict[str, Any] | None) -> list[str]:
    """Every sample that was ever uploaded is still there and counted."""
    client, bucket = run.cloud.client("s3"), run.cloud.output("BucketName")
    most: Counter[str] = Counter()
    latest: Counter[str] = Counter()
    pages = client.get_paginator("list_object_versions").paginate(Bucket=bucket, Prefix=f"runs/{run.name}/cells/")
    for page in pages:
        for version in page.get("Versions", []):
            key = version["Key"]
            if not key.endswith("/samples.json"):
                continue
            body = client.get_object(Bucket=bucket, Key=key, VersionId=version["VersionId"])["Body"].read()
            number = len(json.loads(body)["samples"])
            most[key] = max(most[key], number)
            latest[key] = number if version["IsLatest"] else latest[key]
    problems = [f"{key}: {latest[key]} of {most[key]} samples are left" for key in most if latest[key] < most[key]]
    uploaded: Counter[str] = Counter()
    for key, number in latest.items():
        uploaded[key.split("/")[3]] += number
    for cell in (summary or {}).get("cells", []):
        counted = sum(max((m["n"] for m in point["metrics"].values()), default=0) for point in cell["points"])
        # The function that counts may be the one that fails for good: then the samples wait in the bucket.
        if counted < uploaded[cell["id"]] and not counting_fails(case):
            problems.append(f"{cell['id']}: {uploaded[cell['id']]} samples uploaded, {counted} counted")
    return problems


def counting_fails(case: Case) -> bool:
    """Whether the fault keeps Record failed cell itself from its work for good."""
    is_recorder = case.who.startswith("RecordFailed") or case.what.startswith("RecordFailed")
    return is_recorder and case.times is None


def work_list(recorded: dict[str, list[dict[str, Any]]]) -> list[Case]:
    """The cases: each different call of each function with each fault, and a stop in each state."""
    seen: set[tuple[str, str, str]] = set()
    cases: list[Case] = []
    for scenario, calls in recorded.items():
        for call in calls:
            key = (call["who"], call["action"], call["what"])
            if key in seen:
                continue
            is_first = all(who != key[0] for who, _, _ in seen)
            seen.add(key)
            cases += [Case(scenario, *key, fault, times) for fault, times in kinds(scenario, *key, is_first=is_first)]
    return cases


def is_read(action: str) -> bool:
    """Whether an action changes nothing."""
    return action.partition(":")[2].startswith(READS)


def kinds(scenario: str, who: str, action: str, what: str, *, is_first: bool) -> Iterable[Kind]:
    """The faults worth injecting into a call."""
    if action == "enter":
        return [] if scenario == "stopped" or what in ENDS else [("stopped", 1)]
    if action == "lambda:Invoke":
        return KINDS_OF_INVOKE
    if who == "Instance" and action == "s3:GetObject" and what == "gate.json":
        # 403 means "not yet" to an agent that may not list: for good it would wait until its deadline, an hour.
        return (THROTTLED, ("denied", 3), CRASH)
    if action == "sts:GetCallerIdentity":
        return (THROTTLED, CRASH)  # no policy can deny it
    if is_first:
        return KINDS_OF_FIRST
    return KINDS_OF_READS if is_read(action) else KINDS_OF_WRITES


READS = ("Get", "List", "Describe", "Query")
# In these an execution has ended already.
ENDS = {"Run measured", "Some cells failed", "Planned", "Over budget"}


def _wait(condition: Any, limit_s: float) -> bool:
    end = time.monotonic() + limit_s
    while time.monotonic() < end:
        if condition():
            return True
        time.sleep(LOOK_EACH_S)
    return bool(condition())


@contextmanager
def laboratory() -> Iterator[Laboratory]:
    """A new cloud with no faults yet."""
    with TemporaryDirectory(prefix="faults-") as folder:
        rules = Path(folder) / "rules.json"
        rules.write_text('{"rules": []}')
        with start_cloud(Path(folder), "--time-scale", str(TIME_SCALE), "--faults", str(rules)) as cloud:
            yield Laboratory(CloudWithClients(cloud.folder, cloud.description), rules)


def run_name(trial: Trial) -> str:
    """The run's name of some cases."""
    return f"f-{hashlib.sha256(' '.join(case.id for case in trial).encode()).hexdigest()[:10]}"


def record_all() -> list[Case]:
    """The work list of good runs on a new cloud."""
    first, *others = SCENARIOS  # it puts the agent into the bucket
    others.remove("objects")  # whose prefixes others would look at, by chance
    with laboratory() as lab, ThreadPoolExecutor(len(others)) as pool:
        recorded = {first: lab.record(first, f"record-{first}")}
        found = pool.map(lambda scenario: lab.record(scenario, f"record-{scenario}"), others)
        recorded |= dict(zip(others, found, strict=True))
        return work_list(recorded | {"objects": lab.record("objects", "record-objects")})


def trials(cases: Iterable[Case]) -> list[Trial]:
    """Cases by run: those that a run shall survive share one, where they befall different functions.

    What of such a run is not as it shall be is taken apart, and each of its faults injected alone.
    """
    alone: list[list[Case]] = []
    shared: dict[tuple[str, str, int | None], list[list[Case]]] = {}
    for case in cases:
        if not is_survivable(case):
            alone.append([case])
            continue
        groups = shared.setdefault((case.scenario, case.fault, case.times), [])
        for group in groups:
            if len(group) < MOST_FAULTS_OF_A_RUN and function_of(case) not in map(function_of, group):
                group.append(case)
                break
        else:
            groups.append([case])
    both = alone + [group for groups in shared.values() for group in groups]
    # In an order of chance, the same each time: an interrupted harness has seen something of everything.
    return sorted((tuple(group) for group in both), key=run_name)


def is_survivable(case: Case) -> bool:
    """Whether retries get a run over the fault, so that it may have others beside it."""
    is_instance_lost = case.who == "Instance" and case.fault == "crash"
    return not (case.times is None or case.fault == "stopped" or is_instance_lost or is_of_first_run(case))


def function_of(case: Case) -> tuple[str, str]:
    """The function that a fault befalls, from within or from without."""
    return (case.who, case.what if case.who == "Run" else "")


def is_as_expected(verdict: Verdict) -> bool:
    """Whether the run of survivable faults went as one without."""
    wanted = STATUS.get(verdict.case["scenario"], "SUCCEEDED")
    return verdict.status == wanted and not verdict.problems


def execute_all(cases: list[Case]) -> Iterator[Verdict]:
    """Run cases on some clouds at once, of which each is replaced now and then."""
    whole = trials(cases)
    others = [trial for trial in whole if not is_of_first_run(trial[0])]
    batches = [others[start : start + RUNS_OF_A_CLOUD] for start in range(0, len(others), RUNS_OF_A_CLOUD)]
    # The agent is put into the bucket by the first run of a cloud only: one such case at the head of a cloud.
    alone = [trial for trial in whole if is_of_first_run(trial[0])]
    batches = [[*head, *batch] for head, batch in zip_longest(([one] for one in alone), batches, fillvalue=[])]
    verdicts: SimpleQueue[Verdict] = SimpleQueue()
    with ThreadPoolExecutor(CLOUDS_AT_ONCE) as clouds:
        for batch in batches:
            clouds.submit(_execute_batch, batch, verdicts)
        for _ in cases:
            yield verdicts.get()


def is_of_first_run(case: Case) -> bool:
    """Whether only the first run of a cloud makes the call."""
    return (case.action, case.what) == ("s3:PutObject", "agent")


def _execute_batch(batch: list[Trial], verdicts: "SimpleQueue[Verdict]") -> None:
    left, last = list(batch), []
    errors: dict[Trial, str] = {}

    def execute(trial: Trial) -> None:
        found = execute_apart(lab, trial)
        left.remove(trial)
        for verdict in found[: None if left else -1]:
            verdicts.put(verdict)
        if not left:
            last.append(found[-1])

    try:
        with laboratory() as lab:
            with ThreadPoolExecutor(RUNS_PER_CLOUD) as pool:
                futures = {trial: pool.submit(execute, trial) for trial in batch[:1]}
                wait(futures.values())
                futures |= {trial: pool.submit(execute, trial) for trial in batch[1:]}
            errors = {trial: repr(found) for trial, future in futures.items() if (found := future.exception())}
            lab.sweep_images()
            if not _wait(lambda: not lab.left_by_all(), SWEEP_LIMIT_S):
                for verdict in last:
                    words = f"left behind in the cloud by this or the {len(batch) - 1} runs before"
                    verdict.problems.append(f"{words}: {lab.left_by_all()}")
    finally:
        for verdict in last:
            verdicts.put(verdict)
        for trial in left:
            problem = f"the harness failed: {errors.get(trial)}"
            for case in trial:
                verdicts.put(Verdict(case.id, asdict(case), run_name(trial), problems=[problem]))


def execute_apart(lab: Laboratory, trial: Trial) -> list[Verdict]:
    """Run cases together; each alone if that does not go as it shall, and again if its call was not made."""
    verdicts = lab.execute(trial, run_name(trial))
    if len(trial) > 1:
        if is_whole := all(map(is_as_expected, (v for v in verdicts if v.injected))):
            again = [case for case, verdict in zip(trial, verdicts, strict=True) if not verdict.injected]
        else:
            again = list(trial)
        kept = [verdict for verdict in verdicts if is_whole and verdict.injected]
        return kept + [verdict for case in again for verdict in execute_apart(lab, (case,))]
    for attempt in range(2, ATTEMPTS + 1):
        # The call depends on timing: another sweep was first, or nothing had to be waited for.
        if not verdicts[0].injected:
            verdicts = lab.execute(trial, f"{run_name(trial)}-{attempt}")
    return verdicts


def stratified(cases: Iterable[Case], number: int) -> list[Case]:
    """Some cases: every kind of fault, and as many different functions as possible; the same ones each time."""
    chosen: list[Case] = []
    shuffled = sorted(cases, key=lambda case: hashlib.sha256(case.id.encode()).hexdigest())
    while shuffled and len(chosen) < number:
        faults, callers = (Counter(getattr(case, name) for case in chosen) for name in ("fault", "who"))
        best = min(shuffled, key=lambda case: (faults[case.fault], callers[case.who]))
        chosen.append(best)
        shuffled.remove(best)
    return chosen


def summary(verdicts: list[Verdict], *, cases: int) -> str:
    """docs/faults.md."""
    runs = {verdict.run: verdict for verdict in verdicts}
    commits = Counter(verdict.commit for verdict in verdicts).most_common()
    hours = sum(verdict.seconds for verdict in runs.values()) / 3600
    lines = [
        "# Faults injected, and what became of the runs",
        "",
        WHAT_IT_DOES,
        "",
        f"Last run: {datetime.now(UTC):%Y-%m-%d}, {len(verdicts)} of {cases} faults"
        f" ({', '.join(f'{number} at commit {commit}' for commit, number in commits)}),",
        f"in {len(runs)} runs that took {hours:.1f} hours together, {CLOUDS_AT_ONCE * RUNS_PER_CLOUD} at once.",
        "",
        *_totals(verdicts),
        "",
        "## By state and fault",
        "",
        "Runs that survived / failed and said so / were stopped. The functions' own calls, and Step Functions' call of",
        "the function, count for its state.",
        "",
        *_table(verdicts),
        "",
        "## By call",
        "",
        *_calls(verdicts),
        "",
        "## Problems",
        "",
        *(_problem_lines(verdicts) or ["None."]),
        "",
        HOW_TO_READ,
    ]
    return "\n".join(lines)


WHAT_IT_DOES = """\
Written by `make faults` (tests/faults/harness.py). It records every AWS call that the deployed roles make in a few runs
on the local cloud: good, failing and stopped ones. Then it runs the same again, with each different call (who makes it,
which operation, about what kind of object) failing in each way, and stopped in each state. After each run it checks
that nothing is left, of the run and in the whole cloud, and that the receipt says so; that no uploaded sample is lost
or uncounted; that the results name the fault; that a run with a failed cell never succeeds."""
HOW_TO_READ = f"""## How to read it

- *survived*: the run went as one without the fault: it succeeded with every sample in its summary, or ended as a
  failing or stopped one does. *failed*: it ended red and its results name the fault.
- Faults befall calls in a row: *throttled* 3 or all, *internal error* 2 or all, *denied* all. boto3 asks ten times (an
  agent's eight), Step Functions invokes a function six times: three throttled answers are survived, endless ones are
  not.
- *lost answer*: the call takes effect, then its connection is cut. *crash*: the call takes effect, then the function's
  sandbox or the agent is killed with SIGKILL.
- Faults that retries get a run over share a run, up to {MOST_FAULTS_OF_A_RUN}, each in another function. A run of them
  that does not go as it shall is taken apart and each fault injected alone. All other faults have a run of their own.
- A sweep (Reap) follows the end of each run; further ones stand for the schedule, after {SWEEP_LIMIT_S} s each.
- A baked image is kept on purpose. One that the receipt of its run lacks counts as a leak, and so does what is left of
  images after `matrix reap --images`.
- Waits are shortened: those of executions {TIME_SCALE} times, those between the attempts of an AWS call 100 times
  (local/retry_waits.py). The number of attempts and what is retried are the real ones. A function that is throttled for
  good therefore fails here after its ten attempts, where on AWS its own time-out may come first; Step Functions then
  retries it.
- An agent that is denied its gate is denied three times only: it may not list the bucket, so a 403 means "not yet" to
  it, and it would wait until its deadline. GetCallerIdentity is not denied: no policy can.
- An agent that is killed cannot say why: the results have EC2's word, that its instance ended too early.
"""
FAULTS = ("throttled", "denied", "internal error", "lost answer", "crash", "stopped")


def _totals(verdicts: list[Verdict]) -> list[str]:
    leaks = sum(any(problem.startswith("left behind") for problem in v.problems) for v in verdicts)
    lost = sum(any("samples" in problem for problem in v.problems) for v in verdicts)
    outcomes = Counter(verdict.outcome for verdict in verdicts)
    swept = {verdict.run: verdict for verdict in verdicts if verdict.left_at_end}
    sweeps = max((verdict.sweeps for verdict in swept.values()), default=1)
    swept_s = max((verdict.swept_s for verdict in swept.values()), default=0.0)
    return [
        f"- {len(verdicts)} faults, {sum(v.injected for v in verdicts):,} calls befallen:"
        f" {outcomes['survived']} survived, {outcomes['failed']} failed and said so,"
        f" {outcomes['stopped']} were stopped",
        f"- leaks: {leaks}; {len(swept)} runs left something at their end that was gone after {sweeps} "
        f"sweep{'s' if sweeps > 1 else ''} and {swept_s:.0f} s at the most",
        f"- runs with lost samples: {lost}",
        f"- faults with problems: {sum(bool(v.problems) for v in verdicts)}",
    ]


def state_of(case: dict[str, Any]) -> str:
    """The state that a fault belongs to; the agents and the sweep are outside of the state machine."""
    if case["who"] in ("Instance", "Reap"):
        return {"Instance": "(an instance)", "Reap": "(the sweep)"}[case["who"]]
    name = case["what"] if case["who"] == "Run" else case["who"]
    return re.sub(r"(?<=[a-z])[A-Z]", lambda found: f" {found[0].lower()}", name)


def _table(verdicts: list[Verdict]) -> list[str]:
    lines = [f"| state | {' | '.join(FAULTS)} |", f"|---|{'--:|' * len(FAULTS)}"]
    states = dict.fromkeys(state_of(verdict.case) for verdict in verdicts)
    for state in sorted(states):
        counts = []
        for fault in FAULTS:
            those = [v for v in verdicts if state_of(v.case) == state and v.case["fault"] == fault]
            outcomes = Counter(verdict.outcome for verdict in those)
            counts.append(" / ".join(str(outcomes[one]) for one in ("survived", "failed", "stopped")) if those else "")
        lines.append(f"| {state} | {' | '.join(counts)} |")
    return lines


def _calls(verdicts: list[Verdict]) -> list[str]:
    lines = ["| call | faults | survived | failed | stopped |", "|---|--:|--:|--:|--:|"]
    for action in sorted({verdict.case["action"] for verdict in verdicts}):
        outcomes = Counter(verdict.outcome for verdict in verdicts if verdict.case["action"] == action)
        counts = [outcomes.total(), *(outcomes[one] for one in ("survived", "failed", "stopped"))]
        lines.append(f"| {action} | {' | '.join(map(str, counts))} |")
    return lines


def _problem_lines(verdicts: list[Verdict]) -> list[str]:
    return [f"- {v.id}: {'; '.join(v.problems)}"[:600] for v in verdicts if v.problems]


def main() -> int:
    """Run what is missing, write the summary; exit status 1 if any case has a problem."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--list", action="store_true", help="only list the cases")
    parser.add_argument("--only", default="", help="a regular expression that the cases' names must match")
    parser.add_argument("--again", action="store_true", help="begin anew, forgetting finished cases")
    parser.add_argument("--problems", action="store_true", help="run those with problems once more")
    parser.add_argument("--stale", action="store_true", help="run those that befell another commit once more, at last")
    arguments = parser.parse_args()
    WORK.mkdir(parents=True, exist_ok=True)
    listed, finished = WORK / "work-list.json", WORK / "cases.jsonl"
    if arguments.again:
        listed.unlink(missing_ok=True)
        finished.unlink(missing_ok=True)
    if not listed.exists():
        listed.write_text(json.dumps([asdict(case) for case in record_all()]))
    cases = [Case(**case) for case in json.loads(listed.read_text())]
    lines_so_far = finished.read_text().splitlines() if finished.exists() else []
    verdicts = {found["id"]: Verdict(**found) for found in map(json.loads, lines_so_far)}
    done = {name for name, verdict in verdicts.items() if not (arguments.problems and verdict.problems)}
    missing = [case for case in cases if case.id not in done and re.search(arguments.only, case.id)]
    stale = {name for name in done if verdicts[name].commit != _commit()} if arguments.stale else set()
    again = [case for case in cases if case.id in stale and re.search(arguments.only, case.id)]
    to_go = [*missing, *again]
    print(f"{len(cases)} cases, {len(to_go)} to go in {len(trials(missing)) + len(trials(again))} runs", flush=True)
    if arguments.list:
        print("\n".join(case.id for case in to_go))
        return 0
    with finished.open("a") as lines:
        for number, verdict in enumerate(chain(execute_all(missing), execute_all(again)), 1):
            verdicts[verdict.id] = verdict
            lines.write(json.dumps(asdict(verdict)) + "\n")
            lines.flush()
            print(
                f"{number}/{len(to_go)} {verdict.outcome or '-':9} {verdict.seconds:5.1f} s  {verdict.id}", flush=True
            )
            for problem in verdict.problems:
                print(f"      PROBLEM: {problem[:1000]}", flush=True)
    known = [verdicts[case.id] for case in cases if case.id in verdicts]
    text = summary(known, cases=len(cases))
    (ROOT / "docs" / "faults.md").write_text(text)
    print(text)
    return int(any(v.problems for v in known) or len(known) < len(cases))


if __name__ == "__main__":
    sys.exit(main())
