"""Reaping by hand, and commands over a stack that CloudFormation describes."""

import json
from io import BytesIO
from pathlib import Path
from types import SimpleNamespace

import pytest
from support.cli_documents import plan_document, rows, summary_document

from cli.follow import running
from cli.follow.interruption import Retry
from cli.messages.errors import FunctionFailed
from cli.target.deployment import Deployment
from cli.target.place import Place
from cli.target.service import Service

VOLUME = {"kind": "volume", "id": "vol-1", "run": "r"}


@pytest.fixture
def reaps(monkeypatch):
    """Let Reap answer as told; remember what it was asked."""
    asked = []

    def answer(said):
        class FakeService:
            """A stack whose Reap answers as told."""

            def __init__(self, found):
                self.deployment = found

            def executions(self, _limit):
                """No run goes on."""
                return []

            def reap(self, run, *, dry_run, images=False, owner=None, older_than_s=None):
                """As the function: a dry run leaves all that it would delete."""
                asked.append((run, dry_run, owner, older_than_s) if owner or older_than_s else (run, dry_run))
                return {"deleted": [], "remaining": said["deleted"] + said["remaining"]} if dry_run else said

        deployed = Deployment("aws", "storage-matrix", "eu-central-1", None)
        monkeypatch.setattr(Place, "service", lambda _: FakeService(deployed))
        return asked

    return answer


OF_A_RUN = "matrix reap --run r --stack storage-matrix --region eu-central-1"
OF_AN_OWNER = "matrix reap --owner 'build team' --older-than 3d --stack"


@pytest.mark.parametrize(
    ("arguments", "remaining", "asked", "code", "advice"),
    [
        (("--run", "r"), [], ("r", False), 0, ""),
        (("--run", "r"), [VOLUME], ("r", False), 1, OF_A_RUN),
        (("--dry-run",), [], (None, True), 0, ""),
        (("--owner", "build team", "--older-than", "3d", "--stack", "mine"), [VOLUME],
         (None, False, "build team", 3 * 86_400.0), 1, OF_AN_OWNER),
    ],
    ids=["a run", "something remains", "a dry run", "of an owner, something remains"],
)  # fmt: skip
def test_reap_is_red_only_if_something_remains_and_says_how_to_go_on(
    reaps, matrix, arguments, remaining, asked, code, advice
):
    was_asked = reaps({"deleted": [VOLUME | {"id": "vol-9"}], "remaining": remaining})

    said = matrix("reap", *arguments)

    assert (said.exit_code, was_asked) == (code, [asked])
    assert "vol-9" in said.stdout
    assert ("would be deleted" in said.stdout) == ("--dry-run" in arguments)
    assert advice in " ".join(said.stderr.split())
    assert bool(advice) == ("remain" in said.output)


@pytest.mark.parametrize(
    ("environment", "log"),
    [("aws", "aws logs tail mine-FunctionLogGroup-1A --region eu-central-1"), ("local", "logs/mine-reap.log")],
)
def test_a_failed_reap_names_the_log_that_exists(environment, log, monkeypatch):
    failed = {"FunctionError": "Unhandled", "Payload": BytesIO(json.dumps({"errorMessage": "no"}).encode())}
    monkeypatch.setattr(Deployment, "client", lambda *_, **__: SimpleNamespace(invoke=lambda **_: failed))
    outputs = {"ReapFunctionName": "mine-reap", "FunctionLogGroupName": "mine-FunctionLogGroup-1A"}
    service = Service(Deployment(environment, "mine", "eu-central-1", None, outputs=outputs))

    with pytest.raises(FunctionFailed) as failure:
        service.reap("r")

    assert log in failure.value.advice


@pytest.mark.parametrize(
    "wrong", [("--older-than", "3"), ("--older-than", "-3d"), ("--run", "r", "--owner", "me")], ids=" ".join
)
def test_what_is_not_an_age_or_names_runs_twice_is_refused_before_anybody_is_asked(reaps, matrix, wrong):
    asked = reaps({"deleted": [], "remaining": []})

    assert matrix("reap", *wrong).exit_code == 2
    assert asked == []


