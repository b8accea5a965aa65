"""The local EC2: instances are agent processes."""

import io
import json
import os
import signal
import zipfile
from pathlib import Path
from types import SimpleNamespace

import pytest
from botocore.exceptions import ClientError
from support.running_cloud import RunningCloud, role, wait_until

from local.instances import player as player_module

# A stand-in for the agent: says who it is on the blackboard, then does what its job says.
AGENT = """
import json, os, subprocess, sys, time, urllib.request
warm = "boto3" in sys.modules
import boto3

BASE = os.environ["AWS_EC2_METADATA_SERVICE_ENDPOINT"]
def http(path, method="GET", **headers):
    return urllib.request.urlopen(urllib.request.Request(BASE + path, method=method, headers=headers)).read().decode()
try:
    http("latest/meta-data/instance-id")
    version_1 = "answered"
except urllib.error.HTTPError as err:
    version_1 = err.code
token = http("latest/api/token", "PUT", **{"X-aws-ec2-metadata-token-ttl-seconds": "60"})
meta = lambda name: http("latest/meta-data/" + name, **{"X-aws-ec2-metadata-token": token})
region = meta("placement/region")
bucket, _, key = sys.argv[1].removeprefix("s3://").partition("/")
s3 = boto3.client("s3", region_name=region)
job = json.loads(s3.get_object(Bucket=bucket, Key=key)["Body"].read())
userid = boto3.client("sts", region_name=region).get_caller_identity()["UserId"]
def put(owner, name, body):
    try:
        s3.put_object(Bucket=bucket, Key=f"runs/r/instances/{owner}/{name}", Body=json.dumps(body))
        return "written"
    except Exception as err:
        return err.response["Error"]["Code"]
child = subprocess.Popen(["sleep", "1000"])
started = open("/proc/self/stat").read().rpartition(")")[2].split()[19]
memory = f"/dev/shm/storage-matrix-{os.getpid()}-{started}-x"
os.mkdir(memory)
put(userid, "hello.json", {
    "instance": meta("instance-id"), "type": meta("instance-type"), "zone": meta("placement/availability-zone"),
    "zone_id": meta("placement/availability-zone-id"), "image": meta("ami-id"), "version_1": version_1,
    "child": child.pid, "memory": memory,
    "pid": os.getpid(), "keys": [k for k in os.environ if k.startswith("AWS_ACCESS")], "cwd": os.getcwd(),
    "other": put("AROA:i-other", "x", {}), "warm": warm,
})
if job["do"] == "wait":
    time.sleep(1000)
sys.exit(3 if job["do"] == "fail" else 0)
"""


# Only asks for a token: fifty imports of boto3 would be a test of Python.
QUICK = """
import os, time, urllib.request
url = os.environ["AWS_EC2_METADATA_SERVICE_ENDPOINT"] + "latest/api/token"
urllib.request.urlopen(urllib.request.Request(url, method="PUT")).read()
time.sleep(1)
"""


def _archive(main: str) -> bytes:
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as content:
        content.writestr("__main__.py", main)
    return archive.getvalue()


@pytest.fixture(scope="module")
def board(cloud) -> dict[str, str]:
    """Bucket, role, profile and launch template; the agent and its jobs in the bucket."""
    bucket = "arn:aws:s3:::board"
    read = {"Effect": "Allow", "Action": "s3:GetObject", "Resource": [f"{bucket}/agents/*", f"{bucket}/jobs/*"]}
    write = {
        "Effect": "Allow",
        "Action": "s3:PutObject",
        "Resource": {"Fn::Sub": f"{bucket}/runs/*/instances/${{!aws:userid}}/*"},
    }
    resources = {
        "Bucket": {"Type": "AWS::S3::Bucket", "Properties": {"BucketName": "board"}},
        "Role": role(read, write, service="ec2.amazonaws.com"),
        "Profile": {"Type": "AWS::IAM::InstanceProfile", "Properties": {"Roles": [{"Ref": "Role"}]}},
        "Template": {
            "Type": "AWS::EC2::LaunchTemplate",
            "Properties": {
                "LaunchTemplateData": {
                    "IamInstanceProfile": {"Arn": {"Fn::GetAtt": ["Profile", "Arn"]}},
                    "InstanceInitiatedShutdownBehavior": "terminate",
                    "MetadataOptions": {"HttpTokens": "required"},
                }
            },
        },
    }
    outputs = {"Template": {"Value": {"Ref": "Template"}}, "Profile": {"Value": {"Ref": "Profile"}}}
    names = cloud.deploy("board", {"Resources": resources, "Outputs": outputs})
    s3 = cloud.client("s3")
    s3.put_object(Bucket="board", Key="agents/stand-in.pyz", Body=_archive(AGENT))
    s3.put_object(Bucket="board", Key="agents/quick.pyz", Body=_archive(QUICK))
    for job in ("end", "fail", "wait"):
        s3.put_object(Bucket="board", Key=f"jobs/{job}.json", Body=json.dumps({"do": job}))
    return names


