"""What an instance installs: all that is missing, nothing that is there, and never inside a sample."""

from __future__ import annotations

import json
import logging
import os
import time

import pytest
from support.agent_cloud import BARRIER, NONCE, parsed

from agent import job, session
from agent.board.s3_clock import S3Clock
from agent.errors import AgentError, ProvisionFailed
from agent.machine import caches
from agent.machine.metadata import Identity
from agent.programs import provisions, tools

LOG = logging.getLogger("test")
COMMAND = {
    "name": "c", "command": "true", "prepare": None, "populate": None, "jobs": 1, "cache_path": "a",
    "container": "there:1",
}  # fmt: skip
IDENTITY = Identity("i-1", "m6i.large", "eu-west-1a", "eu-west-1", "ami-1")


@pytest.fixture
def machine(bin_folder, fake_tool, monkeypatch):
    """An instance of ours whose commands are scripts that note how they were called."""
    monkeypatch.setenv("PATH", str(bin_folder))
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    # Only root may give files away, which who runs the tests need not be.
    monkeypatch.setattr(os, "chown", lambda *_: None)
    calls = bin_folder / "calls"
    calls.touch()
    for name in ("dnf", "systemctl"):
        fake_tool(name, f"echo {name} $* >> '{calls}'")
    fake_tool("rpm", '[ "$2" = there ]')
    fake_tool("docker", engine("docker", calls))
    return lambda: calls.read_text().splitlines()


def engine(name, calls):
    """A container engine that has the image there:1, and those that it built."""
    return f"""case "$1 $2" in
      "--version "*) echo Docker;;
      "image inspect") [ "$3" = there:1 ] || /bin/grep -q -- "--tag $3 " '{calls}';;
      "build --quiet") echo {name} $* >> '{calls}'; /bin/cat >> '{calls}';;
      *) echo {name} $* >> '{calls}';;
    esac"""


def test_only_what_is_missing_is_installed(machine):
    wanted = {"packages": ["there", "gcc"], "containers": ["there:1", "debian:12"], "dockerfile": "FROM debian:12\n"}

    told = provisions.provide(wanted, True, LOG)

    name = told["installed"][-1]
    assert told["installed"] == ["gcc", "debian:12", name]
    assert name.startswith("storage-matrix/build:")
    assert machine() == [
        "dnf install -y -q gcc", "systemctl start docker", "docker pull --quiet debian:12",
        f"docker build --quiet --tag {name} --tag storage-matrix/build -", "FROM debian:12",
    ]  # fmt: skip


def test_the_common_name_is_that_of_the_dockerfile_at_hand(machine):
    first, second = "FROM debian:12\n", "FROM debian:11\n"

    names = [provisions.provide({"dockerfile": text}, True, LOG)["installed"] for text in (first, second, first)]

    assert [len(installed) for installed in names] == [1, 1, 0]
    assert machine()[-1] == f"docker tag {names[0][0]} storage-matrix/build"


def test_podman_provides_images_where_it_is_the_engine_of_the_machine(machine, fake_tool, bin_folder):
    (bin_folder / "docker").unlink()
    fake_tool("podman", engine("podman", bin_folder / "calls"))
    needed = {"containers": ["debian:12"], "dockerfile": "FROM debian:12\n", "run": ["there:1"]}

    provisions.provide(needed, True, LOG)

    assert {call.split()[0] for call in machine()} == {"podman", "FROM"}


def test_package_managers_speak_the_language_that_their_words_are_read_in(machine, fake_tool, bin_folder, monkeypatch):
    fake_tool("dnf", f"echo $LC_ALL >> '{bin_folder / 'calls'}'")
    monkeypatch.setenv("LC_ALL", "de_DE.UTF-8")

    provisions.provide({"packages": ["gcc"]}, True, LOG)

    assert machine() == ["C"]


def test_container_images_of_a_baked_machine_are_read_once_before_anything_is_timed(machine):
    wanted = {"containers": ["there:1", "debian:12"], "run": ["debian:12", "missing:1", "there:1"]}

    assert provisions.provide(wanted, True, LOG)["installed"] == ["debian:12"]

    name = f"storage-matrix-reader-{os.getpid()}"
    assert machine()[-4:] == [
        "systemctl start docker", f"docker create --network none --name {name} there:1 true", f"docker export {name}",
        f"docker rm {name}",
    ]  # fmt: skip


