"""Each loop of the agent that tries again says so once, with its reason, and gives up what no attempt mends."""

from __future__ import annotations

import itertools
import logging
import threading
import time
from types import SimpleNamespace

import pytest
from botocore.exceptions import ClientError, ParamValidationError
from support.failing import BarrierS3, Failing

from agent import mounts, retrying
from agent.board import barrier
from agent.board.barrier import Barrier, BarrierRule
from agent.board.barrier_objects import BarrierObjects
from agent.board.blackboard import get_range
from agent.board.heartbeat import Heartbeat
from agent.errors import BarrierTimeout, BlackboardUnavailable, MetadataUnavailable, MountFailed, ToolFailed
from agent.machine import metadata
from agent.mounts import nfs
from agent.programs import containers
from agent.programs.containers import Container
from agent.retrying import GaveUp, Series, patience, retried, troubles
from contract.keys import BarrierKeys

LOG = logging.getLogger("agent.test")
RULE = BarrierRule(poll_s=0.005, margin_s=0.01, request_s=1.0, timeout_s=30.0)
ME = "AROA:i-1"
BUSY = ClientError({"Error": {"Code": "SlowDown"}, "ResponseMetadata": {"HTTPStatusCode": 503}}, "PutObject")
DENIED = ClientError({"Error": {"Code": "AccessDenied"}, "ResponseMetadata": {"HTTPStatusCode": 403}}, "PutObject")
UNKNOWN = ParamValidationError(report='Unknown parameter in input: "IfNoneMatch", must be one of: ACL, Body')


@pytest.fixture(autouse=True)
def _clean(caplog):
    caplog.set_level(logging.INFO, logger="agent")
    retrying._open.clear()  # what a test before has left that failed
    yield
    assert troubles() == []


def lines(caplog, word):
    return [record.getMessage() for record in caplog.records if word in record.getMessage()]


def test_a_series_is_told_once_and_how_it_ended(caplog):
    call = Failing(BUSY, 3, "done")

    assert retried("the mark", call, itertools.repeat(0.0)) == "done"

    first, last = lines(caplog, "the mark")
    assert first.startswith("the mark: tried again after: An error occurred (SlowDown) when calling the PutObject")
    assert last.startswith("the mark: well after 3 failed attempts in ")


def test_a_failure_that_no_attempt_mends_is_raised_as_it_is(caplog):
    call = Failing(UNKNOWN, None)

    with pytest.raises(ParamValidationError):
        retried("the mark", call, itertools.repeat(0.0))

    assert call.calls == 1
    assert lines(caplog, "the mark: given up, no retry can fix this: Parameter validation failed: Unknown")


def test_who_runs_out_of_patience_says_how_often_how_long_and_the_last_reason():
    with pytest.raises(GaveUp, match=r"^the mark: [0-9]+ failed attempts? in 0\.0 s, lastly: .*SlowDown") as caught:
        retried("the mark", Failing(BUSY, None), patience(0.02, 0.001))

    assert caught.value.__cause__ is BUSY


def test_what_lasts_is_a_trouble_until_it_ends():
    series = Series("the gate")
    assert str(series) == ""
    series.failed(BUSY)
    series.failed(BUSY)

    [trouble] = troubles()
    assert trouble.startswith("the gate: 2 failed attempts in ")

    series.succeeded()
    assert troubles() == []


# --- the loops -------------------------------------------------------------------------------------------------------


def waited(s3, rule=RULE):
    return Barrier(BarrierObjects(s3, "b", BarrierKeys("p/")), ME, rule).wait(0)


