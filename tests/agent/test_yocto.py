"""Yocto builds, with stand-ins for docker, git and bitbake (stand_ins/): the containers' network is really off."""

from __future__ import annotations

import os
import shutil
import subprocess
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from support import matrices
from support.closed import read_only, with_own_mounts

STAND_INS = Path(__file__).parent / "stand_ins"
PARAMS = {
    "image": "core-image-minimal", "release": "kirkstone", "container": "crops/poky:ubuntu-22.04",
    "cache_path": "down/loads",
}  # fmt: skip
EBS, EFS = {"type": "ebs"}, {"type": "efs"}


def why_no_namespaces() -> str:
    """Why the stand-in for docker cannot work here; empty if it can. A plain chroot refuses even root's `unshare`."""
    if os.geteuid() != 0 or not (shutil.which("unshare") and shutil.which("setpriv")):
        return "the stand-in for docker needs root, unshare and setpriv"
    tried = subprocess.run(
        ["unshare", "--mount", "--net", "--propagation", "private", "true"], capture_output=True, text=True, check=False
    )
    return f"the stand-in for docker cannot have namespaces here: {tried.stderr.strip()}" if tried.returncode else ""


needs_namespaces = pytest.mark.skipif(bool(reason := why_no_namespaces()), reason=reason)


class Mirror(ThreadingHTTPServer):
    """Where the sources come from; it counts what is asked of it."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), MirrorHandler)
        self.asked: list[str] = []
        threading.Thread(target=self.serve_forever, args=(0.02,), daemon=True).start()


class MirrorHandler(BaseHTTPRequestHandler):
    server: Mirror

    def do_GET(self) -> None:
        self.server.asked.append(self.path)
        self.send_response(200)
        self.end_headers()
        self.wfile.write(b"source of " + self.path.encode())

    def log_message(self, *args: object) -> None:
        pass


class Machine:
    """What a test knows of the stand-ins: how they are put on an agent's PATH, what they were told."""

    def __init__(self, folder: Path, mirror: Mirror) -> None:
        self.mirror = mirror
        self.image = folder / "image"
        shutil.copytree(STAND_INS / "image", self.image)
        (self.image / "sources").write_text(f"http://127.0.0.1:{mirror.server_port}")
        self.misbehaves("")
        self.env = {
            "PATH": f"{STAND_INS}:{os.environ['PATH']}", "STAND_IN_IMAGE": str(self.image),
            "STAND_IN_CALLS": str(folder / "calls"),
        }  # fmt: skip

    def misbehaves(self, how: str) -> None:
        (self.image / "ways").write_text(how)

    def calls(self, command: str) -> list[str]:
        return [line for line in Path(self.env["STAND_IN_CALLS"]).read_text().splitlines() if line.startswith(command)]


@pytest.fixture
def machine(tmp_path):
    mirror = Mirror()
    yield Machine(tmp_path, mirror)
    mirror.shutdown()
    mirror.server_close()


def populate_job(make_job):
    job = make_job("yocto", [PARAMS], kind="populate", storage=EFS)
    del job["steps"]
    return job


@needs_namespaces
def test_sources_are_fetched_once_and_then_built_without_a_network(cloud, fleet, make_job, machine, storage):
    populating, building = fleet(2)
    cloud.put("job.json", populate_job(make_job))

    assert populating.run(**machine.env) == 0

    assert sorted(machine.mirror.asked) == ["/busybox.tar.bz2", "/linux-yocto.git.tar.gz"]
    cloud.put("job.json", make_job("yocto", [PARAMS], storage=EFS))
    assert building.run(**machine.env) == 0
    assert len(machine.mirror.asked) == 2
    [sample] = building.samples()
    assert sample["work"] == {"builds": 1}
    assert sample["metrics"]["duration_s"] > 0
    assert sample["tool"]["version"] == "kirkstone 0123456789abcdef"
    assert sample["tool"]["container_id"] == "sha256:0f1e"
    assert sorted(path.name for path in storage.iterdir()) == ["down"]  # the build itself was not on it


@needs_namespaces
def test_own_storage_is_filled_once_and_built_on(sampled, instance, machine):
    steps = [{"point": "p01", "repetition": n} for n in (1, 2)]
    sampled("yocto", [PARAMS], steps=steps, storage=EBS, env=machine.env)

    assert len(machine.mirror.asked) == 2
    assert len(instance.samples()) == 2
    first, second = (sample["metrics"] for sample in instance.document("samples.json")["samples"])
    assert 0 < first["fetch_s"] < 60
    assert "fetch_s" not in second