@pytest.fixture
def launch(cloud, board):
    """Launch instances that do a job; what is still there afterwards is terminated."""
    ec2, launched = cloud.client("ec2"), []
    name = "/aws/service/ami-amazon-linux-latest/al2023-ami-kernel-default-x86_64"
    image = cloud.client("ssm").get_parameter(Name=name)["Parameter"]["Value"]

    def run(job: str, count: int = 1, settings: str = "", agent: str = "agents/stand-in.pyz", **request) -> list[str]:
        lines = ["#!/bin/bash", f"AGENT_URI=s3://board/{agent}", f"JOB_URI='s3://board/jobs/{job}.json'", settings]
        script = "\n".join([*lines, "shutdown -h now"])
        request = {
            "ImageId": image,
            "InstanceType": "m6i.large",
            "LaunchTemplate": {"LaunchTemplateId": board["Template"]},
            "UserData": script,
            **request,
        }
        reservation = ec2.run_instances(MinCount=count, MaxCount=count, **request)
        launched.extend(instance["InstanceId"] for instance in reservation["Instances"])
        return [instance["InstanceId"] for instance in reservation["Instances"]]

    yield run
    if launched:
        ec2.terminate_instances(InstanceIds=launched)


def state(cloud: RunningCloud, instance_id: str) -> str:
    instances = cloud.client("ec2").describe_instances(InstanceIds=[instance_id])["Reservations"][0]["Instances"]
    return instances[0]["State"]["Name"]


def hello(cloud: RunningCloud, instance_id: str) -> dict:
    """What the stand-in agent said of itself."""
    s3 = cloud.client("s3")

    def find():
        for stored in s3.list_objects_v2(Bucket="board", Prefix="runs/r/instances/").get("Contents", []):
            if stored["Key"].endswith(f":{instance_id}/hello.json"):
                return json.loads(s3.get_object(Bucket="board", Key=stored["Key"])["Body"].read())
        return None

    return wait_until(find, f"hello of {instance_id}: {_log(cloud, instance_id)}")


def _log(cloud: RunningCloud, instance_id: str) -> str:
    path = cloud.workdir / "logs" / f"{instance_id}.log"
    return path.read_text() if path.exists() else "no log"


