"""Lambda: AWS's runtime client in real processes."""

import io
import json
import os
import signal
import time
import zipfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace

import pytest
from botocore.config import Config
from botocore.exceptions import ClientError
from support.disturbance import attempts
from support.running_cloud import function, role, wait_until

from local.functions.runtime import CodeTooLargeError, LambdaRuntime
from local.hooks import Hooks
from local.programs.processes import ProcessStarter

CODE = """
import os, sys, time
CALLS = []
def handler(event, context):
    CALLS.append(1)
    match event.get("do"):
        case "raise": raise KeyError("no such cell")
        case "exit": sys.exit(3)
        case "die": os.kill(os.getpid(), 9)
        case "hang": print("hangs"); time.sleep(30)
        case "sleep": time.sleep(event["seconds"])
    return {"calls": len(CALLS), "secret": os.environ.get("AWS_PROFILE")}
"""


@pytest.fixture(scope="module")
def names(cloud) -> dict[str, str]:
    """Deployed functions, by what is special in them."""
    layer = io.BytesIO()
    with zipfile.ZipFile(layer, "w") as content:
        content.writestr("python/layered.py", "VALUE = 42")
    s3 = cloud.client("s3")
    s3.create_bucket(Bucket="layers")
    s3.put_object(Bucket="layers", Key="layer.zip", Body=layer.getvalue())
    sdk = io.BytesIO()
    with zipfile.ZipFile(sdk, "w") as content:
        content.writestr("python/boto3/__init__.py", "__version__ = 'of the layer'")
    s3.put_object(Bucket="layers", Key="sdk.zip", Body=sdk.getvalue())
    resources = {
        "Role": role(),
        "CallerRole": role(
            {"Effect": "Allow", "Action": "lambda:InvokeFunction", "Resource": "*"}, service="states.amazonaws.com"
        ),
        "Layer": {
            "Type": "AWS::Lambda::LayerVersion",
            "Properties": {"Content": {"S3Bucket": "layers", "S3Key": "layer.zip"}},
        },
        "Sdk": {
            "Type": "AWS::Lambda::LayerVersion",
            "Properties": {"Content": {"S3Bucket": "layers", "S3Key": "sdk.zip"}},
        },
        "UsesSdk": function(
            "import boto3, layered\ndef handler(event, context): return [boto3.__version__, layered.VALUE]",
            Layers=[{"Ref": "Layer"}, {"Ref": "Sdk"}],
        ),
        "Plain": function(CODE, Timeout=2),
        "Single": function(CODE, Timeout=10, ReservedConcurrentExecutions=1),
        "Packaged": function(CODE),
        "Unstarted": function("def handler(event, context): return 1"),
    }
    outputs = {
        name: {"Value": {"Ref": name}} for name in resources if name not in ("Role", "CallerRole", "Layer", "Sdk")
    }
    outputs["Caller"] = {"Value": {"Fn::GetAtt": ["CallerRole", "Arn"]}}
    return cloud.deploy("functions", {"Resources": resources, "Outputs": outputs})


@pytest.fixture
def call(cloud, names):
    """Invoke a function: its answer and payload."""
    client = cloud.client("lambda")

    def invoke(name: str, **event):
        answer = client.invoke(FunctionName=names[name], Payload=json.dumps(event), LogType="Tail")
        return answer, json.loads(answer["Payload"].read())

    return invoke


def test_an_exception_is_reported_as_by_aws(call):
    answer, payload = call("Plain", do="raise")

    assert answer["FunctionError"] == "Unhandled"
    assert payload["errorType"] == "KeyError"
    assert payload["errorMessage"] == "'no such cell'"
    assert any("index.py" in line for line in payload["stackTrace"])


def test_a_function_that_takes_too_long_is_killed(call):
    for attempt in attempts():
        with attempt:
            began = time.monotonic()
            answer, payload = call("Plain", do="sleep", seconds=30)
            _, after = call("Plain")

            assert time.monotonic() - began < 10

    assert answer["FunctionError"] == "Unhandled"
    assert payload["errorType"] == "Sandbox.Timedout"
    assert "Task timed out after 2.00 seconds" in payload["errorMessage"]
    assert after["calls"] == 1


@pytest.mark.parametrize(("how", "words"), [("exit", "exit status 3"), ("die", "signal: 9")])
def test_a_function_that_ends_its_process_is_an_exit_error(call, how, words):
    answer, payload = call("Plain", do=how)

    assert answer["FunctionError"] == "Unhandled"
    assert payload["errorType"] == "Runtime.ExitError"
    assert words in payload["errorMessage"]


