"""An EBS volume that exists: what it holds decides, and nothing of it is ever made or changed."""

import logging
import shutil
import subprocess
from pathlib import Path

import pytest

from agent import mounts
from agent.errors import MountFailed
from agent.machine.workspace import Workspaces
from agent.mounts import ebs_device, ebs_existing

LOG = logging.getLogger("test")
VOLUME = "vol-0123456789abcdef0"


def needs(*programs):
    missing = [program for program in programs if not shutil.which(program)]
    return pytest.mark.skipif(bool(missing), reason=f"{missing} not installed")


@pytest.fixture
def disk(tmp_path):
    """An empty disk, as a file."""
    path = tmp_path / "disk"
    with path.open("wb") as file:
        file.truncate(32 * 2**20)
    return path


@needs("blkid")
def test_a_volume_without_a_file_system_is_refused_and_not_formatted(disk):
    before = disk.read_bytes()

    with pytest.raises(MountFailed, match=f"{VOLUME} holds no file system, and a volume that exists is never"):
        ebs_existing.file_system_of(disk, VOLUME)

    assert disk.read_bytes() == before


@needs("blkid", "mkfs.ext4")
def test_a_file_system_is_found(disk):
    subprocess.run(["mkfs.ext4", "-q", "-F", str(disk)], check=True)

    assert ebs_existing.file_system_of(disk, VOLUME) == "ext4"


@needs("blkid", "mkswap")
def test_what_is_none_is_named(disk):
    subprocess.run(["mkswap", str(disk)], check=True, capture_output=True)

    with pytest.raises(MountFailed, match="holds swap, and only"):
        ebs_existing.file_system_of(disk, VOLUME)


@needs("blkid", "sfdisk")
def test_partitions_are_told(disk):
    subprocess.run(["sfdisk", "-q", str(disk)], input="label: gpt\n,10M\n", text=True, check=True)

    with pytest.raises(MountFailed, match="has partitions"):
        ebs_existing.file_system_of(disk, VOLUME)


def commands_of(monkeypatch, tmp_path, fails=""):
    """Let commands be noted in place of run; one that begins with `fails` does not succeed."""
    seen = []

    def run(command, _timeout_s=0.0):
        seen.append(command)
        code = 32 if fails and command[0] == fails else 0
        return subprocess.CompletedProcess(command, code, "TYPE=xfs\n", "cannot mount: log needs recovery")

    monkeypatch.setattr(mounts, "command_result", run)
    monkeypatch.setattr(mounts, "MOUNT_POINT", tmp_path / "mount")
    monkeypatch.setattr(ebs_device, "wait_for_volumes", lambda volumes, _log: [Path(f"/dev/{volumes[0]}")])
    return seen


def test_the_disk_is_closed_to_writes_before_it_is_mounted(monkeypatch, tmp_path):
    seen = commands_of(monkeypatch, tmp_path)

    ebs_existing.attach({"kind": "ebs-existing", "volumes": [VOLUME], "is_read_only": True}, LOG)

    assert [command[0] for command in seen] == ["blkid", "blockdev", "mount"]
    assert seen[1] == ["blockdev", "--setro", f"/dev/{VOLUME}"]
    assert seen[2][1:5] == ["-t", "xfs", "-o", "noatime,ro"]


def test_one_that_may_be_written_is_mounted_so(monkeypatch, tmp_path):
    seen = commands_of(monkeypatch, tmp_path)

    ebs_existing.attach({"kind": "ebs-existing", "volumes": [VOLUME], "is_read_only": False}, LOG)

    assert [command[0] for command in seen] == ["blkid", "mount"]
    assert seen[1][4] == "noatime"


def test_one_that_needs_recovery_is_refused_with_the_kernels_words(monkeypatch, tmp_path):
    commands_of(monkeypatch, tmp_path, fails="mount")

    with pytest.raises(MountFailed, match=r"mount it once yourself.*log needs recovery"):
        ebs_existing.attach({"kind": "ebs-existing", "volumes": [VOLUME], "is_read_only": True}, LOG)


def test_steps_on_what_is_only_read_have_their_folders_beside_it(tmp_path):
    storage = tmp_path / "storage"
    (storage / "cache").mkdir(parents=True)
    storage.chmod(0o555)
    workspaces = Workspaces(storage, "run", "cell", "i-1", is_read_only=True)
    try:
        workspace = workspaces.fresh(0)
        assert storage not in workspace.target.parents
        assert workspace.caches == storage
    finally:
        workspaces.close()
        storage.chmod(0o755)
    assert [entry.name for entry in storage.iterdir()] == ["cache"]
