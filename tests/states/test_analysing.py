"""Analyse cell asks S3 for no more than it needs: calls are what a fleet of 200 instances makes many of."""

import json
from collections import Counter

import pytest
from support.function_events import RUN
from support.launched_cell import FLEET, launch_cell

import analyse_cell
from aws.records import bucket
from aws.stack.clients import client
from matrix.terms.keys import Board


@pytest.fixture
def cell(stack, context):
    """A launched cell of a run, both instances of which have uploaded all that an instance may."""
    return launch_cell(context)


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
    # fleet.json, and the samples of each instance; plan.json is kept in memory. Of one instance latencies as it has
    # put them together, of the other those of each step.
    assert max(keys.values()) == 1
    assert calls["GetObject"] == 1 + len(FLEET) + 1 + len(cell["steps"])
    # and all of it has reached the result
    assert "create_lat" in json.dumps(result["points"][0])
