"""How the agent meets AWS: who it is, whose keys it has, what it makes of a request that fails."""

from __future__ import annotations

import io
import logging
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from support.agent_cloud import BUCKET, PAUSE_S, PREFIX, REGION, ROOT, MetadataService

from agent.__main__ import report_outcome
from agent.board import blackboard
from agent.errors import BlackboardUnavailable, DeadlinePassed, JobInvalid, MetadataUnavailable
from agent.machine.metadata import identify
from agent.programs import interrupts
from agent.session import Session

ROLE = {
    "Code": "Success",
    "AccessKeyId": "AKIDROLE",
    "SecretAccessKey": "secret",  # pragma: allowlist secret
    "Token": "the-roles-token",
    "Expiration": "2099-01-01T00:00:00Z",
}


class Throttled(ThreadingHTTPServer):
    """An S3 that gives the answers of `script` in turn; None keeps the connection and says nothing."""

    def __init__(self, script: list[int | None]) -> None:
        super().__init__(("127.0.0.1", 0), ThrottledHandler)
        self.script = script
        self.bodies: list[bytes] = []
        self.headers_seen: list[dict[str, str]] = []
        self.is_over = threading.Event()
        threading.Thread(target=self.serve_forever, args=(PAUSE_S,), daemon=True).start()


class ThrottledHandler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: Throttled

    def do_PUT(self) -> None:
        self.server.bodies.append(self.rfile.read(int(self.headers["Content-Length"])))
        self.answer()

    def do_GET(self) -> None:
        self.answer()

    def answer(self) -> None:
        self.server.headers_seen.append(dict(self.headers))
        status = self.server.script.pop(0)
        if status is None:
            self.server.is_over.wait()
            return
        code = {403: "AccessDenied", 503: "SlowDown"}.get(status, "Odd")
        text = b"" if status == 200 else f"<Error><Code>{code}</Code><Message>no</Message></Error>".encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def log_message(self, *args: object) -> None:
        pass


@pytest.fixture
def service() -> Iterator[MetadataService]:
    service = MetadataService("i-42", ROLE)
    yield service
    service.shutdown()
    service.server_close()


