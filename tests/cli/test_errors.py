"""What a command says when it cannot do what it was asked to."""

import time
from email.utils import formatdate

import pytest
from botocore.exceptions import ClientError, EndpointConnectionError, NoCredentialsError, NoRegionError
from support.cli_documents import plan_document
from support.refusals import refusal

from cli.inputs import this_machine
from cli.messages import errors, explain


@pytest.mark.parametrize(
    ("error", "meaning", "advice"),
    [
        (refusal("ExpiredTokenException"), "credentials have expired", "aws sso login"),
        (
            refusal("AccessDeniedException", message="not authorized: states:StartExecution"),
            "states:StartExecution",
            "AWS_PROFILE",
        ),
        (
            refusal("AccessDenied", message="not authorized to perform: x with an explicit deny in a policy"),
            "a policy forbids this",
            "who keeps the policy",
        ),
        (refusal("ThrottlingException"), "throttles", "wait a minute"),
        (refusal("StateMachineDoesNotExist"), "state machine", "sam deploy"),
        (refusal("Strange", message="odd"), "AWS refuses Call: Strange: odd", "--debug"),
        (NoCredentialsError(), "no AWS credentials", "aws configure"),
        (NoRegionError(), "no AWS region", "--region"),
        (EndpointConnectionError(endpoint_url="http://localhost:1"), "cannot reach AWS", "matrix local up"),
        (OSError(28, "No space left on device"), "No space left on device: the disk of", "df -h"),
        (OSError(122, "Disk quota exceeded", "a.json"), "Disk quota exceeded: a.json", "matrix runs"),
        (ZeroDivisionError("oops"), "unexpected ZeroDivisionError: oops", "--debug"),
    ],
)
def test_each_error_says_what_to_try_next(error, meaning, advice):
    said = explain.explain(error)

    assert meaning in said.message
    assert advice in said.advice


VERIFYING = "Your request for accessing resources in this region is being validated, and you will not be able to launch"
# As users report these in public issues (scrapoxy 202, org-formation-cli 465).
NO_STS = (
    "STS is not activated in this region for account:123456789012. Your account administrator can activate STS in this"
    " region using the IAM Console."
)


@pytest.mark.parametrize(
    ("code", "message", "cause", "advice"),
    [
        ("AuthFailure", "AWS was not able to validate the provided access credentials", "in this region", "date -u"),
        ("OptInRequired", "You are not subscribed to this service. Please go to http://aws.amazon.com to subscribe.",
         "may not use this service", "enable-region"),
        ("PendingVerification", VERIFYING, "still checks your account", "4 hours"),
        ("RegionDisabledException", NO_STS, "or STS in it", "activate STS"),
        ("InvalidClientTokenId", "The security token included in the request is invalid.", "in this region",
         "enable-region"),
        # Nothing is known of these.
        ("BadRequest", "The file system is in CREATE_FAILED state.", "AWS refuses", "--debug"),
        ("ValidationError", "Parameters: [VpcId] must have values" + " x" * 500, "AWS refuses", "--debug"),
    ],
)  # fmt: skip
def test_an_answer_of_aws_is_named_with_cause_and_fix_and_its_text_is_kept_whole(code, message, cause, advice):
    said = explain.explain(refusal(code, message=message))

    assert cause in said.message
    assert advice in said.advice
    assert f"{message} (Call: {code})" in said.message or said.message.endswith(f": {code}: {message}")


OLD = "Signature expired: 20261126T154623Z is now earlier than 20261126T163344Z (20261126T164844Z - 15 min.)"
NEW = "Signature not yet current: 20261126T182419Z is still later than 20261126T175724Z (20261126T175224Z + 5 min.)"


def at(seconds):
    """The header of an answer that AWS gave when this machine's clock was as far ahead."""
    return {"ResponseMetadata": {"HTTPHeaders": {"date": formatdate(time.time() - seconds, usegmt=True)}}}


@pytest.mark.parametrize(
    ("code", "message", "more", "off"),
    [
        ("SignatureDoesNotMatch", OLD, {}, "1h 02m behind"),
        ("InvalidSignatureException", NEW, {}, "31m 55s ahead"),
        ("RequestTimeTooSkewed", "too large", {"RequestTime": "20150604T232559Z", "ServerTime": "2015-06-04T22:26:16Z"},
         "59m 43s ahead"),
        ("RequestTimeTooSkewed", "too large", {}, "more than 15 minutes off"),
        ("AuthFailure", "not able to validate the provided access credentials", {"ahead_s": 10_810},
         "3h 00m ahead"),
        ("403", "Forbidden", {"ahead_s": -1000}, "behind"),
        ("SignatureDoesNotMatch", "the signature we calculated does not match", {"ahead_s": 0}, None),
        ("AuthFailure", "not able to validate the provided access credentials", {}, None),
        ("AccessDenied", "no", {"ahead_s": -1000}, None),
    ],
)  # fmt: skip
def test_a_wrong_clock_is_named_with_how_far_it_is_off(code, message, more, off):
    facts = {name: value for name, value in more.items() if name != "ahead_s"}
    metadata = at(more["ahead_s"]) if "ahead_s" in more else {"ResponseMetadata": {}}

    said = explain.explain(ClientError({"Error": {"Code": code, "Message": message} | facts} | metadata, "GetObject"))

    if off is None:
        assert "clock" not in said.message
    else:
        assert f"this machine's clock is {off}" in said.message or (off == "behind" and " behind AWS's" in said.message)
        assert "set the clock" in said.advice


