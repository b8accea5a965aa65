"""Start a local cloud, run a matrix on it, and check for all resources that a run can leave behind."""

import json
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from boto3.dynamodb.types import TypeDeserializer
from support import running_cloud

ROOT = Path(__file__).parents[2]
# Only a run that hangs takes this long; with a load of 8 a whole run takes some minutes.
PATIENCE_S = 600

TOUCH = {"type": "touch", "files": 32, "threads": 2}
EBS = {"type": "ebs", "volumeType": "gp3", "sizeGiB": 8}
EFS = {"type": "efs", "throughputMode": "elastic"}


def matrix(**changes: Any) -> dict[str, Any]:
    """A matrix of one small cell."""
    small = {
        "name": "test", "storage": [EBS], "workload": [TOUCH], "fleet": [{"instanceType": "m6i.large", "count": 1}],
        "repetitions": 1, "order": "as-written",
    }  # fmt: skip
    return small | changes


@dataclass
class Cloud:
    """A running local cloud with the stack deployed."""

    folder: Path
    description: dict[str, Any]
    _clients: dict[str, Any] = field(default_factory=dict, repr=False)

    def client(self, service: str) -> Any:
        """A client with the operator's permissions; reused, because creating one takes longer than most calls."""
        if service not in self._clients:
            self._clients[service] = running_cloud.client_of(self.description, service)
        return self._clients[service]

    def output(self, name: str) -> str:
        """An output of the stack."""
        return self.description["outputs"][name]

    def run(self, name: str, document: dict[str, Any], meanwhile: Callable[["Run"], None] | None = None) -> "Run":
        """Run a matrix to its end; `meanwhile` may disturb it after its start."""
        started = self.client("stepfunctions").start_execution(
            stateMachineArn=self.output("StateMachineArn"), name=name, input=json.dumps(document)
        )
        run = Run(self, name, started["executionArn"])
        if meanwhile:
            meanwhile(run)
        run.wait()
        return run


@dataclass
class Run:
    """One execution, and the resources that remain of it."""

    cloud: Cloud
    name: str
    arn: str

    def describe(self) -> dict[str, Any]:
        return self.cloud.client("stepfunctions").describe_execution(executionArn=self.arn)

    def wait(self) -> None:
        until(lambda: self.describe()["status"] != "RUNNING", f"{self.name} to end")

    @property
    def status(self) -> str:
        """Its status at the end."""
        return self.describe()["status"]

    def states(self) -> list[str]:
        """The names of all states that it and its file systems' executions entered, in order of time."""
        events = [event for arn in [self.arn, *self.children()] for event in self.history(arn)]
        entered = [event for event in events if "stateEnteredEventDetails" in event]
        return [event["stateEnteredEventDetails"]["name"] for event in sorted(entered, key=lambda e: e["timestamp"])]

    def history(self, arn: str) -> list[dict[str, Any]]:
        pages = self.cloud.client("stepfunctions").get_paginator("get_execution_history").paginate(executionArn=arn)
        return [event for page in pages for event in page["events"]]

    def children(self) -> list[str]:
        """The executions of its file systems: the iterations of the distributed Map."""
        states = self.cloud.client("stepfunctions")
        return [
            child["executionArn"]
            for map_run in states.list_map_runs(executionArn=self.arn)["mapRuns"]
            for child in states.list_executions(mapRunArn=map_run["mapRunArn"])["executions"]
        ]

    def rows(self) -> dict[str, dict[str, Any]]:
        """Its rows in the table, by sort key."""
        found = self.cloud.client("dynamodb").query(
            TableName=self.cloud.output("TableName"),
            KeyConditionExpression="PK = :run",
            ExpressionAttributeValues={":run": {"S": f"RUN#{self.name}"}},
        )["Items"]
        plain = TypeDeserializer().deserialize
        return {row["SK"]["S"]: {name: plain(value) for name, value in row.items()} for row in found}

    def document(self, key: str) -> dict[str, Any]:
        """One of its documents in the bucket."""
        found = self.cloud.client("s3").get_object(
            Bucket=self.cloud.output("BucketName"), Key=f"runs/{self.name}/{key}"
        )
        return json.loads(found["Body"].read())

    def document_text(self, key: str) -> str:
        """One of its documents in the bucket, as text."""
        name = self.cloud.output("BucketName")
        return self.cloud.client("s3").get_object(Bucket=name, Key=f"runs/{self.name}/{key}")["Body"].read().decode()

    def keys(self, prefix: str) -> list[str]:
        """The keys below a prefix, of the first thousand in the bucket."""
        found = self.cloud.client("s3").list_objects_v2(Bucket=self.cloud.output("BucketName"), Prefix=prefix)
        return [one["Key"] for one in found.get("Contents", [])]

    def summary(self) -> dict[str, Any]:
        return self.document("summary.json")

    def cell(self) -> dict[str, Any]:
        [cell] = self.summary()["cells"]
        return cell

    def running_instances(self) -> list[str]:
        """Ids of its instances that have not ended."""
        filters = [
            {"Name": "tag:storage-matrix:run", "Values": [self.name]},
            {"Name": "instance-state-name", "Values": ["pending", "running", "stopping", "stopped"]},
        ]
        pages = self.cloud.client("ec2").describe_instances(Filters=filters)["Reservations"]
        return [instance["InstanceId"] for reservation in pages for instance in reservation["Instances"]]

    def left_behind(self) -> dict[str, list[Any]]:
        """All of its remaining resources, according to each service, the processes and the disk."""
        ours = {"Key": "storage-matrix:run", "Value": self.name}
        file_systems = [
            found["FileSystemId"]
            for service in ("efs", "fsx")
            for found in self.cloud.client(service).describe_file_systems()["FileSystems"]
            if ours in found.get("Tags", [])
        ]
        file_systems += [
            found["fileSystemId"]
            for found in s3_files_of(self.cloud)
            if {"key": ours["Key"], "value": ours["Value"]} in found.get("tags", [])
        ]
        file_systems += [name for name, tags in directory_buckets_of(self.cloud) if ours in tags]
        volumes = self.cloud.client("ec2").describe_volumes(
            Filters=[{"Name": "tag:storage-matrix:run", "Values": [self.name]}]
        )["Volumes"]
        everything = {
            "instances": self.running_instances(),
            "volumes": [volume["VolumeId"] for volume in volumes],
            "file systems": file_systems,
            "folders": [str(path) for path in (self.cloud.folder / "storage").glob("*/*")],
            "agents": agents_of(self.name),
            "open resources": [
                key for key, row in self.rows().items() if key.startswith("RESOURCE#") and "gone_at" not in row
            ],
        }
        return {kind: found for kind, found in everything.items() if found}


