"""What a command says when it cannot do what it was asked to."""

import pytest
from botocore.exceptions import ClientError, EndpointConnectionError, NoCredentialsError, NoRegionError

from cli import errors, tools
from cli.errors import CommandError
from tests.cli.cli_documents import plan_document


def refusal(code, message="why"):
    """An error answer of AWS."""
    return ClientError({"Error": {"Code": code, "Message": message}}, "StartExecution")


@pytest.mark.parametrize(
    ("error", "meaning", "advice"),
    [
        (refusal("ExpiredTokenException"), "credentials have expired", "aws sso login"),
        (
            refusal("AccessDeniedException", "not authorized: states:StartExecution"),
            "states:StartExecution",
            "AWS_PROFILE",
        ),
        (refusal("ThrottlingException"), "throttles", "wait a minute"),
        (refusal("StateMachineDoesNotExist"), "state machine", "sam deploy"),
        (refusal("Strange", "odd"), "AWS refuses StartExecution: Strange: odd", "--debug"),
        (NoCredentialsError(), "no AWS credentials", "--local"),
        (NoRegionError(), "no AWS region", "--region"),
        (EndpointConnectionError(endpoint_url="http://localhost:1"), "cannot reach AWS", "matrix local up"),
        (ZeroDivisionError("oops"), "unexpected ZeroDivisionError: oops", "--debug"),
    ],
)
def test_each_error_says_what_to_try_next(error, meaning, advice):
    said = errors.explain(error)

    assert meaning in said.message
    assert advice in said.advice


def test_an_error_of_ours_is_said_as_it_is():
    error = CommandError("message", "advice")

    assert errors.explain(error) is error


def test_without_credentials_a_command_advises_and_shows_no_traceback(matrix):
    said = matrix("runs", "--stack", "storage-matrix", "--region", "eu-central-1")

    assert said.exit_code == 1
    assert "no AWS credentials found" in said.stderr
    assert "Traceback" not in said.output


def test_without_a_region_a_command_says_how_to_choose_one(matrix):
    said = matrix("reap", "--stack", "storage-matrix")

    assert "no AWS region chosen" in said.stderr


def test_a_stack_that_is_not_there_is_to_be_deployed_first(cloud, matrix, monkeypatch, moto_server):
    monkeypatch.setenv("AWS_ENDPOINT_URL", moto_server)
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "test")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "test")

    said = matrix("reap", "--region", "eu-central-1")

    assert said.exit_code == 1
    assert "there is no stack storage-matrix in eu-central-1" in said.stderr
    assert "sam build && sam deploy" in said.stderr


def test_debug_lets_the_traceback_through(matrix):
    assert isinstance(matrix("--debug", "watch", "r", "--local").exception, errors.NoLocalCloud)


def test_tools_that_are_missing_are_named_with_their_package():
    plan = plan_document()
    plan["cells"][0]["workload"] = {"type": "fio"}
    plan["cells"][1]["points"] = [{"id": "p01", "params": {"tool": "parallel"}}]

    fio, parallel = tools.missing(plan, has=lambda _tool: False)

    assert fio.startswith("fio is not installed: 1 of 2 cells will fail. Install it: apt install fio")
    assert "apt install parallel" in parallel


def test_tools_that_are_here_or_not_needed_are_not_mentioned():
    assert tools.missing(plan_document(), has=lambda _tool: False) == []
    assert tools.missing({**plan_document(), "cells": []}) == []
