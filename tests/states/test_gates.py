"""Poll fleet as the backstop of a fleet that opens its own gates, and Launch fleet, which tells it where to meet."""

import json
import time

import boto3
import pytest
from botocore.exceptions import ClientError
from support.hostile import HOSTILE

import poll_fleet
from aws.ec2 import instances
from aws.ec2.instances import Boot, Launched
from aws.fleet import launching
from aws.records import bucket
from aws.stack.clients import client
from matrix.run import polling
from matrix.run.job import measuring_job
from matrix.terms.errors import BarrierTimeout, GateForged, InstanceSilent, InvalidDocument
from matrix.terms.keys import Board

FLEET = ["i-1", "i-2"]
BOARD = Board.of_cell("r", "c")
PLACE = BOARD.barrier("0123456789abcdef" * 2)
CELL = {
    "id": "c", "storage": {"type": "ebs"}, "workload": {"type": "touch"}, "fleet": {"count": 2}, "image": "al2023",
    "file_system": "ebs", "root_volume_gib": 20, "points": [], "deadline_s": 1e6, "ready_within_s": 900.0,
    "steps": [{"point": f"p{step}", "repetition": 1} for step in range(3)],
}  # fmt: skip


def job(**setting):
    return measuring_job(cell=CELL, gate_margin_s=2.0, **setting)


@pytest.fixture
def fleet(stack, monkeypatch):
    """A fleet that was launched just now."""
    now = time.time()
    bucket.put(BOARD.job, job(run="r", mount={"kind": "root"}, bucket="results", environment="aws", now=now))
    bucket.put(BOARD.fleet, {"instances": FLEET, "expected": 2, "launched_at": now})
    bucket.put(BOARD.barrier_nonce, {"nonce": "0123456789abcdef" * 2})
    monkeypatch.setattr(instances, "states", lambda ids: dict.fromkeys(ids, "running"))


def say_ready(step, *ids):
    for one in ids:
        bucket.put(f"{PLACE.ready(step)}AROA:{one}", {"at": time.time()})


def open_gate(step, start_in_s=2.0):
    gate = {"step": step, "start_at": time.time() + start_in_s, "opener": "AROA:i-1"}
    bucket.put(PLACE.gate(step), gate)
    return gate


def poll(context, monkeypatch, later_s=0.0):
    for module in ("aws.fleet.watching", "poll_fleet"):
        monkeypatch.setattr(f"{module}.now", lambda: time.time() + later_s)
    return poll_fleet.handler({"run": "r", "cell": "c", "poll_s": 10}, context)["state"]


def poll_late(context, monkeypatch, later_s):
    """Poll after so many seconds, in which heartbeats have gone on."""
    monkeypatch.setattr(polling, "SILENT_AFTER_S", 1e6)
    return poll(context, monkeypatch, later_s)


def test_a_gate_that_all_instances_leave_closed_is_opened_by_poll_fleet(fleet, context, monkeypatch):
    say_ready(0, *FLEET)

    assert poll(context, monkeypatch) == "running"
    assert bucket.get(PLACE.gate(0)) is None

    assert poll(context, monkeypatch, later_s=20) == "running"
    gate = bucket.get(PLACE.gate(0))
    assert (gate["step"], gate["opener"]) == (0, "Poll fleet")
    assert 20 < gate["start_at"] - time.time() < 23


def test_a_gate_that_an_instance_has_opened_stays_as_it_is(fleet, context, monkeypatch):
    say_ready(0, *FLEET)
    gate = open_gate(0)
    say_ready(1, "i-1")

    assert poll(context, monkeypatch, later_s=60) == "running"

    assert bucket.get(PLACE.gate(0)) == gate
    assert bucket.get(PLACE.gate(1)) is None