def s3_files_of(cloud: Cloud) -> Iterator[dict[str, Any]]:
    """Each file system of S3 Files with its tags, which the list does not contain."""
    files = cloud.client("s3files")
    for listed in files.list_file_systems()["fileSystems"]:
        with suppress(files.exceptions.ResourceNotFoundException):  # deleted since it was listed
            yield files.get_file_system(fileSystemId=listed["fileSystemId"])


def directory_buckets_of(cloud: Cloud) -> Iterator[tuple[str, list[dict[str, str]]]]:
    """Each directory bucket with its tags, which the list does not contain."""
    control = cloud.client("s3control")
    for listed in cloud.client("s3").list_directory_buckets().get("Buckets", []):
        arn = listed["BucketArn"]
        with suppress(control.exceptions.ClientError):  # deleted since it was listed
            yield listed["Name"], control.list_tags_for_resource(AccountId=arn.split(":")[4], ResourceArn=arn)["Tags"]


def agents_of(run: str) -> list[int]:
    """Process ids of agents that work on a run."""
    return [int(folder.name) for folder in Path("/proc").glob("[0-9]*") if _is_agent_of(run, folder)]


def _is_agent_of(run: str, process: Path) -> bool:
    try:
        if (process / "comm").read_text() != "agent\n":
            return False
        volume = (process / "cwd").readlink()  # <folder of the cloud>/storage/volumes/<instance>
        return f"/runs/{run}/" in (volume.parents[2] / "logs" / f"{volume.name}.log").read_text()
    except OSError:
        return False


def until(condition: Callable[[], object], what: str) -> None:
    """Wait until a condition is true, AssertionError if it never is."""
    running_cloud.wait_until(condition, what, PATIENCE_S)


def path_without(folder: Path, *missing: str) -> str:
    """A PATH with all programs of this one except `missing`; its links are below the folder."""
    programs = folder / "programs"
    programs.mkdir()
    for directory in os.environ["PATH"].split(os.pathsep):
        for program in Path(directory).glob("*"):
            link = programs / program.name
            if program.name not in missing and not link.is_symlink():
                link.symlink_to(program)
    return str(programs)


@contextmanager
def start_cloud(folder: Path, *options: str, **environment: str) -> Iterator[Cloud]:
    """A local cloud with the stack and enforced roles, whose waits pass a hundred times faster; ended afterwards."""
    # Its warnings go to the terminal: no code reads a pipe during runs, and a full pipe would stop the cloud.
    hurried = ("--time-scale", "100", *options)
    process = running_cloud.start_cloud(folder, *hurried, module="cloud", stderr=None, **environment)
    line = process.stdout.readline()
    assert line, "the cloud did not start"
    try:
        yield Cloud(folder, json.loads(line))
    finally:
        # Some disks take half a minute to free the files of the functions' packages.
        process.communicate(timeout=120)
