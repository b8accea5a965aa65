"""A volume for real, where this machine lets us: a loop device plays the EBS volume, the rest is as on an instance."""

from __future__ import annotations

import logging
import shutil

import pytest
from support import disks as disks_of_tests

from agent import mounts
from agent.machine import disks
from agent.machine.workspace import Workspaces
from agent.mounts import ebs

LOG = logging.getLogger("test")
IMAGE_BYTES = 320 << 20  # mkfs.xfs refuses less than 300 MB


@pytest.fixture
def loop_device(tmp_path):
    if not shutil.which("mkfs.xfs"):
        pytest.skip("mkfs.xfs is not installed (apt-get install xfsprogs)")
    with disks_of_tests.loop_device(tmp_path / "volume.img", IMAGE_BYTES) as device:
        yield str(device)


def test_what_is_done_beside_the_storage_is_on_a_volume_of_its_own(loop_device, tmp_path, monkeypatch):
    monkeypatch.setattr(ebs, "WORK_POINT", tmp_path / "work")
    monkeypatch.setattr(disks, "find", lambda *_: loop_device)

    try:
        with ebs.work_disk({"kind": "ebs", "devices": ["/dev/sdn"], "fstype": "xfs"}, LOG) as disk:
            workspaces = Workspaces(tmp_path, "r", "c", "i-1", disk)
            workspace = workspaces.fresh(1)
            lie_on = {mounts.describe("ebs", folder).source for folder in (workspace.scratch, workspace.data)}
            workspaces.close()
    except mounts.MountFailed as err:
        pytest.skip(f"this machine does not let us mount: {err}")

    assert lie_on == {loop_device}
    assert mounts.describe("ebs", tmp_path / "work").fstype != "xfs"


def test_an_empty_volume_is_formatted_mounted_without_atime_and_let_go(loop_device, tmp_path, monkeypatch):
    monkeypatch.setattr(mounts, "MOUNT_POINT", tmp_path / "mnt")
    monkeypatch.setattr(disks, "find", lambda *_: loop_device)
    mount = {"kind": "ebs", "devices": ["/dev/sdf"], "fstype": "xfs"}

    try:
        with mounts.attached(mount, LOG) as mounted:
            described = mounted.describe()
            (mounted.path / "kept").write_text("kept")
    except mounts.MountFailed as err:
        pytest.skip(f"this machine does not let us mount: {err}")
    with mounts.attached(mount, LOG) as again:
        kept = (again.path / "kept").read_text()

    assert described["fstype"] == "xfs"
    assert "noatime" in described["options"].split(",")
    assert described["source"] == loop_device
    assert kept == "kept"
    assert mounts.describe("ebs", tmp_path / "mnt").fstype != "xfs"