def test_a_fleet_in_its_last_step_is_looked_at_when_it_is_expected_to_be_done(fleet, context, monkeypatch):
    first_at = time.time()
    opened_at = {PLACE.gate(step): first_at + 30 * step for step in range(3)}
    listing = bucket.listing
    monkeypatch.setattr(
        bucket, "listing", lambda *prefix: [(key, opened_at.get(key, first_at)) for key, _ in listing(*prefix)]
    )
    for step, (gate, at) in enumerate(opened_at.items()):
        say_ready(step, *FLEET)
        bucket.put(gate, {"step": step, "start_at": at + 2, "opener": "AROA:i-1"})
    monkeypatch.setattr("aws.fleet.watching.now", lambda: first_at + 70)
    monkeypatch.setattr("poll_fleet.now", lambda: first_at + 70)

    early = poll_fleet.handler({"run": "r", "cell": "c", "poll_s": 60, "early_looks": 3}, context)
    assert (early["wait_s"], early["poll_s"], early["early_looks"]) == (20, 60, 2)

    began_before_an_update = poll_fleet.handler({"run": "r", "cell": "c", "poll_s": 60}, context)
    assert (began_before_an_update["wait_s"], began_before_an_update["early_looks"]) == (60, 0)


def test_a_fleet_that_waits_for_one_of_them_is_waiting(fleet, context, monkeypatch):
    say_ready(0, "i-1")

    assert poll(context, monkeypatch, later_s=60) == "waiting"


def heartbeat(instance, **says):
    bucket.put(f"{BOARD.instances}AROA:{instance}/heartbeat", {"at": time.time(), **says})


def test_a_fleet_that_is_not_ready_in_time_says_the_reasons_of_its_instances(fleet, context, monkeypatch):
    say_ready(0, "i-1")
    heartbeat("i-1", state="waiting", troubles=["no trouble of one that is ready"])
    heartbeat("i-2", state="waiting", troubles=["the mark of step 0: 312 failed attempts in 45.2 s, lastly: SlowDown"])

    reason = r"1 of 2 .* \(i-2\); .*; their heartbeats say: waiting: the mark of step 0: 312 .* lastly: SlowDown$"
    with pytest.raises(BarrierTimeout, match=reason):
        poll_late(context, monkeypatch, 901)


def test_a_reason_that_all_instances_have_is_said_once(fleet, context, monkeypatch):
    for number, instance in enumerate(FLEET):
        heartbeat(
            instance, state="preparing", troubles=[f"mounting fs-1:/: {number + 3} failed attempts in {number} s"]
        )

    with pytest.raises(BarrierTimeout, match=r"heartbeats say: preparing: mounting fs-1:/: 3 failed attempts in 0 s$"):
        poll_late(context, monkeypatch, 901)


def test_a_fleet_that_falls_silent_says_what_it_said_last(fleet, context, monkeypatch):
    heartbeat("i-1", state="preparing")

    with pytest.raises(InstanceSilent, match=r"silent for more than 120 s \(i-1\); their heartbeats say: preparing$"):
        poll(context, monkeypatch, later_s=130)


OTHER_BEATS = {
    "a state that is a list": b'{"state": [1], "troubles": []}',
    "troubles that are none": b'{"state": "waiting", "troubles": {"a": 1}}',
    "troubles without end": json.dumps({"state": "x" * 5_000, "troubles": ["\x1b[2J" * 5_000, None, {}]}).encode(),
}


@pytest.mark.parametrize("body", [*HOSTILE.values(), *OTHER_BEATS.values()], ids=[*HOSTILE, *OTHER_BEATS])
def test_a_heartbeat_may_say_anything(fleet, context, monkeypatch, body):
    client("s3").put_object(Bucket="results", Key=f"{BOARD.instances}AROA:i-1/heartbeat", Body=body)

    with pytest.raises(
        BarrierTimeout, match=r"not ready to start \d+ s after launch \(i-1, i-2\); see their log\.gz"
    ) as caught:
        poll_late(context, monkeypatch, 901)

    assert str(caught.value).isprintable()
    assert len(str(caught.value)) < 2_000


