"""Analyse cell asks S3 for no more than it needs: calls are what a fleet of 200 instances makes many of."""

import json
from collections import Counter

import pytest
from support.function_events import RUN, load_event

import analyse_cell
import plan_matrix
from aws.records import bucket
from aws.records.plans import plan_of
from aws.stack.clients import client
from matrix.terms.keys import Board

FLEET = ("i-1", "i-2")
HISTOGRAMS = {"schema": 1, "unit": "ns", "histograms": {"create_lat": {"bins": {"1000": 64}}}}
SERIES = {"schema": 1, "carrier": "disk_write_bytes", "seconds": [0, 1], "counted": {"disk_write_bytes": [0, 5e6]}}


@pytest.fixture
def cell(stack, context):
    """A launched cell of a run, both instances of which have uploaded all that an instance may."""
    plan_matrix.handler(load_event("plan_matrix"), context)
    cell = plan_of(RUN)["cells"][0]
    board = Board.of_cell(RUN, cell["id"])
    bucket.put(board.fleet, {"instances": FLEET, "expected": len(FLEET), "shortfall": "", "launched_at": 1.0})
    for instance in FLEET:
        folder = f"{board.instances}AROA:{instance}"
        samples = [
            {**step, "step": n, "started_at": 1.0, "ended_at": 2.0, "metrics": {"files_per_s": 64.0, "duration_s": 1.0}}
            for n, step in enumerate(cell["steps"])
        ]
        identity = {"id": instance, "type": cell["fleet"]["instanceType"]}
        document = {"schema": 1, "run": RUN, "cell": cell["id"], "instance": identity, "samples": samples}
        bucket.put(f"{folder}/samples.json", document)
        bucket.put(f"{folder}/heartbeat", {})
        for step in cell["steps"]:
            stem = f"{folder}/raw/{step['point']}-r{step['repetition']}"
            bucket.put(f"{stem}.histograms.json", HISTOGRAMS)
            bucket.put(f"{stem}.series.json", SERIES)
    return cell


def test_a_cell_is_listed_once_and_nothing_of_it_is_read_twice(cell, context):
    calls, keys = Counter(), Counter()

    def count(params, model, **_):
        calls[model.name] += 1
        if model.name == "GetObject":
            keys[params["url_path"]] += 1

    client("s3").meta.events.register("before-call.s3", count)
    analyse_cell.handler({"run": RUN, "cell": cell["id"]}, context)
    client("s3").meta.events.unregister("before-call.s3", count)

    result = bucket.get(Board.of_cell(RUN, cell["id"]).result)
    assert calls["ListObjectsV2"] == 1
    # fleet.json, and of each instance its samples, and histograms and series of each step; plan.json is kept in memory
    assert max(keys.values()) == 1
    assert calls["GetObject"] == 1 + len(FLEET) * (1 + 2 * len(cell["steps"]))
    # and all of it has reached the result
    first = json.dumps(result["points"][0])
    assert "create_lat" in first
    assert "disk_write_bytes" in first
