"""Each loop that makes an attempt again is given an error of each kind.

What another attempt can mend is attempted again, and the log has the first reason. What none can mend ends the loop at
once, with its reason. A new loop is red here until it has a row below.
"""

import ast
import dataclasses
import logging
import re
import threading
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from urllib.error import HTTPError, URLError

import pytest
from botocore.awsrequest import AWSResponse
from botocore.exceptions import ClientError, NoCredentialsError, ParamValidationError
from support.failing import KINDS, MENDABLE, UNMENDABLE, Failing, MeetingS3, refusal

from agent import mounts, retrying
from agent import session as sessions
from agent.board import barrier, blackboard
from agent.board.barrier import Barrier
from agent.board.heartbeat import Heartbeat
from agent.board.meeting import Meeting
from agent.errors import ToolFailed
from agent.job import BarrierRule
from agent.machine import metadata
from agent.mounts import ebs, ebs_device, nfs
from agent.programs import containers
from agent.workloads import neighbours
from aws.fleet import launching
from aws.records import bucket
from aws.run import endings
from aws.stack import clients
from aws.stack import retrying as functions_retrying
from cli.follow import following, interruption
from cli.follow.interruption import InterruptCounter, Patience
from cli.target.deployment import Deployment
from cli.target.service import Execution
from contract.keys import MeetingPlace
from storages.ebs import cloud as ebs_cloud

ROOT = Path(__file__).parents[2]
LOG = logging.getLogger("agent.test")
# What makes an attempt again: the two helpers, and botocore, whose repetitions `hear_repeats` reports.
HELPERS = {"retried", "Series", "hear_repeats", "say_retries"}
DEFINED_IN = ("agent/retrying.py", "functions/aws/stack/retrying.py", "functions/contract/mending.py")
# Loops of their own in which an attempt may fail (tests/house/test_retry_loops.py has all others, and why they may be).
OWN = {
    "agent/board/blackboard.py: get_range",
    "cli/follow/following.py: follow",
    "cli/follow/interruption.py: _reap_until_empty",
}
FAILURES = 2


