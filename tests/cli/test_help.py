"""Every right that the command needs of its user is in docs/privilege.md."""

import json
import re
from pathlib import Path

import botocore.session
import pytest
import typer.main
from botocore import xform_name
from typer.testing import CliRunner

from cli.main import NAMES, app

ROOT = Path(__file__).resolve().parents[2]
# By the prefix that IAM has for them.
SERVICES = {"cloudformation": "cloudformation", "stepfunctions": "states", "dynamodb": "dynamodb", "s3": "s3",
            "lambda": "lambda", "cloudwatch": "cloudwatch", "iam": "iam", "ec2": "ec2", "ssm": "ssm", "logs": "logs",
            "service-quotas": "servicequotas", "efs": "elasticfilesystem", "fsx": "fsx",
            "freetier": "freetier", "kms": "kms", "pricing": "pricing"}  # fmt: skip
COMMANDS = [
    [name, *more]
    for name in NAMES
    for command in [typer.main.get_command(app).get_command(None, name)]
    for more in ([[each] for each in command.commands] if hasattr(command, "commands") else [[]])
]
# Where the action of IAM is not called as the operation is.
ACTIONS = {
    "lambda:Invoke": "lambda:InvokeFunction",
    "s3:ListObjectsV2": "s3:ListBucket",
    "fsx:DescribeVolumes": None,
}  # EC2 has an operation of that name, which is the one that is called


def test_help_names_arguments_without_braces_and_types_of_python():
    for names in COMMANDS:
        shown = CliRunner().invoke(app, [*names, "--help"], prog_name="matrix").stdout

        usage, _, rest = shown.partition("\n\n")
        assert usage.startswith(f"Usage: matrix {' '.join(names)}")
        assert not re.search(r"[{}<>…]|\[\[", usage)
        # A choice names its values.
        assert not re.search(r"<[a-z]+( [a-z]+)?(\[.*\])?>|<=x|\]\]", rest), shown
        for argument in re.findall(r"\b([A-Z]{2,})\b", usage.replace("[OPTIONS]", "")):
            assert re.search(rf"^  {argument}( |$)", rest, re.MULTILINE), shown


def test_the_help_has_sixteen_commands_and_first_the_twelve_that_most_work_needs():
    shown = CliRunner().invoke(app, ["--help"], prog_name="matrix", env={"COLUMNS": "80"}).stdout

    listed = re.findall(r"^  ([a-z]+) {2,}", shown, re.MULTILINE)
    needed = "demo new plan verify run watch stop runs results report compare reap"
    assert listed == [*needed.split(), "import", "observe", "history", "logs"]
    assert [*listed, "local"] == NAMES
    assert shown.index("  logs ") < shown.index("Options:")


@pytest.mark.parametrize(
    ("written", "meant"), [("reslts", "results"), ("schema", "--schema"), ("version", "--version")]
)
def test_of_a_command_that_there_is_not_the_nearest_command_or_option_is_named(matrix, written, meant):
    seen = matrix(written)

    assert seen.exit_code == 2
    assert f"there is no command {written!r}; did you mean {meant}?" in " ".join(seen.stderr.split())


def test_the_schema_of_a_matrix_is_an_answer_without_a_command(matrix):
    shown = matrix("--schema")

    assert shown.exit_code == 0
    assert {"name", "storage", "workload", "fleet"} <= json.loads(shown.stdout)["properties"].keys()


def test_every_right_that_the_command_needs_of_its_user_is_documented():
    # `matrix verify` passes its own client to egress, so these calls are the user's too.
    paths = [*(ROOT / "cli").rglob("*.py"), ROOT / "functions" / "matrix" / "plan" / "egress.py"]
    source = "\n".join(path.read_text() for path in paths)
    named = re.findall(r'(?:get_paginator|listed)\("([a-z_0-9]+)"', source)
    called = {*re.findall(r"\.([a-z_0-9]+)\(", source), *named}
    page = (ROOT / "docs" / "privilege.md").read_text()
    asked = page.partition("## What you must be allowed")[2].partition("\n## ")[0]

    needed = set()
    for service, prefix in SERVICES.items():
        operations = botocore.session.get_session().get_service_model(service).operation_names
        actions = {f"{prefix}:{one}" for one in operations if xform_name(one) in called}
        needed |= {ACTIONS.get(one, one) for one in actions} - {None}

    assert needed == set(re.findall(r"`([a-z0-9]+:[A-Za-z]+)`", asked))
