"""Every command has a help text with an example, and every right that it needs of its user is in docs/privilege.md."""

import re
from pathlib import Path

import botocore.session
import pytest
import typer
from botocore import xform_name
from typer.testing import CliRunner

from cli.main import app
from cli.messages.errors import ExitCode

ROOT = Path(__file__).resolve().parents[2]
# By the prefix that IAM has for them.
SERVICES = {"cloudformation": "cloudformation", "stepfunctions": "states", "dynamodb": "dynamodb", "s3": "s3",
            "lambda": "lambda", "cloudwatch": "cloudwatch", "iam": "iam", "ec2": "ec2", "ssm": "ssm", "logs": "logs",
            "service-quotas": "servicequotas", "efs": "elasticfilesystem", "fsx": "fsx",
            "freetier": "freetier", "kms": "kms", "pricing": "pricing"}  # fmt: skip
# Where the action of IAM is not called as the operation is.
ACTIONS = {
    "lambda:Invoke": "lambda:InvokeFunction",
    "s3:ListObjectsV2": "s3:ListBucket",
    "fsx:DescribeVolumes": None,
}  # EC2 has an operation of that name, which is the one that is called


def commands(group, prefix="matrix"):
    """Each command with its full name."""
    for name, command in group.commands.items():
        if hasattr(command, "commands"):
            yield from commands(command, f"{prefix} {name}")
        else:
            yield f"{prefix} {name}", command


COMMANDS = dict(commands(typer.main.get_command(app)))


@pytest.mark.parametrize("name", COMMANDS)
def test_each_help_has_a_sentence_and_an_example(name):
    text = COMMANDS[name].help

    assert re.match(r"[A-Z].*\.\n", text)
    assert f"Example: {name}" in text


# Commands that have no answer for a program, each with its reason.
WITHOUT_JSON = {
    "matrix demo": "it shows the product to a person; `matrix run --json` is the same for a program",
    "matrix schema": "what it prints is one JSON document anyway",
    "matrix completion": "it prints a script for a shell",
}


@pytest.mark.parametrize("name", COMMANDS)
def test_each_command_answers_programs_too_or_has_a_reason(name):
    options = {option for parameter in COMMANDS[name].params for option in parameter.opts}

    assert ("--json" in options) != (name in WITHOUT_JSON)


def test_each_exit_code_is_in_the_help():
    shown = " ".join(CliRunner().invoke(app, ["--help"]).stdout.split())
    codes = shown.partition("Exit codes:")[2].partition("Documentation")[0]

    for code in ExitCode:
        assert f" {code} " in codes


def test_the_list_of_commands_cuts_no_sentence_on_80_columns():
    shown = CliRunner().invoke(app, ["--help"], env={"COLUMNS": "80"}).stdout

    assert "..." not in shown.partition("Start,")[2]
    assert max(map(len, shown.splitlines())) <= 80


def test_the_help_has_each_command_in_one_group_and_one_example_for_each_group():
    shown = CliRunner().invoke(app, ["--help"], env={"COLUMNS": "80"}).stdout

    groups = re.findall(r"^([A-Z][a-z ]+), such as `(matrix [^`]+)`:\n((?:  .+\n)+)", shown, re.MULTILINE)
    listed = [line.split()[0] for _, _, lines in groups for line in lines.splitlines()]
    assert [title for title, _, _ in groups] == ["Start", "Watch", "Read", "Compare", "Clean up", "Develop"]
    assert sorted(listed) == sorted({name.split()[1] for name in COMMANDS})
    assert all(example.split()[1] in lines for _, example, lines in groups)


def test_every_right_that_the_command_needs_of_its_user_is_documented():
    # `matrix verify` passes its own client to ways_out, so these calls are the user's too.
    paths = [*(ROOT / "cli").rglob("*.py"), ROOT / "functions" / "matrix" / "plan" / "ways_out.py"]
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
