"""Each grant is needed: a run from which a used action is taken away fails, and the log says which call was denied.

A sample, for each whole run takes seconds; test_privilege.py takes every action away, one by one, on paper, and
tests/cloud/test_iam.py asks for what a call makes AWS do in its name.
"""

import json
from pathlib import Path

import pytest
from support.deployed_policies import policies_of, put, without
from support.grants import role_of
from support.runs import EBS, Cloud, Run, matrix, until


@pytest.fixture(scope="module")
def roles(cloud: Cloud) -> dict[str, str]:
    """The names of the deployed roles, by logical id."""
    names = [one["RoleName"] for one in cloud.client("iam").list_roles()["Roles"]]
    return {role_of(one): one for one in names if one.count("-") > 1}


@pytest.mark.parametrize(
    ("role", "sid", "action"),
    [
        ("LaunchFleetFunctionRole", "PassInstanceRole", "iam:PassRole"),
        ("RunRole", "Invoke", "lambda:InvokeFunction"),
    ],
)
def test_a_run_without_it_fails_and_the_log_names_it(
    cloud: Cloud, roles: dict[str, str], role: str, sid: str, action: str
):
    whole = policies_of(cloud, roles[role])
    put(cloud, roles[role], without(whole, sid, action))

    run = cloud.run(f"without-{role}-{sid}".lower(), matrix())
    put(cloud, roles[role], whole)

    assert run.status == "FAILED"
    lines = (cloud.folder / "iam-decisions.jsonl").read_text().splitlines()
    denied = [one for one in map(json.loads, lines) if one["decision"] != "allow"]
    assert (roles[role], action) in {(one["role"], one["action"]) for one in denied}


def test_a_snapshot_that_somebody_made_by_hand_is_told_and_left_to_them(cloud: Cloud, tmp_path: Path):
    made: list[str] = []

    def make(run: Run) -> None:
        ec2, ours = cloud.client("ec2"), [{"Name": "tag:storage-matrix:run", "Values": [run.name]}]
        until(lambda: ec2.describe_volumes(Filters=ours)["Volumes"], "a volume")
        volume = ec2.describe_volumes(Filters=ours)["Volumes"][0]["VolumeId"]
        made.append(ec2.create_snapshot(VolumeId=volume)["SnapshotId"])
        (tmp_path / "made").touch()

    until_made = f"until [ -e {tmp_path}/made ]; do sleep 0.1; done"
    waits = {"type": "build", "name": "waits", "build": until_made, "expectedSeconds": 10}
    run = cloud.run("by-hand", matrix(storage=[EBS], workload=[waits]), make)

    assert "0 of 1 cells failed, 0 skipped, 1 resources left behind" in run.describe()["cause"]
    found = cloud.client("ec2").describe_snapshots(SnapshotIds=made)["Snapshots"]
    assert [one["SnapshotId"] for one in found] == made
    assert run.summary()["left_behind"] == [{"kind": "ebs-snapshot", "id": made[0]}]