def test_without_credentials_a_command_advises_and_shows_no_traceback(matrix):
    said = matrix("runs", "--stack", "storage-matrix", "--region", "eu-central-1")

    assert said.exit_code == 1
    assert "AWS is not set up here: no credentials" in said.stderr
    assert "Traceback" not in said.output


@pytest.mark.parametrize(
    "command", ["reap --stack s", "verify --stack s", "run small.json --yes", "observe vol-0123456789abcdef0", "stop r"]
)
def test_all_that_aws_lacks_here_is_said_at_once(matrix, scenario, command):
    scenario()

    said = matrix(*command.split())

    assert said.exit_code == 1
    assert "AWS is not set up here: no region, no credentials" in said.stderr
    assert all(fix in said.stderr for fix in ("1. add --region", "2. `aws configure`"))
    assert ("--local" in said.stderr) == ("observe" not in command)


@pytest.mark.parametrize("run", ["r", "published-yocto"])
@pytest.mark.parametrize(
    "command",
    [("results", "{}"), ("report", "{}"), ("compare", "{}", "b"), ("watch", "{}"), ("stop", "{}"), ("logs", "{}", "c")],
)
def test_a_run_looked_for_in_another_folder_is_said_not_to_be_here_before_aws_is_blamed(matrix, command, run):
    said = matrix(*(word.format(run) for word in command))

    assert said.exit_code == 1
    assert "no local run is kept in" in said.stderr
    assert "go to the folder where the run was started; or 1. add --region" in said.stderr
    # Published figures are a run only after they were loaded, in any folder.
    assert ("`matrix import --published`" in said.stderr) == (run != "r")


@pytest.mark.parametrize(
    "command",
    [("results", "r"), ("report", "r"), ("compare", "a", "b"), ("watch", "r"), ("reap",), ("runs",), ("run", "m.json")],
)
def test_who_names_a_stack_on_aws_is_not_answered_by_this_machine(cloud, matrix, command):
    said = matrix(*command, "--local", "--stack", "production")

    assert said.exit_code == 2
    assert "--local and --stack exclude each other" in said.stderr


@pytest.mark.parametrize("name", ["", "a b", "-a", "a.b", "x" * 81, "../a"])
def test_a_name_that_no_run_can_have_is_refused_before_anything_is_started_or_asked(matrix, scenario, name):
    said = matrix("run", scenario(), "--local", f"--name={name}")

    assert said.exit_code == 2
    assert "cannot be the name of a run" in said.stderr
    assert "local cloud" not in said.stderr


def test_a_stack_that_is_not_there_is_to_be_deployed_first(stacks, matrix):
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

    fio, parallel = this_machine.missing_tools(plan, has=lambda _tool: False)

    assert fio.startswith("1 of 2 cells will fail: fio is not installed; install the package 'fio'")
    assert "GNU parallel is not installed; install the package 'parallel'" in parallel


def test_every_tool_of_every_copy_is_looked_for():
    plan = plan_document()
    plan["cells"][0]["points"] = [
        {"id": f"p{n}", "params": {"tool": tool}}
        for n, tool in enumerate(("rsync", "cp", "fpsync", "cp+parallel", "fpart+cpio+parallel"))
    ]

    assert set(this_machine.needed(plan)) == {"rsync", "fpsync", "parallel", "fpart", "cpio"}


@pytest.mark.parametrize(
    ("storage", "names"),
    [
        ({"type": "ebs"}, set()),
        ({"type": "efs", "tls": True}, set()),
        ({"type": "mountpoint"}, set()),
        ({"type": "s3", "client": "crt"}, {"awscrt"}),
    ],
    ids=str,
)
def test_a_folder_in_place_of_a_storage_needs_nothing_to_be_mounted_but_a_bucket_its_client(storage, names):
    plan = plan_document()
    plan["cells"] = [plan["cells"][0] | {"storage": storage}]

    assert set(this_machine.needed(plan)) == names
