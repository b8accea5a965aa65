"""Calibration: what each tool of a cell reaches in memory, before anything is timed and outside of every sample."""

from __future__ import annotations

import logging
from pathlib import Path
from types import SimpleNamespace

import pytest
from support.agent_cloud import dd_params, parsed, touch_params
from support.disturbance import attempts

from agent import calibration, workloads
from agent.job import Step
from agent.machine.workspace import Workspaces

MIB = 2**20
ROOM = 64 * MIB
READ = {
    "access": "random", "requests": 100_000, "request_bytes": 8192, "threads": 3, "caching": "direct",
    "data_bytes": 100_000 * 8192,
}  # fmt: skip
COPY = {"tool": "cp", "files": 5000, "file_bytes": MIB}
DD = dd_params(data_bytes=2048 * MIB, threads=3, tool="engine")


def test_each_tool_of_a_cell_is_calibrated_once_with_the_points_that_share_its_ceiling(sampled, instance):
    points = [touch_params(files=64), touch_params(files=128), touch_params(tool="touch", files=64)]
    sampled("touch", points)

    document = instance.document("samples.json")
    engine, touch = document["calibration"]
    assert (engine["points"], touch["points"]) == (["p01", "p02"], ["p03"])
    assert (engine["metric"], engine["tool"]["name"], touch["tool"]["name"]) == ("files_per_s", "engine", "touch")
    # Our engine creates thousands of files while a loop of touch starts one program.
    assert engine["value"] > 10 * touch["value"] > 0
    assert len(document["samples"]) == 3


def test_what_a_calibration_fills_is_empty_afterwards_and_gone_with_the_agent(make_job, tmp_path):
    workspaces = Workspaces(tmp_path, "run", "cell", "i-1")
    workspace = workspaces.in_memory()
    job = parsed(make_job("touch", [touch_params(tool="touch", files=8)]))

    [found] = calibration.calibrate(job, workspaces, logging.getLogger("test"))

    assert found["value"] > 0
    assert list(workspace.mount.iterdir()) == []
    workspaces.close()
    assert not workspace.shm.exists()


def test_the_engine_in_front_of_an_emulated_storage_is_calibrated_with_what_asking_it_costs(cloud, instance, make_job):
    nothing = {"create_s": 0.02, "create_operations": 1, "read_s": 0, "write_s": 0, "sync_s": 0}
    job = make_job("touch", [touch_params()], emulation={"iops": 100, **nothing})

    for attempt in attempts():
        with attempt:
            cloud.empty()
            cloud.put("job.json", job)
            if instance.run() != 0:
                pytest.fail("the agent failed")

            [ceiling] = instance.document("samples.json")["calibration"]
            [sample] = instance.samples()
            assert ceiling["value"] > 1000
            assert sample["metrics"]["files_per_s"] < 110


def test_a_calibration_that_fails_costs_no_sample_and_says_why(sampled, instance, bin_folder, fake_tool):
    # It fails where it is calibrated, and works on the storage.
    fake_tool("touch", 'case "$1" in /dev/shm/*) echo no memory >&2; exit 1;; esac; exec /usr/bin/touch "$@"')
    sampled("touch", [touch_params(tool="touch", files=4)], env={"PATH": f"{bin_folder}:/usr/bin:/bin"})

    [found] = instance.document("samples.json")["calibration"]
    assert found["points"] == ["p01"]
    assert "no memory" in found["not_done"]
    assert len(instance.samples()) == 1