@pytest.mark.parametrize(
    ("call", "what"),
    [
        ("put p/ready", "the mark of step 0"),
        ("list p/ready", "opening the gate of step 0"),
        ("put p/gates", "opening the gate of step 0"),
        ("get p/gates", "the gate of step 0"),
        ("get p/roster", "opening the gate of step 0"),
    ],
)
def test_a_fleet_meets_though_s3_is_busy_and_the_log_says_so_once(caplog, monkeypatch, call, what):
    monkeypatch.setattr(barrier._DICE, "uniform", lambda low, _high: low / 100)
    s3 = BarrierS3(call, BUSY, 4)

    waited(s3)

    assert s3.failing.calls > 4
    assert len(lines(caplog, f"{what}: tried again after: An error occurred (SlowDown)")) == 1


# A role that may not list gets 403 for what is not there yet, so that a denied GET is bounded by the barrier's timeout.
@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        *((call, UNKNOWN, "IfNoneMatch") for call in ("put p/ready", "list p/ready", "put p/gates")),
        *((call, UNKNOWN, "IfNoneMatch") for call in ("get p/gates", "get p/roster")),
        *((call, DENIED, "AccessDenied") for call in ("put p/ready", "list p/ready", "put p/gates")),
    ],
)
def test_a_fleet_gives_up_at_once_what_no_attempt_mends(call, error, words):
    began = time.monotonic()

    with pytest.raises(BlackboardUnavailable, match=rf"below p/ is refused: .*{words}"):
        waited(BarrierS3(call, error, None))

    assert time.monotonic() - began < RULE.timeout_s / 2


def test_what_only_the_second_thread_is_refused_ends_the_wait_too(monkeypatch):
    def only_there(self, step):
        if threading.current_thread().name == "gate":
            raise BlackboardUnavailable("refused")

    monkeypatch.setattr(BarrierObjects, "gate", only_there)

    with pytest.raises(BlackboardUnavailable, match="refused"):
        waited(BarrierS3("put p/gates", BUSY, None))


def test_a_barrier_that_s3_never_answers_says_why():
    with pytest.raises(BarrierTimeout, match=r"could not say that it is ready: the mark of step 0: .*SlowDown"):
        waited(BarrierS3("put p/ready", BUSY, None), BarrierRule(0.005, 0.01, 1.0, timeout_s=0.0))


def test_a_heartbeat_says_what_the_instance_attempts_in_vain():
    series, heartbeats, has_beaten = Series("the mark of step 0"), [], threading.Event()
    series.failed(BUSY)

    beating = Heartbeat(
        SimpleNamespace(put=lambda _, heartbeat: (heartbeats.append(heartbeat), has_beaten.set())), 3_600
    )
    assert has_beaten.wait(60)
    series.succeeded()
    beating.stop()

    assert heartbeats[0]["troubles"][0].startswith("the mark of step 0: 1 failed attempt in ")
    assert "troubles" not in heartbeats[-1]


def unavailable(cause):
    error = BlackboardUnavailable(f"PUT s3://b/heartbeat: {cause}")
    error.__cause__ = cause
    return error


def test_lost_heartbeats_are_told_once(caplog):
    has_beaten, call = threading.Event(), Failing(unavailable(BUSY), 3)

    beating = Heartbeat(SimpleNamespace(put=lambda *_: (call(), has_beaten.set())), 0.001)
    assert has_beaten.wait(60)
    beating.say("running")
    beating.stop()

    assert len(lines(caplog, "a heartbeat: tried again after: PUT s3://b/heartbeat")) == 1
    assert len(lines(caplog, "a heartbeat: well after 3 failed attempts")) == 1


def test_an_instance_whose_heartbeats_are_refused_ends_with_the_reason():
    call = Failing(unavailable(DENIED), None)
    beating = Heartbeat(SimpleNamespace(put=call), 0.001)
    beating._thread.join(60)

    with pytest.raises(BlackboardUnavailable, match=r"PUT s3://b/heartbeat: .*AccessDenied"):
        beating.say("running")

    assert call.calls == 1


def opened(error, times):
    return SimpleNamespace(open=Failing(error, times, answer=_Answer()))


class _Answer:
    def __enter__(self):
        return SimpleNamespace(read=lambda: b"i-1")

    def __exit__(self, *_):
        pass


