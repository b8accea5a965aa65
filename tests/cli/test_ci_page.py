"""docs/ci.md: its commands have the options that it gives them, its workflow and policies can be read."""

import json
import re
import shlex
from pathlib import Path

import botocore.session
import pytest
import typer
import yaml

from cli.main import app

PAGE = (Path(__file__).parents[2] / "docs/ci.md").read_text(encoding="utf-8")
COMMANDS = typer.main.get_command(app).commands
POLICIES = [json.loads(block) for block in re.findall(r"```json\n(\{\n.*?)```", PAGE, re.DOTALL)]
# How IAM calls a service, where botocore calls it otherwise.
SERVICES = {"states": "stepfunctions"}
# Permissions whose call has another name (S3's list of actions).
CALLS = {"ListBucket": "ListObjectsV2", "InvokeFunction": "Invoke"}


def written():
    """Each command line of the page that calls `matrix`, without what a shell does with its output."""
    lines = re.findall(r"(?:^|[ /`])matrix ((?:run|compare|results|runs)[^\n`|>]*)", PAGE, re.MULTILINE)
    # Prose names a command without its arguments.
    lines = [line for line in lines if len(line.split()) > 2]
    return [line.replace('"', "").replace("$at", "").replace("${{ github.run_id }}", "7").strip() for line in lines]


def test_the_page_has_commands():
    assert len(written()) >= 10


@pytest.mark.parametrize("line", sorted(set(written())))
def test_a_command_has_the_options_that_the_page_gives_it(line):
    name, *arguments = shlex.split(line)

    COMMANDS[name].make_context(name, arguments)


def test_the_workflow_may_ask_for_an_identity_and_for_nothing_else():
    [workflow] = [yaml.safe_load(block) for block in re.findall(r"```yaml\n(.*?)```", PAGE, re.DOTALL)]

    assert workflow["permissions"] == {"id-token": "write", "contents": "read"}
    steps = workflow["jobs"]["nightly"]["steps"]
    assert [step["run"].split()[1] for step in steps if step.get("run", "").startswith(".venv")] == [
        "run", "results", "compare",
    ]  # fmt: skip


def test_the_rights_of_the_job_are_calls_that_aws_has_and_each_has_its_resource():
    [trust, rights] = POLICIES
    services = botocore.session.get_session()

    assert trust["Statement"][0]["Action"] == "sts:AssumeRoleWithWebIdentity"
    for statement in rights["Statement"]:
        actions = statement["Action"] if isinstance(statement["Action"], list) else [statement["Action"]]
        for service, action in (action.split(":") for action in actions):
            model = services.get_service_model(SERVICES.get(service, service))
            assert CALLS.get(action, action) in model.operation_names
        # GetMetricData knows no resources.
        assert (statement["Resource"] == "*") == (actions == ["cloudwatch:GetMetricData"])
