"""Rates over time on the blackboard become curves of the cell's result; a bad one is said, not believed."""

import json

from support.uploaded import upload

from aws.results import analysing
from matrix.samples.rates import MAX_CURVES

CELL = "efs.instance-throughput.t2.micro-x2"
SERIES = {"schema": 1, "carrier": "disk_write_bytes", "seconds": [0, 1], "counted": {"disk_write_bytes": [0, 5e6]}}


def test_the_curves_of_the_fleet_are_gathered_by_point(stack):
    series = json.dumps(SERIES).encode()
    files = [
        upload(CELL, "i-1", {"p01-r1.series.json": series, "p02-r1.series.json": b"not json"}),
        upload(CELL, "i-2", {"p01-r2.series.json": series}),
    ]
    upload(CELL, "i-9", {"p01-r1.series.json": series})  # of no fleet

    found, warnings = analysing.curves_of(analysing.uploads_of("r", CELL), files)

    curve = {"counter": "disk_write_bytes", "seconds": [1], "mb_per_s": [5]}
    assert found == {
        "p01": [{"instance": "i-1", "repetition": 1, **curve}, {"instance": "i-2", "repetition": 2, **curve}]
    }
    [warning] = warnings
    assert (warning["code"], warning["what"], warning["files"]) == ("unreadable", "rates-over-time", 1)
    assert warning["reason"].startswith("i-1, p02-r1.series.json: ")


def test_of_a_large_fleet_only_as_many_curves_are_read_as_can_be_shown(stack):
    series = json.dumps(SERIES).encode()
    files = [upload(CELL, f"i-{n}", {"p01-r1.series.json": series}) for n in range(MAX_CURVES + 3)]

    found, _ = analysing.curves_of(analysing.uploads_of("r", CELL), files)

    assert len(found["p01"]) == MAX_CURVES
