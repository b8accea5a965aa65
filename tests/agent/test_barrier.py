"""A fleet that opens its own gates, over objects in memory and over S3: one start for all, whatever fails."""

from __future__ import annotations

import json
import random
import socket
import threading
import time
from types import SimpleNamespace

import pytest
from botocore.awsrequest import AWSResponse
from botocore.exceptions import ClientError, ConnectTimeoutError
from support.agent_cloud import BUCKET
from support.failing import ROSTER, BarrierS3

from agent.board import barrier
from agent.board.barrier import Barrier, BarrierRule
from agent.board.barrier_objects import BarrierObjects, Unanswered
from agent.board.blackboard import Bucket, new_client, new_session
from agent.errors import BarrierTimeout, BlackboardUnavailable, GateForged
from contract import gates
from contract.keys import BarrierKeys

RULE = BarrierRule(poll_s=0.005, margin_s=0.01, request_s=1.0, timeout_s=10.0)
FLEET = [f"AROA:i-{number}" for number in range(6)]


class FleetS3(BarrierS3):
    """The S3 of a fleet's launch, which loses a share of the requests, and of the answers to writes."""

    def __init__(self, roster=FLEET, lost_share=0.0):
        super().__init__()
        ids = [userid.rpartition(":")[2] for userid in roster]
        self.kept = {ROSTER: (json.dumps({"instances": ids}).encode(), time.time())}
        self.lost_share, self.dice = lost_share, random.Random(1)

    def _fails(self, call, key):
        if self.dice.random() < self.lost_share:
            raise ConnectTimeoutError(endpoint_url=key)

    def put_object(self, **request):
        super().put_object(**request)
        self._fails("put", request["Key"])


def objects_of(s3):
    return BarrierObjects(s3, "b", BarrierKeys("p/"))


def ready(s3, userid):
    objects_of(s3).say_ready(0, userid)


def gate_of(s3, step=0):
    return json.loads(s3.kept[f"p/gates/{step:04d}.json"][0])


def met(s3, steps=1, fleet=FLEET):
    """Let a fleet meet; the starts that each of its instances was told, by name."""
    starts = {}

    def live(userid):
        waiting = Barrier(objects_of(s3), userid, RULE)
        starts[userid] = [waiting.wait(step) for step in range(steps)]

    threads = [threading.Thread(target=live, args=(userid,)) for userid in fleet]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return starts


@pytest.mark.parametrize("lost_share", [0.0, 0.3])
def test_all_are_told_one_start_for_each_step_though_answers_are_lost(lost_share):
    s3 = FleetS3(lost_share=lost_share)

    starts = met(s3, steps=3)

    assert len(starts) == len(FLEET)
    gates = [gate_of(s3, step)["start_at"] for step in range(3)]
    assert all(told == gates for told in starts.values())


def test_no_gate_opens_before_the_last_is_ready_whoever_else_says_so():
    s3 = FleetS3()
    ready(s3, "AROA:i-stranger")  # of a launch that was given up
    waiting = Barrier(objects_of(s3), FLEET[0], BarrierRule(0.005, 0.01, 1.0, timeout_s=0.1))

    with pytest.raises(BarrierTimeout, match="last seen: no gate"):
        waiting.wait(0)

    assert "p/gates/0000.json" not in s3.kept


def test_another_opens_where_the_last_one_ends_between_its_mark_and_its_listing(monkeypatch):
    monkeypatch.setattr(gates, "STANDBY_S", 0.02)
    s3 = FleetS3()
    timer = threading.Timer(0.05, ready, (s3, FLEET[-1]))
    timer.start()

    starts = met(s3, fleet=FLEET[:-1])

    assert len({start for told in starts.values() for start in told}) == 1


def test_a_fleet_waits_for_the_roster_that_launch_fleet_writes(monkeypatch):
    monkeypatch.setattr(barrier, "ROSTER_S", 0.01)
    s3 = FleetS3(roster=FLEET[:1])
    timer = threading.Timer(0.05, s3.kept.__setitem__, (ROSTER, s3.kept.pop(ROSTER)))
    timer.start()

    start_at = Barrier(objects_of(s3), FLEET[0], RULE).wait(0)

    assert gate_of(s3) == {"step": 0, "start_at": start_at, "opener": FLEET[0]}


def test_the_margin_is_longer_where_requests_take_long():
    barrier_objects = objects_of(FleetS3(roster=FLEET[:1]))
    waiting, say_ready = Barrier(barrier_objects, FLEET[0], RULE), barrier_objects.say_ready
    barrier_objects.say_ready = lambda step, userid: (time.sleep(0.1), say_ready(step, userid))
    began = time.time()

    assert waiting.wait(0) >= began + 0.1 + 0.3

    # A machine that was busy at the step before may be so again.
    barrier_objects.say_ready, began = say_ready, time.time()
    assert waiting.wait(1) >= began + 0.3


