"""The way to AWS: the real `sam build && sam deploy`, unmodified, against the local cloud; then a run by boto3."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from support.runs import EFS, ROOT, Cloud, matrix, start_cloud

from cli.commands import local_up
from cli.target.deployment import from_cloud_document
from cli.verify import deployed as verified
from cli.verify.checks import Verdict
from cli.verify.stack import Stack

STACK = "storage-matrix-by-sam"


def sam(cloud: Cloud, cwd: Path, *arguments: str) -> str:
    """Run the SAM CLI as a user would, only with another endpoint; return what it printed."""
    program = Path(sys.executable).with_name("sam")
    left = cwd.parent / "left by sam"
    left.mkdir(exist_ok=True)
    environment = {
        **os.environ,
        **local_up.environment(cloud.description),
        "SAM_CLI_POLL_DELAY": "0.3",
        # Else it keeps an id of its user in ~/.aws-sam, and leaves empty folders in /tmp.
        "__SAM_CLI_APP_DIR": str(left),
        "TMPDIR": str(left),
        # sam build looks for the functions' Python version on PATH, and the virtual environment has it.
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
    }
    done = subprocess.run([program, *arguments], cwd=cwd, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, f"sam {' '.join(arguments)}\n{done.stdout}\n{done.stderr}"
    return done.stdout + done.stderr


@pytest.fixture(scope="module")
def deployed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cloud]:
    """The stack, built and deployed by the SAM CLI from a copy of the sources."""
    sources = tmp_path_factory.mktemp("sources")
    for name in ("functions", "agent", "dependencies", "statemachine"):
        shutil.copytree(ROOT / name, sources / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("template.yaml", "samconfig.toml"):
        shutil.copy(ROOT / name, sources / name)
    folder = tmp_path_factory.mktemp("cloud")
    with start_cloud(folder, "--no-deploy") as empty:
        parameters = [
            f"FunctionRuntime=python{sys.version_info.major}.{sys.version_info.minor}",
            f"FunctionArchitecture={'arm64' if os.uname().machine == 'aarch64' else 'x86_64'}",
            "EnvironmentName=local",
            f"LocalMountRoot={folder / 'storage'}",
            "GateMarginSeconds=0.3",
        ]
        sam(empty, sources, "build", "--parameter-overrides", *parameters)
        sam(empty, sources, "deploy", "--stack-name", STACK, "--no-confirm-changeset",
            "--parameter-overrides", *parameters)  # fmt: skip
        stack = empty.client("cloudformation").describe_stacks(StackName=STACK)["Stacks"][0]
        outputs = {output["OutputKey"]: output["OutputValue"] for output in stack["Outputs"]}
        yield replace(empty, description=empty.description | {"stack": STACK, "outputs": outputs})
        sam(empty, sources, "delete", "--stack-name", STACK, "--no-prompts", "--region", "us-east-1")


def test_what_sam_has_built_and_deployed_is_found_to_be_this_tree(deployed: Cloud):
    stack = Stack(from_cloud_document(deployed.description))

    checks = list(verified.checks(stack))

    assert {check.what for check in checks} >= {"template.yaml", "functions", "agent", "statemachine/run.asl.json"}
    assert [check for check in checks if check.verdict is not Verdict.AS_ASSUMED] == []


def test_a_run_on_the_deployed_stack_leaves_its_rows_and_objects_and_nothing_else(deployed: Cloud):
    run = deployed.run("by-sam", matrix(storage=[EFS], fleet=[{"instanceType": "m6i.large", "count": 2}]))

    assert run.status == "SUCCEEDED"
    assert json.loads(run.describe()["output"])["totals"] == {"cells": 1, "measured": 1, "failed": 0, "skipped": 0}
    rows = run.rows()
    assert {"PLAN", "FS#efs-elastic"} <= rows.keys()
    [cell] = [row for key, row in rows.items() if key.startswith("CELL#")]
    assert cell["state"] == "measured"
    assert any(key.startswith("POINT#") for key in rows)
    listed = deployed.client("s3").list_objects_v2(Bucket=deployed.output("BucketName"), Prefix="runs/by-sam/")
    names = {found["Key"].rpartition("/")[2] for found in listed["Contents"]}
    assert {
        "matrix.json",
        "plan.json",
        "summary.json",
        "summary.csv",
        "summary.md",
        "samples.json",
        "done.json",
    } <= names
    [agent] = deployed.client("s3").list_objects_v2(Bucket=deployed.output("BucketName"), Prefix="agents/")["Contents"]
    assert agent["Size"] < 200_000, "the agent's zip holds more than the agent"
    assert run.left_behind() == {}
