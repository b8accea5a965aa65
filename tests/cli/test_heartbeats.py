"""What people see of the heartbeats of a fleet while it runs; no figure is shown that was not measured."""

import json
from dataclasses import replace
from types import SimpleNamespace

import pytest
from support.cli_documents import CELLS, plan_document, progress_rows

from cli.follow import following, progress
from cli.follow.heartbeats import Heartbeats
from cli.target.service import Execution
from cli.target.traces import Traces
from matrix.run import heartbeats

NOW = 1000.0


def heartbeat(state="running", until=998.0, moved=(0.0, 50e6, 50.0), since=980.0, **said):
    """A heartbeat with the traffic of the ten seconds before `until`."""
    rates = [[until - ago, 1.0, *moved] for ago in range(9, -1, -1)]
    lately = {"of": "disk", "rates": rates, "counter": said.pop("counter", "")}
    return {"at": until, "state": state, "step": 1, "since": since, "lately": lately, **said}


@pytest.mark.parametrize(
    ("documents", "words"),
    [
        ([], ""),
        ([heartbeat(), heartbeat()], "100 MB/s now"),
        ([heartbeat(), heartbeat(moved=(10e6, 0.0, 1.0))], "60.0 MB/s now"),
        # The oldest of the summed ones counts.
        ([heartbeat(), heartbeat(until=975.0, since=960.0)], "100 MB/s 25s ago"),
        # Too old to be of now: its instance may have died.
        ([heartbeat(), heartbeat(until=900.0, since=890.0)], "50.0 MB/s now (1 of 2 instances)"),
        ([heartbeat(until=900.0, since=890.0)], ""),
        # Instances that have ended, wait or prepare move nothing that anybody measures.
        ([heartbeat(), heartbeat("done")], "50.0 MB/s now (1 of 2 instances)"),
        ([heartbeat("waiting"), heartbeat("preparing")], ""),
        # A step that has just begun has only the rates of the one before.
        ([heartbeat(since=999.0)], ""),
        ([heartbeat(since=None)], ""),
        # Two instances of one machine count the same disk.
        ([heartbeat(counter="m 8"), heartbeat(counter="m 8", until=996.0)], "50.0 MB/s now"),
        ([heartbeat(counter="m 8"), heartbeat(counter="m 9")], "100 MB/s now"),
        ([heartbeat(moved=(0.0, 4096e3, 1000.0))] * 2, "8.19 MB/s, 2,000 operations/s now"),
        ([heartbeat(moved=(0.0, 0.0, 0.0))] * 2, "0 MB/s now"),
        ([heartbeat() | {"lately": None}], ""),
    ],
)
def test_the_traffic_of_a_fleet_is_the_sum_of_what_its_running_instances_have_reported_lately(documents, words):
    fleet = Heartbeats()
    for number, each in enumerate(documents):
        fleet.add(f"i-{number}", heartbeats.parse(json.dumps(each).encode(), NOW))

    assert fleet.traffic(2 if len(documents) > 1 else 1, NOW) == words


@pytest.fixture
def service(monkeypatch):
    """A deployment whose second cell runs, with one heartbeat for each instance."""
    kept = {
        f"R:i-{number}/heartbeat": heartbeat(until=NOW - 2, step=2, last={"files_per_s": 70.0 + number})
        for number in range(3)
    }
    monkeypatch.setattr(Traces, "listing", lambda _, run, below: [(name, NOW - 2) for name in kept])
    monkeypatch.setattr("time.time", lambda: NOW)
    return SimpleNamespace(
        deployment=SimpleNamespace(environment="local"),
        content=lambda run, name, most: json.dumps(kept["/".join(name.split("/")[-2:])]).encode(),
        kept=kept,
    )


def seen(service):
    """The running cell, as the live view shows it."""
    rows = progress_rows()
    moment = progress.read(rows, plan_document(), Execution("r", "RUNNING", started_at=900.0))
    return following.FleetHeartbeats(service, "r", plan_document()).added_to(moment).cells[1]


def test_the_live_view_is_at_the_step_of_the_heartbeats_with_their_traffic_or_else_their_last_result(service):
    assert seen(service).describe_step() == "3 of 4, threads 1"
    assert seen(service).live == "150 MB/s now (3 of 4 instances)"

    for each in service.kept.values():
        each["lately"] = None
    assert seen(service).live == "last 71.0 files/s"


@pytest.mark.parametrize("text", [b"", b"[]", None])
def test_a_view_without_readable_heartbeats_shows_the_rows(service, text):
    without = replace(progress.read(progress_rows(), plan_document(), Execution("r", "RUNNING", 900.0)).cells[1])

    service.content = lambda *_: text
    assert seen(service) == without
    service.content = lambda *_: 1 / 0
    assert seen(service) == without
    assert without.id == CELLS[1]
