"""`matrix verify` on the local cloud, whole; and its step of the roles, by our simulator in place of IAM's."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from support.deployed_policies import policies_of, put, without
from support.owned import stack_resources
from support.runs import Cloud, start_cloud

from cli.target.deployment import from_cloud_document
from cli.verify import permissions
from cli.verify.checks import Check, Verdict
from cli.verify.measurements import FLEET
from cli.verify.stack import Stack

MATRIX = Path(sys.executable).with_name("matrix")


@pytest.fixture(scope="module")
def cloud(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cloud]:
    """A cloud as `matrix verify --local` finds it."""
    with start_cloud(tmp_path_factory.mktemp("cloud")) as started:
        yield started


def verify(cloud: Cloud, folder: Path, *arguments: str) -> tuple[int, dict[str, Any]]:
    """The exit code of `matrix verify --local` on a running cloud, and what it has written."""
    command = [MATRIX, "verify", "--local", *arguments]
    done = subprocess.run(
        command, cwd=folder, env={**os.environ, "MATRIX_WORKDIR": str(cloud.folder)}, capture_output=True, text=True
    )
    assert done.returncode in (0, 1), done.stdout + done.stderr
    return done.returncode, json.loads((folder / "verification.json").read_text())


def test_a_whole_verification_finds_all_as_it_should_be(cloud: Cloud, tmp_path: Path):
    code, document = verify(cloud, tmp_path, "--with", "fsx")

    assert [step["name"] for step in document["steps"]] == [
        "definition", "deployed", "limits", "launches", "plan", "ebs", "fleet", "efs", "s3", "fsx",
    ]  # fmt: skip
    # A busy machine may start a fleet late: that differs, and breaks nothing.
    assert {step["verdict"] for step in document["steps"]} <= {"as assumed", "differs"}, document
    assert code == 0
    assert document["steps"][4]["verdict"] == "as assumed", document["steps"][4]
    compared_in_fleet = {check["what"].partition(",")[0] for check in document["steps"][6]["checks"]}
    assert {"mount", "start skew", "last ready to common start", "cost on the receipt"} <= compared_in_fleet
    assert f"| fleet | {FLEET.proves} |" in (tmp_path / "verification.md").read_text()


def roles(cloud: Cloud) -> dict[str, Check]:
    """What the step of the roles finds, by role."""
    return {check.what: check for check in permissions.checks(Stack(from_cloud_document(cloud.description)))}


def test_the_deployed_roles_may_make_every_call_that_runs_make(cloud: Cloud):
    found = roles(cloud)

    assert found
    assert {check.verdict for check in found.values()} == {Verdict.AS_ASSUMED}, found


def test_a_role_that_lacks_one_action_is_named_with_it(cloud: Cloud):
    role = stack_resources(cloud)["LaunchFleetFunctionRole"]
    policies = policies_of(cloud, role)
    [sid] = {
        statement["Sid"] for document in policies.values() for statement in document["Statement"]
        if "iam:PassRole" in statement["Action"]
    }  # fmt: skip
    put(cloud, role, without(policies, sid, "iam:PassRole"))
    try:
        broken = [check for check in roles(cloud).values() if check.verdict is Verdict.BROKEN]
    finally:
        put(cloud, role, policies)

    [check] = broken
    assert check.what == "LaunchFleetFunctionRole"
    assert check.seen.startswith("iam:PassRole on arn:aws:iam::")
