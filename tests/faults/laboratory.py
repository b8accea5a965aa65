"""A cloud on which calls fail when they are told to; runs on it, and what became of them."""

import json
import re
import subprocess
import threading
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from faults.cases import EVERYTHING, LATE, LATE_S, ROOT, SCENARIOS, STATUS, TIME_SCALE, Case, Trial, fate
from support.owned import Theirs
from support.runs import Cloud, Run, directory_buckets_of, start_cloud

# What costs time is the processor: faster clocks only make for more polls, and runs at once hide the waits.
POLL_EVERY_S = 1.0
RUN_LIMIT_S = 400
SWEEP_LIMIT_S, SWEEPS = 20, 5
OF_IMAGES = {"Name": "tag-key", "Values": ["storage-matrix:image"]}
OUTCOMES = {"SUCCEEDED": "survived", "ABORTED": "stopped"}  # all others: failed
# The words by which results tell of a fault. An instance that is killed cannot say so: EC2's word counts.
WORDS = {
    "throttled": r"SlowDown|RequestLimitExceeded|TooManyRequests|Throttling|Rate exceeded",
    "denied": r"AccessDenied|UnauthorizedOperation|not authorized|may not read it",
    "internal error": r"InternalError|InternalServerError|InternalFailure|ServiceException|internal error",
    "lost answer": r"Connection was closed|ConnectionClosed|ServiceException",
    "crash": r"Runtime\.ExitError|signal: 9|InstanceDied|is (terminated|shutting-down)",
    "stopped": r"Stopped",
    # It ends the child that would have told of it: the history of the execution does.
    "history full": r"no result was recorded; see the execution's history",
}


@cache
def commit() -> str:
    git = ["git", "-C", str(ROOT), "log", "-1", "--format=%h"]
    return subprocess.run(git, capture_output=True, text=True, check=False).stdout.strip() or "unknown"


@dataclass
class Verdict:
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
    commit: str = field(default_factory=commit)


@dataclass
class Judged:
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
        self.theirs = Theirs(cloud)

    def execute(self, trial: Trial, name: str, late_s: Mapping[str, float] = LATE_S) -> list[Verdict]:
        """Run cases together and judge the run."""
        began = time.monotonic()
        scenario = trial[0].scenario
        rules = [rule for case in trial for rule in case.rules(name, late_s)]
        self._set(name, rules + fate(scenario, name))
        run = self.start(name, scenario)
        judged = Judged(trial)
        if not wait_for(lambda: has_ended(run), RUN_LIMIT_S):
            judged.problems.append(f"still running after {RUN_LIMIT_S} s")
            self.cloud.client("stepfunctions").stop_execution(executionArn=run.arn)
        judged.left_at_end = sorted(set(left_behind(run)) - {"open resources"})
        if not wait_for(lambda: any(call["who"] == "Reap" for call in self.calls(name)), 20):
            judged.problems.append("no sweep followed the run's end")
        for case in trial:
            if case.who == "Reap":
                wait_for(lambda case=case: self.injected(name, case), 20)
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
            ]
            + [found["fileSystemId"] for found in self.cloud.client("s3files").list_file_systems()["fileSystems"]]
            + [name for name, _ in directory_buckets_of(self.cloud)],
            "versions": [key for key, _ in versions_of_files(self.cloud)],
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
            input=self.theirs.named_in(json.dumps(SCENARIOS[scenario]).replace("$RUN", name)),
        )
        return Run(self.cloud, name, started["executionArn"])

    def calls(self, run: str) -> list[dict[str, Any]]:
        """All calls of a run, in their order."""
        lines = (self.cloud.folder / "calls.jsonl").read_text().splitlines()
        return [call for line in lines if f'"{run}"' in line and (call := json.loads(line))["run"] == run]

    def injected(self, run: str, case: Case) -> int:
        """How many calls of a run the fault of a case has befallen."""
        names = ("who", "action", "fault") if case.what == EVERYTHING else ("who", "action", "what", "fault")
        wanted = {name: getattr(case, name) for name in names}
        return sum(wanted.items() <= call.items() for call in self.calls(run))

    def record(self, scenario: str, name: str) -> list[dict[str, Any]]:
        """The calls of a scenario without faults, and of the sweep that follows it."""
        self._set(name, fate(scenario, name))
        run = self.start(name, scenario)
        assert wait_for(lambda: has_ended(run), RUN_LIMIT_S), f"{scenario} does not end"
        assert run.status == STATUS.get(scenario, "SUCCEEDED"), (
            f"{scenario}: {said(run.describe(), document(run, 'summary.json'))}"
        )
        assert wait_for(lambda: any(call["who"] == "Reap" for call in self.calls(name)), 20), "no sweep after the end"
        assert wait_for(lambda: not set(left_behind(run)) - {"open resources"}, SWEEP_LIMIT_S), left_behind(run)
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
        if case.fault == LATE:
            judged.problems += late_problems(case, judged.status, words, document(run, "receipt.json"))
        is_due = case.fault != LATE and judged.outcome == "failed" and STATUS.get(case.scenario) != "FAILED"
        if is_due and not re.search(WORDS[case.fault], words):
            judged.problems.append(f"the results do not name the fault: {words[:500]}")
        judged.problems += sample_problems(case, run, summary)
        began = time.monotonic()
        while not wait_for(lambda: not set(left_behind(run)) - {"open resources"}, SWEEP_LIMIT_S):
            if judged.sweeps == SWEEPS:
                judged.problems.append(f"left behind: {left_behind(run)}")
                break
            judged.sweeps += 1
            self.sweep()
        if not wait_for(lambda: not unlisted_images(run), SWEEP_LIMIT_S):
            judged.problems.append(f"left behind: images that the receipt lacks: {unlisted_images(run)}")
        judged.problems += self.theirs.harm_by(run.name, document(run, "receipt.json"))
        judged.swept_s = round(time.monotonic() - began, 1) if judged.left_at_end else 0.0
        if not is_settled(run):
            self.sweep()  # what was still going when the last one looked is gone by now
            if not wait_for(lambda: is_settled(run), SWEEP_LIMIT_S):
                judged.problems.append("the receipt does not say of everything that it is gone")