@pytest.fixture(autouse=True)
def on_an_instance(monkeypatch, service):
    """Nothing of the developer's own: keys come from the role or there are none."""
    for name in [name for name in os.environ if name.startswith("AWS_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("AWS_CONFIG_FILE", os.devnull)
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", os.devnull)
    monkeypatch.setenv("AWS_EC2_METADATA_SERVICE_ENDPOINT", service.url)


@pytest.fixture
def s3(monkeypatch) -> Iterator[Throttled]:
    server = Throttled([])
    monkeypatch.setenv("AWS_ENDPOINT_URL", f"http://127.0.0.1:{server.server_port}")
    yield server
    server.is_over.set()
    server.shutdown()
    server.server_close()


@pytest.fixture
def no_pauses(monkeypatch):
    """The retries of botocore without what they wait in between."""
    monkeypatch.setattr("botocore.endpoint.time.sleep", lambda _: None)


def bucket() -> blackboard.Bucket:
    return blackboard.Bucket(BUCKET, blackboard.new_session(REGION))


def test_an_s3_uri_is_taken_apart_and_anything_else_refused():
    assert blackboard.parse_uri("s3://bucket/runs/r/job.json") == ("bucket", "runs/r/job.json")
    with pytest.raises(JobInvalid, match="not an S3 URI"):
        blackboard.parse_uri("https://bucket/runs")


def test_the_identity_is_asked_with_a_token_below_the_endpoints_own_path(service):
    identity = identify()

    assert (identity.instance_id, identity.region, identity.availability_zone) == ("i-42", "eu-west-1", "eu-west-1a")
    assert (identity.instance_type, identity.image_id) == ("m6i.4xlarge", "ami-0123456789abcdef0")
    # The private address, too, at which a file server listens; the subnet, by the address of the card.
    assert len(service.requests_seen) == 8
    assert all(seen.startswith("v2 /i-42/latest/meta-data/") for seen in service.requests_seen)


def test_a_silent_metadata_service_is_named():
    with pytest.raises(MetadataUnavailable, match=r"http://127.0.0.1:1/latest/api/token did not answer 2 times"):
        identify("http://127.0.0.1:1/", attempts=2)


@pytest.mark.parametrize("status", [403, 404])
def test_a_metadata_service_that_is_switched_off_is_told_so(service, status):
    service.status = status

    with pytest.raises(MetadataUnavailable, match=r"/i-42/latest/api/token .*is IMDSv2 switched on\?"):
        identify()


def test_a_metadata_service_without_a_region_is_told_so(service, monkeypatch):
    monkeypatch.setattr(service, "answer", lambda path: None if path.endswith("placement/region") else "x")

    with pytest.raises(MetadataUnavailable, match="knows no instance-id or no placement/region"):
        identify()


def test_the_roles_keys_come_from_the_same_service_with_a_token_and_are_asked_for_once(service, s3):
    s3.script += [200, 200]
    ours = bucket()

    ours.put("first", b"{}")
    ours.put("second", b"{}")

    root = "v2 /i-42/latest/meta-data/iam/security-credentials/"
    assert service.requests_seen == [root, f"{root}fleet-role"]
    assert {seen["X-Amz-Security-Token"] for seen in s3.headers_seen} == {"the-roles-token"}


def test_an_instance_without_a_role_is_told_so(service):
    service.role = None

    with pytest.raises(MetadataUnavailable, match="has no role"):
        blackboard.caller_userid(blackboard.new_session(REGION))


def test_the_question_who_we_are_goes_to_the_instances_own_region():
    sts = blackboard.new_client(blackboard.new_session("us-west-2"), "sts")

    assert sts.meta.endpoint_url == "https://sts.us-west-2.amazonaws.com"


@pytest.mark.usefixtures("no_pauses")
def test_a_put_is_repeated_whole_while_s3_asks_to_slow_down(s3):
    s3.script += [503, 503, 500, 503, 502, 200]

    bucket().put("name", b"the body")

    assert s3.bodies == [b"the body"] * 6


@pytest.mark.usefixtures("no_pauses")
def test_what_boto3_repeats_in_silence_is_in_the_log_once_with_its_reason(s3, caplog):
    caplog.set_level(logging.INFO, logger="agent")
    s3.script += [503, 503, 500, 200, 200]

    ours = bucket()
    ours.put("name", b"the body")
    ours.put("name", b"the body")

    first, last = (record.getMessage() for record in caplog.records)
    assert first.startswith("PutObject: repeated by boto3 after: An error occurred (SlowDown)")
    assert last == "PutObject: answered at attempt 4"


def test_what_boto3_does_not_repeat_is_not_in_the_log_as_repeated(s3, caplog):
    s3.script += [404, 403]

    assert [bucket().get("name"), bucket().get("name")] == [None, None]

    assert caplog.records == []


@pytest.mark.usefixtures("no_pauses")
def test_an_s3_that_stays_overloaded_is_unavailable_after_all_attempts(s3):
    s3.script += [503] * 20

    with pytest.raises(BlackboardUnavailable, match=f"PUT s3://{BUCKET}/a/name: .*SlowDown") as caught:
        bucket().put("a/name", b"{}")

    assert len(s3.bodies) == blackboard.ATTEMPTS == 8
    assert caught.value.name == "BlackboardUnavailable"


@pytest.mark.usefixtures("no_pauses")
def test_an_s3_that_nobody_reaches_is_unavailable(monkeypatch):
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:1")

    with pytest.raises(BlackboardUnavailable, match=f"GET s3://{BUCKET}/name: Could not connect"):
        bucket().get("name")


@pytest.mark.parametrize("status", [403, 404])
def test_a_key_that_is_not_there_yet_is_none_whether_or_not_the_role_may_list(s3, status):
    s3.script += [status]

    assert bucket().get("name") is None


def test_a_put_that_is_refused_is_unavailable_at_once(s3):
    s3.script += [403]

    with pytest.raises(BlackboardUnavailable, match="AccessDenied"):
        bucket().put("name", b"{}")


def test_a_deadline_interrupts_a_request_and_is_not_taken_for_trouble_of_the_network(s3):
    s3.script += [None] * 8
    ours = bucket()
    before = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGINT, signal.SIGALRM)}

    asked_at = time.monotonic()
    try:
        interrupts.set_deadline(time.time() + 0.3)
        with pytest.raises(DeadlinePassed):
            ours.get("gates/0000.json")
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)

    assert time.monotonic() - asked_at < 20  # 0.3 s alone; unheard, the request hangs for 30 s
    assert len(s3.headers_seen) == 1


def test_without_its_client_the_agent_says_where_one_is(service, tmp_path):
    (tmp_path / "botocore.py").write_text(
        "raise ModuleNotFoundError(\"No module named 'botocore'\", name='botocore')\n"
    )
    env = {"PYTHONPATH": f"{tmp_path}:{ROOT}:{ROOT}/functions", "AWS_EC2_METADATA_SERVICE_ENDPOINT": service.url}

    ended = subprocess.run(
        [sys.executable, "-m", "agent", f"s3://{BUCKET}/{PREFIX}/job.json"],
        env=env, capture_output=True, text=True, timeout=30,
    )  # fmt: skip

    assert ended.returncode == 1
    assert "ERROR ToolMissing: " in ended.stderr
    assert "start the agent from the zip" in ended.stderr
    assert "Traceback" not in ended.stderr


class Refusing:
    """A blackboard on which some names cannot be written."""

    def __init__(self, *refused: str) -> None:
        self.refused, self.written = refused, {}

    def put(self, name: str, document: dict) -> None:
        if name in self.refused:
            raise BlackboardUnavailable(f"PUT {name}: AccessDenied")
        self.written[name] = document

    def put_log(self, text: str) -> None:
        self.put("log.gz", {"text": text})


@pytest.mark.parametrize("refused", ["log.gz", "done.json"])
def test_an_agent_that_cannot_put_its_last_documents_still_says_why(refused):
    board, session = Refusing(refused), Session(None, "u", None, logging.getLogger())

    assert report_outcome(board, None, session, io.StringIO()) == 1

    assert board.written["failed.json"]["message"] == f"PUT {refused}: AccessDenied"
    assert "done.json" not in board.written


def test_a_failure_is_told_though_the_log_of_it_cannot_be_kept():
    board, session = Refusing("log.gz"), Session(None, "u", None, logging.getLogger())

    assert report_outcome(board, {"error": "ToolFailed", "message": "exit status 7"}, session, io.StringIO()) == 1

    assert board.written["failed.json"]["error"] == "ToolFailed"
