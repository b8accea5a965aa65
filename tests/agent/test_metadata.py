"""Metadata in phases: real engines on a folder as the storage."""

from __future__ import annotations

import json
import os
import stat
import time
from pathlib import Path

import pytest
from support.agent_cloud import parsed
from support.tiers import first_is_quick

from agent.engine import emulation, phases
from agent.errors import WorkIncomplete
from agent.job import Step
from agent.machine.workspace import Workspace
from agent.workloads import metadata
from contract.sizes import Sizes
from matrix.input.workloads import metadata as planned

PHASES = ("create", "stat", "open-read", "list", "rename", "delete")


def params_of(phase="create", **changes):
    base = {"files": 24, "threads": 3, "directories": "own", "file_bytes": 0, "sync": "none", "stonewall": "none"}
    return {"phase": phase, **base, "at_most_s": None, **changes}


@pytest.fixture
def workspace_of(tmp_path):
    def make(instance="i-1", step=0):
        folders = {name: tmp_path / instance / name for name in ("scratch", "shm", "data")}
        target = tmp_path / "storage" / "run" / "cell" / instance / f"step-{step}"
        folders["scratch"] = folders["scratch"] / str(step)
        for folder in (target, *folders.values()):
            folder.mkdir(parents=True, exist_ok=True)
        return Workspace(mount=tmp_path / "storage", target=target, **folders)

    return make


@pytest.fixture
def run_phase(make_job, workspace_of):
    """Do one phase on one instance, as the session does it."""
    numbers = iter(range(1000))

    def run(phase, instance="i-1", **changes):
        rule = changes.pop("emulation", None)
        job = parsed(make_job("metadata", [params_of()], emulation=rule), instance)
        step = Step(0, "p01", 1, params_of(phase, **changes))
        trial = metadata.prepare(job, step, workspace_of(instance, next(numbers)))
        return trial.read(trial.run())

    return run


def test_a_storage_whose_directories_vanish_with_their_last_file_is_measured_to_its_end(
    make_job, run_phase, workspace_of, tmp_path
):
    """As a bucket's do that Mountpoint mounts."""
    run_phase("create")
    job = parsed(make_job("metadata", [params_of()]))
    trial = metadata.prepare(job, Step(0, "p01", 1, params_of("delete")), workspace_of("i-1", 99))

    ended = trial.run()
    for folder in tmp_path.glob("storage/run/cell/i-1/metadata-*/*"):
        folder.rmdir()
    outcome = trial.read(ended)

    assert outcome.work == {"files": 24}


def files_below(folder: Path) -> list[str]:
    return sorted(name for _, _, names in os.walk(folder) for name in names)


@pytest.mark.parametrize("directories", ["own", "fleet"])
def test_the_phases_do_what_they_are_called(tmp_path, run_phase, directories):
    storage = tmp_path / "storage"

    run_phase("create", directories=directories, file_bytes=7)
    created = files_below(storage)
    run_phase("rename", directories=directories, file_bytes=7)
    renamed = files_below(storage)
    read = run_phase("open-read", directories=directories, file_bytes=7)
    listed = run_phase("list", directories=directories, file_bytes=7)
    run_phase("delete", directories=directories, file_bytes=7)

    assert len(created) == read.work["files"] == 24
    assert renamed == sorted(f"{name}r" for name in created)
    # A listing is one operation of a worker, however many files it lists.
    listings = json.loads(listed.raw["histograms.json"])["histograms"]["list_lat"]["samples"]
    assert listings == (3 if directories == "own" else 1)
    assert list(storage.rglob("metadata-*")) == []


def test_all_workers_of_all_instances_share_the_directory_of_the_fleet(tmp_path, run_phase):
    for instance in ("i-1", "i-2"):
        run_phase("create", instance, directories="fleet")

    [folder] = tmp_path.glob("storage/run/cell/metadata-*")
    assert len(list(folder.iterdir())) == 48
    listed = run_phase("list", "i-2", directories="fleet")
    assert listed.work == {"files": 48}
    assert listed.tool["command"].endswith("in 1 processes")

    run_phase("delete", "i-1", directories="fleet")
    assert len(list(folder.iterdir())) == 24
    run_phase("delete", "i-2", directories="fleet")
    assert not folder.exists()


@pytest.mark.parametrize("directories", first_is_quick(["own", "fleet"]))
def test_what_a_stonewall_cut_off_is_neither_counted_nor_looked_for_and_does_not_stay(tmp_path, run_phase, directories):
    # 100 files at 20 ms each are 2 s for one worker; the others have as many.
    rule = {**emulation.UNLIMITED, "shared": True, "create_s": 0.02, "create_operations": 0}
    cut = {"files": 300, "directories": directories, "at_most_s": 1}

    created = run_phase("create", emulation=rule, **cut)
    done = int(created.work["files"])
    looked_at = run_phase("stat", **cut)
    run_phase("rename", **cut)
    run_phase("delete", emulation=rule, **cut)

    assert 3 <= done < 300
    assert looked_at.work == {"files": done}
    assert created.metrics["files_per_s"] == pytest.approx(done / created.metrics["duration_s"])
    assert files_below(tmp_path / "storage" / "run") == []


def test_the_first_worker_that_is_done_ends_the_phase_for_all_on_its_instance():
    wall = phases.Wall({"stonewall": "first"})
    names = [str(number).encode() for number in range(5)]

    first = phases.act_on_all(names, lambda name: None, wall)
    second = phases.act_on_all(names, lambda name: None, wall)

    assert (len(first) - 1, len(second) - 1) == (5, 1)


