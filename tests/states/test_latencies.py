"""Latency histograms on the blackboard become the latencies of the whole fleet; a bad one is said, not believed."""

import gzip
import json

import boto3

from aws.results import analysing

CELL = "efs.touch.m6i.large-x2"
FOLDER = f"runs/r/cells/{CELL}/instances"


def put(instance, name, body):
    """Upload as an agent does."""
    boto3.client("s3").put_object(Bucket="results", Key=f"{FOLDER}/AROA1:{instance}/raw/{name}", Body=body)


def histogram(**bins):
    """A histogram file of creates."""
    found = {name.removeprefix("ns_"): count for name, count in bins.items()}
    return json.dumps({"schema": 1, "unit": "ns", "histograms": {"create_lat": {"bins": found}}}).encode()


def test_histograms_of_all_instances_and_repetitions_are_gathered_by_point(stack):
    put("i-1", "p01-r1.histograms.json", histogram(ns_1000=1))
    put("i-1", "p01-r2.histograms.json.gz", gzip.compress(histogram(ns_1000=2)))
    put("i-2", "p02-r1.histograms.json", histogram(ns_2000=3))
    put("i-2", "p02-r1.fio.json", b"{}")

    found, warnings = analysing.histograms_of(analysing.uploads_of("r", CELL), {"i-1", "i-2"})

    assert sorted(found) == ["p01", "p02"]
    assert sorted(one[1000] for one in found["p01"]["create_lat"]) == [1, 2]
    assert found["p02"]["create_lat"] == [{2000: 3}]
    assert warnings == []


def test_an_instance_that_is_not_of_the_fleet_adds_nothing(stack):
    put("i-9", "p01-r1.histograms.json", histogram(ns_1000=1))

    assert analysing.histograms_of(analysing.uploads_of("r", CELL), {"i-1"}) == ({}, [])


def test_a_histogram_that_cannot_be_read_is_a_warning(stack):
    put("i-1", "p01-r1.histograms.json", b"not json")

    found, warnings = analysing.histograms_of(analysing.uploads_of("r", CELL), {"i-1"})

    assert found == {}
    assert warnings[0].startswith("1 latency histograms are left out; the first: i-1, p01-r1.histograms.json: ")
