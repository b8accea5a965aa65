"""Fleets that EC2 cannot launch whole, as whole runs show them."""

import json
from pathlib import Path

import pytest
from support.runs import EBS, TOUCH, Cloud, matrix

DOCUMENT = matrix(storage=[EBS | {"name": "ebs"}], workload=[TOUCH | {"name": "t"}])
FLEET = {"instanceType": "m6i.large", "count": 3, "placement": "spread"}


@pytest.fixture
def faults(cloud: Cloud) -> Path:
    return cloud.folder / "rules.json"


def no_capacity(faults: Path, run: str, nth: int, times: int | None) -> None:
    """From its nth launch call on, a run is refused so many times."""
    rule = {"id": run, "fault": "no capacity", "run": run, "action": "ec2:RunInstances", "nth": nth, "times": times}
    faults.write_text(json.dumps({"rules": [rule]}))


def test_another_zone_has_what_the_first_lacks(cloud, faults):
    no_capacity(faults, "elsewhere", nth=1, times=1)

    run = cloud.run("elsewhere", DOCUMENT | {"fleet": [FLEET]})

    cell = run.cell()
    assert (run.status, cell["state"]) == ("SUCCEEDED", "measured")
    assert cell["instances"] == {"expected": 3, "launched": 3}
    assert run.left_behind() == {}


def test_a_fleet_at_its_quorum_is_measured_and_says_so(cloud, faults):
    no_capacity(faults, "quorum", nth=3, times=None)

    run = cloud.run("quorum", DOCUMENT | {"fleet": [FLEET | {"quorum": 2}]})

    cell = run.cell()
    assert (run.status, cell["state"]) == ("SUCCEEDED", "measured")
    assert cell["instances"] == {"expected": 3, "launched": 2}
    fewer = cell["warnings"][0]
    assert (fewer["code"], fewer["ran"], fewer["count"]) == ("fewer-instances", 2, 3)
    assert fewer["reason"].startswith("InsufficientInstanceCapacity")
    metric = cell["points"][0]["metrics"]["files_per_s"]
    assert (metric["n"], metric["expected_n"]) == (2, 3)
    assert run.left_behind() == {}
