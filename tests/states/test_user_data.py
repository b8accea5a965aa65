"""The user data of every scenario, as Launch fleet and Populate cache hand it to EC2, and what a shell makes of it."""

import json
import re
import subprocess
import sys
from pathlib import Path

import boto3
import pytest
from support.matrices import EVENTS, event_id
from support.tiers import first_is_quick

import launch_fleet
import plan_matrix
import populate_cache
from aws.ec2 import images, instances
from aws.records import bucket, plans
from aws.stack import tags
from aws.storages import file_server
from aws.storages.ebs import cloud as ebs
from local.corrections import fast_restores
from matrix.run.job import USER_DATA_MAX_BYTES, user_data
from matrix.terms.keys import booted_image_key
from matrix.terms.problems import InvalidMatrix

SHELLCHECK = Path(sys.executable).with_name("shellcheck")
EXECUTION = "arn:aws:states:us-east-1:123456789012:execution:storage-matrix-run:"
SMALL = {
    "name": "small",
    "storage": [{"type": "ebs", "volumeType": "gp3", "sizeGiB": 8}],
    "workload": [{"type": "touch", "files": 8}],
    "fleet": [{"instanceType": "m6i.large", "count": 1}],
}
# What an instance has but this machine shall not do: each only notes how it was called.
STUBS = ("shutdown", "dnf", "apt-get", "systemctl", "install", "sha256sum", "python3")
HOSTILE = [
    "$(touch CANARY)", "`touch CANARY`", "x;touch CANARY", "x\ntouch CANARY\n", "x|touch CANARY", "x&touch CANARY",
    "'; touch CANARY; '", '"; touch CANARY; "', "x' $(touch CANARY) '", "$IFS$(touch CANARY)", "<(touch CANARY)",
    "a b", "*", "~", "{x,y}", "\\", "!!", "x #", "é\u202e😀", "${PATH}", "-rf", "it's", "(x)",
]  # fmt: skip


# What makes a launch unlike another: types, what exists already, a cache, a leader, an image.
KIND = re.compile(r'"type": *"[\w-]+"|"\w+Id"|"(?:populate|on|image|emulate)":')


def unlike(scenarios):
    """The scenarios that have a kind which none before has."""
    seen = set()
    for scenario in scenarios:
        if found := set(KIND.findall(scenario.read_text())) - seen:
            yield scenario
        seen |= found


@pytest.fixture
def scripts(stack, folders, monkeypatch):
    """The user data of all launches, which are not made."""
    given = []

    def launch(**request):
        given.append(request["user_data"])
        return instances.Launched([], "", 1e9)

    monkeypatch.setattr(instances, "launch", launch)
    monkeypatch.setattr(images, "newest", lambda _parameter: "ami-1")  # moto has no parameters of Ubuntu
    # Scenarios that emulate their storages are for local runs only.
    monkeypatch.setenv("ENVIRONMENT", "local")
    monkeypatch.setattr(ebs, "attach", lambda _storage, _instances: None)
    # Nor does a file server tell where it listens.
    address = json.dumps({"host": "10.0.0.7", "port": 7575, "token": "of-this-run"}).encode()
    monkeypatch.setattr(file_server, "_document", lambda _, name: address if name == "address.json" else None)
    return given


def with_owned_volumes(matrix, stack):
    """A matrix whose volumes and snapshots that exist do so; the stack may attach the volumes."""
    fast_restores.install()
    ec2, snapshots = boto3.client("ec2"), {}
    for storage in matrix["storage"]:
        if given := storage.get("snapshotId"):
            if given not in snapshots:
                volume = ec2.create_volume(AvailabilityZone="us-east-1b", Size=storage["sizeGiB"])
                snapshots[given] = ec2.create_snapshot(VolumeId=volume["VolumeId"])["SnapshotId"]
            storage["snapshotId"] = snapshots[given]
            if storage.get("fastSnapshotRestore"):
                zones = [each["ZoneName"] for each in ec2.describe_availability_zones()["AvailabilityZones"]]
                ec2.enable_fast_snapshot_restores(SourceSnapshotIds=[snapshots[given]], AvailabilityZones=zones)
        if "volumeId" in storage:
            tag = {"Key": tags.MAY_ATTACH, "Value": stack["STACK"]}
            storage["volumeId"] = boto3.client("ec2").create_volume(
                AvailabilityZone="us-east-1b", Size=storage["sizeGiB"], VolumeType="gp3", Iops=3000, Throughput=125,
                TagSpecifications=[{"ResourceType": "volume", "Tags": [tag]}],
            )["VolumeId"]  # fmt: skip
    return matrix


