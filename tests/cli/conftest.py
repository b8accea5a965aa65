"""A folder of its own for each test, and a moto server that plays the deployed stack."""

import json
import os
import urllib.request
from types import SimpleNamespace

import boto3
import pytest
from moto.server import ThreadedMotoServer
from support.cli_documents import Cloud, summary_document
from support.refusals import refusal
from typer.testing import CliRunner

from cli.main import app
from cli.target import deployment
from local.programs.liveness import started_ticks

REGION = "eu-central-1"
INDEX = {"cell_key": "HASH", "measured_at": "RANGE"}
ROLE = "arn:aws:iam::123456789012:role/machine"
DEFINITION = {"StartAt": "Plan matrix", "States": {"Plan matrix": {"Type": "Succeed"}}}


@pytest.fixture(autouse=True)
def workdir(tmp_path, monkeypatch):
    """No test sees the cloud, the runs or the AWS account of the person who runs it."""
    for name in ("AWS_PROFILE", "AWS_ENDPOINT_URL", "AWS_REGION", "AWS_DEFAULT_REGION", "COLUMNS", "MATRIX_DEBUG"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "no-config"))
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(tmp_path / "no-credentials"))
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    deployment.session_of.cache_clear()
    deployment.client_of.cache_clear()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    folder = tmp_path / ".local"
    monkeypatch.setenv("MATRIX_WORKDIR", str(folder))
    monkeypatch.chdir(tmp_path)
    folder.mkdir()
    return folder


@pytest.fixture
def matrix():
    """Call the command as a script would: no terminal."""
    return lambda *arguments, **options: CliRunner().invoke(app, list(arguments), **options)


@pytest.fixture
def scenario(tmp_path):
    """Write a good matrix, with changes, to a file."""

    def write(**changes):
        document = {
            "name": "small",
            "storage": [{"type": "ebs", "volumeType": "gp3", "sizeGiB": 20}],
            "workload": [{"type": "touch", "files": 64, "threads": [1, 4]}],
            "fleet": [{"instanceType": "m6i.large", "count": [1, 4]}],
            "repetitions": 2,
            **changes,
        }
        path = tmp_path / "small.json"
        path.write_text(json.dumps(document))
        return path.name

    return write


@pytest.fixture
def keep_run(workdir):
    """Put a finished run into the mirror."""

    def keep(run, **changes):
        folder = workdir / "runs" / run
        folder.mkdir(parents=True)
        (folder / "summary.json").write_text(json.dumps({**summary_document(run), **changes}))
        return folder

    return keep


@pytest.fixture
def stacks(monkeypatch):
    """The account's stacks by name, with their outputs: moto's CloudFormation would import all of its services."""
    known, real = {}, deployment.Deployment.client
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "a")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "b")  # pragma: allowlist secret

    def describe(StackName):  # noqa: N803 - as boto3 calls it
        if StackName not in known:
            raise refusal("ValidationError", "DescribeStacks", message=f"Stack with id {StackName} does not exist")
        outputs = [{"OutputKey": name, "OutputValue": value} for name, value in known[StackName].items()]
        return {"Stacks": [{"StackStatus": "CREATE_COMPLETE", "Outputs": outputs}]}

    def client(self, service, **how):
        if service != "cloudformation":
            return real(self, service, **how)
        return SimpleNamespace(describe_stacks=describe, meta=SimpleNamespace(region_name=self.region))

    monkeypatch.setattr(deployment.Deployment, "client", client)
    return known


@pytest.fixture(scope="session")
def moto_server():
    """One moto server for all tests."""
    server = ThreadedMotoServer(port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    yield f"http://{host.replace('0.0.0.0', 'localhost')}:{port}"
    server.stop()


@pytest.fixture
def cloud(moto_server, workdir):
    """A local cloud as the commands find it: cloud.json, a state machine, a table, a bucket; without functions."""
    keys = {"aws_access_key_id": "local", "aws_secret_access_key": "local"}
    session = boto3.Session(region_name=REGION, **keys)
    urllib.request.urlopen(urllib.request.Request(f"{moto_server}/moto-api/reset", method="POST")).read()
    client = {name: session.client(name, endpoint_url=moto_server) for name in ("s3", "dynamodb", "stepfunctions")}
    machine = client["stepfunctions"].create_state_machine(name="run", definition=json.dumps(DEFINITION), roleArn=ROLE)[
        "stateMachineArn"
    ]
    client["s3"].create_bucket(Bucket="results", CreateBucketConfiguration={"LocationConstraint": REGION})
    client["dynamodb"].create_table(
        TableName="matrix",
        KeySchema=[{"AttributeName": "PK", "KeyType": "HASH"}, {"AttributeName": "SK", "KeyType": "RANGE"}],
        AttributeDefinitions=[{"AttributeName": name, "AttributeType": "S"} for name in ("PK", "SK", *INDEX)],
        GlobalSecondaryIndexes=[
            {
                "IndexName": "cell-over-runs",
                "KeySchema": [{"AttributeName": name, "KeyType": kind} for name, kind in INDEX.items()],
                "Projection": {"ProjectionType": "ALL"},
            }
        ],
        BillingMode="PAY_PER_REQUEST",
    )
    outputs = {"StateMachineArn": machine, "BucketName": "results", "TableName": "matrix", "ReapFunctionName": "reap",
               "FunctionLogGroupName": "mine-FunctionLogGroup-1A"}  # fmt: skip
    document = {"endpoint": moto_server, "region": REGION, "pid": os.getpid(),
                "started_ticks": started_ticks(os.getpid()), "stack": "storage-matrix",
                "access_key": "LOCAL", "secret_key": "local"}  # pragma: allowlist secret  # fmt: skip
    (workdir / "cloud.json").write_text(json.dumps({**document, "outputs": outputs}))
    return Cloud(SimpleNamespace(**client), machine)


@pytest.fixture
def stack(cloud, stacks, moto_server, workdir, monkeypatch):
    """The deployment of `cloud`, found as on AWS: by the outputs of a stack."""
    monkeypatch.setenv("AWS_ENDPOINT_URL", moto_server)
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "test")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "test")
    monkeypatch.setenv("AWS_REGION", "eu-central-1")
    outputs = json.loads((workdir / "cloud.json").read_text())["outputs"]
    (workdir / "cloud.json").unlink()
    stacks["mine"] = outputs
    stacks["other"] = {name: value for name, value in outputs.items() if name != "TableName"}
    return cloud