def test_a_session_reads_the_containers_that_its_steps_run(machine, make_job, monkeypatch):
    """The job's `provisions` name what the matrix installs on every instance; its steps name what they run."""
    monkeypatch.setattr(job.Job, "may_administer", property(lambda _: True))
    monkeypatch.setattr(tools, "require", lambda names, *_: None)
    document = make_job("command", [COMMAND], barrier=BARRIER)

    # None of this machine's scripts is a program that runs containers, so the step itself fails.
    with pytest.raises(AgentError):
        session.Session(IDENTITY, "AROA:i-1", Board(), LOG, NONCE).run(parsed(document))

    assert f"docker export storage-matrix-reader-{os.getpid()}" in machine()


def test_containers_of_somebodys_own_machine_are_not_read(machine):
    provisions.provide({"run": ["there:1"]}, False, LOG)

    assert machine() == []


def test_a_machine_that_has_everything_is_left_alone(machine):
    assert provisions.provide({"packages": ["there"]}, True, LOG)["installed"] == []
    assert machine() == []


def test_nothing_is_installed_on_somebodys_own_machine(machine):
    assert provisions.provide({"packages": ["gcc"], "containers": ["debian:12"]}, False, LOG)["installed"] == []
    assert machine() == []


def test_a_package_that_cannot_be_installed_is_named_with_the_reason(machine, fake_tool):
    fake_tool("dnf", "echo 'No match for argument: gccc' >&2; exit 1")

    with pytest.raises(ProvisionFailed, match="dnf install -y -q gccc' ended with 1: No match for argument: gccc"):
        provisions.provide({"packages": ["gccc"]}, True, LOG)


class Board:
    """A blackboard that notes when what was put on it, and the objects of a barrier; each gate stands open."""

    def __init__(self):
        self.put_at, self.documents = {}, {}
        self.s3_clock = S3Clock()  # which has heard no answer

    def put(self, name, document):
        self.put_at.setdefault(name, time.time())
        self.documents[name] = document

    def put_raw(self, name, body):
        return f"raw/{name}"

    def put_zipped(self, name, body):
        self.documents[name] = body

    def barrier_objects(self, nonce, request_s):
        return self

    def say_ready(self, step, userid):
        self.put(f"ready/{step:04d}/{userid}", {})

    def roster(self):
        return None

    def gate(self, step):
        return json.dumps({"step": step, "start_at": time.time()}).encode(), time.time()


def test_what_is_installed_at_boot_is_never_inside_a_sample(bin_folder, fake_tool, make_job, monkeypatch):
    """The window of a sample begins after the stamp that all was installed, and after the instance said ready."""
    fake_tool("dnf", "/bin/sleep 1")
    fake_tool("rpm", "exit 1")
    monkeypatch.setenv("PATH", f"{bin_folder}:{os.environ['PATH']}")
    monkeypatch.setattr(job.Job, "may_administer", property(lambda _: True))
    monkeypatch.setattr(caches, "drop", lambda _: "not dropped: a test")
    document = make_job(provisions={"packages": ["slow-to-come"]}, barrier=BARRIER)
    board, began = Board(), time.time()

    session.Session(IDENTITY, "AROA:i-1", board, LOG, NONCE).run(parsed(document))

    samples = board.documents["samples.json"]
    assert samples["prepared"]["installed"] == ["slow-to-come"]
    assert samples["prepared"]["seconds"] >= 1
    [sample] = samples["samples"]
    assert began + 1 <= samples["prepared"]["at"] <= board.put_at["ready/0000/AROA:i-1"] <= sample["started_at"]


def test_a_builder_installs_and_takes_no_sample(ended, instance):
    assert ended(kind="bake", points=[], steps=[], workload={"type": "image"}) == 0

    assert instance.document("done.json")["samples"] == 0
    assert instance.document("heartbeat")["state"] == "done"


def test_a_builder_that_lacks_a_tool_says_which(failure):
    wanted = {"tools": ["fio-of-tomorrow"]}
    failed = failure(kind="bake", points=[], steps=[], workload={"type": "image"}, provisions=wanted)

    assert failed["error"] == "ToolMissing"
    assert "fio-of-tomorrow is not installed" in failed["message"]


def test_a_program_is_asked_once_for_the_version_that_samples_have(tmp_path, monkeypatch):
    program = tmp_path / "dd"
    program.write_text("#!/bin/sh\necho asked >> $0.log\necho dd 9.9\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")

    assert [tools.recorded_version("dd") for _ in range(3)] == ["dd 9.9"] * 3
    assert (tmp_path / "dd.log").read_text() == "asked\n"
