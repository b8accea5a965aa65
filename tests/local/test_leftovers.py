"""What killed agents and killed clouds leave is swept by its owner's death; what the living have is not touched."""

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from support.running_cloud import REPOSITORY, wait_until

from local.programs import leftovers
from local.programs.liveness import is_alive, started_ticks

# The agent's own code makes its folders, and works in them until it is ended.
AGENT = """
import os, sys, time
from pathlib import Path
from agent.machine.workspace import Workspaces
workspace = Workspaces(Path(sys.argv[1]), "run", "cell", "i-1").fresh(1)
(workspace.shm / "source").write_bytes(b"x" * 3_000_000)
print(workspace.shm, workspace.scratch.parent, flush=True)
time.sleep(1000)
"""


@pytest.fixture
def agents(tmp_path) -> Iterator[list[tuple[subprocess.Popen, Path, Path]]]:
    """Two agents at work, and their folders in memory and on the disk."""
    environment = {name: value for name, value in os.environ.items() if name != "TMPDIR"}
    started = []
    for mount in ("a", "b"):
        process = subprocess.Popen(
            [sys.executable, "-c", AGENT, str(tmp_path / mount)], cwd=REPOSITORY, env=environment, text=True,
            stdout=subprocess.PIPE,
        )  # fmt: skip
        started.append((process, *map(Path, process.stdout.readline().split())))
    yield started
    for process, *_ in started:
        process.kill()
        process.communicate()
    leftovers.remove_folders()


def test_the_folders_of_a_killed_agent_are_removed_and_those_of_a_living_one_are_not(agents):
    (killed, *its_folders), (_, *other_folders) = agents
    assert [folder.parent for folder in its_folders] == [leftovers.MEMORY, leftovers.DISK]

    killed.kill()
    wait_until(lambda: started_ticks(killed.pid) is None, "the end of the agent")
    leftovers.remove_folders()

    assert not any(folder.exists() for folder in its_folders)
    assert all(folder.exists() for folder in other_folders)


@pytest.fixture
def left_behind(tmp_path, monkeypatch) -> Path:
    """A folder of a process that is no more, where clouds of other tests do not sweep."""
    for place in ("MEMORY", "DISK"):
        monkeypatch.setattr(leftovers, place, tmp_path)
    ended = subprocess.Popen([sys.executable, "-c", ""])
    folder = tmp_path / f"storage-matrix-{ended.pid}-{started_ticks(ended.pid)}-x"
    ended.wait()
    (folder / "scratch").mkdir(parents=True)
    (folder / "scratch/source").write_bytes(b"x" * 3_000_000)
    return folder


def test_what_a_sweep_frees_is_counted_in_bytes_of_files(left_behind):
    assert leftovers.remove_folders() == 3_000_000
    assert not left_behind.exists()


@pytest.mark.parametrize("vanishing", ["storage-matrix-", "source"])
def test_what_another_cloud_removes_meanwhile_is_not_an_error(left_behind, monkeypatch, vanishing):
    lstat = Path.lstat

    def removed_by_another(path: Path) -> os.stat_result:
        if path.name.startswith(vanishing):
            shutil.rmtree(left_behind, ignore_errors=True)
        return lstat(path)

    monkeypatch.setattr(Path, "lstat", removed_by_another)

    assert leftovers.remove_folders() == 0


def test_a_number_that_another_process_has_by_now_is_not_an_owner(agents):
    (living, folder, _), _ = agents
    earlier = folder.with_name(f"storage-matrix-{living.pid}-{started_ticks(living.pid) - 1}-earlier")
    earlier.mkdir()

    leftovers.remove_folders()

    assert not earlier.exists()
    assert folder.exists()


def test_a_process_that_nobody_has_collected_yet_has_ended():
    process = subprocess.Popen([sys.executable, "-c", ""])
    started = started_ticks(process.pid)

    wait_until(lambda: not is_alive(process.pid, started), "the end of the process")

    assert process.returncode is None, "it is still a zombie"
    process.wait()


def test_what_a_killed_cloud_had_started_is_ended_and_what_the_user_does_in_its_folder_is_not(tmp_path):
    volume = tmp_path / "storage/volumes/i-1"
    volume.mkdir(parents=True)
    sleep = ["sleep", "1000"]
    of_agent = subprocess.Popen(sleep, env={**os.environ, "HOME": str(volume)}, start_new_session=True)
    of_user = subprocess.Popen(sleep, cwd=volume)
    of_another = subprocess.Popen(sleep, env={**os.environ, "HOME": f"{tmp_path}-2/storage/volumes/i-1"})
    try:
        wait_until(lambda: b"sleep" in Path(f"/proc/{of_agent.pid}/cmdline").read_bytes(), "exec")
        began = time.monotonic()
        ended = leftovers.end_processes(tmp_path)

        assert ended == 1
        assert time.monotonic() - began < leftovers.GONE_WITHIN_S
        assert of_agent.wait(5) == -9
        assert (of_user.poll(), of_another.poll()) == (None, None)
    finally:
        for process in (of_agent, of_user, of_another):
            process.kill()
            process.wait()