class _Tried:
    """What a loop is run with: how often it fails, and what it wrote of that."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, times: int | None) -> None:
        self.monkeypatch, self.tmp_path, self.times = monkeypatch, tmp_path, times
        self.said: list[str] = []
        self.calls = lambda: 0

    def failing(self, error: BaseException, answer: Any = None) -> Failing:
        """Return the call that fails."""
        call = Failing(error, self.times, answer)
        self.calls = lambda: call.calls
        return call


Loop = Callable[[_Tried, Any], object]


@dataclasses.dataclass(frozen=True)
class Row:
    """A loop: how to run it, its errors by kind, and why it attempts a kind again, or does not, unlike others."""

    run: Loop
    errors: Mapping[str, Any]
    again: Mapping[str, str]
    ends: Mapping[str, str]
    threads: int  # each of which makes an attempt


ROWS: dict[str, Row] = {}


def row(
    place: str,
    errors: Mapping[str, Any] | None = None,
    again: Mapping[str, str] | None = None,
    ends: Mapping[str, str] | None = None,
    absent: Mapping[str, str] | None = None,
    threads: int = 1,
) -> Callable[[Loop], Loop]:
    """Register a loop with the kinds that it attempts again, or that end it, unlike others, or that cannot occur."""

    def register(run: Loop) -> Loop:
        own = {
            kind: error for kind, error in (errors or {**MENDABLE, **UNMENDABLE}).items() if kind not in (absent or {})
        }
        assert own.keys() | (absent or {}).keys() == set(KINDS), place
        ROWS[place] = Row(run, own, again or {}, ends or {}, threads)
        return run

    return register


def functions_that_try_again() -> set[str]:
    """Return `file: function` of each use of a helper, as the code has them."""
    found = set()
    for house in ("agent", "functions", "cli"):
        for file in sorted((ROOT / house).rglob("*.py")):
            name = file.relative_to(ROOT).as_posix()
            if name not in DEFINED_IN:
                found |= {f"{name}: {function}" for function in _uses(ast.parse(file.read_text(encoding="utf-8")))}
    return found


def _uses(tree: ast.Module) -> Iterator[str]:
    imported = {
        alias.asname or alias.name
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and (node.module or "").rpartition(".")[2] in ("retrying", "mending")
        for alias in node.names
    }

    def walk(node: ast.AST, function: str) -> Iterator[str]:
        for child in ast.iter_child_nodes(node):
            name = child.name if isinstance(child, ast.FunctionDef) and not function else function
            if isinstance(child, ast.Call):
                of_module = isinstance(child.func, ast.Attribute) and child.func.attr in HELPERS
                if of_module or (isinstance(child.func, ast.Name) and child.func.id in HELPERS & imported):
                    yield name
            yield from walk(child, name)

    yield from walk(tree, "")


def test_each_loop_is_given_errors():
    assert functions_that_try_again() | OWN == ROWS.keys()


def test_each_client_of_botocore_reports_what_it_repeats():
    made = {
        f"{file.relative_to(ROOT).as_posix()}: {function.name}"
        for house in ("agent", "functions", "cli")
        for file in (ROOT / house).rglob("*.py")
        for function in ast.walk(ast.parse(file.read_text(encoding="utf-8")))
        if isinstance(function, ast.FunctionDef)
        and re.search(r"config=(config|_CONFIG|_IMPATIENT)", ast.unparse(function))
    }

    assert made - {"functions/aws/stack/clients.py: impatient_client"} == {
        place for place in ROWS if place.endswith(("client", "table"))
    }


# --- the agent -------------------------------------------------------------------------------------------------------

RULE = BarrierRule(poll_s=0.001, margin_s=0.001, request_s=1.0, timeout_s=30.0)
NOT_YET = "a role that may not list gets 403 for what is not there yet"
NO_CONDITION = {"conflict": "it writes nothing under a condition"}


def meet(tried: _Tried, call: str, error: Exception) -> None:
    tried.monkeypatch.setattr(barrier._DICE, "uniform", lambda low, _high: low / 100)
    s3 = MeetingS3(call, error, tried.times)
    tried.calls = lambda: s3.failing.calls
    Barrier(Meeting(s3, "b", MeetingPlace("p/")), "AROA:i-1", RULE).wait(0)


@row("agent/board/barrier.py: _say_ready")
def say_ready(tried, error):
    meet(tried, "put p/ready", error)


@row("agent/board/barrier.py: wait")
def open_gate(tried, error):
    meet(tried, "put p/gates", error)


@row("agent/board/barrier.py: __init__", absent={**NO_CONDITION, "denied": f"{NOT_YET}: no error"}, threads=2)
def look_at_gate(tried, error):
    meet(tried, "get p/gates", error)


@row("agent/board/heartbeat.py: _beat")
def beat(tried, error):
    has_beaten = threading.Event()
    call = tried.failing(error)

    def put(*_):
        with blackboard.translated("PUT s3://b/heartbeat"):
            call()
        has_beaten.set()

    beating = Heartbeat(SimpleNamespace(put=put), 0.001)
    while not has_beaten.wait(0.001) and beating._thread.is_alive():
        pass
    beating.say("running")
    beating.stop()


@row("agent/board/blackboard.py: get_range", absent=NO_CONDITION)
def read_range(tried, error):
    body = SimpleNamespace(read=tried.failing(error, b"page"))
    blackboard.get_range(SimpleNamespace(get_object=lambda **_: {"Body": body}), {}, 0, 3)


def session_with(get: Callable[..., Any]) -> Any:
    asking = sessions.Session.__new__(sessions.Session)
    asking.identity = SimpleNamespace(instance_id="i-1")
    asking._blackboard = SimpleNamespace(volumes=get)
    return asking


@row("agent/session.py: _own", absent={**NO_CONDITION, "denied": f"{NOT_YET}: no error"})
def ask_for_volumes(tried, error):
    call = tried.failing(error, ["vol-1"])

    def volumes(_instance):
        with blackboard.translated("GET s3://b/volumes.json"):
            return call()

    tried.monkeypatch.setattr(sessions, "PAUSE_S", 0.0)
    assert session_with(volumes)._own({"kind": sessions.DEVICE})["volumes"] == ["vol-1"]


METADATA = {
    "throttled": HTTPError("u", 429, "Too Many Requests", None, None),  # type: ignore[arg-type]
    "status 500": HTTPError("u", 503, "Service Unavailable", None, None),  # type: ignore[arg-type]
    "connection reset": URLError(ConnectionResetError(104, "Connection reset by peer")),
    "timeout": TimeoutError("timed out"),
    "denied": HTTPError("u", 403, "Forbidden", None, None),  # type: ignore[arg-type]
    "parameters": HTTPError("u", 400, "Bad Request", None, None),  # type: ignore[arg-type]
    "no credentials": HTTPError("u", 401, "Unauthorized", None, None),  # type: ignore[arg-type]
}


class Answer:
    """An answer of the metadata service."""

    def __enter__(self):
        return SimpleNamespace(read=lambda: b"i-1")

    def __exit__(self, *_):
        pass


@row("agent/machine/metadata.py: _ask", METADATA, absent=NO_CONDITION)
def ask_metadata(tried, error):
    tried.monkeypatch.setattr(metadata, "OPENER", SimpleNamespace(open=tried.failing(error, Answer())))
    assert metadata._ask("GET", "http://i/x", {}, 8) == "i-1"


# What docker prints.
PULLS = {
    "throttled": "toomanyrequests: You have reached your unauthenticated pull rate limit",
    "status 500": "received unexpected HTTP status: 503 Service Unavailable",
    "connection reset": "read tcp 10.0.0.1:443: connection reset by peer",
    "timeout": "net/http: TLS handshake timeout",
    "denied": "pull access denied for debian, repository does not exist or may require 'docker login'",
    "parameters": "invalid reference format",
    "no credentials": "Head https://r/v2/debian/manifests/13: no basic auth credentials",
}


@row("agent/programs/containers.py: _pull", PULLS, absent=NO_CONDITION)
def pull(tried, words):
    tried.monkeypatch.setattr(containers, "PAUSE_S", 0.0)
    tried.monkeypatch.setattr(containers, "engine_path", lambda: "docker")
    tried.monkeypatch.setattr(containers, "run", tried.failing(ToolFailed(f"docker pull ended with status 1: {words}")))
    containers.Container("debian:13", {})._pull(tried.tmp_path)


# What mount.nfs (nfs-utils, utils/mount/error.c) and mount.efs print.
MOUNTS = {
    "connection reset": "mount.nfs: Connection reset by peer",
    "timeout": "mount.nfs: Connection timed out",
    "denied": "mount.nfs: access denied by server while mounting fs-1:/",
    "parameters": "mount.nfs: an incorrect mount option was specified for /mnt/storage-matrix",
    "no credentials": (
        "AWS Access Key ID and Secret Access Key are not found in AWS credentials file (/root/.aws/credentials), "
        "config file (/root/.aws/config), from ECS credentials relative uri, or from the instance security credentials "
        "service"
    ),
}


@row(
    "agent/mounts/__init__.py: persist",
    MOUNTS,
    again={"denied": "policies and exports of a new file system take minutes to take effect"},
    absent={**NO_CONDITION, "throttled": "a server of NFS has no such answer", "status 500": "nor this one"},
)
def mount(tried, words):
    call = tried.failing(RuntimeError(words))

    def result(_command, _timeout_s):
        try:
            call()
        except RuntimeError:
            return SimpleNamespace(returncode=32, stderr=words)
        return SimpleNamespace(returncode=0, stderr="")

    tried.monkeypatch.setattr(mounts, "MOUNT_POINT", tried.tmp_path)
    tried.monkeypatch.setattr(mounts, "command_result", result)
    nfs.attach({"source": "fs-1:/", "options": "hard"}, LOG, timeout_s=60, pause_s=0.001)


# Loops that wait for something on this machine: it is not there yet, or it may not be looked at.
NO_REQUEST = dict.fromkeys(
    ("throttled", "status 500", "connection reset", "parameters", "no credentials", "conflict"),
    "it asks the kernel of this machine",
)
LOOKS = {"timeout": None, "denied": PermissionError(13, "Permission denied")}


def looked(tried: _Tried, error: Exception | None, missing: Any, found: Any) -> Callable[..., Any]:
    call = tried.failing(error or LookupError())

    def look(*_: object) -> Any:
        try:
            call()
        except LookupError:
            return missing
        return found

    return look


@row("agent/mounts/ebs.py: wait_for_disk", LOOKS, absent=NO_REQUEST)
def wait_for_disk(tried, error):
    tried.monkeypatch.setattr(ebs.disks, "find", looked(tried, error, None, Path("/dev/nvme1n1")))
    tried.monkeypatch.setattr(ebs.disks, "all_disks", lambda *_: [])
    ebs.wait_for_disk("/dev/sdf", LOG)


@row("agent/mounts/ebs_device.py: wait_for_volumes", LOOKS, absent=NO_REQUEST)
def wait_for_volumes(tried, error):
    tried.monkeypatch.setattr(ebs_device.raw_disks, "of_volumes", looked(tried, error, None, [Path("/dev/nvme1n1")]))
    tried.monkeypatch.setattr(ebs_device.disks, "all_disks", list)
    ebs_device.wait_for_volumes(["vol-1"], LOG)


@row("agent/workloads/neighbours.py: _wait", LOOKS, absent=NO_REQUEST)
def wait_for_neighbours(tried, error):
    folder = SimpleNamespace(iterdir=looked(tried, error, [], [Path("i-1"), Path("i-2")]))
    neighbours._wait(folder, 2, 60.0, 0.001)  # type: ignore[arg-type]


# --- the functions ---------------------------------------------------------------------------------------------------


def of_function(tried: _Tried) -> None:
    for name, value in {
        "BUCKET": "results",
        "DATA_BUCKET": "data",
        "FILES_BUCKET": "files",
        "TABLE": "table",
        "AWS_REGION": "us-east-1",
    }.items():
        tried.monkeypatch.setenv(name, value)
    tried.monkeypatch.setattr(bucket, "environment", lambda: SimpleNamespace(bucket="results"))


REPEATED_BEFORE = "botocore has repeated it, ten times in two minutes: see the clients below"
BY_CLIENT = dict.fromkeys(("throttled", "status 500", "connection reset", "timeout"), REPEATED_BEFORE)


@row("functions/aws/records/bucket.py: put_if_absent", ends=BY_CLIENT)
def put_if_absent(tried, error):
    of_function(tried)
    tried.monkeypatch.setattr(bucket, "CONFLICT_PAUSE_S", 0)
    call = tried.failing(error)
    tried.monkeypatch.setattr(bucket, "client", lambda _: SimpleNamespace(put_object=call))
    assert bucket.put_if_absent("runs/r/gate", {})


@row(
    "functions/aws/fleet/launching.py: _record_volumes",
    ends=BY_CLIENT,
    absent=NO_CONDITION,
)
def record_volumes(tried, error):
    tried.monkeypatch.setattr(launching.resources, "record", tried.failing(error, []))
    tried.monkeypatch.setattr(launching, "PAUSES_S", (0.0,) * 9)
    launching._record_volumes("r", "c", {"file_system": "s3", "storage": {"type": "s3"}}, [])  # type: ignore[typeddict-item]


@row("functions/storages/ebs/cloud.py: attach", ends=BY_CLIENT, absent=NO_CONDITION)
def attach_volume(tried, error):
    client = SimpleNamespace(
        describe_volumes=lambda **_: {"Volumes": [{"Attachments": []}]}, attach_volume=tried.failing(error)
    )
    tried.monkeypatch.setattr(ebs_cloud, "client", lambda _: client)
    ebs_cloud.attach({"type": "ebs", "volumeId": "vol-1"}, ["i-1"])


@row("functions/aws/run/endings.py: swept_receipt", ends=BY_CLIENT, absent=NO_CONDITION)
def read_swept_receipt(tried, error):
    call = tried.failing(error, {"sweep": {}})
    tried.monkeypatch.setattr(endings, "SWEPT_WITHIN_S", (0.0,) * 9)
    tried.monkeypatch.setattr(endings.bucket, "read", lambda *_: call())
    endings.swept_receipt("r")


# --- clients of botocore, which repeats by itself --------------------------------------------------------------------


class Raw:
    """The body of an answer."""

    def __init__(self, body: bytes) -> None:
        self.body = body

    def stream(self, **_: object) -> Iterator[bytes]:
        yield self.body


def fail_requests(tried: _Tried, client: Any, error: Exception) -> None:
    """Let the requests of a client fail before they are sent, and its other ones be answered."""
    call = tried.failing(error)
    event = {"ParamValidationError": "before-parameter-build", "NoCredentialsError": "before-sign"}
    before = event.get(type(error).__name__, "before-send")

    def hear(**_: object) -> AWSResponse | None:
        try:
            call()
        except Exception as err:
            if not isinstance(err, ClientError):
                raise
            code, status = err.response["Error"]["Code"], err.response["ResponseMetadata"]["HTTPStatusCode"]
            body = f"<Error><Code>{code}</Code></Error>" if service == "s3" else f'{{"__type": "{code}"}}'
            return AWSResponse("https://aws", status, {}, Raw(body.encode()))
        return None if before != "before-send" else AWSResponse("https://aws", 200, {}, Raw(answer))

    service = client.meta.service_model.service_name
    answer = b"<ListBucketResult></ListBucketResult>" if service == "s3" else b"{}"
    if before != "before-send":
        client.meta.events.register("before-send", lambda **_: AWSResponse("https://aws", 200, {}, Raw(answer)))
    client.meta.events.register(before, hear)


@pytest.fixture(autouse=True)
def keys(monkeypatch):
    """Keys of nobody, and no pauses."""
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "testing")
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")
    monkeypatch.delenv("AWS_ENDPOINT_URL", raising=False)
    monkeypatch.setattr("botocore.endpoint.time.sleep", lambda _: None)
    retrying._open.clear()
    yield
    assert retrying.troubles() == []


NO_409 = {"conflict": "botocore does not repeat it: see put_if_absent, and the meeting's mark"}


@row("agent/board/blackboard.py: new_client", absent=NO_409)
def ask_by_agent(tried, error):
    client = blackboard.new_client(blackboard.new_session("us-east-1"), "s3")
    fail_requests(tried, client, error)
    client.list_objects_v2(Bucket="b")


@row("functions/aws/stack/clients.py: client", absent=NO_409)
def ask_by_function(tried, error):
    clients.client.cache_clear()
    client = clients.client("s3")
    try:
        fail_requests(tried, client, error)
        client.list_objects_v2(Bucket="b")
    finally:
        clients.client.cache_clear()


OF_TABLE = {**MENDABLE, **UNMENDABLE, "throttled": refusal("ProvisionedThroughputExceededException")}


@row("functions/aws/stack/clients.py: table", OF_TABLE, absent=NO_409)
def ask_for_row(tried, error):
    table = clients.table("t")
    fail_requests(tried, table.meta.client, error)
    table.get_item(Key={"PK": "a", "SK": "b"})


@row("cli/target/deployment.py: client", absent=NO_409)
def ask_by_command(tried, error):
    client = Deployment("aws", "storage-matrix", "us-east-1", None).client("s3")
    fail_requests(tried, client, error)
    client.list_objects_v2(Bucket="b")


# --- the command -----------------------------------------------------------------------------------------------------


class Watched:
    """A deployment whose run has ended."""

    deployment = Deployment("aws", "storage-matrix", "eu-central-1", None)

    def __init__(self, look: Callable[[], Any], reap: Callable[[], Any]) -> None:
        self._look, self._reap = look, reap

    def execution(self, run: str) -> Execution:
        return Execution(run, "SUCCEEDED", started_at=0)

    def progress_rows(self, _run: str) -> list[dict[str, Any]]:
        self._look()
        return []

    def reap(self, _run: str) -> dict[str, Any]:
        self._reap()
        return {}


@row("cli/follow/following.py: follow", absent=NO_CONDITION)
def follow(tried, error):
    tried.monkeypatch.setattr(following, "FAILED_LOOK_PAUSE_S", 0.0)
    shown = SimpleNamespace(show=lambda _: None, say=tried.said.append)
    following.follow(Watched(tried.failing(error), dict), "r", None, shown)  # type: ignore[arg-type]


@row("cli/follow/interruption.py: _reap_until_empty", absent=NO_CONDITION)
def reap(tried, error):
    service: Any = Watched(dict, tried.failing(error))
    done = interruption._reap_until_empty(service, "r", tried.said.append, InterruptCounter(), Patience(0.0, 60.0))
    if not done.is_complete:
        raise RuntimeError(done.problem)


# --- loop by kind ----------------------------------------------------------------------------------------------------


def words_of(error: Any) -> str:
    """Return what of an error must be said."""
    if isinstance(error, ClientError):
        return str(error.response["Error"]["Code"])
    if isinstance(error, NoCredentialsError):
        return "credentials|no role"
    if isinstance(error, ParamValidationError):
        return "IfNoneMatch"
    return re.escape(str(error or ""))


def cells(*, mendable: bool) -> list[Any]:
    chosen = []
    for place, loop in ROWS.items():
        for kind, error in loop.errors.items():
            is_mended = kind in loop.again or (kind in MENDABLE and kind not in loop.ends)
            if is_mended is mendable:
                chosen.append(pytest.param(place, error, id=f"{place}: {kind}"))
    return chosen


@pytest.fixture
def log(caplog, capsys):
    """What was written of failures, by the agent, by functions and by commands."""
    caplog.set_level(logging.INFO)

    def read() -> list[str]:
        logged = [f"{record.getMessage()} {getattr(record, 'reason', '')}" for record in caplog.records]
        return [*logged, *capsys.readouterr().err.splitlines()]

    return read


@pytest.mark.parametrize(("place", "error"), cells(mendable=True))
def test_what_another_attempt_mends_is_attempted_again_and_its_reason_is_said(place, error, log, monkeypatch, tmp_path):
    monkeypatch.setattr(retrying.time, "sleep", lambda _: None)
    monkeypatch.setattr(functions_retrying.time, "sleep", lambda _: None)
    tried = _Tried(monkeypatch, tmp_path, FAILURES)

    ROWS[place].run(tried, error)

    assert tried.calls() > FAILURES
    said = [*log(), *tried.said]
    again = [line for line in said if re.search(r"again|repeated|broke off", line) and re.search(words_of(error), line)]
    assert again, said
    is_each_counted = place.endswith("get_range")
    assert is_each_counted or len(again) == 1, said


@pytest.mark.parametrize(("place", "error"), cells(mendable=False))
def test_what_no_attempt_mends_ends_the_loop_at_once_with_its_reason(place, error, monkeypatch, tmp_path):
    monkeypatch.setattr(retrying.time, "sleep", lambda _: None)
    tried = _Tried(monkeypatch, tmp_path, None)

    with pytest.raises(Exception) as ended:  # noqa: PT011 - each loop has an error of its own
        ROWS[place].run(tried, error)

    assert 1 <= tried.calls() <= ROWS[place].threads
    causes = list(_causes(ended.value))
    assert any(re.search(words_of(error), str(cause)) for cause in causes), causes
    assert type(ended.value) is not AssertionError


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    while error is not None:
        yield error
        error = error.__cause__
