"""A run on S3 (played by moto): the data comes and goes with it, and no role has more of it than it needs."""

import json

import pytest
from support.runs import Cloud, Run, matrix

READ = {"type": "read", "access": ["sequential", "random"], "requests": 64, "requestSize": "64KiB", "threads": 2}


FLEET = {"instanceType": "m6i.large", "count": 2}
BY_COMMAND = {
    "storage": {"type": "s3", "client": "command"},
    "workload": {
        **{"type": "command", "name": "one-get", "primaryMetric": "mb_per_s", "objectSize": "64KiB", "objects": 2},
        "command": """python3 -c 'import boto3, os
boto3.client("s3").get_object(Bucket=os.environ["S3_BUCKET"], Key=os.environ["S3_KEY"])["Body"].read()'""",
        **{"jobs": 1, "expectedSeconds": 1},
    },
    "fleet": FLEET,
}


@pytest.fixture(scope="module")
def run(cloud: Cloud) -> Run:
    document = matrix(storage=[{"type": "s3"}], workload=[READ], fleet=[FLEET], include=[BY_COMMAND])
    return cloud.run("objects", document)


def test_every_instance_reads_its_own_object_and_says_that_s3_was_played(run):
    read, command = run.summary()["cells"]

    for cell, points in ((read, 2), (command, 1)):
        assert cell["state"] == "measured", cell["error"]
        assert [point["metrics"]["mb_per_s"]["n"] for point in cell["points"]] == [2] * points
        assert any("S3 was played by the local cloud" in warning.get("text", "") for warning in cell["warnings"])


def test_nothing_of_the_data_is_left_and_the_receipt_says_who_saw_it_gone(run):
    buckets = [one["Name"] for one in run.cloud.client("s3").list_buckets()["Buckets"]]
    [data] = [name for name in buckets if "databucket" in name]

    assert run.cloud.client("s3").list_objects_v2(Bucket=data)["KeyCount"] == 0
    prefixes = [resource for resource in run.summary()["receipt"]["resources"] if resource["kind"] == "s3"]
    assert [prefix["verified"] for prefix in prefixes] == ["S3 ListObjectsV2: no object"] * 2
    assert all(prefix["gone_at"] > prefix["created_at"] for prefix in prefixes)


def test_instances_have_written_below_their_own_names_only_and_nobody_was_refused(run):
    decisions = [json.loads(line) for line in (run.cloud.folder / "iam-decisions.jsonl").read_text().splitlines()]

    of_data = [one for one in decisions if "databucket" in one["resource"]]
    assert {one["decision"] for one in of_data} == {"allow"}
    written = {one["resource"] for one in of_data if one["action"] == "s3:PutObject" and "InstanceRole" in one["role"]}
    assert len(written) == 2 + 2 * 2  # an object of each instance to read, and two of each for the command
    assert all(":i-" in resource.split("/")[2] for resource in written)
