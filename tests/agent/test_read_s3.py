"""Reads of an object in S3: a real S3 server (moto) over HTTP, the real clients."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest
from botocore.exceptions import ResponseStreamingError
from support.agent_cloud import BUCKET, REGION, ROOT
from support.agent_reads import KIB, MIB, engine, read_params
from support.partitions import domains

from agent.board import blackboard
from agent.engine import objects, records
from agent.errors import BlackboardUnavailable, ToolFailed
from agent.mounts import s3
from agent.programs import tools
from agent.workloads import read, uploads

PREFIX = "0123abcd"


@pytest.fixture
def keys(monkeypatch, endpoint, cloud):
    """What the engines of this process need to find the cloud."""
    for name, value in {
        "AWS_ENDPOINT_URL": endpoint,
        "AWS_ACCESS_KEY_ID": "test",
        "AWS_SECRET_ACCESS_KEY": "test",  # pragma: allowlist secret
        "AWS_DEFAULT_REGION": REGION,
    }.items():
        monkeypatch.setenv(name, value)
    return cloud


def place(client="boto3"):
    return {"reader": client, "region": REGION, "bucket": BUCKET, "key": f"{PREFIX}/AROA:i-1/records"}


def uploaded(params, client="boto3"):
    where = place(client)
    uploads.put_records(where, records.Records(8 * KIB), params["data_bytes"] // (8 * KIB))
    return where


@pytest.mark.parametrize(
    ("recommended_gbps", "threads", "connections"), [(None, 7, 25), (None, 100, 100), (100.0, 7, 250), (5.0, 60, 60)]
)
def test_the_common_runtime_has_a_connection_for_each_thread(recommended_gbps, threads, connections):
    assert objects.target_gbps(recommended_gbps, threads) / (100 / 250) == pytest.approx(connections)


def test_an_agent_uploads_its_data_below_its_own_name_and_reads_it_back(sampled, cloud, instance):
    mount = {"kind": "s3", "bucket": BUCKET, "prefix": f"{PREFIX}/{{userid}}", "region": REGION, "client": "boto3"}
    points = [
        read_params(requests=4, threads=2, request_bytes=128 * KIB),
        read_params(access="random", requests=64, threads=2, request_bytes=8 * KIB),
    ]
    large, small = sampled("read", points, mount=mount, storage={"type": "s3", "client": "boto3"})

    assert large["work"] == {"read_bytes": 64 * 8 * KIB, "requests": 4}
    assert small["work"] == {"read_bytes": 64 * 8 * KIB, "requests": 64}
    assert large["metrics"]["requests_per_s"] * large["metrics"]["duration_s"] == pytest.approx(4)
    assert large["tool"]["name"] == "botocore"
    assert large["warnings"] == [read.PLAYED_S3]
    document = json.loads(cloud.read(f"instances/{instance.userid}/samples.json"))
    assert document["mount"]["kind"] == "s3"
    assert document["mount"]["source"] == f"s3://{BUCKET}/{PREFIX}/{instance.userid}"
    [entry] = cloud.s3.list_objects_v2(Bucket=BUCKET, Prefix=f"{PREFIX}/")["Contents"]
    assert entry["Key"] == f"{PREFIX}/{instance.userid}/records-8192-{64 * 8 * KIB}"
    assert entry["Size"] == 64 * 8 * KIB


@pytest.mark.parametrize(("client", "mode"), [("boto3", "threads"), ("boto3", "processes"), ("crt", "threads")])
def test_every_client_reads_what_was_uploaded(keys, tmp_path, client, mode):
    params = read_params(access="random", requests=64, threads=2, request_bytes=16 * KIB)

    outcome = engine(params, tmp_path, mode, uploaded(params, client))

    assert outcome.work == {"read_bytes": 64 * 16 * KIB, "requests": 64}
    assert outcome.tool["checked_records"] == 64
    assert outcome.tool["name"] == {"boto3": "botocore", "crt": "awscrt"}[client]


def test_the_common_runtime_is_never_forked(keys, tmp_path):
    params = read_params(requests=64, threads=4)

    assert read.plan_of(params, "1", uploaded(params, "crt"))["mode"] == "threads"
    assert read.plan_of(params, "1", uploaded(params, "boto3"))["mode"] == "auto"


@pytest.mark.parametrize("client", ["boto3", "crt"])
def test_an_object_that_somebody_changed_fails_the_sample(keys, tmp_path, client):
    params = read_params(access="random", requests=64, threads=2, request_bytes=8 * KIB)
    where = uploaded(params, client)
    keys.s3.put_object(Bucket=BUCKET, Key=where["key"], Body=bytes(params["data_bytes"]))

    with pytest.raises(ToolFailed, match="there is no record"):
        engine(params, tmp_path, where=where)


def test_an_object_that_is_shorter_than_it_was_fails_the_sample(keys, tmp_path):
    params = read_params(requests=8, threads=2)
    where = uploaded(params)
    data = keys.s3.get_object(Bucket=BUCKET, Key=where["key"])["Body"].read()
    keys.s3.put_object(Bucket=BUCKET, Key=where["key"], Body=data[: -32 * KIB])

    with pytest.raises(ToolFailed, match="the object ends within the request"):
        engine(params, tmp_path, where=where)


class BreakingOff:
    """An S3 whose first answers end within the bytes that they announced."""

    def __init__(self, times):
        self.left, self.asked = times, []

    def get_object(self, **request):
        self.asked.append(request)
        return {"Body": self}

    def read(self):
        self.left -= 1
        if self.left >= 0:
            raise ResponseStreamingError(error="Connection reset by peer")
        return b"four"


def test_an_answer_that_breaks_off_is_asked_for_again_and_told(tmp_path, capsys):
    s3 = BreakingOff(times=2)

    assert blackboard.get_range(s3, {"Bucket": "b", "Key": "k"}, 4, 7) == b"four"

    assert s3.asked == [{"Bucket": "b", "Key": "k", "Range": "bytes=4-7"}] * 3
    errors = tmp_path / "err"
    errors.write_text(f"a warning of Python\n{capsys.readouterr().err}")
    [warning] = read.repeated(errors)
    assert warning.startswith("2 answers of S3 broke off")


def test_requests_that_botocore_repeats_while_it_reads_are_told(tmp_path):
    errors = tmp_path / "err"
    errors.write_text(f"GetObject: {blackboard.REPEATED} SlowDown\n" * 3 + "GetObject: odd\n")

    [warning] = read.repeated(errors)

    assert warning == "3 requests to S3 were repeated, within their time, the first after: SlowDown"


def test_the_engine_says_what_botocore_repeats():
    """A worker has no log: what it says goes to its standard error."""
    script = (
        "from agent.board import blackboard;"
        "blackboard._repeated('GetObject', 'SlowDown'); blackboard._answered('GetObject', 2)"
    )
    environment = {**os.environ, "PYTHONPATH": "functions"}
    command = [sys.executable, "-c", script]
    ended = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, env=environment, check=True)

    assert ended.stderr == f"GetObject: {blackboard.REPEATED} SlowDown\n"


def test_answers_that_always_break_off_fail_the_sample():
    with pytest.raises(ResponseStreamingError):
        blackboard.get_range(BreakingOff(times=99), {"Bucket": "b", "Key": "k"}, 0, 3)


def test_large_data_is_uploaded_in_parts_that_hold_every_record(keys):
    params = read_params(requests=320)  # 20 MiB: parts of 8, 8 and 4 MiB

    where = uploaded(params)

    head = keys.s3.head_object(Bucket=BUCKET, Key=where["key"])
    assert head["ContentLength"] == 20 * MIB
    assert head["ETag"].endswith('-3"')
    body = keys.s3.get_object(Bucket=BUCKET, Key=where["key"])["Body"].read()
    for n in (0, 1_023, 1_024, 2_559):
        records.check(body[n * 8 * KIB : (n + 1) * 8 * KIB], n)


def test_parts_are_never_more_than_s3_takes(monkeypatch):
    monkeypatch.setattr(uploads, "MAX_PARTS", 3)
    maker = records.Records(MIB)

    parts = list(uploads.parts_of(maker, 50))  # 7 chunks of 8 records

    assert [len(part) // MIB for part in parts] == [24, 24, 2]
    assert b"".join(parts)[49 * MIB :][:8] == (49).to_bytes(8, "little")


def test_a_bucket_that_refuses_is_an_error_of_the_agent(keys):
    where = {**place(), "bucket": "another-bucket"}

    with pytest.raises(BlackboardUnavailable, match="PUT s3://another-bucket/0123abcd/AROA:i-1/records"):
        uploads.put_records(where, records.Records(8 * KIB), 64)


def test_the_common_runtime_asks_the_bucket_itself_unless_an_endpoint_is_set(monkeypatch):
    monkeypatch.delenv("AWS_ENDPOINT_URL", raising=False)

    for region, domain in domains().items():
        host, path = objects.address({**place("crt"), "region": region})

        assert host == f"{BUCKET}.s3.{region}.{domain}"
        assert path == f"/{PREFIX}/AROA%3Ai-1/records"


def test_a_client_that_is_missing_is_named_with_its_package():
    assert s3.tools({"client": "crt"}) == {"awscrt"}
    assert s3.tools({"client": "boto3"}) == set()
    assert tools.find("awscrt")
    assert "the package 'python3-awscrt'" in tools.explain_missing("awscrt")
    assert "dnf" in tools.explain_missing("mount-s3")


def test_the_common_runtime_plans_for_the_network_that_the_instance_has(monkeypatch):
    s3_module = pytest.importorskip("awscrt.s3")
    asked = {}
    monkeypatch.setattr(s3_module, "get_recommended_throughput_target_gbps", lambda: 75.0, raising=False)
    monkeypatch.setattr(s3_module, "S3Client", lambda **options: asked.update(options))

    objects.crt_client("us-east-1", threads=1)

    # Unless told so it plans for 10 Gbit/s.
    assert asked["throughput_target_gbps"] == 75.0
