"""Requests for objects: a real S3 server (moto) over HTTP, the agent's own client, refusals in front of it."""

from __future__ import annotations

import logging
import random
import re
import time
from collections import Counter

import pytest
from botocore.exceptions import ClientError
from support.agent_cloud import BUCKET, REGION

from agent.engine import object_requests
from agent.workloads import objects, read
from local.corrections import directory_buckets

KIB, MIB = 2**10, 2**20
PREFIX = "0123abcd"
KINDS = (object_requests.KEPT, object_requests.WRITTEN, object_requests.DOOMED)
MOUNT = {"kind": "s3", "bucket": BUCKET, "prefix": f"{PREFIX}/{{userid}}", "region": REGION, "client": "boto3"}


def point(operation, requests=12, **more):
    return {"operation": operation, "requests": requests, "object_bytes": 4 * KIB, "threads": 2, **more}


@pytest.fixture
def measured(sampled):
    """Run the points on an instance; its samples by what was asked for."""
    storage = {"type": "s3", "client": "boto3"}
    return lambda *points: sampled("objects", list(points), mount=MOUNT, storage=storage)


def keys_below(cloud):
    return [entry["Key"] for entry in cloud.s3.list_objects_v2(Bucket=BUCKET, Prefix=f"{PREFIX}/").get("Contents", [])]


def test_each_operation_is_measured_by_itself_and_leaves_only_what_is_read(cloud, instance, measured):
    put, got, headed, listed, deleted = measured(
        point("put", prefixes=3),
        point("get", objects=5, prefixes=3),
        point("head", objects=5, prefixes=3),
        point("list", objects=5, prefixes=3, keys_per_list=1),
        point("delete", prefixes=3, keys_per_delete=1),
    )

    for sample, name in zip((put, got, headed, listed, deleted), object_requests.OPERATIONS, strict=True):
        assert sample["metrics"]["requests_per_s"] * sample["metrics"]["duration_s"] == pytest.approx(12)
        assert sample["metrics"]["throttled_requests"] == sample["metrics"]["failed_requests"] == 0
        assert sample["metrics"][f"{name}_lat_p99_us"] > 0
        kept = instance.histograms(sample)
        assert kept.keys() == {f"{name}_lat"}
        assert kept[f"{name}_lat"]["samples"] == 12
        assert sample["tool"]["objects"] == {name: 12}
        assert sample["warnings"] == [read.PLAYED_S3]
    assert put["work"] == {"read_bytes": 0, "write_bytes": 12 * 4 * KIB, "requests": 12}
    assert got["work"] == {"read_bytes": 12 * 4 * KIB, "write_bytes": 0, "requests": 12}
    assert "mb_per_s" not in headed["metrics"]
    assert sorted(key.rpartition("/")[2] for key in keys_below(cloud)) == [f"{number:08d}" for number in range(5)]


def test_a_mix_has_exactly_its_weights_and_the_latency_of_each_operation(instance, measured):
    mix = {"get": 9, "head": 6, "put": 3, "delete": 2}
    words = ", ".join(f"{name} {count}" for name, count in mix.items())

    [sample] = measured(point("mix", 20, mix=words, objects=4))

    kept = instance.histograms(sample)
    assert {name: entry["samples"] for name, entry in kept.items()} == {
        **{f"{name}_lat": count for name, count in mix.items()},
        "request_lat": 20,
    }
    assert sample["tool"]["objects"] == mix
    assert sample["tool"]["http_requests"] == 20
    assert sample["work"]["read_bytes"] == 9 * 4 * KIB


@pytest.fixture
def asked():
    """Method and path of each request that the server has answered, by its own log."""
    log, lines = logging.getLogger("werkzeug"), []
    handler = logging.Handler()
    # A status beside 200 colours its line.
    handler.emit = lambda record: lines.extend(re.findall(r"(PUT|GET|HEAD|DELETE) (\S+)", record.getMessage()))
    before = log.level
    log.setLevel(logging.INFO)
    log.addHandler(handler)
    yield lines
    log.removeHandler(handler)
    log.setLevel(before)


