"""What a function tries again is in its log once, with its reason; what no further attempt mends is not tried again."""

import io
import logging
from types import SimpleNamespace

import boto3
import pytest
from botocore.awsrequest import AWSResponse
from botocore.config import Config
from botocore.exceptions import (
    ClientError,
    EndpointConnectionError,
    FlexibleChecksumError,
    ParamValidationError,
)

from aws.records import bucket
from aws.stack import clients, retrying
from aws.stack.retrying import NotYet, retried


def refusal(code, status=400):
    return ClientError({"Error": {"Code": code}, "ResponseMetadata": {"HTTPStatusCode": status}}, "PutObject")


class Scripted:
    """A client whose PutObject raises what the script says, in turn, and then answers."""

    def __init__(self, script):
        self.script, self.calls = script, 0

    def put_object(self, **_):
        self.calls += 1
        if self.script:
            raise self.script.pop(0)


@pytest.fixture
def lines(caplog):
    caplog.set_level(logging.INFO)
    return lambda message: [record for record in caplog.records if record.getMessage() == message]


@pytest.fixture
def written(stack, monkeypatch):
    def write(script):
        client = Scripted(script)
        monkeypatch.setattr(bucket, "client", lambda _: client)
        return client

    monkeypatch.setattr(bucket, "PAUSE_S", 0)
    return write


def test_a_conditional_write_that_conflicts_is_told_once_and_how_it_ended(written, lines):
    client = written([refusal("ConditionalRequestConflict", 409)] * 3)

    assert bucket.put_if_absent("runs/r/gate", {}) is True

    assert client.calls == 4
    [first] = lines("tried again")
    assert first.what == "the conditional write of runs/r/gate"
    assert "ConditionalRequestConflict" in first.reason
    assert [line.failures for line in lines("well at last")] == [3]


@pytest.mark.parametrize(
    "error",
    [
        refusal("AccessDenied", 403),
        refusal("InvalidArgument"),
        refusal("ExpiredToken"),
        ParamValidationError(report='Unknown parameter in input: "IfNoneMatch"'),
        refusal("SlowDown", 503),  # botocore has repeated it ten times already
        EndpointConnectionError(endpoint_url="https://s3"),
    ],
    ids=lambda error: type(error).__name__ + str(getattr(error, "response", ""))[:40],
)
def test_a_conditional_write_that_is_refused_otherwise_is_given_up_at_once(written, lines, error):
    client = written([error] * 9)

    with pytest.raises(type(error)):
        bucket.put_if_absent("runs/r/gate", {})

    assert client.calls == 1
    assert lines("tried again") == []


class BrokenOff(io.BytesIO):
    def read(self, *_):
        raise FlexibleChecksumError(error_msg="a part of the body is missing")


def test_a_body_that_broke_off_is_read_again(stack, monkeypatch, lines):
    bodies = [BrokenOff(), io.BytesIO(b"whole")]
    client = SimpleNamespace(
        get_object=lambda **_: {"Body": bodies.pop(0)}, exceptions=SimpleNamespace(NoSuchKey=KeyError)
    )
    monkeypatch.setattr(bucket, "client", lambda _: client)
    monkeypatch.setattr(bucket, "PAUSE_S", 0)

    assert bucket.get_bytes("runs/r/heartbeat") == b"whole"

    assert [line.failures for line in lines("well at last")] == [1]


def test_who_gives_up_raises_what_aws_has_said_and_logs_how_often(lines):
    def call():
        raise NotYet("conflict") from refusal("ConditionalRequestConflict")

    with pytest.raises(ClientError, match="ConditionalRequestConflict"):
        retried("the write", call, [0.0, 0.0])

    assert [line.failures for line in lines("given up")] == [3]


@pytest.fixture
def s3(monkeypatch):
    """An S3 that answers with each status of a list in turn."""
    monkeypatch.setattr("botocore.endpoint.time.sleep", lambda _: None)
    statuses = []

    class Raw:
        def __init__(self, body):
            self.body = body

        def stream(self, **_):
            yield self.body

    def answer(**_):
        status = statuses.pop(0)
        body = (
            b""
            if status == 200
            else b"<Error><Code>%s</Code></Error>" % {503: b"SlowDown", 403: b"AccessDenied"}[status]
        )
        return AWSResponse("https://s3", status, {}, Raw(body))

    config = Config(retries={"mode": "standard", "total_max_attempts": 10})
    client = boto3.Session("x", "x", region_name="us-east-1").client("s3", config=config)
    client.meta.events.register("before-send.s3", answer)
    retrying.logging_retries(client)
    client.statuses = statuses
    return client


def test_what_botocore_repeats_in_silence_is_told_once_with_its_reason(s3, lines):
    s3.statuses += [503, 503, 503, 200]

    s3.put_object(Bucket="b", Key="k", Body=b"")

    [first] = lines("asked again by botocore")
    assert (first.call, "SlowDown" in first.reason) == ("PutObject", True)
    assert [line.attempts for line in lines("answered at last")] == [4]


def test_what_botocore_does_not_repeat_is_not_told_as_repeated(s3, lines):
    s3.statuses += [403, 200]

    with pytest.raises(ClientError, match="AccessDenied"):
        s3.put_object(Bucket="b", Key="k", Body=b"")
    s3.put_object(Bucket="b", Key="k", Body=b"")

    assert lines("asked again by botocore") == lines("answered at last") == []


@pytest.mark.parametrize(("service", "attempts"), [("s3files", 3), ("efs", 10)])
def test_an_endpoint_that_a_region_lacks_is_given_up_after_some_attempts(monkeypatch, service, attempts):
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:9")  # nobody listens there
    for name in ("AWS_DEFAULT_REGION", "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "eu-south-2")
    monkeypatch.setattr("botocore.endpoint.time.sleep", lambda _: None)
    clients.client.cache_clear()
    client, asked = clients.client(service), []
    client.meta.events.register("before-send", lambda **_: asked.append(1))
    operation = {"s3files": "list_file_systems", "efs": "describe_file_systems"}[service]

    with pytest.raises(EndpointConnectionError):
        getattr(client, operation)()

    clients.client.cache_clear()
    assert len(asked) == attempts
