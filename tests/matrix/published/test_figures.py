"""The published figures: loaded as they are, and beside ours only where they belong."""

import json

import pytest

from matrix.published.figures import figures, rows_of
from matrix.published.published_comparisons import compared_rows

IMAGE = "core-image-sato-sdk"


READ_AS_TWO = (
    'the source says "2 times 100 instances in 2 AZs - same AZ as FSx": by its figures these are two file systems'
)


def run_of(cell, metrics, params, *, environment="aws"):
    """A run with one cell and one point."""
    shown = {
        name: {"unit": "s" if name == "duration_s" else "/s", "primary": True, "p50": value, "p90": value}
        for name, value in metrics.items()
    }
    point = {"id": "p01", "params": params, "metrics": shown}
    return {"run": "r", "environment": environment, "cells": [{"id": "c", "points": [point], **cell}]}


def build(count=100, mode="bursting", **changes):
    """A build cell as published."""
    return {
        "storage": {"type": "efs", "performanceMode": "generalPurpose", "throughputMode": mode},
        "workload": {"type": "yocto", "image": IMAGE, "release": "kirkstone"},
        "fleet": {"instanceType": "m6i.4xlarge", "count": count},
        **changes,
    }


def test_the_same_build_on_the_same_fleet_stands_beside_the_published_one():
    rows = {row["percentile"]: row for row in compared_rows(run_of(build(), {"duration_s": 7198.0}, {"image": IMAGE}))}

    assert (rows["p50"]["published"], rows["p50"]["ratio"], rows["p50"]["comparable"]) == (7198, 1.0, True)
    assert rows["p90"]["ratio"] == pytest.approx(7198 / 8198)


def test_another_release_does_not_compare():
    cell = build(workload={"type": "yocto", "release": "scarthgap"})

    [row, *_] = compared_rows(run_of(cell, {"duration_s": 7000.0}, {"image": IMAGE}))

    assert not row["comparable"]
    assert "release scarthgap, published with kirkstone" in row["why_not"]


@pytest.mark.parametrize(
    ("more", "placement", "published", "why_not"),
    [
        ({}, None, [11066], []),
        ({}, [2, 2], [], None),
        ({}, "spread", [], None),
        # Two file systems of 100 instances each stand beside the published ones alone.
        ({"fileSystems": 2}, None, [7695], [READ_AS_TWO]),
    ],
)
def test_builds_on_fsx_compare_with_the_published_row_of_their_placement(more, placement, published, why_not):
    storage = {
        "type": "fsx-openzfs", "deploymentType": "SINGLE_AZ_1", "storageCapacityGiB": 1024,
        "throughputCapacityMBps": 4096, "iops": 20000, "compression": "LZ4", **more,
    }  # fmt: skip
    fleet = {"instanceType": "m6i.4xlarge", "count": 200} | ({"placement": placement} if placement else {})

    rows = compared_rows(run_of(build(storage=storage, fleet=fleet), {"duration_s": 9000.0}, {"image": IMAGE}))

    medians = [row for row in rows if row["percentile"] == "p50" and (row["comparable"] or row["why_not"] == why_not)]
    assert [row["published"] for row in medians] == published
    assert why_not is None or [row["why_not"] for row in medians] == [why_not]


def test_a_sweep_of_block_sizes_stands_beside_the_published_rows():
    cell = {
        "storage": {"type": "ebs", "name": "x", "volumeType": "io2", "sizeGiB": 100, "iops": 16000},
        "workload": {"type": "fio"}, "fleet": {"instanceType": "m6i.12xlarge", "count": 1},
    }  # fmt: skip
    options = {"rw": "randwrite", "bs": "4K", "iodepth": 16, "numjobs": 16, "direct": 1, "runtime": 10}

    (row,) = compared_rows(run_of(cell, {"iops": 17585.0}, {"device": True, "options": options}))

    assert (row["published"], row["ratio"]) == (17585, 1.0)
    assert row["why_not"] == ["on m6i.12xlarge, published on r5b.large", "sizeGiB 100, published with 54"]