def test_the_server_has_answered_as_many_requests_as_the_sample_says(measured, asked):
    [sample] = measured(point("mix", 20, mix="get 9, put 6, delete 5", objects=4))

    answered = Counter((method, kind) for method, path in asked for kind in KINDS if f"/{kind}/" in path.split("?")[0])
    assert sample["tool"]["http_requests"] == 20
    assert answered["GET", "kept"] == 9
    assert answered["PUT", "kept"] == 4
    assert answered["PUT", "doomed"] == answered["DELETE", "doomed"] == 5
    assert answered["PUT", "written"] == answered["GET", "written"] == 6  # each is read again after the time


def test_what_is_due_counts_from_when_it_was_due(measured):
    [sample] = measured(point("get", 20, objects=4, rate_per_s_per_instance=100))

    # 20 of them at 100 a second; a busy machine takes longer, and none is over before they are due.
    assert sample["metrics"]["duration_s"] > 0.1
    assert "open loop: 100 due per second" in sample["tool"]["command"]
    assert 0 <= sample["tool"]["overdue_share"] <= 1


def test_large_objects_go_in_parts_each_of_which_is_a_request(cloud, instance, measured):
    put, got = measured(
        point("put", 2, object_bytes=12 * MIB, part_bytes=5 * MIB),
        point("get", 2, object_bytes=12 * MIB, part_bytes=5 * MIB, objects=1),
    )

    assert put["tool"]["http_requests"] == 2 * 5  # begin, three parts, complete
    assert put["work"]["write_bytes"] == got["work"]["read_bytes"] == 2 * 12 * MIB
    [key] = keys_below(cloud)
    assert cloud.s3.head_object(Bucket=BUCKET, Key=key)["ETag"].endswith('-3"')


def test_batches_delete_many_objects_with_one_request(measured):
    [sample] = measured(point("delete", 3, keys_per_delete=10))

    assert sample["tool"]["objects"] == {"delete": 30}
    assert sample["tool"]["http_requests"] == 3
    assert sample["metrics"]["objects_per_s"] == pytest.approx(10 * sample["metrics"]["requests_per_s"])


def test_drawn_sizes_are_put_got_and_checked_as_drawn(measured):
    put, mix = measured(
        point("put", 200, object_bytes=64 * KIB, sizes="exponential"),
        point("mix", 60, object_bytes=16 * KIB, sizes="exponential", objects=20, mix="get 20, head 20, put 20"),
    )

    # Sizes of 200 objects, whose mean is 64 KiB; they are the same in each run.
    assert 200 * 48 * KIB < put["work"]["write_bytes"] < 200 * 80 * KIB
    assert put["work"]["write_bytes"] % KIB
    assert mix["work"]["read_bytes"] != mix["work"]["write_bytes"]
    assert "64 KiB" in put["tool"]["command"] or "65536 bytes on average" in put["tool"]["command"]


# ---------------------------------------------------------------- contents


@pytest.mark.parametrize("part", [None, 1000])
def test_no_two_objects_or_parts_are_alike_and_none_can_be_compressed(part):
    contents = object_requests.Contents(4 * KIB, part, seed=7)
    whole = [
        b"".join(contents.block(kind, number, block) for block in range(contents.blocks))
        for kind in (object_requests.KEPT, object_requests.WRITTEN, object_requests.DOOMED)
        for number in range(50)
    ]

    assert {len(content) for content in whole} == {4 * KIB}
    stretches = Counter(content[at : at + 512] for content in whole for at in range(0, 4 * KIB, 512))
    assert max(stretches.values()) == 1
    again = object_requests.Contents(4 * KIB, part, seed=7).block(object_requests.KEPT, 0, 0)
    assert whole[0].startswith(again)


@pytest.mark.parametrize("size", [0, 5, 40, 4 * KIB])
@pytest.mark.parametrize("chunk", [1, 7, 1000, MIB])
def test_what_is_read_is_compared_byte_for_byte(size, chunk):
    contents = object_requests.Contents(size, 1000, seed=7)
    whole = b"".join(contents.block(object_requests.KEPT, 3, block) for block in range(contents.blocks))

    def chunks(content):
        return (content[at : at + chunk] for at in range(0, len(content), chunk))

    assert contents.check(object_requests.KEPT, 3, chunks(whole)) == size
    wrong = [whole + b"x"]
    if size:
        wrong += [whole[:-1], whole[:-1] + bytes([whole[-1] ^ 1]), bytes([whole[0] ^ 1]) + whole[1:]]
    for content in wrong:
        with pytest.raises(object_requests.ObjectWrong):
            contents.check(object_requests.KEPT, 3, chunks(content))


