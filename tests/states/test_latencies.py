"""Latencies and curves on the blackboard become those of the whole fleet; a bad one is said, not believed."""

import gzip
import json
import re

import boto3
import pytest

from aws.records import bucket
from aws.results import analysing
from matrix.samples.file import read_samples

CELL = "efs.touch.m6i.large-x2"
TOGETHER = "latencies-0000.json.gz"
STEP = re.compile(r"(p[0-9]+)-r([0-9]+)\.")


def upload(instance, raw, beside=None):
    """Upload raw files of an instance (by name), samples of their steps, and objects beside them; the samples."""
    names = {}
    for name in raw:
        names.setdefault(STEP.match(name).groups(), []).append(f"raw/{name}")
    samples = [
        {
            "point": point, "repetition": int(repetition), "step": step, "started_at": 1.0, "ended_at": 2.0,
            "metrics": {"duration_s": 1.0}, "raw": of_step,
        }
        for step, ((point, repetition), of_step) in enumerate(names.items())
    ]  # fmt: skip
    document = {"run": "r", "cell": CELL, "instance": {"id": instance, "type": "m6i.large"}, "samples": samples}
    text = json.dumps(document).encode()
    objects = {"samples.json": text, **{f"raw/{name}": body for name, body in raw.items()}, **(beside or {})}
    for name, body in objects.items():
        key = f"runs/r/cells/{CELL}/instances/AROA1:{instance}/{name}"
        boto3.client("s3").put_object(Bucket="results", Key=key, Body=body)
    return read_samples(text, instance=instance, cell=CELL)


def histogram(**bins):
    """A histogram file of creates."""
    by_ns = {name.removeprefix("ns_"): count for name, count in bins.items()}
    return json.dumps({"schema": 1, "unit": "ns", "histograms": {"create_lat": {"bins": by_ns}}}).encode()


def together(curves=None, **steps):
    """The histogram files and curves of many steps, as an agent puts them together."""
    files = {stem.replace("_", "-"): json.loads(body) for stem, body in steps.items()}
    return gzip.compress(json.dumps({"schema": 1, "steps": files, "curves": curves or {}}).encode())


def gathered(files):
    """The histograms of these samples, and the warnings."""
    found = analysing.together_of(analysing.uploads_of("r", CELL), files)
    bins = {
        point: {name: [each.bins for each in of_name] for name, of_name in by_name.items()}
        for point, by_name in found.histograms.items()
    }
    return bins, found.warnings


def test_histograms_of_all_instances_and_repetitions_are_gathered_by_point(stack):
    files = [
        upload(
            "i-1",
            {
                "p01-r1.histograms.json": histogram(ns_1000=1),
                "p01-r2.histograms.json.gz": gzip.compress(histogram(ns_1000=2)),
            },
        ),
        upload("i-2", {"p02-r1.histograms.json": histogram(ns_2000=3), "p02-r1.fio.json": b"{}"}),
    ]

    by_point, warnings = gathered(files)

    assert sorted(by_point) == ["p01", "p02"]
    assert sorted(bins[1000] for bins in by_point["p01"]["create_lat"]) == [1, 2]
    assert by_point["p02"]["create_lat"] == [{2000: 3}]
    assert warnings == []


def test_an_instance_that_is_not_of_the_fleet_adds_nothing(stack):
    own = upload("i-1", {})
    upload("i-9", {"p01-r1.histograms.json": histogram(ns_1000=1)}, {TOGETHER: together(p01_r1=histogram(ns_1=1))})

    assert gathered([own]) == ({}, [])


def test_a_histogram_that_cannot_be_read_is_a_warning(stack):
    files = [upload("i-1", {"p01-r1.histograms.json": b"not json"})]

    by_point, warnings = gathered(files)

    assert by_point == {}
    [warning] = warnings
    assert (warning["code"], warning["what"], warning["files"]) == ("unreadable", "latencies", 1)
    assert warning["reason"].startswith("i-1, p01-r1.histograms.json: ")


