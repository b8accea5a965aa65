"""`matrix observe` against moto's EC2, EFS, FSx and CloudWatch, with series of known truth."""

import importlib
import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace

import boto3
import pytest
from botocore.stub import Stubber

from cli.messages.errors import CommandError
from cli.target import existing

REGION = "eu-central-1"
MIB = 2**20
PERIODS = 100
OPENZFS = {"DeploymentType": "SINGLE_AZ_1", "ThroughputCapacity": 64, "DiskIopsConfiguration": {"Mode": "AUTOMATIC"}}


@pytest.fixture
def account(cloud, moto_server):
    """Clients of the account that the running local cloud plays."""
    keys = {"aws_access_key_id": "LOCAL", "aws_secret_access_key": "local"}  # pragma: allowlist secret
    session = boto3.Session(region_name=REGION, **keys)
    return SimpleNamespace(
        **{name: session.client(name, endpoint_url=moto_server) for name in ("ec2", "efs", "cloudwatch")}
    )


@pytest.fixture
def later(monkeypatch):
    """The command is called so many minutes after this moment, at which the storage was made; return the moment."""
    made_at = datetime.now(UTC).replace(second=0, microsecond=0)
    called_at = (made_at + timedelta(minutes=PERIODS)).timestamp()
    observing = importlib.import_module("cli.commands.observe")
    monkeypatch.setattr(observing, "time", SimpleNamespace(time=lambda: called_at))
    return made_at


def count(account, made_at, namespace, dimension, **series):
    """Let CloudWatch have counted these values, one a minute."""
    for name, values in series.items():
        points = [
            {"MetricName": name, "Dimensions": [dimension], "Timestamp": made_at + timedelta(minutes=minute),
             "Value": value} for minute, value in enumerate(values)
        ]  # fmt: skip
        account.cloudwatch.put_metric_data(Namespace=namespace, MetricData=points)


@pytest.fixture
def busy_volume(account, later):
    """A gp3 that writes 125 MiB/s in the last 5 of 100 minutes, and a fifth of that in the others."""
    volume = account.ec2.create_volume(
        AvailabilityZone=f"{REGION}a", Size=100, VolumeType="gp3", Iops=3_000, Throughput=125
    )["VolumeId"]
    # It may be made a minute later than it says: then its first minute is not looked at.
    mibps = [25] * (PERIODS - 5) + [125] * 5
    count(
        account, later, "AWS/EBS", {"Name": "VolumeId", "Value": volume},
        VolumeWriteBytes=[rate * MIB * 60 for rate in mibps], VolumeWriteOps=[rate * 8 * 60 for rate in mibps],
    )  # fmt: skip
    return volume


def test_a_volume_is_shown_with_its_limit_and_its_cost(matrix, busy_volume):
    shown = matrix("observe", busy_volume, "--local")

    assert shown.exit_code == 0, shown.stderr
    assert f"{busy_volume}: EBS gp3 (100 GiB, 3000 IOPS, 125 MiB/s)" in shown.stdout
    [throughput] = [line.split() for line in shown.stdout.splitlines() if line.startswith("Throughput (MiB/s)")]
    # P50, P90, P99, worst, limit, hours: 5 of 100 minutes
    assert throughput[2:] == ["25.0", "25.0", "125", "125", "125", "0.0833"]
    assert "█" in shown.stdout
    assert "125 MiB/s (limit)" in shown.stdout
    assert "GiB written; $8.00." in shown.stdout


def test_as_json_it_is_a_document(matrix, busy_volume):
    shown = json.loads(matrix("observe", busy_volume, "--local", "--json").stdout)

    assert (shown["id"], shown["region"], shown["period_s"]) == (busy_volume, REGION, 60)
    assert shown["written_gib_month"] == pytest.approx(30 * 730 * 3_600 / 1_024, rel=0.01)