def test_a_call_whose_fork_server_is_killed_says_so_and_the_next_one_is_answered(call, cloud):
    with ThreadPoolExecutor(1) as threads:
        asleep = threads.submit(call, "Single", do="hang")
        logs = (cloud.workdir / "code").glob
        wait_until(lambda: any("hangs" in log.read_text() for log in logs("*Single*.log")), "the function to hang")
        os.kill(cloud.fork_server(), signal.SIGKILL)
        answer, payload = asleep.result()

    assert answer["FunctionError"] == "Unhandled"
    # Which every state tries again.
    assert payload["errorType"] == "Runtime.ExitError"
    assert "fork server, which starts all its processes, was killed by signal 9" in payload["errorMessage"]
    assert "FunctionError" not in call("Single")[0]


def test_a_state_whose_function_gets_no_process_ends_with_the_reason_and_may_be_tried_again(cloud, names, tmp_path):
    code = cloud.workdir / "code"
    code.rename(tmp_path / "code")
    code.touch()
    try:
        task = {
            "Type": "Task",
            "Resource": "arn:aws:states:::lambda:invoke",
            "Arguments": {"FunctionName": names["Unstarted"]},
            "End": True,
        }
        machine = {"QueryLanguage": "JSONata", "StartAt": "Call", "States": {"Call": task}}
        ended = cloud.execute("unstarted", machine, role_arn=names["Caller"])
    finally:
        code.unlink()
        (tmp_path / "code").rename(code)

    # Not States.Runtime: KeyError('RequestId'), which moto makes of an answer without one, and nothing may catch.
    assert (ended["status"], ended["error"]) == ("FAILED", "Lambda.ServiceException")
    assert f"no process for {names['Unstarted']}" in ended["cause"]
    assert "Not a directory" in ended["cause"]


def test_layers_are_merged_and_their_boto3_comes_before_that_of_the_environment(call):
    assert call("UsesSdk")[1] == ["of the layer", 42]


def test_new_code_of_a_function_is_what_runs_its_packages_too(call, cloud, names):
    client = cloud.client("lambda")
    answers = []
    for value in (1, 2):
        package = io.BytesIO()
        with zipfile.ZipFile(package, "w") as content:
            content.writestr("index.py", "from pack.core import VALUE\ndef handler(event, context): return VALUE")
            content.writestr("pack/__init__.py", "")
            content.writestr("pack/core.py", f"VALUE = {value}")
        client.update_function_code(FunctionName=names["Packaged"], ZipFile=package.getvalue())
        answers.append(call("Packaged")[1])

    assert answers == [1, 2]


def test_reserved_concurrency_throttles(call, cloud, names):
    client = cloud.client("lambda", config=Config(retries={"total_max_attempts": 1}))
    with ThreadPoolExecutor(2) as threads:
        first = threads.submit(call, "Single", do="sleep", seconds=2)
        time.sleep(1)
        with pytest.raises(ClientError) as throttled:
            client.invoke(FunctionName=names["Single"], Payload=b"{}")
        assert "FunctionError" not in first.result()[0]

    assert throttled.value.response["Error"]["Code"] == "TooManyRequestsException"
    assert throttled.value.response["ResponseMetadata"]["HTTPStatusCode"] == 429


def test_the_operators_environment_does_not_reach_functions(call):
    assert call("Plain")[1]["secret"] is None


def test_the_fork_server_has_a_log_of_its_own_once_the_cloud_has_a_folder(tmp_path):
    starter = ProcessStarter()
    try:
        starter.log_to(tmp_path / "processes.log")
        missing = {"cwd": Path("/"), "env": {}, "log": tmp_path / "program.log"}
        starter.start_program(["/does/not/exist"], **missing).wait(20)
        starter.start_program(["/bin/true"], **{**missing, "log": tmp_path / "no" / "folder"}).wait(20)
    finally:
        starter.close()

    assert "could not start ['/does/not/exist']" in (tmp_path / "program.log").read_text()
    assert "could not start ['/bin/true']" in (tmp_path / "processes.log").read_text()


def test_code_that_lambda_would_not_unpack_is_not_unpacked(tmp_path):
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for number in range(27):
            archive.writestr(f"{number}.py", b"\n" * 10_000_000)
    functions = tmp_path / "functions"
    functions.mkdir()
    runtime = LambdaRuntime(SimpleNamespace(preload=None), "http://localhost", tmp_path, dict, Hooks())

    with pytest.raises(CodeTooLargeError, match="smaller than 262144000 bytes"):
        runtime.expect(functions, packed.getvalue())

    assert not list(tmp_path.rglob("*.py"))