def test_steps_that_an_instance_has_put_together_are_read_with_one_request(stack, monkeypatch):
    steps = {f"p01-r{n}.histograms.json": histogram(ns_1000=n) for n in (1, 2, 3)}
    of_two = {"latencies-0000.json.gz": together(p01_r1=histogram(ns_1000=1)),
              "latencies-0001.json.gz": together(p01_r2=histogram(ns_1000=2))}  # fmt: skip
    files = [upload("i-1", steps, of_two)]
    asked = []
    get_bytes = bucket.get_bytes
    monkeypatch.setattr(bucket, "get_bytes", lambda key, *most: asked.append(key) or get_bytes(key, *most))

    by_point, warnings = gathered(files)

    # The third was uploaded, but the instance was killed before it put that together with others.
    assert sorted(bins[1000] for bins in by_point["p01"]["create_lat"]) == [1, 2, 3]
    assert sorted(key.partition("i-1/")[2] for key in asked if "latencies" in key or "raw" in key) == [
        "latencies-0000.json.gz", "latencies-0001.json.gz", "raw/p01-r3.histograms.json",
    ]  # fmt: skip
    assert warnings == []


@pytest.mark.parametrize(
    "damage",
    [
        *(b"not json", b"\x1f\x8b broken", gzip.compress(b"x" * 6_000_000)),
        gzip.compress(b'{"steps": {"p01-r1": {}}}'),
        together({"p01-r1": {"begun_at": 1, "seconds": [0, 1], "counted": {"disk_read_bytes": [0]}}}),
        together({"p01-r1": {"begun_at": 1, "seconds": [1, 0], "counted": {"disk_read_bytes": [0, 1]}}}),
        together({"p01-r1": {"begun_at": 1e300, "seconds": [0, 1], "counted": {}}}),
    ],
    ids=["no json", "broken", "too large", "no histograms", "a reading short", "back in time", "no moment"],
)
def test_where_what_was_put_together_is_damaged_each_step_is_read_by_itself(stack, damage):
    files = [upload("i-1", {"p01-r1.histograms.json": histogram(ns_1000=7)}, {TOGETHER: damage})]

    by_point, [warning] = gathered(files)

    assert by_point == {"p01": {"create_lat": [{1000: 7}]}}
    assert (warning["code"], warning["what"], warning["files"]) == ("unreadable", "bundles", 1)
    assert warning["reason"].startswith(f"i-1, {TOGETHER}: ")


def test_what_each_instance_counted_of_its_own_steps_is_added_up(stack):
    curve = {"begun_at": 1.0, "seconds": [0, 1], "counted": {"network_sent_bytes": [0, 3e6], "made_up": [0, 9]}}
    beside = {TOGETHER: together({"p01-r1": curve, "p09-r1": curve})}
    files = [upload(name, {"p01-r1.fio.json": b"{}"}, beside) for name in ("i-1", "i-2")]
    upload("i-9", {"p01-r1.fio.json": b"{}"}, beside)  # of no fleet

    over_time = analysing.together_of(analysing.uploads_of("r", CELL), files).over_time

    sent = {"sent over the network": [6.0]}
    assert over_time == {
        "p01": [{"repetition": 1, "instances": 2, "seconds": [1.0], "mb_per_s": sent, "operations_per_s": {}}]
    }


def test_only_raw_files_that_a_sample_names_as_its_own_are_read(stack):
    step = {"p01-r1.histograms.json": histogram(ns_1000=1)}
    file = upload("i-1", step, {TOGETHER: together(p01_r1=histogram(ns_1000=1), p09_r1=histogram(ns_9=9))})
    file.samples[0].raw[:0] = ["raw/p01-r2.histograms.json", "../i-2/raw/p01-r1.histograms.json", "job.json"]

    by_point, warnings = gathered([file])

    assert by_point == {"p01": {"create_lat": [{1000: 1}]}}
    assert warnings == []


@pytest.mark.parametrize(
    ("raw", "refused"),
    [(None, 0), (5, 0), (["x" * 999, 7, None], 0), (["raw/p01-r1.histograms.json"], 1)],
    ids=["none", "a number", "no names", "not there"],
)
def test_names_of_raw_files_that_are_none_or_of_what_is_not_there_void_no_sample(stack, raw, refused):
    file = upload("i-1", {"p01-r1.fio.json": b"{}"})
    sample = file.samples[0].model_dump() | {"raw": raw}
    file = file.model_validate(file.model_dump() | {"samples": [sample]})

    by_point, warnings = gathered([file])

    assert (by_point, len(file.samples), len(warnings)) == ({}, 1, refused)
