"""A whole session: barrier of a fleet, farewell after success and after every kind of failure."""

from __future__ import annotations

import json
import logging
import os
import re
import shlex
import signal
import threading
import time
from pathlib import Path
from types import SimpleNamespace

import pytest
from support.agent_cloud import BARRIER, CELL, NONCE, RUN, dd_params, needs, parsed, touch_params

from agent import calibration, session, workloads
from agent.board.bundle import FULL_BYTES, Bundle
from agent.board.heartbeat import Heartbeat
from agent.board.s3_clock import S3Clock
from agent.errors import BlackboardUnavailable, JobInvalid, ToolMissing
from agent.job import Step
from agent.job_check import parse
from agent.machine.metadata import Identity
from agent.programs.processes import Armed
from matrix.samples.bundle import MAX_BYTES

IDENTITY = Identity("i-1", "m6i.large", "eu-west-1a", "ami-1", "eu-west-1")
BUILD = {"build": "true", "prepare": None, "populate": None, "jobs": 1, "cache_path": "cache"}


def test_samples_say_where_and_how_they_were_measured(sampled, instance, storage):
    sampled()

    document = instance.document("samples.json")
    assert (document["schema"], document["run"], document["cell"], document["environment"]) == (1, RUN, CELL, "local")
    assert document["instance"] == {
        "id": instance.id,
        "type": "m6i.4xlarge",
        "availability_zone": "eu-west-1a",
        "userid": instance.userid,
        "image_id": "ami-0123456789abcdef0",
    }
    assert document["host"]["kernel"] == os.uname().release
    assert document["host"]["cpus"] >= 1
    assert document["mount"]["kind"] == "directory"
    assert document["mount"]["path"] == str(storage)
    mount_points = {line.split()[1] for line in Path("/proc/mounts").read_text().splitlines()}
    is_mounted = any(str(folder) in mount_points for folder in storage.resolve().parents)  # not so in a chroot
    assert bool(document["mount"]["options"]) == is_mounted
    [sample] = document["samples"]
    assert {"cpu_s", "steal_s", "iowait_s", "tool_cpu_s", "network_sent_bytes"} <= set(sample["counters"])
    assert sample["scheduled_at"] is None
    assert sample["start_skew_s"] is None
    # It meets no other instance, so S3's answers to its own objects tell how far its clock is off.
    low, high = sample["clock_ahead_of_s3_s"]
    assert low <= 0 <= high


def test_the_verdict_is_the_last_object_and_the_log_is_complete_before_it(sampled, cloud, instance):
    sampled()

    entries = cloud.s3.list_objects_v2(Bucket="storage-matrix-agent-tests", Prefix="runs/")["Contents"]
    written = {entry["Key"].rpartition("/")[2]: entry["LastModified"] for entry in entries}
    assert {"done.json", "log.gz", "samples.json", "heartbeat"} <= set(written)
    assert max(written, key=written.__getitem__) in ("done.json", "log.gz")  # S3 has whole seconds
    assert instance.document("done.json")["samples"] == 1
    assert instance.document("heartbeat")["state"] == "done"
    [step] = [line for line in instance.log().splitlines() if "step 0, p01: " in line]
    assert re.search(r"p01: files_per_s \d", step)
    assert not re.search(r"[{}\[\]']", step.partition("p01: ")[2])


def test_steps_run_in_their_order_and_repetitions_are_told_apart(sampled, instance):
    steps = [{"point": point, "repetition": n} for n in (1, 2) for point in ("p02", "p01")]
    params = [touch_params(files=4, threads=1), touch_params(files=8, threads=2)]
    sampled("touch", params, steps=steps)

    taken = [(s["step"], s["point"], s["repetition"], s["work"]["files"]) for s in instance.samples()]
    assert taken == [(0, "p02", 1, 8), (1, "p01", 1, 4), (2, "p02", 2, 8), (3, "p01", 2, 4)]
    # Latencies are there step by step, and together.
    stems = ["p02-r1", "p01-r1", "p02-r2", "p01-r2"]
    assert instance.document("latencies-0000.json.gz")["steps"] == {
        stem: instance.document(f"raw/{stem}.histograms.json") for stem in stems
    }