@pytest.mark.parametrize(
    ("body", "age_s", "reason"),
    [
        (b"[" * 100_000, 0, "is not readable"),
        (b"5", 0, "is not readable"),
        (b'{"step": 0, "start_at": "soon"}', 0, "is not readable"),
        (b'{"step": 0, "start_at": NaN}', 0, "says"),
        (b'{"step": 1, "start_at": %d}', 0, "says"),
        (b'{"step": 0, "start_at": %d}', 3600, "says"),
        (b'{"step": 0, "start_at": %d}', -3600, "says"),
    ],
)
def test_a_gate_that_no_agent_writes_is_refused(body, age_s, reason):
    s3, now = FleetS3(), time.time()
    s3.kept["p/gates/0000.json"] = (body % (now - age_s) if b"%" in body else body, now)

    with pytest.raises(GateForged, match=reason):
        Barrier(objects_of(s3), FLEET[0], RULE).wait(0)


def test_a_gate_that_was_open_before_this_instance_was_ready_is_refused():
    s3, now = FleetS3(), time.time()
    s3.kept["p/gates/0000.json"] = (json.dumps({"step": 0, "start_at": now - 4}).encode(), now - 5)

    with pytest.raises(GateForged, match="opened 5 s before this instance was ready"):
        Barrier(objects_of(s3), FLEET[0], RULE).wait(0)


def test_s3_keeps_the_first_mark_and_the_first_gate(cloud):
    barrier_objects = BarrierObjects(cloud.s3, BUCKET, BarrierKeys("runs/r/cells/c/meet/0/"))
    assert (barrier_objects.gate(3), barrier_objects.roster(), barrier_objects.ready(3)) == (None, None, {})

    for number in (1, 2):
        barrier_objects.say_ready(3, "AROA:i-1")
        barrier_objects.open(3, {"number": number})

    assert list(barrier_objects.ready(3)) == ["AROA:i-1"]
    assert barrier_objects.gate(3)[0] == b'{"number":1}'
    assert abs(barrier_objects.gate(3)[1] - time.time()) < 60


def test_a_listing_of_many_pages_is_read_whole(cloud):
    barrier_objects = BarrierObjects(cloud.s3, BUCKET, BarrierKeys("runs/r/cells/c/meet/0/"))
    for number in range(5):
        barrier_objects.say_ready(0, f"AROA:i-{number}")
    one_by_one = SimpleNamespace(list_objects_v2=lambda **request: cloud.s3.list_objects_v2(MaxKeys=2, **request))

    assert len(BarrierObjects(one_by_one, BUCKET, BarrierKeys("runs/r/cells/c/meet/0/")).ready(0)) == 5


def session():
    """A session of the agent's, with keys."""
    made = new_session("us-east-1")
    made.set_credentials("x", "x")
    return made


def test_a_request_that_hangs_is_given_up_and_not_repeated():
    """Repeated by botocore, a write would bring a start time that has passed meanwhile."""
    with socket.create_server(("127.0.0.1", 0)) as silent:
        client = new_client(session(), "s3", request_s=0.2)
        client._endpoint.host = f"http://127.0.0.1:{silent.getsockname()[1]}"
        began = time.monotonic()

        with pytest.raises(Unanswered):
            BarrierObjects(client, BUCKET, BarrierKeys("p/")).open(0, {})

        assert time.monotonic() - began < 60  # of the agent's other client it would be 8 times 30 s


def test_a_mark_is_one_journey_and_not_two():
    client, heads = new_client(session(), "s3"), []
    answered = AWSResponse("", 200, {}, SimpleNamespace(stream=lambda: iter([b""])))
    client.meta.events.register("before-send.s3", lambda request, **_: heads.append(request.headers) or answered)

    BarrierObjects(client, BUCKET, BarrierKeys("p/")).say_ready(0, FLEET[0])
    Bucket(BUCKET, SimpleNamespace(create_client=lambda *_, **__: client)).put("k", b"{}")

    assert ["Expect" in head for head in heads] == [False, False]


def test_a_role_that_lacks_a_right_is_told_at_once():
    def refuse(**_):
        answer = {"Error": {"Code": "AccessDenied"}, "ResponseMetadata": {"HTTPStatusCode": 403}}
        raise ClientError(answer, "PutObject")

    with pytest.raises(BlackboardUnavailable, match="AccessDenied"):
        Barrier(BarrierObjects(SimpleNamespace(put_object=refuse), BUCKET, BarrierKeys("p/")), FLEET[0], RULE).wait(0)