# ---------------------------------------------------------------- refusals


class Refusing:
    """A client that refuses its first calls as S3 does, then answers."""

    def __init__(self, *refusals):
        self.refusals, self.calls = list(refusals), 0

    def delete_object(self, **_):
        self.calls += 1
        if self.refusals:
            code, status = self.refusals.pop(0)
            raise ClientError({"Error": {"Code": code}, "ResponseMetadata": {"HTTPStatusCode": status}}, "DeleteObject")
        return {}


def bucket_with(client, monkeypatch):
    monkeypatch.setattr(object_requests, "once", lambda _make: client)
    monkeypatch.setattr(object_requests.time, "sleep", lambda _s: None)
    plan = {"bucket": BUCKET, "root": PREFIX, "step": "1", "prefixes": 1, "keys_per_list": 1, "keys_per_delete": 1}
    return object_requests.Bucket(plan, object_requests.Contents(0, None, 1), chance=random.Random(1))


def test_what_s3_refuses_is_repeated_and_counted_and_never_in_silence(monkeypatch):
    client = Refusing(("SlowDown", 503), ("SlowDown", 503), ("InternalError", 500))
    bucket = bucket_with(client, monkeypatch)

    bucket.deleting(object_requests.DOOMED, 0)()

    assert client.calls == bucket.counts.attempts == 4
    assert bucket.counts.refused == {"SlowDown": 2, "InternalError": 1}
    assert bucket.counts.throttled == 2
    [warning] = objects.refusals(2, bucket.counts.refused, 1)
    assert "InternalError 1, SlowDown 2" in warning
    assert "2 of them as too many (503)" in warning


def test_the_pauses_after_a_refusal_are_part_of_the_latency(monkeypatch):
    bucket = bucket_with(Refusing(("SlowDown", 503)), monkeypatch)
    monkeypatch.setattr(object_requests.time, "sleep", lambda s: clock.__setitem__(0, clock[0] + int(s * 1e9)))
    clock = [0]
    monkeypatch.setattr(object_requests.time, "monotonic_ns", lambda: clock[0])
    times = {"delete": []}

    object_requests.work_closed(bucket, [("delete", 0)], times)

    assert times["delete"] == [clock[0]]
    assert clock[0] > 0


def test_a_request_that_began_late_took_as_long_as_its_user_waited(monkeypatch):
    bucket, times = bucket_with(Refusing(), monkeypatch), {"delete": []}

    ended_ns = object_requests.work_due(bucket, ("delete", 0), time.monotonic_ns() - 5_000_000_000, times)

    assert times["delete"][0] >= 5_000_000_000
    assert ended_ns <= time.monotonic_ns()


def test_what_no_attempt_mends_is_not_repeated(monkeypatch):
    client = Refusing(("AccessDenied", 403))

    with pytest.raises(ClientError, match="AccessDenied"):
        bucket_with(client, monkeypatch).deleting(object_requests.DOOMED, 0)()

    assert client.calls == 1


def test_batches_ask_again_only_for_what_s3_kept(monkeypatch):
    asked = []

    class Keeping:
        def delete_objects(self, Delete, **_):  # noqa: N803 as botocore has it
            asked.append([entry["Key"] for entry in Delete["Objects"]])
            return {"Errors": [{"Key": "b", "Code": "SlowDown"}]} if len(asked) == 1 else {}

    bucket = bucket_with(Keeping(), monkeypatch)

    bucket.delete_all(["a", "b", "c"])

    assert asked == [["a", "b", "c"], ["b"]]
    assert sum(bucket.counts.refused.values()) == 1


# ---------------------------------------------------------------- what fails a sample


