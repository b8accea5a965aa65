"""An EBS volume that exists: what it holds decides, and nothing of it is ever made or changed."""

import shutil
import subprocess

import pytest

from agent.errors import MountFailed
from agent.machine.workspace import Workspaces
from agent.mounts import ebs_existing

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


def test_steps_on_what_is_only_read_have_their_folders_beside_it(tmp_path):
    storage = tmp_path / "storage"
    (storage / "cache").mkdir(parents=True)
    storage.chmod(0o555)
    workspaces = Workspaces(storage, "run", "cell", "i-1", is_read_only=True)
    try:
        workspace = workspaces.fresh(0)
        assert storage not in workspace.target.parents
        assert workspace.cache(None) == storage
    finally:
        workspaces.close()
        storage.chmod(0o755)
    assert [entry.name for entry in storage.iterdir()] == ["cache"]