def transfer_of(metrics=None, **changes):
    """The tutorial's cp under GNU parallel."""
    storage = {"type": "efs", "throughputMode": "provisioned", "provisionedThroughputMiBps": 256}
    fleet = {"instanceType": "c5.2xlarge", "count": 1}
    params = {"tool": "cp+parallel", "files": 5000, "file_bytes": 2**20, "threads": 32, **changes}
    cell = {"storage": storage, "workload": {"type": "transfer", "tool": "cp+parallel"}, "fleet": fleet}
    return compared_rows(run_of(cell, metrics or {"mb_per_s": 140.2}, params))


def test_a_transfer_stands_beside_the_published_one_of_the_same_tool():
    [row] = transfer_of()

    assert (row["published"], row["ratio"]) == (70.1, 2.0)
    assert row["comparable"]
    assert [one["published"] for one in transfer_of(tool="cp")] == [15.6]
    assert "files 500, published with 5000" in transfer_of(files=500)[0]["why_not"]
    # The tool's own threads decide: with others it is another measurement, shown and marked.
    assert "threads 8, published with 32" in transfer_of(threads=8)[0]["why_not"]


@pytest.mark.parametrize(
    ("changes", "is_comparable"),
    [
        ({"throughputMode": "elastic"}, True),
        ({"throughputMode": "bursting"}, False),
        ({"throughputMode": "provisioned", "provisionedThroughputMiBps": 190}, False),  # 199 MB/s
        ({"throughputMode": "provisioned", "provisionedThroughputMiBps": 191}, True),  # 200.3 MB/s
    ],
)
def test_the_tutorial_compares_with_file_systems_of_more_than_200_mb_per_s(changes, is_comparable):
    fleet = {"instanceType": "c5.2xlarge", "count": 1}
    cell = {"storage": {"type": "efs"} | changes, "workload": {"type": "transfer"}, "fleet": fleet}
    params = {"tool": "cp", "files": 5000, "file_bytes": 2**20, "threads": 1}

    (row,) = compared_rows(run_of(cell, {"mb_per_s": 15.6}, params))

    assert row["comparable"] == is_comparable
    assert is_comparable or "may move more than 200 MB/s" in row["why_not"][0]


def throughput_of(instance_type, metrics):
    """A large write from one instance."""
    storage = {"type": "efs", "throughputMode": "provisioned", "provisionedThroughputMiBps": 256}
    fleet = {"instanceType": instance_type, "count": 1}
    cell = {"storage": storage, "workload": {"type": "command"}, "fleet": fleet}
    return compared_rows(run_of(cell, metrics, {"name": "dd-20-gib"}))


def test_burst_and_baseline_of_an_instance_stand_beside_those_of_the_same_type_only():
    ours = {"dd_mb_per_s": 60.0, "burst_mb_per_s": 120.0, "baseline_mb_per_s": 14.0}

    rows = throughput_of("t2.micro", ours)

    assert {row["metric"]: (row["published"], row["ratio"]) for row in rows} == {
        "dd_mb_per_s": (30, 2.0), "burst_mb_per_s": (120, 1.0), "baseline_mb_per_s": (7, 2.0),
    }  # fmt: skip
    assert {row["metric"]: row["published"] for row in throughput_of("m4.large", ours)} == {"dd_mb_per_s": 56}
    assert throughput_of("m6i.large", ours) == []


def test_each_figure_that_the_sources_tell_is_known_once():
    known = list(figures())

    # Six percentiles of 41 builds, and the best of 6 of which the source tells no more.
    assert sum(figure.source == "yocto-builds" for figure in known) == 6 * 41 + 6 == 252
    # A rate and a duration of each row, of fio IOPS, MiB/s and three latencies; burst and baseline of one; of `single`
    # seconds only. One of the tutorial is of 40 instances, which no workload measures again.
    assert sum(figure.source == "ebs-fio" for figure in known) == 5 * len(rows_of("ebs-fio")) == 140
    assert sum(figure.source == "efs-tutorial" for figure in known) == 2 * (3 + 12 + 3 + 5) + 2 + 1
    assert sum(figure.source == "efs-zero-byte" for figure in known) == 2 * 6 + 4


