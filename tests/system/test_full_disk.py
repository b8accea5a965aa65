"""A disk that fills up during a run ends it at once: the disk is named, what was measured is kept, nothing stays."""

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest
from support.disks import fill, small_disk
from support.running_cloud import wait_until
from support.runs import TOUCH, matrix

START_S = 120  # of a cloud and a cell, beside a load
ENDS_WITHIN_S = 30  # 3 s alone


@pytest.fixture
def disk(tmp_path):
    """The working folder, on a disk of 64 MiB of its own."""
    with small_disk(tmp_path / ".local", "64m") as folder:
        yield folder


def matrix_command(folder: Path, *arguments: str) -> subprocess.Popen:
    return subprocess.Popen(
        [sys.executable, "-c", "from cli.main import main; main()", *arguments], cwd=folder, text=True,
        env={**os.environ, "MATRIX_WORKDIR": str(folder / ".local")},
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
    )  # fmt: skip


def test_a_full_working_folder_ends_the_run_and_keeps_what_was_measured(disk, tmp_path):
    cells = [TOUCH | {"threads": threads} for threads in (1, 2, 4, 8)]
    (tmp_path / "m.json").write_text(json.dumps(matrix(workload=cells)))

    # Something fills the disk once a cell was measured, and keeps it full.
    run = matrix_command(tmp_path, "run", "m.json", "--local", "--name", "full")
    wait_until(lambda: list(disk.glob("runs/full/cells/*/result.json")), "a first cell", START_S)
    cloud = json.loads((disk / "cloud.json").read_text())["pid"]
    full_at = time.monotonic()
    while run.poll() is None and time.monotonic() < full_at + ENDS_WITHIN_S:
        fill(disk / "ballast")
        time.sleep(0.02)
    shown, _ = run.communicate(timeout=START_S)

    assert time.monotonic() < full_at + ENDS_WITHIN_S
    assert run.returncode == 1, shown
    assert f"DiskFull: the disk of {disk} is full, 0.0 of 64.0 MiB are free; make room (`df -h {disk}`)" in shown
    measured = len(list(disk.glob("runs/full/cells/*/result.json")))
    assert 0 < measured < len(cells)
    assert f"{measured} of 4 cells measured; measure the rest: `matrix run --resume full --local`" in shown, shown
    assert not Path(f"/proc/{cloud}").exists()
    assert not [folder for folder in ("storage", "code", "cloud.json") if (disk / folder).exists()]

    # Later commands know the reason too, also while the disk is full.
    watched, _ = matrix_command(tmp_path, "watch", "full", "--local").communicate(timeout=START_S)
    assert "ABORTED (DiskFull)" in watched
    results, _ = matrix_command(tmp_path, "results", "full", "--local").communicate(timeout=START_S)
    assert f"{measured} of 4 cells were measured before the run ended (ABORTED: DiskFull)" in results