def test_an_efs_is_observed_with_what_it_keeps(matrix, account, later):
    listed = account.efs.create_file_system(CreationToken="t", ThroughputMode="elastic")
    name = listed["FileSystemId"]
    series = {"TotalIOBytes": [10 * MIB * 60] * PERIODS, "DataReadIOBytes": [10 * MIB * 60] * PERIODS}
    count(account, later, "AWS/EFS", {"Name": "FileSystemId", "Value": name}, **series)

    shown = matrix("observe", name, "--local")

    assert f"{name}: EFS elastic" in shown.stdout
    assert "Throughput (MiB/s)" in shown.stdout


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (("vol-0123456789abcdef0", "--local"), 1, "there is no volume vol-0123456789abcdef0 in eu-central-1"),
        (("fs-0123456789abcdef0", "--local"), 1, "there is no file system fs-0123456789abcdef0 in eu-central-1"),
        (("i-0123456789abcdef0", "--local"), 2, "vol- or fs-"),
        (("vol-0123456789abcdef0",), 1, "no region, no credentials"),
    ],
)
def test_what_cannot_be_observed_is_answered_with_the_reason(matrix, account, arguments, code, message):
    shown = matrix("observe", *arguments)

    assert shown.exit_code == code
    assert message in shown.stderr


def answering(**listed):
    """A deployment whose EFS knows nothing and whose FSx answers one file system."""
    keys = {"aws_access_key_id": "a", "aws_secret_access_key": "b"}  # pragma: allowlist secret
    clients = {name: boto3.client(name, region_name=REGION, **keys) for name in ("efs", "fsx", "ec2")}
    efs, fsx = Stubber(clients["efs"]), Stubber(clients["fsx"])
    efs.add_client_error("describe_file_systems", "FileSystemNotFound")
    whole = {"StorageCapacity": 256, "StorageType": "SSD", "CreationTime": datetime(2026, 11, 1, tzinfo=UTC), **listed}
    fsx.add_response("describe_file_systems", {"FileSystems": [whole]})
    efs.activate()
    fsx.activate()
    return SimpleNamespace(client=clients.__getitem__)


def test_an_id_that_efs_does_not_know_is_asked_of_fsx():
    subject = existing.subject(
        answering(FileSystemType="OPENZFS", OpenZFSConfiguration=OPENZFS), "fs-0123456789abcdef0"
    )

    assert subject.namespace == "AWS/FSx"
    assert subject.storage == {
        "type": "fsx-openzfs",
        "deploymentType": "SINGLE_AZ_1",
        "storageCapacityGiB": 256,
        "throughputCapacityMBps": 64,
    }


@pytest.mark.parametrize("deployment", ["SINGLE_AZ_2", "SINGLE_AZ_1"])
def test_an_ontap_is_shown_with_what_its_servers_did(matrix, account, later, monkeypatch, deployment):
    name = "fs-0123456789abcdef0"
    settings = {"DeploymentType": deployment, "HAPairs": 1, "ThroughputCapacity": 1536}
    listed = {"FileSystemType": "ONTAP", "StorageCapacity": 1024, "OntapConfiguration": settings}
    # moto's FSx has no file system of ONTAP with a deployment type.
    subject = existing.subject(answering(**listed), name)
    monkeypatch.setattr(existing, "subject", lambda target, _: replace(subject, created_at=later.timestamp()))
    count(
        account, later, "AWS/FSx", {"Name": "FileSystemId", "Value": name},
        DataWriteBytes=[200 * MIB * 60] * PERIODS, DataWriteOperations=[800 * 60] * PERIODS,
        DataReadBytes=[0] * PERIODS, DataReadOperations=[0] * PERIODS, MetadataOperations=[0] * PERIODS,
        FileServerDiskThroughputUtilization=[40] * PERIODS,
    )  # fmt: skip

    shown = matrix("observe", name, "--local")

    assert shown.exit_code == 0, shown.stderr
    [throughput] = [line.split() for line in shown.stdout.splitlines() if line.startswith("Throughput (MiB/s)")]
    assert throughput[2] == "200"
    assert "Disk throughput of the server used" in shown.stdout
    assert "Clients" not in shown.stdout  # ONTAP does not count them


def test_another_kind_of_fsx_is_refused():
    with pytest.raises(CommandError, match="is FSx LUSTRE on SSD"):
        existing.subject(answering(FileSystemType="LUSTRE"), "fs-0123456789abcdef0")
