"""Any shell command: its folders, its own metrics, and how it fails without them."""

from __future__ import annotations

import os
from dataclasses import replace
from types import SimpleNamespace

import pytest
from support.agent_cloud import BUCKET, COMMAND_PYTHON, REGION, parsed

from agent.machine import counters
from agent.machine.workspace import Workspace, Workspaces
from agent.programs import containers
from agent.programs.containers import Container
from agent.workloads import command, read

PARAMS = {
    "name": "c",
    "command": "true",
    "prepare": None,
    "populate": None,
    "jobs": 3,
    "cache_path": "a",
    "container": None,
}
METRICS = {
    "tps": {"unit": "tx/s", "better": "higher", "pattern": "^tps = ([0-9]+)$"},
    "p99_ms": {"unit": "ms", "better": "lower", "jsonField": "latency.p99"},
}


def test_a_step_without_a_declared_number_fails_by_its_name_and_the_last_lines(failure):
    point = {**PARAMS, "command": "echo tps = many"}
    failed = failure("command", [point], workload={"type": "command", "metrics": METRICS})

    assert failed["error"] == "NumberMissing"
    assert "tps (pattern '^tps = ([0-9]+)$') is in no line of the output" in failed["message"]
    assert "'tps = many'" in failed["message"]


def test_to_populate_no_number_is_needed(cloud, instance, make_job, storage):
    workload = {"type": "command", "metrics": METRICS}
    job = make_job("command", [{**PARAMS, "populate": 'touch "$CACHE_DIR/x"'}], kind="populate", workload=workload)
    del job["steps"]
    cloud.put("job.json", job)

    assert instance.run() == 0
    assert (storage / "a/x").exists()


S3 = {"kind": "s3", "bucket": BUCKET, "prefix": "token/{userid}", "region": REGION, "client": "command"}
READS = """
import botocore.session, os
where = os.environ
assert where["S3_PREFIX"] + "/objects/00000" == where["S3_KEY"] and ":i-" in where["S3_PREFIX"]
s3 = botocore.session.get_session().create_client("s3")
listed = s3.list_objects_v2(Bucket=where["S3_BUCKET"], Prefix=where["S3_PREFIX"] + "/objects/")["Contents"]
bodies = [s3.get_object(Bucket=where["S3_BUCKET"], Key=each["Key"])["Body"].read() for each in listed]
assert sum(map(len, bodies)) == int(where["S3_BYTES"])
assert len(set(bodies)) == int(where["S3_OBJECTS"])
"""


@pytest.mark.parametrize(("objects", "object_bytes"), [(3, 8_192), (1, 12 * 2**20)])
def test_a_command_on_s3_finds_objects_of_its_own_and_has_the_rate_of_reading_all_of_them(
    sampled, instance, objects, object_bytes
):
    point = {**PARAMS, "command": f"{COMMAND_PYTHON} -c '{READS}'", "objects": objects, "object_bytes": object_bytes}
    workload = {"type": "command", "primaryMetric": "mb_per_s"}
    sampled("command", [point, point], mount=S3, storage={"type": "s3"}, workload=workload)

    for sample in instance.samples():
        read_bytes = objects * object_bytes
        assert sample["work"] == {"runs": 1, "read_bytes": read_bytes}
        assert sample["metrics"]["mb_per_s"] * sample["metrics"]["duration_s"] == pytest.approx(read_bytes / 1e6)
        assert read.PLAYED_S3 in sample["warnings"]


def test_a_command_on_s3_files_finds_its_own_file_as_an_object(cloud, sampled, storage):
    cloud.s3.put_object(Bucket=BUCKET, Key="owners/fs-1", Body=b'{"prefix": "p/"}')
    exported = {"bucket": BUCKET, "mark": "owners/fs-1", "region": REGION}
    mount = {"kind": "directory", "path": str(storage), "exported_to": exported}
    finds = f'[ $S3_BUCKET = {BUCKET} ]; [ "$PWD" = "{storage}/${{S3_PREFIX#p/}}" ]; [ $AWS_REGION = {REGION} ]'

    sampled("command", [{**PARAMS, "command": finds}], mount=mount, storage={"type": "s3-files"})