@pytest.mark.parametrize(
    ("ready", "step", "start_in_s"), [(("i-1",), 0, 2.0), (FLEET, 0, 3600.0), (FLEET, 0, -60.0), (FLEET, 1, 2.0)]
)
def test_a_gate_that_an_instance_has_forged_fails_the_cell(fleet, context, monkeypatch, ready, step, start_in_s):
    say_ready(step, *ready)
    open_gate(step, start_in_s)

    with pytest.raises(GateForged, match=f"the gate of step {step}"):
        poll(context, monkeypatch)


def test_a_damaged_note_of_the_meeting_is_named(fleet, context, monkeypatch):
    bucket.put(BOARD.barrier_nonce, {"nonce": 5})

    with pytest.raises(InvalidDocument, match=r"meeting\.json: nonce"):
        poll(context, monkeypatch)


def launch(monkeypatch, cell="c"):
    """Launch a fleet whose instances EC2 gives in part; the user data that they get."""
    told = []

    def run(*, user_data, **_):
        told.append(user_data)
        return Launched(["i-1", "i-2"], "InsufficientInstanceCapacity", 1e9)

    monkeypatch.setattr(instances, "launch", run)
    monkeypatch.setattr(launching, "image_of", lambda *_: {"provisions": {}})
    monkeypatch.setattr(launching, "PAUSES_S", ())  # no volumes will come
    launching.launch(
        plan={"run": "r", "deadline_at": 2e9, "agent_key": "agents/0.pyz", "environment": "aws"},
        board=Board.of_cell("r", cell), cell=CELL, purpose=cell, fleet={"instanceType": "m6i.large", "count": 3},
        boot=Boot("ami-1", "/dev/xvda"), mount={"kind": "root"}, job=job,
    )  # fmt: skip
    return told[0]


def test_a_launch_that_is_repeated_tells_the_same_meeting_and_another_cell_another(stack, monkeypatch):
    first = launch(monkeypatch)
    boto3.client("s3").delete_object(Bucket="results", Key=BOARD.fleet)  # it crashed before it was done

    assert launch(monkeypatch) == first
    assert launch(monkeypatch, "d") != first
    nonce = bucket.get(BOARD.barrier_nonce)["nonce"]
    assert f"NONCE={nonce}\n" in first
    assert nonce not in json.dumps(bucket.get(BOARD.job))


def test_who_meets_are_those_that_were_launched_and_not_those_that_were_asked_for(stack, monkeypatch):
    launch(monkeypatch)

    assert bucket.get(BOARD.barrier(bucket.get(BOARD.barrier_nonce)["nonce"]).roster) == {"instances": ["i-1", "i-2"]}


@pytest.fixture
def conflicts(stack, monkeypatch):
    """Let the next conditional writes be refused with these codes, and count all that are made."""
    real, codes, made = bucket.client("s3"), [], []

    class Conflicting:
        def put_object(self, **request):
            made.append(request["Key"])
            if codes:
                raise ClientError({"Error": {"Code": codes.pop(0)}}, "PutObject")
            return real.put_object(**request)

    monkeypatch.setattr(bucket, "client", lambda _: Conflicting())
    monkeypatch.setattr(bucket, "PAUSE_S", 0)
    return codes, made


def test_a_conditional_write_that_conflicts_with_another_request_is_made_again(conflicts):
    codes, made = conflicts
    codes += ["ConditionalRequestConflict"] * 2

    assert bucket.put_if_absent("gate", {}) is True
    assert bucket.put_if_absent("gate", {}) is False
    assert len(made) == 4


def test_a_write_whose_conflict_lasts_fails_and_is_not_taken_for_written_by_another(conflicts):
    codes, made = conflicts
    codes += ["ConditionalRequestConflict"] * 100

    with pytest.raises(ClientError, match="ConditionalRequestConflict"):
        bucket.put_if_absent("gate", {})

    assert len(made) == bucket.ATTEMPTS