def test_a_phase_that_must_end_ends_after_its_seconds():
    wall = phases.Wall({"stonewall": "none", "at_most_s": 1})
    wall.most_ns = 5_000_000

    stamps = phases.act_on_all([b"x"] * 100, lambda name: time.sleep(0.002), wall)

    assert stamps[-1] - stamps[0] >= 5_000_000
    assert len(stamps) - 1 <= 3


@pytest.mark.parametrize(
    ("phase", "sync", "stored"),
    [
        ("create", "none", []),
        ("create", "each", ["file", "directory"] * 2),
        ("create", "end", ["directory"]),
        ("rename", "each", ["directory"] * 2),
        ("delete", "end", ["directory"]),
        ("stat", "each", []),
        ("stat", "end", []),
    ],
)
def test_a_change_counts_when_sync_says_so_and_a_look_needs_none(tmp_path, monkeypatch, phase, sync, stored):
    synced = []
    is_folder = lambda file: stat.S_ISDIR(os.fstat(file).st_mode)  # noqa: E731
    monkeypatch.setattr(os, "fsync", lambda file: synced.append("directory" if is_folder(file) else "file"))
    plan = {**phases.USUALLY, **params_of(phase, sync=sync), "directories": [str(tmp_path)], "counts": [2]}
    if phase != "create":
        for number in range(2):
            (tmp_path / f"0-{number}").touch()

    timed = phases.prepare(plan, 0, False, phases.Wall(plan))()

    assert synced == stored
    assert len(timed.ended) == 2


@pytest.mark.parametrize(("sync", "least_s"), [("none", 0.0), ("end", 0.05), ("each", 0.1)])
def test_an_emulated_volume_takes_the_time_of_its_syncs(tmp_path, sync, least_s):
    rule = {**emulation.UNLIMITED, "sync_s": 0.05, "path": str(tmp_path / "bucket")}
    alone = {"directories": [str(tmp_path)], "counts": [2], "emulation": rule}
    plan = {**phases.USUALLY, **params_of(sync=sync), **alone}

    timed = phases.prepare(plan, 0, False, phases.Wall(plan))()

    assert (timed.ended[-1] - timed.start_ns) / 1e9 >= least_s


@pytest.mark.parametrize("sizes", ["exponential seed 7", "lognormal 1.5", "100:70 5000:30"])
def test_files_of_a_distribution_have_the_sizes_that_are_planned_and_are_read_whole(tmp_path, run_phase, sizes):
    drawn = {"file_bytes": 1000, "sizes": sizes}
    run_phase("create", **drawn)
    run_phase("rename", **drawn)
    run_phase("open-read", **drawn)

    planned = Sizes(1000, sizes)
    files = list(tmp_path.glob("storage/run/cell/i-1/metadata-*/*/*"))
    assert sorted(path.stat().st_size for path in files) == sorted(map(planned.of, range(24)))
    files[0].write_bytes(b"x" * (files[0].stat().st_size + 1))
    with pytest.raises(Exception, match=r"has \d+ of \d+ bytes"):
        run_phase("open-read", **drawn)


def test_a_file_that_is_missing_or_short_fails_the_phase(tmp_path, run_phase):
    run_phase("create", file_bytes=100)
    victim = next(path for path in tmp_path.glob("storage/run/cell/i-1/metadata-*/1/*"))

    victim.write_bytes(b"too short")
    with pytest.raises(Exception, match="has 9 of 100 bytes"):
        run_phase("open-read", file_bytes=100)
    victim.unlink()
    with pytest.raises(WorkIncomplete, match="23 files were listed, and 24 were created"):
        run_phase("list", file_bytes=100)
    with pytest.raises(Exception, match="No such file"):
        run_phase("delete", file_bytes=100)


@pytest.mark.parametrize(
    ("phase", "rule", "least_s"),
    [
        ("stat", {"read_s": 0.02}, 0.16),  # 8 files of each worker
        ("open-read", {"read_s": 0.02}, 0.16),
        ("rename", {"create_s": 0.02}, 0.16),
        ("list", {"read_s": 0.05}, 0.05),  # one reply has room for all
    ],
)
def test_an_emulated_storage_takes_the_time_of_a_read_for_a_look_and_of_a_create_for_a_change(
    run_phase, phase, rule, least_s
):
    run_phase("create")

    done = run_phase(phase, emulation={**emulation.UNLIMITED, "shared": True, **rule})

    assert done.metrics["duration_s"] >= least_s


def test_agent_and_plan_mean_the_same_phases():
    assert phases.CHANGES == planned.CHANGES
    assert phases.ENTRIES_OF_A_REPLY == planned.ENTRIES_OF_A_REPLY


def test_the_ceiling_of_each_phase_is_measured_with_files_made_for_it(make_job, workspace_of):
    from dataclasses import replace

    from agent import calibration

    job = parsed(make_job("metadata", [params_of()]))
    workspace = replace(workspace_of(), target=workspace_of().mount / "step")
    for phase in PHASES:
        params, metric = metadata.calibration(params_of(phase, directories="fleet", at_most_s=1), 1 << 20)
        ceiling = calibration.measure(job, {**params, "files": 30}, metric, workspace)

        assert ceiling["metric"] == "files_per_s"
        assert ceiling["value"] > 0
        assert files_below(workspace.mount) == []