@pytest.mark.parametrize(
    ("kind", "params", "expected"),
    [
        ("touch", touch_params(files=8, threads=3), {"files": 5_118}),
        ("touch", touch_params(files=8, threads=16), {"files": 16_384}),
        ("touch", touch_params(files=8, threads=64), {"files": 19_968}),
        ("touch", touch_params(files=5000, threads=2, tool="touch"), {"files": 300}),
        ("touch", touch_params(files=5000, threads=8, tool="parallel", directories="shared"), {"files": 296}),
        ("touch", touch_params(files=1024, threads=8, tool="parallel"), {"files": 1024}),
        ("dd", DD, {"data_bytes": 63 * MIB}),
        ("dd", DD | {"sync": "block"}, {"data_bytes": 63 * MIB}),
        ("dd", DD | {"sync": "block", "tool": "dd"}, {"data_bytes": 63 * MIB, "sync": "end"}),
        ("read", READ, {"requests": 8190, "data_bytes": 8190 * 8192, "caching": "cached"}),
        ("transfer", COPY, {"files": 32}),
        ("transfer", COPY | {"tool": "cp+parallel"}, {"files": 600, "file_bytes": 4096}),
        ("fio", {"options": {"rw": "read", "bs": "16m", "size": "9g", "direct": 1, "ramp_time": 5}},
         {"options": {"rw": "read", "bs": "16m", "size": 16 * MIB, "runtime": 1, "time_based": 1, "direct": 0}}),
        # A rate that the matrix gives is not a ceiling of the tool.
        ("fio", {"options": {"rw": "read", "bs": "4k,8k", "size": "9g", "rate_iops": 500, "thinktime": "1ms"}},
         {"options": {"rw": "read", "bs": "4k,8k", "size": 4 * MIB, "runtime": 1, "time_based": 1, "direct": 0}}),
    ],
)  # fmt: skip
def test_a_calibration_is_the_same_work_as_far_as_it_fits_into_a_second_and_the_memory(kind, params, expected):
    shortened, _ = workloads.calibration(kind, params, ROOM)

    assert shortened == {**params, **expected}


def test_a_calibration_waits_for_no_neighbours_data():
    shortened, _ = workloads.calibration("read", READ | {"data": "neighbour"}, ROOM)

    assert "data" not in shortened


@pytest.mark.parametrize(
    ("kind", "params"),
    [
        ("dd", {**DD, "block_bytes": 128 * MIB}),
        # Shortened, the start of GNU parallel would pass for its ceiling.
        ("dd", {**DD, "tool": "parallel"}),
        ("fio", {"options": {"rw": "read", "bs": "4k", "numjobs": 64, "size": "1g"}}),
        ("touch", touch_params(files=1_000_000, tool="parallel", directories="own")),
        ("build", {"build": "make"}),
        ("transfer", COPY | {"tool": "fpsync"}),
        ("transfer", COPY | {"file_bytes": 2**30}),
    ],
)
def test_what_memory_cannot_hold_or_a_second_cannot_tell_has_no_ceiling(kind, params):
    assert workloads.calibration(kind, params, ROOM) is None


def test_instances_of_one_machine_share_the_room_in_its_memory(tmp_path, monkeypatch):
    job = SimpleNamespace(may_administer=False, instances=4)
    monkeypatch.setattr(calibration.host, "memory_kib", lambda _: 1024 * 1024)
    monkeypatch.setattr(calibration, "free_bytes", lambda _: 10 * 2**30)

    assert calibration.usable_bytes(job, tmp_path) == 2**30 // 8 // 4


def test_calibrations_that_do_not_fit_into_their_seconds_are_said_to_be_unknown(monkeypatch):
    steps = (Step(0, "p01", 1, touch_params()), Step(1, "p02", 1, touch_params(threads=2)))
    job = SimpleNamespace(
        kind="measure", mount={"kind": "directory"}, may_administer=False, instances=1, workload={"type": "touch"},
        steps=steps,
    )  # fmt: skip
    workspaces = SimpleNamespace(in_memory=lambda: SimpleNamespace(mount=Path("/dev/shm")))
    monkeypatch.setattr(calibration, "BUDGET_S", -1.0)

    found = calibration.calibrate(job, workspaces, logging.getLogger("test"))

    assert [one["points"] for one in found] == [["p01"], ["p02"]]
    assert all("used up" in one["not_done"] for one in found)
