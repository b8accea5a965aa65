"""The local cloud answers in the shapes that a record has; and `matrix verify`, whole, which makes such records."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from recorded.replay import compared, differences, shape
from support.deployed_policies import policies_of, put, without
from support.runs import Cloud

from cli.verify.measurements import FLEET

RECORDS = sorted(Path(__file__).with_name("records").glob("*.json"))
MATRIX = Path(sys.executable).with_name("matrix")
ACCOUNT = "123456789012"


def verify(cloud: Cloud, folder: Path, *arguments: str) -> tuple[int, dict[str, Any]]:
    """The exit code of `matrix verify --local` on a running cloud, and what it has written."""
    command = [MATRIX, "verify", "--local", *arguments]
    done = subprocess.run(
        command, cwd=folder, env={**os.environ, "MATRIX_WORKDIR": str(cloud.folder)}, capture_output=True, text=True
    )
    assert done.returncode in (0, 1), done.stdout + done.stderr
    return done.returncode, json.loads((folder / "verification.json").read_text())


def names_of(cloud: Cloud) -> dict[str, str]:
    """What stands for the stand-ins of a record here."""
    pages = cloud.client("cloudformation").get_paginator("list_stack_resources")
    listed = [each for page in pages.paginate(StackName="storage-matrix") for each in page["StackResourceSummaries"]]
    own = {each["LogicalResourceId"]: each["PhysicalResourceId"].rpartition(":")[2] for each in listed}
    return own | {"stack": "storage-matrix", "account 1": ACCOUNT}


@pytest.mark.system
def test_a_whole_verification_finds_all_as_it_should_be_and_its_record_fits_the_local_cloud(
    cloud: Cloud, tmp_path: Path
):
    code, document = verify(cloud, tmp_path, "--record", "record.json", "--with", "fsx")

    assert [step["name"] for step in document["steps"]] == [
        "definition", "deployed", "limits", "permissions", "launches", "plan", "ebs", "fleet", "efs", "s3", "fsx",
    ]  # fmt: skip
    # A busy machine may start a fleet late: that differs, and breaks nothing.
    assert {step["verdict"] for step in document["steps"]} <= {"as assumed", "differs"}, document
    assert code == 0
    assert document["steps"][5]["verdict"] == "as assumed", document["steps"][5]
    compared_in_fleet = {check["what"].partition(",")[0] for check in document["steps"][7]["checks"]}
    assert {"mount", "start skew", "last ready to common start", "cost on the receipt"} <= compared_in_fleet
    assert f"| fleet | {FLEET.proves} |" in (tmp_path / "verification.md").read_text()
    text = (tmp_path / "record.json").read_text()
    names = names_of(cloud)
    assert [name for name in (ACCOUNT, names["ResultsBucket"], names["FleetLaunchTemplate"]) if name in text] == []
    assert differences(json.loads(text), cloud.client, names) == []


@pytest.mark.system
def test_a_role_that_lacks_one_action_stops_a_verification_before_anything_costs_money(cloud: Cloud, tmp_path: Path):
    role = next(name for name in names_of(cloud).values() if "-LaunchFleetRole-" in name)
    policies = policies_of(cloud, role)
    [sid] = {
        statement["Sid"] for document in policies.values() for statement in document["Statement"]
        if "iam:PassRole" in statement["Action"]
    }  # fmt: skip
    put(cloud, role, without(policies, sid, "iam:PassRole"))
    try:
        code, document = verify(cloud, tmp_path)
    finally:
        put(cloud, role, policies)

    assert code == 1
    verdicts = {step["name"]: step["verdict"] for step in document["steps"]}
    assert verdicts["permissions"] == "broken"
    assert {verdicts[name] for name in ("launches", "plan", "ebs")} == {"not reached"}
    [check] = [check for check in document["steps"][3]["checks"] if check["verdict"] == "broken"]
    assert check["what"] == "LaunchFleetRole"
    assert check["seen"].startswith("iam:PassRole on arn:aws:iam::")


@pytest.mark.system
@pytest.mark.parametrize("record", RECORDS, ids=lambda path: path.stem)
def test_the_local_cloud_answers_in_the_shapes_that_aws_does(record: Path, cloud: Cloud):
    assert differences(json.loads(record.read_text()), cloud.client, names_of(cloud)) == []


AWS = {"status": "RUNNING", "tags": [], "events": [{"id": 1, "name": "a"}, {"id": 2, "at": "b"}], "cause": None}


@pytest.mark.parametrize(
    ("change", "line"),
    [
        ({"status": 1}, "Describe: status text is not answered here"),
        ({"events": [{"id": 1, "name": "a"}]}, "Describe: events[].at text is not answered here"),
        ({"more": True}, "Describe: more truth is not in the record"),
        ({"events": {"id": 1}}, "Describe: events list is not answered here"),
    ],
)
def test_another_shape_is_a_difference(change: dict[str, Any], line: str):
    assert line in compared("Describe", shape(AWS), shape(AWS | change))


@pytest.mark.parametrize("change", [{"status": "FAILED"}, {"events": []}, {"tags": [{"Key": "a"}]}, {"cause": None}])
def test_other_values_and_empty_lists_are_no_difference(change: dict[str, Any]):
    assert list(compared("Describe", shape(AWS), shape(AWS | change))) == []
