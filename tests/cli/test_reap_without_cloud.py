"""`matrix reap --local` where no local cloud is up: what a killed one has left is taken away, and nothing else."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from local.programs import claims, leftovers
from local.programs.liveness import started_ticks


@pytest.fixture
def killed(workdir, tmp_path, monkeypatch) -> Path:
    """A working folder whose cloud was killed while an agent kept something in memory."""
    memory = tmp_path / "memory"
    for place in ("MEMORY", "DISK"):
        monkeypatch.setattr(leftovers, place, memory)
    ended = subprocess.Popen([sys.executable, "-c", ""])
    process = {"pid": ended.pid, "started_ticks": started_ticks(ended.pid)}
    ended.wait()
    place = {"region": "us-east-1", "endpoint": "http://localhost:1"}
    keys = {"access_key": "LOCAL", "secret_key": "local"}  # pragma: allowlist secret
    workdir.mkdir(exist_ok=True)
    (workdir / "cloud.json").write_text(json.dumps({**process, **place, **keys}))
    for folder in ("storage/volumes/i-1", "code/x", "logs", "runs/r"):
        (workdir / folder).mkdir(parents=True, exist_ok=True)
    (memory / f"storage-matrix-{process['pid']}-{process['started_ticks']}-x").mkdir(parents=True)
    document = {"run": "r", "status": "RUNNING", "started_at": 1.0, "ended_at": None, "error": "", "cause": ""}
    cloud = {"cloud_pid": process["pid"], "cloud_started_ticks": process["started_ticks"]}
    (workdir / "runs/r/execution.json").write_text(json.dumps(document | cloud))
    return workdir


def test_what_a_killed_cloud_has_left_is_listed_and_taken_away(killed, matrix, tmp_path):
    volume = killed.resolve() / "storage/volumes/i-1"
    agent = subprocess.Popen(["sleep", "1000"], env={**os.environ, "HOME": str(volume)}, start_new_session=True)
    try:
        listed = matrix("reap", "--local", "--dry-run")
        assert listed.exit_code == 0, listed.output
        assert listed.stdout.count("would be deleted") == 5
        assert (killed / "cloud.json").exists()
        assert agent.poll() is None

        done = matrix("reap", "--local", "--json")
        assert done.exit_code == 0, done.output
        assert agent.wait(5) == -9
    finally:
        agent.kill()
        agent.wait()

    answer = json.loads(done.stdout)
    assert answer["remaining"] == []
    assert [Path(one["id"]).name for one in answer["deleted"]][:4] == ["cloud.json", "storage", "code", str(agent.pid)]
    assert not list((tmp_path / "memory").iterdir())
    assert not any((killed / name).exists() for name in ("cloud.json", "storage", "code"))
    assert (killed / "logs").is_dir()
    assert "run r had ended with its cloud" in done.stderr
    assert json.loads((killed / "runs/r/execution.json").read_text())["status"] == "ABORTED"

    again = matrix("reap", "--local")
    assert (again.exit_code, again.stdout.strip()) == (0, "nothing to delete")


def test_nothing_is_touched_while_a_cloud_starts_or_ends(killed, matrix):
    with claims.own(killed):
        said = matrix("reap", "--local")

    assert said.exit_code == 1
    assert "a local cloud is starting or ending in" in said.stderr
    assert (killed / "cloud.json").exists()


def test_of_one_run_nothing_is_told_apart_without_its_cloud(killed, matrix):
    said = matrix("reap", "--local", "--run", "r")

    assert said.exit_code != 0
    assert "no local cloud is running" in said.stderr
    assert (killed / "storage").exists()
