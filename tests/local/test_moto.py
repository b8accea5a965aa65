"""Only the pinned moto is corrected, it starts quickly, and of two conditional writes at once one succeeds."""

import inspect
import subprocess
import sys
from pathlib import Path
from threading import Thread

import boto3
import botocore
import pytest
from botocore.exceptions import ClientError
from botocore.loaders import JSONFileLoader
from moto import mock_aws
from moto.core import utils as core_utils
from moto.s3.models import S3Backend
from moto.s3.responses import S3Response
from moto.utilities import utils

from local import quick_start
from local.corrections import conditional_writes, names
from local.programs import service_models

KEYS = {"region_name": "us-east-1", "aws_access_key_id": "x", "aws_secret_access_key": "x"}


@pytest.fixture
def client():
    """Clients of plain moto, in this process."""
    with mock_aws(config={"stepfunctions": {"execute_state_machine": True}}):
        yield lambda service: boto3.client(service, **KEYS)


def test_this_moto_has_every_name_that_is_corrected():
    names.check()


def test_another_moto_is_one_clear_error(monkeypatch):
    monkeypatch.setattr(names, "MOTO_VERSION", "9.9.9")
    monkeypatch.setitem(names.NAMES, "moto.ec2.models.instances", ["Instance.vanished"])

    with pytest.raises(names.MotoChangedError) as changed:
        names.check()

    assert "moto.ec2.models.instances.Instance.vanished" in str(changed.value)
    assert "Install moto==9.9.9" in str(changed.value)


def test_of_what_moto_knows_only_this_regions_part_is_read(monkeypatch):
    monkeypatch.setattr(utils, "load_resource", utils.load_resource)
    monkeypatch.setattr(core_utils, "create_loader", core_utils.create_loader)
    quick_start.load_only("eu-west-1")
    offered = {
        region: utils.load_resource(f"ec2/resources/instance_type_offerings/region/{region}.json.gz")
        for region in ("eu-west-1", "us-east-1")
    }

    assert "m6i.large" in {offer["InstanceType"] for offer in offered["eu-west-1"]}
    assert offered["us-east-1"] == []
    assert utils.load_resource("ec2/resources/ecs/optimized_amis/eu-west-1.json") == []
    assert utils.load_resource("ec2/resources/latest_amis/eu-west-1.json"), "an instance boots one of these"
    assert core_utils.create_loader() is core_utils.create_loader()


def test_models_of_services_are_read_as_botocore_reads_them(monkeypatch):
    folder = Path(botocore.__file__).parent / "data"
    names = ("endpoints", "ssm/2014-11-06/service-2", "ssm/2014-11-06/there-is-none")
    read = [JSONFileLoader().load_file(str(folder / name)) for name in names]
    monkeypatch.setattr(JSONFileLoader, "load_file", JSONFileLoader.load_file)
    service_models.read_quickly()

    quickly = [JSONFileLoader().load_file(str(folder / name)) for name in names]

    assert quickly == read
    assert list(quickly[1]["operations"]) == list(read[1]["operations"])
    assert JSONFileLoader().load_file(str(folder / names[1])) is quickly[1], "it is read once"


def test_sams_models_of_resources_that_we_do_not_have_are_built_only_when_they_are_needed():
    script = (
        "import sys; from local import quick_start; quick_start.load_sam_as_needed()\n"
        "import samtranslator.translator.translator; from samtranslator.internal import schema_source\n"
        "models = [vars(schema_source)[f'aws_serverless_{name}'] for name in quick_start.MODELS_OF_OTHERS]\n"
        "print({type(model).__name__ for model in models}, models[1].Properties.__name__)"
    )

    printed = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)

    assert printed.stdout.strip() == "{'_LazyModule'} Properties"


def write_at_once(s3, monkeypatch) -> list[int]:
    """Write a key in another thread while a first write is on its way; the statuses of both answers."""
    put, others, statuses = S3Backend.put_object, [], []
    s3.create_bucket(Bucket="board")

    def write() -> None:
        try:
            answer = s3.put_object(Bucket="board", Key="k", Body=b"", IfNoneMatch="*")
        except ClientError as refused:
            answer = refused.response
        statuses.append(answer["ResponseMetadata"]["HTTPStatusCode"])

    def put_late(*place, **content):
        if not others:
            others.append(Thread(target=write))
            others[0].start()
            others[0].join(0.2)  # for ever, where it has to wait for this write
        return put(*place, **content)

    monkeypatch.setattr(S3Backend, "put_object", put_late)
    write()
    others[0].join()
    return sorted(statuses)


@pytest.fixture
def _uncorrected(monkeypatch):
    """moto's own, also where tests of agents have corrected it in this process."""
    monkeypatch.setattr(S3Response, "put_object", inspect.unwrap(S3Response.put_object))


@pytest.mark.usefixtures("_uncorrected")
def test_s3_takes_no_other_condition_than_that_nothing_is_there(client):
    s3 = client("s3")
    s3.create_bucket(Bucket="board")
    s3.put_object(Bucket="board", Key="k", Body=b"", IfNoneMatch='"9b2c"')  # moto does

    conditional_writes.install()

    with pytest.raises(ClientError, match="NotImplemented"):
        s3.put_object(Bucket="board", Key="k", Body=b"", IfNoneMatch='"9b2c"')


@pytest.mark.usefixtures("_uncorrected")
def test_of_two_conditional_writes_at_once_one_succeeds(client, monkeypatch):
    conditional_writes.install()

    assert write_at_once(client("s3"), monkeypatch) == [200, 412]