def run(matrix, context, name="run"):
    """Plan a run, and launch for all of its cells and caches."""
    plan_matrix.handler({"run": name, "matrix": matrix, "execution_arn": EXECUTION + name}, context)
    plans.plan_of.cache_clear()
    plan = plans.plan_of(name)
    for image in plan["images"]:
        if image["bake"]:  # nor is anything baked
            bucket.put(booted_image_key(name, image["id"]), {"image_id": "ami-2", "baked": True})
    for file_system in plan["file_systems"]:
        if file_system["populate"]:
            populate_cache.handler({"run": name, "file_system": file_system["id"], "resource_ids": ["fs-1"]}, context)
    for cell in plan["cells"]:
        launch_fleet.handler({"run": name, "cell": cell["id"], "resource_ids": ["fs-1"]}, context)
    return plan


@pytest.mark.parametrize("scenario", first_is_quick(unlike(EVENTS)), ids=event_id)
def test_the_user_data_of_every_kind_of_scenario_fits_and_is_a_sound_script(
    scenario, scripts, stack, context, tmp_path
):
    plan = run(with_owned_volumes(json.loads(scenario.read_text()), stack), context)

    assert len(scripts) >= len(plan["cells"]) > 0
    assert max(len(text.encode()) for text in scripts) <= USER_DATA_MAX_BYTES
    for text in {without_uris(text): text for text in scripts}.values():
        subprocess.run(["bash", "-n"], input=text.encode(), check=True)
        script = tmp_path / "user-data.sh"
        script.write_text(text)
        said = subprocess.run([SHELLCHECK, "--norc", script], capture_output=True, text=True)
        assert said.returncode == 0, said.stdout


def without_uris(text):
    """A script without what differs from cell to cell of a run."""
    return "\n".join(
        line for line in text.splitlines() if not line.startswith(("JOB_URI=", "NONCE=", "WATCHDOG_MINUTES="))
    )


def executed(script, folder):
    """Execute a script where every program but a shell is a stub; the calls of the stubs, each as its arguments."""
    programs, calls = folder / "programs", folder / "calls"
    programs.mkdir()
    for name in STUBS:
        stub = programs / name
        stub.write_text(f'#!/bin/bash\nprintf "%s\\0" {name} "$@" >>{calls}\nprintf "\\n\\0" >>{calls}\n')
        stub.chmod(0o755)
    for name in ("sed", "touch"):
        (programs / name).symlink_to(f"/usr/bin/{name}" if Path(f"/usr/bin/{name}").exists() else f"/bin/{name}")
    (folder / "environment").write_text("cd() { :; }\n")
    (folder / "user-data.sh").write_text(script)
    subprocess.run(
        ["/bin/bash", folder / "user-data.sh"], cwd=folder, check=False, timeout=30, stdin=subprocess.DEVNULL,
        env={"PATH": str(programs), "BASH_ENV": str(folder / "environment")}, capture_output=True,
    )  # fmt: skip
    return [entry.split("\0") for entry in calls.read_text().split("\0\n\0")[:-1]]


def test_the_script_arms_the_watchdog_and_runs_the_agent_with_its_job(tmp_path):
    script = user_data(
        bucket="b", agent_key="agents/0.pyz", job_key="runs/r/job.json", region="eu-west-1", lifetime_s=60, nonce="0a"
    )

    calls = executed(script, tmp_path)

    assert calls[0] == ["shutdown", "-h", "+1"]
    assert ["python3", "agent.pyz", "s3://b/runs/r/job.json", "0a"] in calls
    assert calls[-1] == ["shutdown", "-h", "now"]


@pytest.mark.parametrize("value", HOSTILE)
@pytest.mark.parametrize("field", ["bucket", "agent_key", "job_key", "region", "nonce"])
def test_nothing_in_user_data_is_ever_a_command(field, value, tmp_path):
    canary = tmp_path / "CANARY"
    hostile = value.replace("CANARY", str(canary))
    facts = {"bucket": "b", "agent_key": "agents/0.pyz", "job_key": "runs/r/job.json", "region": "eu-west-1"}
    facts |= {"nonce": ""}  # of an instance alone
    script = user_data(**(facts | {field: hostile}), lifetime_s=60)

    calls = executed(script, tmp_path)

    assert not canary.exists()
    assert calls[0] == ["shutdown", "-h", "+1"]
    whole = facts | {field: hostile}
    assert ["python3", "agent.pyz", f"s3://{whole['bucket']}/{whole['job_key']}", whole["nonce"]] in calls
    assert ["python3", "-", f"s3://{whole['bucket']}/{whole['agent_key']}", "agent.pyz"] in calls


def test_a_run_whose_name_could_mean_more_than_a_name_is_refused_before_anything_exists(stack, context):
    for name in [*HOSTILE, "", ".", "..", "../x", "a/b", "x" * 81, "a.b", "٣"]:
        with pytest.raises(InvalidMatrix, match="name of the execution"):
            plan_matrix.handler({"run": name, "matrix": SMALL, "execution_arn": EXECUTION}, context)

        assert "Contents" not in boto3.client("s3").list_objects_v2(Bucket="results"), name