def test_a_run_that_was_aborted_on_aws_shows_what_it_measured_and_how_to_go_on(stack, matrix):
    plan, measured = plan_document(), summary_document("r", environment="aws")["cells"][0]
    stack.start("r")
    stack.write_document("r", "plan.json", {**plan, "run": "r", "environment": "aws", "created_at": 1000.0})
    stack.write_document("r", f"cells/{measured['id']}/result.json", measured)

    under_way = matrix("results", "r", "--stack", "mine")
    stack.end("r")
    aborted, latest = matrix("results", "r", "--stack", "mine"), matrix("results", "latest", "--stack", "mine")
    report = matrix("report", "r", "--stack", "mine", "--output", "page.html")

    assert "it is RUNNING" in under_way.stderr
    assert aborted.exit_code == report.exit_code == 0
    assert "1 of 2 cells measured · interrupted" in aborted.stdout
    assert "`matrix run --resume r --stack mine --region eu-central-1`" in aborted.stdout
    assert "EBS gp3" in aborted.stdout
    assert latest.stdout == aborted.stdout
    assert "--resume r --stack mine" in Path("page.html").read_text()


@pytest.fixture
def nothing_to_reap(monkeypatch):
    """Reap finds nothing."""
    monkeypatch.setattr(Service, "reap", lambda *_, **__: {"deleted": [], "remaining": []})


def test_a_run_that_is_still_running_is_not_said_to_have_left_nothing(stack, matrix, nothing_to_reap):
    stack.start("going")

    said = matrix("reap", "--run", "going", "--stack", "mine")

    assert said.exit_code == 1
    assert "going is still running" in said.stderr
    assert "`matrix stop going --stack mine --region eu-central-1`" in said.stderr


def test_who_reaps_before_removing_the_stack_is_told_what_still_runs(stack, matrix, nothing_to_reap):
    stack.start("going")
    stack.start("over")
    stack.end("over")

    said = matrix("reap", "--stack", "mine")

    assert said.exit_code == 0
    assert "`matrix stop going --stack mine --region eu-central-1`" in " ".join(said.stderr.split())
    assert "over" not in said.stderr


def test_a_run_is_stopped_from_anywhere_and_what_it_has_made_is_deleted(stack, matrix, nothing_to_reap, monkeypatch):
    monkeypatch.setattr(running, "AWS_RETRY", Retry(pause_s=0.0, at_most_s=60.0))
    stack.start("going")
    stack.write_rows("going", rows())
    stack.write_document("going", "plan.json", plan_document())

    stopped = matrix("stop", "going", "--stack", "mine")
    again = matrix("stop", "going", "--stack", "mine")

    assert stopped.exit_code == 0
    assert "measured before: 1 of 2 cells" in stopped.stdout
    assert "`matrix run --resume going --stack mine --region eu-central-1`" in stopped.stdout
    assert "stopped" in matrix("runs", "--stack", "mine").stdout
    assert again.exit_code == 1
    assert "going has already ended: ABORTED" in again.stderr


def test_a_stop_that_leaves_something_is_red_and_says_how_to_go_on(stack, matrix, monkeypatch):
    monkeypatch.setattr(running, "AWS_RETRY", Retry(pause_s=0.1, at_most_s=0.05))
    monkeypatch.setattr(Service, "reap", lambda *_, **__: {"deleted": [], "remaining": [VOLUME]})
    stack.start("going")

    stopped = matrix("stop", "going", "--stack", "mine")

    assert stopped.exit_code == 1
    assert "still there: volume vol-1" in stopped.stderr
    assert "matrix reap --run going --stack mine --region eu-central-1" in stopped.stderr


def test_a_misspelt_run_is_not_said_to_have_left_nothing(stack, matrix, nothing_to_reap):
    stack.start("builds-1")
    stack.end("builds-1")

    said = matrix("reap", "--run", "builds-l", "--stack", "mine")

    assert said.exit_code == 2
    assert "no run builds-l" in said.stderr
    assert "builds-1" in said.stderr
    assert matrix("reap", "--run", "builds-1", "--stack", "mine").stdout.strip() == "nothing to delete"
    assert "nothing has the owner 'nobdy'" in matrix("reap", "--owner", "nobdy", "--stack", "mine").stderr


def test_a_stack_of_something_else_is_refused(stack, matrix):
    said = matrix("runs", "--stack", "other")

    assert said.exit_code == 1
    assert "has no output TableName" in said.stderr


@pytest.mark.parametrize(
    ("service", "how", "attempts", "read_timeout_s"),
    [
        ("lambda", {}, 5, 60),
        # A late answer of Reap must not start it twice.
        ("lambda", {"manner": "once"}, 1, 960),
    ],
)
def test_a_client_repeats_its_requests_as_its_caller_can_bear(service, how, attempts, read_timeout_s):
    deployment = Deployment("aws", "s", "eu-west-1", endpoint=None, access_key="a", secret_key="b")

    config = deployment.client(service, **how).meta.config

    assert (config.retries["total_max_attempts"], config.read_timeout) == (attempts, read_timeout_s)