def test_a_leader_on_s3_tells_the_others_that_it_has_ended(make_job, tmp_path, monkeypatch):
    monkeypatch.delenv("AWS_ENDPOINT_URL", raising=False)
    told = []
    leader = SimpleNamespace(is_leader=True, variables=lambda _: {}, end=told.append)
    job = replace(parsed(make_job("command", [PARAMS], mount=S3)), peers=leader)
    workspaces = Workspaces(tmp_path, "run", "cell", "i-1")

    command.prepare(job, job.steps[0], workspaces.fresh(0)).run()
    workspaces.close()

    assert told == [0]


def test_a_container_has_the_machines_own_network_on_s3_only_so_that_it_gets_the_keys_of_the_role(
    cloud, tmp_path, make_job, monkeypatch
):
    monkeypatch.setattr(Container, "make_ready", lambda container, scratch: "sha256:0")
    networks = []
    mountpoint = {"kind": "mountpoint", "bucket": BUCKET, "prefix": "token/own", "region": REGION}
    for mount in (S3 | {"prefix": "token/own"}, mountpoint, {"kind": "directory", "path": str(tmp_path)}):
        job = parsed(make_job("command", [{**PARAMS, "container": "busybox"}], mount=mount))
        assert job.mount["is_for_containers"]
        space = Workspace(tmp_path, tmp_path / "step", tmp_path / "scratch", tmp_path, tmp_path)
        argv = command._COMMAND._place(job, job.steps[0].params, space).command("true").argv
        networks.append(argv[argv.index("--network") + 1])

    assert networks == ["host", "bridge", "bridge"]


def test_a_container_is_ended_by_its_name(tmp_path):
    contained = Container("busybox", {tmp_path: "/w"}, {"A": "b"}).command(tmp_path, "sleep 60", [], network="none")

    name = contained.argv[contained.argv.index("--name") + 1]
    assert contained.killer[1:] == ["kill", name]


def test_no_key_stands_in_the_arguments_of_a_containers_client(tmp_path):
    keys = {"AWS_SECRET_ACCESS_KEY": "hush", "AWS_SESSION_TOKEN": "hush too", "JOBS": "2"}  # pragma: allowlist secret
    command = Container("busybox", {tmp_path: "/w"}, keys).command(tmp_path, "true", [], network="host")

    assert "hush" not in " ".join(command.argv)
    assert [word for word in command.argv if word.startswith(("AWS_", "JOBS"))] == [
        "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "JOBS=2"
    ]  # fmt: skip
    assert command.env == {"AWS_SECRET_ACCESS_KEY": "hush", "AWS_SESSION_TOKEN": "hush too"}  # pragma: allowlist secret


@pytest.mark.parametrize(
    ("engine", "uid", "is_mapped"), [("podman", 1000, True), ("podman", 0, False), ("docker", 1000, False)]
)
def test_podman_of_a_user_without_roots_rights_lets_the_container_write_the_users_folders(
    tmp_path, monkeypatch, engine, uid, is_mapped
):
    monkeypatch.setattr(containers, "engine", lambda: engine)
    monkeypatch.setattr(os, "geteuid", lambda: uid)

    argv = Container("busybox", {tmp_path: "/w"}).command(tmp_path, "true", [], network="none").argv

    assert (["--userns", "keep-id"] in [argv[at : at + 2] for at in range(len(argv))]) == is_mapped


def test_a_command_that_has_not_read_its_objects_is_said_to_have_another_speed():
    [warning] = counters.unseen({"received": 1e9}, {"network_received_bytes": 2e8})

    assert "received 20% of the 1000000000 bytes of its objects" in warning
    assert counters.unseen({"received": 1e9}, {"network_received_bytes": 1.1e9}) == []