def test_a_step_is_prepared_while_the_sample_before_is_uploaded_and_runs_when_it_is(make_job, monkeypatch, take):
    happened, is_prepared, prepare = [], threading.Event(), workloads.prepare

    def prepare_and_say(job, step, workspace):
        if step.number == 1:
            is_prepared.set()
        return prepare(job, step, workspace)

    def put(name, document):
        if name == "samples.json":
            happened.append(("prepared", is_prepared.wait(20)))
            happened.append(("uploaded", len(document["samples"])))

    def say(state, step=None, point=None):
        if state == "running":
            happened.append((state, step))

    monkeypatch.setattr(workloads, "prepare", prepare_and_say)
    job = parsed(make_job("touch", [touch_params(), touch_params(files=8)]))

    take(job, put, say)

    uploads = [("prepared", True), ("uploaded", 1), ("running", 1), ("prepared", True), ("uploaded", 2)]
    assert happened == [("running", 0), *uploads]


def test_a_sample_that_cannot_be_uploaded_fails_the_cell_and_one_that_is_taken_is_uploaded_whatever_comes_next(
    make_job, monkeypatch, take
):
    def refuse(name, document):
        raise BlackboardUnavailable(name)

    documents, prepare = {}, workloads.prepare

    def prepare_once(job, step, workspace):
        if step.number == 1:
            raise ToolMissing("gone")
        return prepare(job, step, workspace)

    job = parsed(make_job("touch", [touch_params(), touch_params(files=8)]))

    with pytest.raises(BlackboardUnavailable, match=r"samples\.json"):
        take(job, refuse)
    monkeypatch.setattr(workloads, "prepare", prepare_once)
    with pytest.raises(ToolMissing, match="gone"):
        take(job, documents.__setitem__)

    assert len(documents["samples.json"]["samples"]) == 1


@pytest.mark.parametrize("step_s", [3600.0, -3600.0])
@pytest.mark.parametrize("workload", ["touch", pytest.param("fio", marks=needs("fio"))])
def test_a_step_of_the_wall_clock_in_mid_run_is_in_no_duration(make_job, monkeypatch, take, workload, step_s):
    """The clock steps while the programs of each of two repetitions run; fio still dates by the time before."""
    real, stepped_s, wait, documents, curves = time.time, [0.0], Armed.wait, {}, []

    def wait_and_step(armed):
        stepped_s[0] += step_s
        return wait(armed)

    job_of_fio = {"options": {"rw": "write", "bs": "4k", "size": "1m", "time_based": True, "runtime": 3}}
    params = touch_params() if workload == "touch" else job_of_fio
    steps = [{"point": "p01", "repetition": number} for number in (1, 2)]
    job = parsed(make_job(workload, [params], steps=steps))
    monkeypatch.setattr(time, "time", lambda: real() + stepped_s[0])
    monkeypatch.setattr(Armed, "wait", wait_and_step)
    monkeypatch.setattr(Bundle, "add", lambda _, _stem, _histograms, curve: curves.append(curve))
    begun_s = time.monotonic()

    take(job, documents.__setitem__)

    whole_s = time.monotonic() - begun_s
    samples = documents["samples.json"]["samples"]
    assert stepped_s[0] == 2 * step_s
    for sample, curve in zip(samples, curves, strict=True):
        moments = [sample[name] for name in ("started_at", "work_started_at", "work_ended_at", "ended_at")]
        assert moments == sorted(moments)
        assert moments[-1] - moments[0] < whole_s
        assert sample["work_ended_at"] - sample["work_started_at"] == pytest.approx(
            sample["metrics"]["duration_s"] if workload == "touch" else 3.0, abs=0.2
        )
        assert sample["counters"]["counted_s"] < whole_s
        # A curve begins at a whole millisecond.
        assert curve is None or -0.001 <= sample["started_at"] - curve["begun_at"] < 1


