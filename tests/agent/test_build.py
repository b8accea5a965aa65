"""Any shell build: prepared and populated outside of the time."""

from __future__ import annotations

import pytest

PARAMS = {"build": "true", "prepare": None, "populate": None, "jobs": 3, "cache_path": "a/cache"}


def test_a_build_sees_its_folders_and_only_the_build_is_timed(sampled, storage):
    commands = {
        "prepare": 'sleep 0.6; echo "$JOBS" > "$BUILD_DIR/source"',
        "build": 'test "$PWD" = "$BUILD_DIR"; cp source "$CACHE_DIR/copied"; sleep 0.2',
    }
    [sample] = sampled("build", [{**PARAMS, **commands}])

    assert 0.2 <= sample["metrics"]["duration_s"] < 0.6
    assert sample["workers"] == 3
    assert (storage / "a/cache/copied").read_text() == "3\n"


def test_each_step_builds_in_a_fresh_folder(sampled):
    steps = [{"point": "p01", "repetition": n} for n in (1, 2)]
    command = 'test -z "$(ls -A)"; touch left-over'
    sampled("build", [{**PARAMS, "build": command}], steps=steps)


@pytest.mark.parametrize(("storage_type", "times"), [("efs", 0), ("ebs", 1)])
def test_own_storage_is_populated_once_before_the_first_build(sampled, storage, storage_type, times):
    commands = {"populate": 'echo x >> "$CACHE_DIR/populated"', "build": "true"}
    steps = [{"point": "p01", "repetition": n} for n in (1, 2)]
    sampled("build", [{**PARAMS, **commands}], steps=steps, storage={"type": storage_type})

    marker = storage / "a/cache/populated"
    assert (marker.read_text().count("x") if marker.exists() else 0) == times


def test_a_populate_job_runs_only_populate(cloud, instance, make_job, storage):
    commands = {"populate": 'echo filled > "$CACHE_DIR/state"', "build": "exit 1"}
    job = make_job("build", [{**PARAMS, **commands}], kind="populate")
    del job["steps"]
    cloud.put("job.json", job)

    assert instance.run() == 0

    [sample] = instance.samples()
    assert sample["work"] == {"populations": 1}
    assert (storage / "a/cache/state").read_text() == "filled\n"


def test_a_local_build_directory_keeps_the_build_off_the_storage(sampled, storage):
    command = 'case "$BUILD_DIR" in *storage-matrix-*) ;; *) exit 1;; esac; echo "$BUILD_DIR" > "$CACHE_DIR/where"'
    workload = {"type": "build", "buildDirectory": "local"}
    sampled("build", [{**PARAMS, "build": command}], workload=workload)

    assert str(storage) not in (storage / "a/cache/where").read_text()


@pytest.mark.parametrize("command", ["false | true", 'echo "$UNSET_VARIABLE"', "false; true"])
def test_a_build_stops_at_its_first_failure(failure, command):
    assert failure("build", [{**PARAMS, "build": command}])["error"] == "ToolFailed"