@pytest.mark.parametrize(
    "error",
    [metadata.HTTPError("u", 503, "busy", None, None), OSError(101, "unreachable"), TimeoutError("timed out")],
    ids=["503", "unreachable", "timeout"],
)
def test_the_metadata_service_is_asked_again_and_the_log_says_so_once(caplog, monkeypatch, error):
    monkeypatch.setattr(metadata, "OPENER", opened(error, 3))
    monkeypatch.setattr(retrying.time, "sleep", lambda _: None)

    assert metadata._send("GET", "http://i/x", {}, 8) == "i-1"

    assert len(lines(caplog, "http://i/x: tried again after: ")) == 1


def test_a_metadata_service_that_refuses_is_not_asked_again(monkeypatch):
    opener = opened(metadata.HTTPError("u", 403, "off", None, None), None)
    monkeypatch.setattr(metadata, "OPENER", opener)

    with pytest.raises(MetadataUnavailable, match="answered 403"):
        metadata._send("GET", "http://i/x", {}, 8)

    assert opener.open.calls == 1


def test_a_body_that_is_refused_is_not_asked_for_again():
    body = SimpleNamespace(read=Failing(UNKNOWN, None))

    with pytest.raises(ParamValidationError):
        get_range(SimpleNamespace(get_object=lambda **_: {"Body": body}), {}, 0, 3)

    assert body.read.calls == 1


@pytest.mark.parametrize(
    "words",
    [
        "mount.nfs: an incorrect mount option was specified for /mnt/storage-matrix",
        "mount: /mnt/storage-matrix: unknown filesystem type 'efs'.",
    ],
)
def test_a_mount_that_was_asked_for_wrongly_is_given_up_at_once(monkeypatch, tmp_path, words):
    monkeypatch.setattr(mounts, "MOUNT_POINT", tmp_path)
    calls = []
    refused = SimpleNamespace(returncode=32, stderr=words)
    monkeypatch.setattr(mounts, "command_result", lambda command, _timeout_s: calls.append(command) or refused)

    with pytest.raises(MountFailed, match="fs-1:/ cannot be mounted: mount"):
        nfs.attach({"source": "fs-1:/", "options": "hrd"}, LOG, timeout_s=60, pause_s=0.001)

    assert len(calls) == 1


def pulled(monkeypatch, words, times):
    monkeypatch.setattr(containers, "PAUSE_S", 0.0)
    monkeypatch.setattr(containers, "engine_path", lambda: "docker")
    call = Failing(ToolFailed(f"docker pull ended with status 1: {words}"), times)
    monkeypatch.setattr(containers, "run", call)
    return call


def test_an_image_is_pulled_again_where_the_registry_does_not_answer(caplog, monkeypatch, tmp_path):
    call = pulled(monkeypatch, "dial tcp: i/o timeout", 2)

    Container("debian:13", {})._pull(tmp_path)

    assert call.calls == 3
    assert len(lines(caplog, "pulling debian:13: tried again after: docker pull ended with status 1")) == 1


@pytest.mark.parametrize(
    "words",
    [
        "manifest for debian:99 not found: manifest unknown: manifest unknown",
        "pull access denied for debain, repository does not exist or may require 'docker login'",
        "no matching manifest for linux/arm64/v8 in the manifest list entries",
    ],
)
def test_an_image_that_does_not_exist_is_pulled_once(monkeypatch, tmp_path, words):
    call = pulled(monkeypatch, words, None)

    with pytest.raises(ToolFailed, match="docker pull ended with status 1"):
        Container("debian:99", {})._pull(tmp_path)

    assert call.calls == 1


def test_an_image_that_is_never_answered_for_says_the_last_reason(monkeypatch, tmp_path):
    call = pulled(monkeypatch, "connection reset by peer", None)

    with pytest.raises(ToolFailed, match=r"3 failed attempts in .* connection reset by peer"):
        Container("debian:13", {})._pull(tmp_path)

    assert call.calls == containers.PULLS