@pytest.fixture
def take(monkeypatch):
    """Run a session without calibration whose documents go to `put`, and its changes of state to `say`."""

    def quiet(*_, **__):
        pass

    def run(job, put, say=quiet):
        board = SimpleNamespace(put=put, put_raw=quiet, put_zipped=quiet, s3_clock=S3Clock())
        monkeypatch.setattr(calibration, "calibrate", lambda *_: [])
        monkeypatch.setattr(session, "Heartbeat", lambda *_: SimpleNamespace(say=say, tell=quiet, stop=quiet))
        session.Session(IDENTITY, "AROA:i-1", board, logging.getLogger("test")).run(job)

    return run


def test_steps_are_put_together_a_part_at_a_time_and_each_part_once():
    parts = {}
    bundle = Bundle(SimpleNamespace(put_zipped=lambda name, body: parts.setdefault(name, json.loads(body))))
    histogram = json.dumps({"bins": "x" * (FULL_BYTES // 2 - 200)}).encode()

    for number in range(5):
        bundle.add(f"p01-r{number}", histogram, {"seconds": [number]} if number % 2 else None)
    bundle.add("p01-r5", None, {"seconds": [5]})  # of a tool that tells no latencies
    bundle.put({"nfs_read_bytes": 8.0})
    bundle.put()

    assert [part["moved"] for part in parts.values()] == [{}, {}, {"nfs_read_bytes": 8.0}]
    assert {name: list(part["steps"]) for name, part in parts.items()} == {
        "latencies-0000.json.gz": ["p01-r0", "p01-r1"],
        "latencies-0001.json.gz": ["p01-r2", "p01-r3"],
        "latencies-0002.json.gz": ["p01-r4"],
    }
    assert [part["curves"] for part in parts.values()] == [
        {"p01-r1": {"seconds": [1]}},
        {"p01-r3": {"seconds": [3]}},
        {"p01-r5": {"seconds": [5]}},
    ]
    assert max(len(json.dumps(part)) for part in parts.values()) < MAX_BYTES


def test_three_instances_open_the_gate_of_each_step_and_start_together(cloud, fleet, make_job):
    instances = fleet(3)
    steps = [{"point": "p01", "repetition": n} for n in (1, 2)]
    cloud.put("job.json", make_job(barrier=BARRIER | {"margin_s": 0.5}, steps=steps, instances=3))
    cloud.meet(instance.id for instance in instances)

    for instance in instances:
        instance.start()
    statuses = [instance.process.wait(timeout=60) for instance in instances]

    assert statuses == [0, 0, 0]
    for step in (0, 1):
        samples = [instance.samples()[step] for instance in instances]
        gate = json.loads(cloud.read(f"meet/{NONCE}/gates/{step:04d}.json"))
        assert [sample["scheduled_at"] for sample in samples] == [gate["start_at"]] * 3
        assert gate["opener"].rpartition(":")[2] in {instance.id for instance in instances}
        ready = [name for name in cloud.names() if name.startswith(f"meet/{NONCE}/ready/{step:04d}/")]
        assert len(ready) == 3
        # An idle machine is within a millisecond; this one has more agents than processors.
        assert all(0 <= sample["start_skew_s"] < 0.05 for sample in samples)


@pytest.mark.parametrize(("offset_s", "count"), [("0.000012", 0), ("-1.5", 1)])
def test_a_clock_that_is_far_off_is_a_warning_because_the_start_was_by_it(
    cloud, instance, make_job, fake_tool, bin_folder, offset_s, count
):
    fake_tool("chronyc", f"echo A9FEA97B,169.254.169.123,4,1763683200.1,{offset_s},0,0.00002,-1,0,0,0,0,16,Normal")
    cloud.put("job.json", make_job(barrier=BARRIER))
    cloud.meet([instance.id])

    assert instance.run(PATH=f"{bin_folder}:{os.environ['PATH']}") == 0

    [sample] = instance.samples()
    assert sum("clock is -1.500 s off" in warning for warning in sample["warnings"]) == count


def test_a_gate_that_is_seen_too_late_is_a_warning():
    late = session.Session(None, "u", None, logging.getLogger())
    late._barrier = SimpleNamespace(wait=lambda _: time.time() - 5)

    _, missed_s = late._meet(Step(0, "p01", 1, {}), SimpleNamespace(say=lambda *_: None))

    assert missed_s >= 5
    assert "past when this instance saw the gate" in session.late_start(missed_s, 5.0)[0]
    assert session.late_start(0.0, 0.2) == ["this instance started 0.200 s late"]
    assert session.late_start(0.0, 0.01) == []


def test_a_gate_that_does_not_open_is_a_barrier_timeout(cloud, instance, make_job):
    cloud.put("job.json", make_job(barrier=BARRIER | {"timeout_s": 0.3}))
    cloud.meet([instance.id, "i-0another"])

    assert instance.run() == 1

    failed = instance.document("failed.json")
    assert failed["error"] == "BarrierTimeout"
    assert "last seen: no gate" in failed["message"]
    assert (failed["step"], failed["point"]) == (0, "p01")


def test_a_tool_that_fails_ends_the_cell_with_what_it_said(failure, instance):
    failed = failure("build", [{**BUILD, "build": "echo compiling; echo 'no such header' >&2; exit 3"}])

    assert failed["error"] == "ToolFailed"
    assert failed["message"].startswith("no such header (")
    assert failed["message"].endswith("ended with status 3)")
    assert not instance.has("done.json")
    assert "ToolFailed" in instance.log()


@pytest.mark.parametrize(
    ("workload", "params", "script", "words"),
    [
        ("dd", dd_params(data_bytes=4096, block_bytes=4096, threads=1),
         'for a in "$@"; do case $a in of=*) printf x > "${a#of=}";; esac; done', "file 0 has 1 of 4096 bytes"),
        ("touch", touch_params(tool="touch", files=4), "exit 0", "0 of 4 files are there"),
    ],
)  # fmt: skip
def test_a_tool_that_does_less_than_it_says_is_incomplete(
    failure, fake_tool, bin_folder, workload, params, script, words
):
    fake_tool(workload, script)
    failed = failure(workload, [params], env={"PATH": f"{bin_folder}:{os.environ['PATH']}"})

    assert failed["error"] == "WorkIncomplete"
    assert words in failed["message"]


def test_missing_tools_are_all_named_with_their_packages_before_anything_runs(failure, instance, bin_folder, storage):
    params = [touch_params(), touch_params(tool="parallel")]
    failed = failure("touch", params, env={"PATH": str(bin_folder)})

    assert failed["error"] == "ToolMissing"
    assert "GNU parallel is not installed; install the package 'parallel' (Debian, Ubuntu" in failed["message"]
    assert "'parallel' (Amazon Linux 2023: dnf, after 'spal-release')" in failed["message"]
    assert "seq is not installed; install the package 'coreutils'" in failed["message"]
    assert not instance.has("samples.json")
    assert list(storage.iterdir()) == []


def test_sigterm_keeps_what_was_measured_and_kills_what_runs(cloud, instance, make_job, storage, tmp_path):
    marker = tmp_path / "pid"
    slow = {**BUILD, "build": f"echo $$ > '{marker}'; sleep 300"}
    cloud.put("job.json", make_job("build", [BUILD, slow]))

    process = instance.start()
    give_up_at = time.monotonic() + 20
    while not (marker.exists() and marker.read_text().strip()):
        assert time.monotonic() < give_up_at
        time.sleep(0.02)
    process.send_signal(signal.SIGTERM)
    status = process.wait(timeout=10)

    assert status == 1
    failed = instance.document("failed.json")
    assert failed["error"] == "Terminated"
    assert (failed["step"], failed["point"]) == (1, "p02")
    assert len(instance.samples()) == 1
    assert not Path(f"/proc/{marker.read_text().strip()}").exists()
    assert [path.name for path in storage.iterdir()] == ["cache"]


def test_a_deadline_ends_a_running_tool(failure):
    failed = failure("build", [{**BUILD, "build": "sleep 300"}], deadline_at=time.time() + 1.5)

    assert failed["error"] == "DeadlinePassed"


def test_a_crash_is_told_in_one_line_and_traced_in_the_log(cloud, instance, make_job):
    cloud.put("job.json", make_job(deadline_at="noon"))  # no number, which nobody checks

    assert instance.run() == 1

    failed = instance.document("failed.json")
    assert failed["error"] == "AgentCrashed"
    assert (
        failed["message"]
        == "TypeError: unsupported operand type(s) for -: 'str' and 'float'; the traceback is in log.gz"
    )
    assert "Traceback" in instance.log()


def test_a_change_of_state_waits_for_the_next_heartbeat_and_the_last_one_says_how_it_ended():
    heartbeats, first, second = [], threading.Event(), threading.Event()

    def put(name, document):
        heartbeats.append((name, document["state"]))
        (second if first.is_set() else first).set()

    beating = Heartbeat(SimpleNamespace(put=put), 3_600)
    assert first.wait(60)
    for state in ("waiting", "running", "preparing"):
        beating.say(state)
    assert not second.wait(0.2)
    beating.say("done")
    beating.stop()

    assert heartbeats == [("heartbeat", "preparing"), ("heartbeat", "done")]


def test_heartbeats_keep_coming_while_a_tool_runs(cloud, instance, make_job):
    cloud.put("job.json", make_job("build", [{**BUILD, "build": "sleep 1.2"}], heartbeat_s=0.2))
    heartbeats = set()

    instance.start()
    while instance.process.poll() is None:
        if instance.has("heartbeat"):
            heartbeat = instance.document("heartbeat")
            if heartbeat["state"] == "running":
                assert (heartbeat["step"], heartbeat["point"]) == (0, "p01")
                heartbeats.add(heartbeat["at"])
        time.sleep(0.05)

    assert len(heartbeats) >= 3


def test_a_storage_that_others_use_loses_only_what_is_ours(sampled, storage):
    theirs = storage / RUN / CELL / "i-somebody-else" / "file"
    theirs.parent.mkdir(parents=True)
    theirs.write_text("theirs")
    sampled()

    assert theirs.read_text() == "theirs"
    assert [path.name for path in (storage / RUN / CELL).iterdir()] == ["i-somebody-else"]


BORROWED = "storage-matrix-r"


def test_on_a_storage_that_exists_all_is_in_a_folder_of_its_own_which_goes(failure, storage):
    (storage / RUN).mkdir()  # somebody's own, which happens to be called like the run
    (storage / RUN / "file").write_text("theirs")
    mount = {"kind": "directory", "path": str(storage), "folder": BORROWED}
    seen = f"{storage.parent}/seen"
    look = {**BUILD, "build": f"ls {shlex.quote(str(storage))} > {seen}; echo kept > $CACHE_DIR/kept; exit 3"}
    failure("build", [look], mount=mount)

    assert BORROWED in Path(seen).read_text().split()
    assert [path.name for path in storage.iterdir()] == [RUN]
    assert (storage / RUN / "file").read_text() == "theirs"


def test_an_instance_mounts_the_file_system_of_its_own_subnet(make_job):
    mounts = {name: {"kind": "directory", "path": f"/{name}/{{instance_id}}"} for name in ("subnet-a", "subnet-b")}
    body = json.dumps(make_job(mount={"kind": "directory", "by_subnet": mounts})).encode()

    assert parse(body, "i-1", subnet="subnet-b").mount == {"kind": "directory", "path": "/subnet-b/i-1"}
    with pytest.raises(JobInvalid, match="no file system in subnet subnet-c: there are some in subnet-a, subnet-b"):
        parse(body, "i-1", subnet="subnet-c")