def has_ended(run: Run) -> bool:
    """Whether a run has ended, as far as Step Functions says so by now."""
    try:
        return run.status != "RUNNING"
    except run.cloud.client("stepfunctions").exceptions.ExecutionDoesNotExist:
        return False


def late_problems(case: Case, status: str, words: str, receipt: dict[str, Any] | None) -> list[str]:
    """Nothing but time may come of what AWS shows late: the run ends as ever, and the receipt has all volumes."""
    wanted = STATUS.get(case.scenario, "SUCCEEDED")
    problems = [] if status == wanted else [f"{status} instead of {wanted}: {words[:500]}"]
    if status == "SUCCEEDED" and receipt is not None:
        kinds = Counter(resource["kind"] for resource in receipt["resources"])
        if kinds["volume"] < kinds["instance"]:
            problems.append(f"the receipt has {kinds['volume']} volumes of {kinds['instance']} instances")
    return problems


def left_behind(run: Run) -> dict[str, list[Any]]:
    """What a run has left, with the folders of its own resources only: other runs go on meanwhile."""
    everything = run.left_behind()
    own = {key.rpartition("#")[2] for key in run.rows()} | set(everything.get("file systems", []))
    pages = run.cloud.client("ec2").get_paginator("describe_instances")
    for page in pages.paginate(Filters=[{"Name": "tag:storage-matrix:run", "Values": [run.name]}]):
        own |= {one["InstanceId"] for reservation in page["Reservations"] for one in reservation["Instances"]}
    folders = [path for path in everything.pop("folders", []) if Path(path).name in own]
    objects = [key for key, whose in data_objects(run.cloud) if f'"{run.name}"' in whose]
    versions = [key for key, whose in versions_of_files(run.cloud) if f'"{run.name}"' in whose]
    more = {"folders": folders, "objects": objects, "versions": versions}
    return everything | {kind: found for kind, found in more.items() if found}


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


def versions_of_files(cloud: Cloud) -> Iterator[tuple[str, str]]:
    """Each version of an object in the bucket of S3 Files, with the text of its owner's mark, empty where it lacks."""
    s3 = cloud.client("s3")
    [bucket] = [one["Name"] for one in s3.list_buckets()["Buckets"] if "filesbucket" in one["Name"]]
    listed = s3.list_object_versions(Bucket=bucket)
    keys = [one["Key"] for one in [*listed.get("Versions", []), *listed.get("DeleteMarkers", [])]]
    marks = {}
    for key in keys:
        if key.startswith("owners/"):
            try:
                marks[key] = s3.get_object(Bucket=bucket, Key=key)["Body"].read().decode()
            except s3.exceptions.NoSuchKey:
                continue  # it has gone meanwhile
    for key in keys:
        below = (mark for mark in marks.values() if key.startswith(json.loads(mark)["prefix"]))
        yield key, marks.get(key) or next(below, "")


def is_settled(run: Run) -> bool:
    """Whether the receipt says of everything that it is gone, or kept; a run without a planned row created nothing."""
    receipt = document(run, "receipt.json")
    return receipt["is_complete"] if receipt else "PLAN" not in run.rows()


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
    is_stopped = case.fault == "stopped" or STATUS.get(case.scenario) == "ABORTED"
    if is_stopped and case.fault != "history full":
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


def wait_for(condition: Any, limit_s: float) -> bool:
    """Whether something comes true within so many seconds."""
    end = time.monotonic() + limit_s
    while time.monotonic() < end:
        if condition():
            return True
        time.sleep(POLL_EVERY_S)
    return bool(condition())


@contextmanager
def laboratory() -> Iterator[Laboratory]:
    """A new cloud with no faults yet."""
    with TemporaryDirectory(prefix="faults-") as folder:
        rules = Path(folder) / "rules.json"
        rules.write_text('{"rules": []}')
        with start_cloud(Path(folder), "--time-scale", str(TIME_SCALE), "--faults", str(rules)) as cloud:
            lab = Laboratory(cloud, rules)
            try:
                yield lab
            finally:
                lab.theirs.go()