def is_running(pid: int) -> bool:
    """Whether a process is there, and not a zombie."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


def test_an_instance_runs_its_agent_and_terminates_when_it_ends(cloud, launch):
    [instance_id] = launch("end")

    said = hello(cloud, instance_id)
    wait_until(lambda: state(cloud, instance_id) == "terminated", "terminated")

    assert said["instance"] == instance_id
    assert (said["type"], said["zone"]) == ("m6i.large", "us-east-1a")
    assert said["zone_id"].startswith("use1-az")
    assert said["image"].startswith("ami-")
    assert said["keys"] == []
    assert said["warm"], "importing boto3 takes each agent half a second of processor time"
    assert said["version_1"] == 401  # IMDSv2 only
    assert said["other"] == "AccessDenied"  # only below its own userid
    assert said["cwd"] == str(cloud.workdir / "storage" / "volumes" / instance_id)
    assert not Path(said["cwd"]).exists()
    wait_until(lambda: not is_running(said["child"]), "what the agent started is gone too")
    assert "agent ended with status 0" in _log(cloud, instance_id)


def test_an_agent_that_is_killed_ends_its_instance_and_leaves_nothing(cloud, launch):
    [instance_id] = launch("wait")
    said = hello(cloud, instance_id)
    assert Path(said["memory"]).exists()

    os.kill(said["pid"], signal.SIGKILL)

    wait_until(lambda: state(cloud, instance_id) == "terminated", "terminated")
    assert "agent ended with status -9" in _log(cloud, instance_id)
    assert not is_running(said["child"])
    assert not Path(said["cwd"]).exists()
    assert not Path(said["memory"]).exists()


def test_a_fork_server_that_is_killed_ends_its_instances_by_name_and_the_next_launch_has_another(cloud, launch):
    [instance_id] = launch("wait")
    said = hello(cloud, instance_id)

    os.kill(cloud.fork_server(), signal.SIGKILL)

    wait_until(lambda: state(cloud, instance_id) == "terminated", "terminated")
    words = "the local cloud's fork server, which starts all its processes, was killed by signal 9"
    described = cloud.client("ec2").describe_instances(InstanceIds=[instance_id])["Reservations"][0]["Instances"][0]
    assert described["StateReason"] == {"Code": "Server.InternalError", "Message": words}
    assert f"agent ended with status -9 ({words})" in _log(cloud, instance_id)
    assert f"{words}; what it had started has ended with it" in (cloud.workdir / "logs" / "cloud.log").read_text()
    assert not is_running(said["child"]), "Linux kills the agent, and only the cloud what that has started"
    assert not Path(said["memory"]).exists()

    [another] = launch("end")
    wait_until(lambda: state(cloud, another) == "terminated", "the other one to end")
    assert "agent ended with status 0" in _log(cloud, another)


@pytest.mark.parametrize(
    ("agent", "words"),
    [("agents/absent.pyz", "does not exist"), ("jobs/wait.pyz", None), ("secret/x.pyz", "does not allow")],
)
def test_an_instance_that_cannot_get_its_agent_says_why_and_terminates(cloud, launch, agent, words):
    [instance_id] = launch("end", agent=agent)

    wait_until(lambda: state(cloud, instance_id) == "terminated", "terminated")

    printed = cloud.client("ec2").get_console_output(InstanceId=instance_id)["Output"]
    assert printed == _log(cloud, instance_id)
    assert (words or "not started") in printed


def test_a_client_token_launches_once(cloud, launch):
    first, second = launch("wait", 2, ClientToken="cell-1"), launch("wait", 2, ClientToken="cell-1")

    assert first == second
    with pytest.raises(ClientError, match="IdempotentParameterMismatch"):
        launch("wait", 3, ClientToken="cell-1")

    ec2 = cloud.client("ec2")
    ec2.terminate_instances(InstanceIds=first)
    wait_until(lambda: state(cloud, first[0]) == "terminated", "terminated")

    with pytest.raises(ClientError, match="IdempotentInstanceTerminated"):
        launch("wait", 2, ClientToken="cell-1")
    found = ec2.describe_instances(Filters=[{"Name": "client-token", "Values": ["cell-1"]}])["Reservations"]
    assert [instance["InstanceId"] for each in found for instance in each["Instances"]] == first


@pytest.mark.parametrize(
    ("request_", "code"),
    [({"ImageId": "ami-00000000"}, "InvalidAMIID.NotFound"), ({"InstanceType": "m99.huge"}, "InvalidInstanceType")],
)
def test_unknown_images_and_types_are_refused(launch, request_, code):
    with pytest.raises(ClientError) as refused:
        launch("end", **request_)

    assert refused.value.response["Error"]["Code"].startswith(code)


@pytest.mark.parametrize(
    ("tags", "described_after_s", "stays_s"),
    [({"storage-matrix:run": "r"}, 3, 3), ({"storage-matrix:run": "r"}, 99, 10), ({"Name": "somebody's"}, 99, 0)],
)
def test_an_instance_that_ends_at_once_stays_until_its_launch_has_seen_its_volumes(
    monkeypatch, tags, described_after_s, stays_s
):
    clock = SimpleNamespace(now_s=1000.0)
    player = player_module.InstancePlayer.__new__(player_module.InstancePlayer)
    player._running = {"i-1": player_module.Running()}
    instance = SimpleNamespace(id="i-1", ec2_backend=SimpleNamespace(tags={"i-1": tags}))

    def sleep(pause_s: float) -> None:
        clock.now_s += pause_s
        instance.local_is_described = clock.now_s - 1000 >= described_after_s

    monkeypatch.setattr(player_module, "time", SimpleNamespace(time=lambda: clock.now_s, sleep=sleep))

    player._stay_until_described(instance)

    assert clock.now_s - 1000 == pytest.approx(stays_s, abs=0.1)