def test_an_object_that_somebody_changed_fails_the_sample(cloud, instance, measured, monkeypatch):
    measured(point("get", objects=1))
    [key] = keys_below(cloud)
    plan = {
        **{"requests": {"get": 1}, "region": REGION, "bucket": BUCKET, "root": key.split("/kept/")[0], "step": "1"},
        **{"objects": 1, "object_bytes": 4 * KIB, "part_bytes": None, "keys_per_list": 1, "prefixes": 1},
        **{"keys_per_delete": 1, "seed": 1, "order": "1", "threads": 1},
    }
    monkeypatch.setattr(object_requests, "once", lambda _make: cloud.s3)
    bucket = object_requests.Bucket(plan, object_requests.Contents(4 * KIB, None, seed=1), chance=random.Random())

    with pytest.raises(object_requests.ObjectWrong, match="other bytes than were written, from byte 0"):
        bucket.get(object_requests.KEPT, 0)
    cloud.s3.put_object(Bucket=BUCKET, Key=key, Body=b"short")
    with pytest.raises(object_requests.ObjectWrong, match="has 5 bytes by HEAD"):
        bucket.head(object_requests.KEPT, 0)
    cloud.s3.put_object(Bucket=BUCKET, Key=f"{key}-more", Body=b"")
    with pytest.raises(object_requests.ObjectWrong, match="a listing had 2 objects, and 1 are there"):
        list_whole(bucket)


def list_whole(bucket):
    for _ in range(2):
        bucket.operation("list", 0)()


def test_every_operation_is_drawn_as_often_as_asked_and_no_delete_twice():
    plan = {"order": "1", "objects": 3, "requests": {"get": 40, "put": 10, "delete": 5}}

    drawn = object_requests.draw(plan)

    assert Counter(name for name, _ in drawn) == {"get": 40, "put": 10, "delete": 5}
    assert sorted(number for name, number in drawn if name == "delete") == list(range(5))
    assert sorted(number for name, number in drawn if name == "put") == list(range(10))
    assert {number for name, number in drawn if name == "get"} == {0, 1, 2}
    assert drawn == object_requests.draw(plan)
    assert drawn != object_requests.draw({**plan, "order": "2"})
    assert [name for name, _ in drawn] != sorted(name for name, _ in drawn)


def test_a_worker_reports_what_it_refused():
    counts = object_requests.Counts()
    counts.failed(TimeoutError())

    assert object_requests.requests_report(counts, {"get": [1, 2]})["refused"] == {"TimeoutError": 1}


DIRECTORY = "sm-0123--euw1-az1--x-s3"


@pytest.fixture
def directory_bucket(cloud, monkeypatch):
    """A directory bucket, and the calls of sessions that it has had."""
    opened = []
    create_session = directory_buckets.ExpressResponse.create_session

    def counted(response):
        opened.append(response.target.bucket)
        return create_session(response)

    monkeypatch.setattr(directory_buckets.ExpressResponse, "create_session", counted)
    zone = {"Type": "AvailabilityZone", "Name": "euw1-az1"}
    kind = {"Type": "Directory", "DataRedundancy": "SingleAvailabilityZone"}
    express = cloud.s3
    express.create_bucket(Bucket=DIRECTORY, CreateBucketConfiguration={"Location": zone, "Bucket": kind})
    opened.clear()
    yield opened
    objects_left = express.list_objects_v2(Bucket=DIRECTORY).get("Contents", [])
    for entry in objects_left:
        express.delete_object(Bucket=DIRECTORY, Key=entry["Key"])
    express.delete_bucket(Bucket=DIRECTORY)


def test_on_a_directory_bucket_the_agents_own_client_opens_sessions(sampled, cloud, directory_bucket):
    points = [point("put", object_bytes=6 * MIB, part_bytes=5 * MIB), point("get", objects=5), point("delete")]
    mount = MOUNT | {"bucket": DIRECTORY, "prefix": "{userid}"}
    put, got, deleted = sampled("objects", points, mount=mount, storage={"type": "s3-express"})

    assert [sample["metrics"]["failed_requests"] for sample in (put, got, deleted)] == [0, 0, 0]
    assert set(directory_bucket) == {DIRECTORY}
    assert len(cloud.s3.list_objects_v2(Bucket=DIRECTORY)["Contents"]) == 5
