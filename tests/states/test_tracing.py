"""What a function adds to the trace of an invocation, beside what AWS's own SDK would send."""

import json
import os
import socket

import boto3
import pytest
from aws_xray_sdk.core import AWSXRayRecorder
from aws_xray_sdk.core.lambda_launcher import LambdaContext as OfLambda
from moto import mock_aws

from aws.stack import entry

ROOT, PARENT = "1-5759e988-bd862e3fe1be46a994272793", "557abcec3ee5a047"  # pragma: allowlist secret
SAMPLED = f"Root={ROOT};Parent={PARENT};Sampled=1;Lineage=1:a87bd80c:0"


@pytest.fixture
def daemon(monkeypatch):
    """What the X-Ray daemon of a traced function gets: a port of our own in its place."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as own:
        own.bind(("127.0.0.1", 0))
        own.settimeout(10)
        monkeypatch.setenv("AWS_XRAY_DAEMON_ADDRESS", f"127.0.0.1:{own.getsockname()[1]}")
        monkeypatch.setenv("_X_AMZN_TRACE_ID", SAMPLED)
        yield own


def poll_fleet(event, _context):
    """Do nothing, or fail."""
    if event.get("fails"):
        raise RuntimeError("no such thing")
    return {}


poll_fleet.__module__ = "poll_fleet"
handler = entry.entry(poll_fleet)


def received(daemon):
    """The header and the document of the next datagram."""
    header, _, document = daemon.recv(65_536).partition(b"\n")
    return json.loads(header), json.loads(document)


def test_a_traced_invocation_is_annotated_with_run_and_cell(daemon, context):
    handler({"run": "r1", "cell": "efs.touch", "poll_s": 10}, context)

    _, document = received(daemon)
    assert document["annotations"] == {"run": "r1", "cell": "efs.touch"}
    assert (document["name"], document["trace_id"], document["parent_id"]) == ("Poll fleet", ROOT, PARENT)
    assert document["start_time"] <= document["end_time"]
    assert "fault" not in document


def test_the_sdk_of_aws_sends_the_same_but_for_what_it_says_of_itself(daemon, context, monkeypatch):
    monkeypatch.setenv("AWS_LAMBDA_FUNCTION_NAME", "any")
    recorder = AWSXRayRecorder()
    recorder.configure(context=OfLambda(), daemon_address=os.environ["AWS_XRAY_DAEMON_ADDRESS"], streaming_threshold=0)
    recorder.begin_subsegment("Poll fleet")
    recorder.put_annotation("run", "r1")
    recorder.end_subsegment()
    recorder.emitter._socket.close()
    handler({"run": "r1"}, context)

    (their_header, theirs), (our_header, ours) = received(daemon), received(daemon)
    assert our_header == their_header
    own = {"id": "", "start_time": 0, "end_time": 0}
    assert theirs.pop("namespace") == "local"
    assert theirs.pop("in_progress") is False
    assert theirs | own == ours | own
    assert len(theirs["id"]) == len(ours["id"])


def test_a_failure_is_a_fault_of_the_trace_with_its_name_and_is_still_raised(daemon, context):
    with pytest.raises(RuntimeError):
        handler({"run": "r1", "fails": True}, context)

    _, document = received(daemon)
    assert document["fault"] is True
    [exception] = document["cause"]["exceptions"]
    assert (exception["type"], exception["message"]) == ("RuntimeError", "no such thing")


@pytest.mark.parametrize("header", [None, "", SAMPLED.replace("Sampled=1", "Sampled=0"), f"Root={ROOT}"])
def test_where_nothing_is_traced_nothing_is_sent(header, monkeypatch, context):
    monkeypatch.delenv("AWS_XRAY_DAEMON_ADDRESS", raising=False)
    if header is None:
        monkeypatch.delenv("_X_AMZN_TRACE_ID", raising=False)
    else:
        monkeypatch.setenv("_X_AMZN_TRACE_ID", header)
    monkeypatch.setattr(socket, "socket", lambda *_: pytest.fail("a socket was opened"))

    assert handler({"run": "r1"}, context) == {}


def test_a_trace_that_cannot_be_sent_fails_nothing(daemon, monkeypatch, context):
    monkeypatch.setenv("AWS_XRAY_DAEMON_ADDRESS", "255.255.255.255:2000")

    assert handler({"run": "r1"}, context) == {}


def test_x_ray_takes_the_document(daemon, context):
    handler({"run": "r1", "cell": "efs.touch"}, context)
    _, document = received(daemon)

    with mock_aws():
        xray = boto3.client("xray", "eu-west-1", aws_access_key_id="any", aws_secret_access_key="any")
        assert xray.put_trace_segments(TraceSegmentDocuments=[json.dumps(document)])["UnprocessedTraceSegments"] == []
        [trace] = xray.batch_get_traces(TraceIds=[ROOT])["Traces"]
    assert [json.loads(one["Document"])["id"] for one in trace["Segments"]] == [document["id"]]
