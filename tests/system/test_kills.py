"""kill -9 of the command and of the cloud, a loss of power: what was measured is there, the rest is measured."""

import json
import os
import random
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

from support.power_loss import Copier, assert_nothing_is_lost, copy_now, lose_power
from support.running_cloud import wait_until
from support.runs import TOUCH, agents_of, matrix

from local.programs.leftovers import MEMORY, OWNED
from local.programs.liveness import started_ticks

CELLS = 3
START_S = 120  # of a cloud and a cell, beside a load
SAYS_SO_WITHIN_S = 60  # 2 s alone, 5.2 s beside a load of 19
# Of each run; docs/tested.md has the figures of 200 copies of one run.
COPIES, PAUSE_S = 20, 0.5


def command(folder: Path, *arguments: str) -> subprocess.Popen:
    code = "from cli.main import main; main()"
    environment = {**os.environ, "MATRIX_WORKDIR": str(folder / ".local")}
    return subprocess.Popen(
        [sys.executable, "-c", code, *arguments], cwd=folder, env=environment, text=True,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip


def answer_of(process: subprocess.Popen) -> tuple[int, str]:
    """Its exit code and all that it said."""
    output, errors = process.communicate(timeout=2 * START_S)
    return process.returncode, output + errors


def measured(folder: Path, run: str) -> int:
    """How many cells of a run have a result on disk."""
    return len(list((folder / ".local/runs" / run / "cells").glob("*/result.json")))


def cloud_of(folder: Path) -> int:
    return json.loads((folder / ".local/cloud.json").read_text())["pid"]


def memory_of(pids: list[int]) -> list[Path]:
    """The folders in memory that belong to processes."""
    return [path for path in MEMORY.iterdir() if (own := OWNED.fullmatch(path.name)) and int(own[1]) in pids]


def stopped_with_memory(run: str) -> tuple[list[int], list[Path]] | None:
    """A run's agents, stopped while they keep something in memory, and what they keep; None while they keep nothing."""
    pids = agents_of(run)
    for pid in pids:
        os.kill(pid, signal.SIGSTOP)
    if folders := memory_of(pids):
        return pids, folders
    for pid in pids:
        os.kill(pid, signal.SIGCONT)
    return None


def test_a_run_outlives_kill_9_of_its_command_and_of_its_cloud_and_a_loss_of_power(tmp_path, monkeypatch):
    workload = [TOUCH | {"threads": threads} for threads in (1, 2, 4)]
    (tmp_path / "m.json").write_text(json.dumps(matrix(workload=workload)))
    chance = random.Random(1)

    # The command is killed once a cell was measured, and the cloud ends with it.
    with Copier(tmp_path / ".local", tmp_path / "copies-of-first", PAUSE_S, COPIES) as of_first:
        first = command(tmp_path, "run", "m.json", "--local", "--name", "first")
        wait_until(lambda: measured(tmp_path, "first") == 1, "a cell of the first run", START_S)
        cloud = cloud_of(tmp_path)
        first.kill()
        first.communicate()
        wait_until(lambda: started_ticks(cloud) is None, "the end of the cloud", START_S)
    for question in (("results", "first"), ("watch", "first")):
        _, seen = answer_of(command(tmp_path, *question))
        assert re.search(rf"[12] of {CELLS} cells", seen)
        assert "matrix run --resume first --local" in seen
        assert "no AWS region" not in seen
    done = measured(tmp_path, "first")

    # Then the power goes: from here on it is a copy of the folder, without what was not synced.
    home = tmp_path / "home"
    lose_power(copy_now(tmp_path / ".local", home / ".local").folder, chance)

    # The cloud is killed in the middle of a cell of the second run, whose agent dies with it.
    with Copier(home / ".local", tmp_path / "copies-of-second", PAUSE_S, COPIES) as of_second:
        second = command(home, "run", "--resume", "first", "--local", "--name", "second")
        agents, kept_in_memory = wait_until(lambda: stopped_with_memory("second"), "an agent", START_S)
        cloud = cloud_of(home)
        os.kill(cloud, signal.SIGKILL)
        began = time.monotonic()
        code, seen = answer_of(second)
        took_s = time.monotonic() - began
    assert code == 1
    assert f"{done} of {CELLS} cells are taken over" in seen
    assert "the local cloud has ended, and run second with it" in seen
    assert took_s < SAYS_SO_WITHIN_S
    wait_until(lambda: not any(map(started_ticks, agents)), "the agents to be gone")

    # The third run measures the rest, and what the killed agent kept is swept by whichever cloud of this user starts
    # next, the third run's at the latest: tests/local/test_leftovers.py shows that it is a start that sweeps.
    with Copier(home / ".local", tmp_path / "copies-of-third", PAUSE_S, COPIES) as of_third:
        third = command(home, "run", "--resume", "second", "--local", "--name", "third", "--json")
        wait_until(lambda: not any(path.exists() for path in kept_in_memory), "the start to sweep memory", START_S)
        code, seen = answer_of(third)
    assert code == 0, seen
    assert "Found: run second had ended with its cloud" in seen
    summary = json.loads((home / ".local/runs/third/summary.json").read_text())
    assert summary["totals"]["measured"] == CELLS
    sources = [cell.get("taken_from", {}).get("run") for cell in summary["cells"]]
    assert sources.count("first") == done
    assert not (home / ".local/storage").exists()
    assert not (home / ".local/cloud.json").exists()

    # Had the power gone at another moment, every result that was taken would be there too.
    copies = [*of_first.copies, *of_second.copies, *of_third.copies]
    assert copies
    for copy in copies:
        lose_power(copy.folder, chance)
        monkeypatch.setenv("MATRIX_WORKDIR", str(copy.folder))
        assert_nothing_is_lost(copy)