@needs_namespaces
@pytest.mark.parametrize(
    ("way", "said"), [("", "Network access disabled through BB_NO_NETWORK"), ("disobeys", "Network is unreachable")]
)
def test_a_source_missing_from_the_cache_fails_the_sample(cloud, fleet, make_job, machine, storage, way, said):
    populating, building = fleet(2)
    cloud.put("job.json", populate_job(make_job))
    assert populating.run(**machine.env) == 0
    (storage / "down/loads/downloads/busybox.tar.bz2").unlink()
    machine.misbehaves(way)
    cloud.put("job.json", make_job("yocto", [PARAMS], storage=EFS))

    assert building.run(**machine.env) == 1

    failed = building.document("failed.json")
    assert failed["error"] == "ToolFailed"
    assert said in failed["message"]
    assert len(machine.mirror.asked) == 2


@needs_namespaces
def test_a_bitbake_that_deploys_nothing_is_not_a_build(failure, machine):
    machine.misbehaves("deploys nothing")
    assert "no image core-image-minimal" in failure("yocto", [PARAMS], storage=EBS, env=machine.env)["message"]


@needs_namespaces
def test_a_shared_cache_that_nobody_filled_is_said_to_be_so(failure, machine):
    failed = failure("yocto", [PARAMS], storage=EFS, env=machine.env)

    assert failed["error"] == "WorkIncomplete"
    assert "core-image-minimal-kirkstone.fetched is missing" in failed["message"]


@needs_namespaces
def test_the_image_is_pulled_before_the_time_and_only_fetching_has_a_network(measured, machine):
    [sample], _ = measured({"type": "yocto", "image": PARAMS["image"]}, matrices.EBS, **machine.env)

    assert sample["work"] == {"builds": 1}
    assert len(machine.calls("pull")) == 1
    runs = machine.calls("run")
    assert [line.partition("--network ")[2].split()[0] for line in runs] == ["bridge", "none", "none"]
    assert all("--pull never" in line and "--user 1000:1000" in line for line in runs)


@needs_namespaces
def test_any_command_may_run_in_a_container(sampled, machine, storage):
    script = 'test "$PWD:$CACHE_DIR:$LC_ALL" = /workspace:/cache:C; cp source /cache/kept; echo "tps = $JOBS"'
    point = {
        "command": script, "prepare": "echo x > $WORK_DIR/source", "populate": None, "jobs": 3, "cache_path": "cache",
        "container": "docker.io/library/postgres:17",
    }  # fmt: skip
    workload = {"type": "command", "metrics": {"tps": {"unit": "tx/s", "better": "higher", "pattern": "tps = (.*)"}}}
    [sample] = sampled("command", [point], workload=workload, storage=EFS, env=machine.env)

    assert sample["metrics"].keys() == {"duration_s", "tps"}  # the seconds of docker's client are not the command's
    assert (sample["metrics"]["tps"], sample["tool"]["version"]) == (3, "docker.io/library/postgres:17")
    assert (storage / "cache/kept").read_text() == "x\n"


@needs_namespaces
def test_a_container_sees_a_storage_that_is_only_read_closed_and_nothing_of_it_is_given_to_its_user(
    sampled, machine, storage
):
    there = Path(f"{storage}.content")
    there.mkdir()
    (there / "source").write_text("theirs\n")
    script = 'test "$(cat /cache/source)" = theirs; ! touch /cache/made 2>/dev/null; test $(id -u) = 1000; touch made'
    point = {"command": script, "jobs": 3, "container": "docker.io/library/postgres:17"}
    mount = {"kind": "directory", "path": str(storage), "is_read_only": True}
    workload = {"type": "command", "workDirectory": "local"}
    sampled("command", [point], mount=mount, workload=workload, storage=EFS, python=read_only(storage), env=machine.env)

    assert [",target=/cache,readonly --workdir /workspace" in run for run in machine.calls("run")] == [True]


@needs_namespaces
@pytest.mark.parametrize("is_read_only", [False, True])
def test_a_container_gets_into_a_mount_of_mountpoint(sampled, machine, tmp_path, is_read_only):
    """FUSE admits only who mounted it, and the bucket's files cannot be given to anybody."""
    python, bucket = with_own_mounts(tmp_path), tmp_path / "bucket"
    (bucket / "cache").mkdir(parents=True)
    (bucket / "cache/object").write_text("theirs")
    writes = "test -e /cache/cache" if is_read_only else "echo more >> /cache/made"
    point = {"command": f"{writes}; grep -rq theirs /cache", "container": "docker.io/library/postgres:17"}
    mount = {"kind": "mountpoint", "bucket": "b", "prefix": "p", "region": "eu-west-1", "is_read_only": is_read_only}
    steps = [{"point": "p01", "repetition": n} for n in (1, 2)]
    workload = {"type": "command", "workDirectory": "local"}
    sampled(
        "command",
        [point],
        mount=mount,
        workload=workload,
        steps=steps,
        storage=EFS,
        python=python,
        env={**machine.env, "STAND_IN_BUCKET": str(bucket)},
    )

    assert (bucket / "cache/made").exists() != is_read_only
