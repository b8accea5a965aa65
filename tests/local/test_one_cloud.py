"""One folder has one cloud at a time, and no cloud removes what another one made."""

import ctypes
import json
import os
import select
from pathlib import Path

from support.running_cloud import start_cloud, wait_until

from local.programs import claims
from local.settings import ALREADY_RUNNING

FILES = 3_000  # of a killed cloud: sweeping them takes a while
PATIENCE_S = 120
IN_OPEN = 0x20  # of inotify(7)


def test_of_clouds_that_start_at_once_one_gets_the_folder_and_others_leave_it_alone(tmp_path: Path):
    left = tmp_path / "storage" / "volumes"
    for folder in range(FILES // 100):
        (left / str(folder)).mkdir(parents=True)
        for file in range(100):
            (left / str(folder) / str(file)).touch()
    clouds = [start_cloud(tmp_path, "--no-deploy") for _ in range(2)]

    wait_until(lambda: any(cloud.poll() is not None for cloud in clouds), "the other to end", PATIENCE_S)

    [first] = [cloud for cloud in clouds if cloud.poll() is None]
    (tmp_path / "storage/volumes/i-1").mkdir()
    (tmp_path / "storage/volumes/i-1/data").write_text("measured")
    for cloud in clouds:
        if cloud is not first:
            said = cloud.stderr.read()
            assert cloud.returncode == ALREADY_RUNNING, said
            assert f"up already (process {first.pid}" in said
            assert "Traceback" not in said
    assert json.loads((tmp_path / "cloud.json").read_text())["pid"] == first.pid
    late = start_cloud(tmp_path, "--no-deploy")
    assert late.wait(PATIENCE_S) == ALREADY_RUNNING
    assert (tmp_path / "storage/volumes/i-1/data").read_text() == "measured"
    assert (tmp_path / "code").is_dir()
    first.communicate(timeout=PATIENCE_S)
    assert first.returncode == 0
    assert not (tmp_path / "storage").exists()


def test_a_cloud_waits_for_the_one_before_it_to_have_ended(tmp_path: Path):
    before = claims.own(tmp_path)
    cloud = start_cloud(tmp_path, "--no-deploy")
    (tmp_path / "storage").mkdir()
    (tmp_path / "storage" / "of-the-one-before").touch()
    # It has imported all that it needs, and looks again and again at the lock.
    for _ in range(2):
        _wait_until_opened(tmp_path / "cloud.lock")
    assert (tmp_path / "storage" / "of-the-one-before").exists()

    before.close()

    assert json.loads(cloud.stdout.readline())["pid"] == cloud.pid
    assert not (tmp_path / "storage" / "of-the-one-before").exists()
    cloud.communicate(timeout=PATIENCE_S)


def test_a_cloud_that_waits_ends_with_its_parent_and_has_touched_nothing(tmp_path: Path):
    with claims.own(tmp_path):
        cloud = start_cloud(tmp_path, "--no-deploy")
        (tmp_path / "storage").mkdir()
        cloud.communicate(timeout=PATIENCE_S)

    assert cloud.returncode == 0
    assert (tmp_path / "storage").is_dir()


def test_a_cloud_whose_parent_has_ended_stays_for_who_else_uses_it(tmp_path: Path):
    cloud = start_cloud(tmp_path, "--no-deploy")
    cloud.stdout.readline()

    with claims.used(tmp_path):
        cloud.stdin.close()
        wait_until(lambda: "cloud.users" in _files_of(cloud.pid), "it to ask whether it may end")
        assert claims.is_used(tmp_path)
        assert (tmp_path / "cloud.json").exists()

    assert cloud.wait(PATIENCE_S) == 0
    assert not (tmp_path / "cloud.json").exists()
    assert not claims.is_used(tmp_path)


def test_a_folder_that_cannot_be_made_is_named(tmp_path: Path):
    (tmp_path / "file").touch()
    cloud = start_cloud(tmp_path / "file" / "work", "--no-deploy")
    _, said = cloud.communicate(timeout=PATIENCE_S)

    assert cloud.returncode == 1
    assert f"{tmp_path}/file/work cannot be used: Not a directory" in said
    assert "Traceback" not in said


def _wait_until_opened(path: Path) -> None:
    """Wait until a process opens a file, for however short a time."""
    libc = ctypes.CDLL(None)
    watch = libc.inotify_init1(os.O_CLOEXEC)
    try:
        assert libc.inotify_add_watch(watch, os.fsencode(path), IN_OPEN) > 0
        assert select.select([watch], [], [], PATIENCE_S)[0], f"nobody opened {path}"
    finally:
        os.close(watch)


def _files_of(pid: int) -> set[str]:
    # Unlike readlink, realpath accepts a file that is closed meanwhile.
    return {Path(os.path.realpath(path)).name for path in Path(f"/proc/{pid}/fd").iterdir()}
