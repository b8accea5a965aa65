"""A local cloud in a separate process, and the clients and waits for tests with it."""

import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import boto3

REPOSITORY = Path(__file__).parents[2]
MAX_PAUSE_S = 0.3
# Clients may be used by several threads, but boto3's session makes them one at a time.
_MAKING = threading.Lock()


def wait_until(condition: Callable[[], Any], what: str, timeout_s: float = 20) -> Any:
    """The condition's value once it is true.

    Asked less and less often, as most conditions are calls that take the processors from what is waited for.
    """
    begun = time.monotonic()
    while (waited_s := time.monotonic() - begun) < timeout_s:
        if value := condition():
            return value
        time.sleep(min(0.05 + waited_s / 20, MAX_PAUSE_S))
    raise AssertionError(f"not within {timeout_s} s: {what}")


def start_cloud(
    workdir: Path, *arguments: str, module: str = "local", stderr: int | None = subprocess.PIPE, **environment: str
) -> subprocess.Popen:
    """`python -m local up` as users have it, or `cloud`, which judges roles; it ends with its standard input."""
    command = [sys.executable, "-m", module, "up", "--with-parent", "--workdir", str(workdir), *arguments]
    # An endpoint must not matter to the cloud.
    env = {**os.environ, "AWS_ENDPOINT_URL": "http://unused", "PYTHONPATH": str(REPOSITORY / "tests"), **environment}
    return subprocess.Popen(
        command,
        cwd=REPOSITORY,
        env=env,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=stderr,
        text=True,
    )


def client_of(description: dict[str, Any], service: str, **options: Any) -> Any:
    """A client of the described cloud; the operator's unless keys are given."""
    keys = {"aws_access_key_id": description["access_key"], "aws_secret_access_key": description["secret_key"]}
    place = {"endpoint_url": description["endpoint"], "region_name": description["region"]}
    with _MAKING:
        return boto3.client(service, **{**place, **keys, **options})


@dataclass
class RunningCloud:
    process: subprocess.Popen
    workdir: Path
    description: dict[str, Any]

    @property
    def endpoint(self) -> str:
        return self.description["endpoint"]

    def fork_server(self) -> int:
        children = [
            pid
            for path in Path(f"/proc/{self.process.pid}/task").glob("*/children")
            for pid in path.read_text().split()
        ]
        [found] = [pid for pid in children if b"fork_server.py" in Path(f"/proc/{pid}/cmdline").read_bytes()]
        return int(found)

    def client(self, service: str, **options: Any) -> Any:
        """A client of it; the operator's unless keys are given."""
        return client_of(self.description, service, **options)

    def deploy(self, name: str, template: dict[str, Any], **parameters: str) -> dict[str, str]:
        """Create a stack; its outputs."""
        cloudformation = self.client("cloudformation")
        given = [{"ParameterKey": key, "ParameterValue": value} for key, value in parameters.items()]
        cloudformation.create_stack(
            StackName=name, TemplateBody=json.dumps(template), Parameters=given, Capabilities=["CAPABILITY_IAM"]
        )
        stack = cloudformation.describe_stacks(StackName=name)["Stacks"][0]
        assert stack["StackStatus"] == "CREATE_COMPLETE"
        return {output["OutputKey"]: output["OutputValue"] for output in stack.get("Outputs", [])}

    def execute(
        self, name: str, definition: dict[str, Any], given: Any = None, timeout_s: float = 20, role_arn: str = ""
    ) -> dict[str, Any]:
        """Run a definition once to its end; the answer of DescribeExecution."""
        states = self.client("stepfunctions")
        arn = states.create_state_machine(
            name=name, definition=json.dumps(definition), roleArn=role_arn or OPERATOR_ROLE
        )["stateMachineArn"]
        execution = states.start_execution(stateMachineArn=arn, input=json.dumps(given or {}))["executionArn"]
        return self.wait_for_execution(execution, timeout_s)

    def wait_for_execution(self, arn: str, timeout_s: float = 20) -> dict[str, Any]:
        """The answer of DescribeExecution after its end."""
        states = self.client("stepfunctions")

        def ended() -> dict[str, Any] | None:
            description = states.describe_execution(executionArn=arn)
            return None if description["status"] == "RUNNING" else description

        return wait_until(ended, f"{arn} ended", timeout_s)


OPERATOR_ROLE = "arn:aws:iam::123456789012:role/unused"


def role(*statements: dict[str, Any], service: str = "lambda.amazonaws.com") -> dict[str, Any]:
    """A role resource with these statements."""
    trust = {"Effect": "Allow", "Principal": {"Service": service}, "Action": "sts:AssumeRole"}
    policy = {"PolicyName": "grants", "PolicyDocument": {"Version": "2012-10-17", "Statement": list(statements)}}
    return {
        "Type": "AWS::IAM::Role",
        "Properties": {
            "AssumeRolePolicyDocument": {"Version": "2012-10-17", "Statement": [trust]},
            **({"Policies": [policy]} if statements else {}),
        },
    }


def function(code: str, role_name: str = "Role", **properties: Any) -> dict[str, Any]:
    """A function resource with inline code, whose module is `index`."""
    return {
        "Type": "AWS::Lambda::Function",
        "Properties": {
            "Runtime": "python3.11",
            "Handler": "index.handler",
            "Role": {"Fn::GetAtt": [role_name, "Arn"]},
            "Code": {"ZipFile": code},
            **properties,
        },
    }
