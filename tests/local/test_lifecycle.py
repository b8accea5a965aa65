"""Starting and ending the cloud: what is said, what is left."""

import json
import signal
import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from support.running_cloud import client_of, start_cloud, wait_until

TEMPLATE = """
Transform: AWS::Serverless-2016-10-31
Parameters:
  FunctionArchitecture: {Type: String, Default: arm64}
  FunctionRuntime: {Type: String, Default: python3.13}
Globals:
  Function: {CodeUri: code/, Runtime: !Ref FunctionRuntime, Architectures: [!Ref FunctionArchitecture]}
Resources:
  Layer: {Type: AWS::Serverless::LayerVersion, Properties: {ContentUri: layer/}}
  Hello:
    Type: AWS::Serverless::Function
    Properties:
      Handler: hello.handler
      Layers: [!Ref Layer]
      Environment: {Variables: {DATA: /opt/data.txt}}
  Machine:
    Type: AWS::Serverless::StateMachine
    Properties:
      DefinitionUri: machine.asl.json
      DefinitionSubstitutions: {Hello: !GetAtt Hello.Arn}
      Policies: [{LambdaInvokePolicy: {FunctionName: !Ref Hello}}]
Outputs:
  Machine: {Value: !Ref Machine}
  Hello: {Value: !Ref Hello}
"""
CODE = """
import os, subprocess
def handler(event, context):
    subprocess.Popen(["sleep", "1000"])
    return {"root": os.environ["LOCAL_STORAGE"], "layer": open(os.environ["DATA"]).read(), "arch": os.uname().machine}
"""


@pytest.fixture
def project(tmp_path) -> Path:
    """A small project with everything that an embedded deploy packages."""
    for folder, name, text in (
        ("code", "hello.py", CODE),
        ("layer", "data.txt", "layered"),
        (".", "template.yaml", TEMPLATE),
    ):
        (tmp_path / folder).mkdir(exist_ok=True)
        (tmp_path / folder / name).write_text(text)
    (tmp_path / "code" / "__pycache__").mkdir()
    (tmp_path / "code" / "__pycache__" / "hello.pyc").write_bytes(b"x")
    task = {
        "Type": "Task",
        "Resource": "arn:aws:states:::lambda:invoke",
        "Arguments": {"FunctionName": "${Hello}", "Payload": {}},
    }
    say = {**task, "Output": "{% $states.result.Payload %}", "End": True}
    machine = {"QueryLanguage": "JSONata", "StartAt": "Say", "States": {"Say": say}}
    (tmp_path / "machine.asl.json").write_text(json.dumps(machine))
    return tmp_path


@pytest.fixture
def up(project) -> Iterator[tuple[subprocess.Popen, dict]]:
    """A cloud with the small project's stack, and what it printed."""
    process = start_cloud(project / "work", "--template", str(project / "template.yaml"))
    line = process.stdout.readline()
    assert line, process.stderr.read()
    yield process, json.loads(line)
    if not process.stdin.closed:
        process.communicate(timeout=30)


def processes_of(workdir: Path) -> list[int]:
    """Every process whose command or folder is below the cloud's working directory, or that the cloud started."""
    found = []
    for entry in Path("/proc").iterdir():
        try:
            if entry.name.isdigit() and str(workdir) in str((entry / "cwd").readlink()):
                found.append(int(entry.name))
        except (FileNotFoundError, PermissionError, ProcessLookupError):
            continue
    return found


def execute(description: dict) -> dict:
    """Run the small project's state machine once, which leaves a warm sandbox and its child behind."""
    states = client_of(description, "stepfunctions")
    execution = states.start_execution(stateMachineArn=description["outputs"]["Machine"])["executionArn"]
    ended = wait_until(
        lambda: (now := states.describe_execution(executionArn=execution))["status"] != "RUNNING" and now, "execution"
    )
    assert ended["status"] == "SUCCEEDED", ended.get("cause")
    return json.loads(ended["output"])


@pytest.mark.parametrize("how", ["SIGTERM", "parent"])
def test_ending_leaves_no_process_and_no_storage(up, project, how):
    process, description = up
    workdir = project / "work"
    execute(description)
    (workdir / "storage" / "file-systems" / "fs-1").mkdir(parents=True)
    assert processes_of(workdir)  # the warm sandbox and its child

    if how == "parent":
        process.stdin.close()
    else:
        process.send_signal(getattr(signal, how))

    assert process.wait(20) == 0
    assert not processes_of(workdir)
    assert not (workdir / "storage").exists()
    assert not (workdir / "cloud.json").exists()


def test_a_port_that_somebody_else_has_is_named_instead_of_waited_for(tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        process = start_cloud(tmp_path / "work", "--no-deploy", "--port", str(port))
        _, said = process.communicate(timeout=30)

    assert process.returncode == 1
    assert f"port {port} is in use" in said
    assert not (tmp_path / "work" / "cloud.json").exists()


def test_a_killed_cloud_takes_its_processes_along_and_does_not_stop_the_next(up, project):
    process, description = up
    workdir = project / "work"
    execute(description)

    process.kill()
    process.wait(10)
    wait_until(lambda: not processes_of(workdir), "all processes gone")
    assert (workdir / "cloud.json").exists()

    following = start_cloud(workdir, "--no-deploy")
    told = json.loads(following.stdout.readline())
    assert told["pid"] == following.pid
    assert not {told["access_key"], told["secret_key"]} & {description["access_key"], description["secret_key"]}
    following.communicate(timeout=30)
    assert not (workdir / "cloud.json").exists()


def test_a_template_that_cannot_be_deployed_is_one_clear_error(project):
    template = project / "template.yaml"
    template.write_text(template.read_text().replace("ContentUri: layer/", "ContentUri: nowhere/"))

    process = start_cloud(project / "work", "--template", str(template))
    output, errors = process.communicate(timeout=60)

    assert process.returncode == 1
    assert output == ""
    assert "Layer: " in errors
    assert "Traceback" not in errors
    assert not (project / "work" / "cloud.json").exists()
    assert not processes_of(project / "work")


def test_other_systems_are_told_at_once(monkeypatch, capsys):
    from local import __main__ as command

    monkeypatch.setattr("sys.platform", "darwin")

    assert command.main(["up"]) == 2
    assert "darwin is not supported" in capsys.readouterr().err
