"""Only the pinned moto is corrected, it starts quickly, and of two conditional writes at once one succeeds."""

import inspect
from threading import Thread

import boto3
import pytest
from botocore.exceptions import ClientError
from moto import mock_aws
from moto.s3.models import S3Backend
from moto.s3.responses import S3Response

from local.corrections import conditional_writes, moto_version

KEYS = {"region_name": "us-east-1", "aws_access_key_id": "x", "aws_secret_access_key": "x"}


@pytest.fixture
def client():
    """Clients of plain moto, in this process."""
    with mock_aws(config={"stepfunctions": {"execute_state_machine": True}}):
        yield lambda service: boto3.client(service, **KEYS)


def test_another_moto_is_one_clear_error(monkeypatch):
    monkeypatch.setattr(moto_version, "MOTO_VERSION", "9.9.9")

    with pytest.raises(moto_version.MotoChangedError, match=r"pip install moto==9\.9\.9"):
        moto_version.check()


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
