"""Two commands at once in one folder: the second uses the cloud of the first, which outlives the first."""

import json
import os
import subprocess
import sys
from pathlib import Path

from support.running_cloud import wait_until
from support.runs import TOUCH, matrix

PATIENCE_S = 300


def start(folder: Path, run: str) -> subprocess.Popen[str]:
    """A local run of the matrix of its name."""
    return subprocess.Popen(
        [sys.executable, "-c", "from cli.main import main; main()", "run", f"{run}.json", "--local", "--name", run],
        cwd=folder, env={**os.environ, "MATRIX_WORKDIR": str(folder / ".local")}, text=True,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
    )  # fmt: skip


def measured(folder: Path, run: str) -> int:
    """How many of its cells have a result."""
    return len(list((folder / ".local/runs" / run / "cells").glob("*/result.json")))


def test_of_two_runs_at_once_both_are_measured_though_the_command_with_the_cloud_is_killed(tmp_path: Path):
    for name in ("a", "b"):
        cells = [TOUCH | {"threads": threads} for threads in (1, 2, 4)]
        (tmp_path / f"{name}.json").write_text(json.dumps(matrix(name=name, workload=cells)))
    # As after a killed cloud: the sweep takes the time in which both may begin.
    for number in range(20_000):
        path = tmp_path / ".local/storage" / str(number % 100) / str(number)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()

    commands = {name: start(tmp_path, name) for name in ("a", "b")}
    description = tmp_path / ".local/cloud.json"
    wait_until(lambda: measured(tmp_path, "a") and measured(tmp_path, "b"), "a cell of each", PATIENCE_S)
    cloud = json.loads(description.read_text())["pid"]
    parent = int(Path(f"/proc/{cloud}/stat").read_text().rpartition(")")[2].split()[1])
    [owner] = [name for name, process in commands.items() if process.pid == parent]
    [other] = {"a", "b"} - {owner}
    commands[owner].kill()
    said, _ = commands[other].communicate(timeout=PATIENCE_S)

    assert commands[other].returncode == 0, said
    assert measured(tmp_path, other) == 3
    commands[owner].communicate()
    wait_until(lambda: not Path(f"/proc/{cloud}").exists(), "the end of the cloud", PATIENCE_S)
    assert not [name for name in ("storage", "code", "cloud.json") if (tmp_path / ".local" / name).exists()]