def test_what_the_authors_measured_later_stands_beside_ours_with_its_date():
    elastic = compared_rows(run_of(build(200, "elastic"), {"duration_s": 9175.0}, {"image": IMAGE}))
    more_iops = {
        "type": "fsx-openzfs", "deploymentType": "SINGLE_AZ_1", "storageCapacityGiB": 1024,
        "throughputCapacityMBps": 4096, "iops": 160000,
    }  # fmt: skip
    fast = compared_rows(run_of(build(100, storage=more_iops), {"duration_s": 6000.0}, {"image": IMAGE}))

    assert [(row["date"], row["published"]) for row in elastic if row["percentile"] == "p50"] == [
        ("2023-02-05", 170 * 60 + 45), ("2023-05-07", 157 * 60 + 7), ("2023-08-10", 152 * 60 + 55),
    ]  # fmt: skip
    published = {row["percentile"]: row["published"] for row in fast}
    assert (published["p50"], published["p90"]) == (97 * 60 + 26, 101 * 60 + 51)


def test_the_conditions_that_differ_are_said_and_what_a_source_omits_and_forbid_nothing():
    measured = {
        "system": {"Ubuntu 22.04.5 LTS x86_64": 1}, "kernel": {"6.8.0-1021-aws": 1},
        "Availability Zone": {"us-east-1a": 1, "us-east-1b": 1},
    }  # fmt: skip
    workload = {"type": "yocto", "release": "kirkstone", "container": "crops/poky:ubuntu-22.04", "buildDiskGiB": 50}
    [row, *_] = compared_rows(
        run_of(build(workload=workload, provenance=measured), {"duration_s": 7198.0}, {"image": IMAGE})
    )

    assert row["comparable"]
    assert row["differs"] == [
        "region: us-east-1 here, eu-central-1 there",
        "container: crops/poky:ubuntu-22.04 here, built of a Dockerfile there",
        "build disk: gp3 volume of 50 GiB here, gp3 volume of 100 GiB there",
        "start: all instances at the same moment here, each instance when it had booted there",
        "cache folder: chown -R and chgrp -R by each instance before its build there",
        "root volume: encrypted here, unencrypted there",
        "the source does not tell kernel",
    ]


def test_a_run_of_something_else_has_no_counterpart():
    cell = {"storage": {"type": "efs"}, "workload": {"type": "touch"}, "fleet": {"instanceType": "x", "count": 7}}

    assert compared_rows(run_of(cell, {"files_per_s": 1.0}, json.loads('{"files": 1}'))) == []


def reads_of(storage, **params):
    """A cell of reads, beside what is published."""
    cell = {"storage": storage, "workload": {"type": "read"}, "fleet": {"instanceType": "m5.xlarge", "count": 1}}
    known = {"access": "random", "threads": 7, "request_bytes": 8192, **params}
    return compared_rows(run_of(cell, {"mb_per_s": 10.96}, known))


def test_random_reads_of_objects_stand_beside_the_published_ones_of_another_client():
    [row] = reads_of({"type": "s3", "client": "boto3"}, offsets="bytes")

    assert (row["published"], row["ratio"]) == (5.48, 2.0)
    assert row["why_not"] == ["the source does not tell the instance type", "client boto3, published with S3A"]


@pytest.mark.parametrize(
    ("params", "published"), [({"name": "s3a", "jobs": 10}, 90), ({"name": "s3a-random", "jobs": 7}, 5.48),
                              ({"name": "sdk-java", "jobs": 1}, 12), ({"name": "aws-s3-cp", "jobs": 10}, 100)]
)  # fmt: skip
def test_a_command_by_the_sources_own_client_stands_beside_its_row_and_only_its_versions_differ(params, published):
    cell = {
        "storage": {"type": "s3", "client": "command"}, "workload": {"type": "command", "name": params["name"]},
        "fleet": {"instanceType": "m5.xlarge", "count": 1},
    }  # fmt: skip

    [row] = compared_rows(run_of(cell, {"mb_per_s": 2.0 * published}, params))

    assert (row["published"], row["ratio"]) == (published, 2.0)
    assert row["why_not"] == ["the source does not tell the instance type"]
    assert not any("Python" in text for text in row["differs"])
    assert any("Hadoop 3.3.3" in text for text in row["differs"]) == (params["name"] != "aws-s3-cp")
