"""A volume for real, where this machine lets us: a loop device plays the EBS volume, the rest is as on an instance."""

from __future__ import annotations

import logging
import os
import shutil
import subprocess

import pytest

from agent import mounts
from agent.machine import disks

LOG = logging.getLogger("test")
IMAGE_BYTES = 320 << 20  # mkfs.xfs refuses less than 300 MB


@pytest.fixture
def loop_device(tmp_path):
    if os.geteuid() != 0:
        pytest.skip("mounting needs root")
    if not (shutil.which("mkfs.xfs") and shutil.which("losetup")):
        pytest.skip("mkfs.xfs is not installed (apt-get install xfsprogs)")
    image = tmp_path / "volume.img"
    with image.open("wb") as stream:
        stream.truncate(IMAGE_BYTES)
    attached = subprocess.run(["losetup", "-f", "--show", str(image)], capture_output=True, text=True, check=False)
    if attached.returncode != 0:
        pytest.skip(f"there is no loop device: {attached.stderr.strip()}")
    yield attached.stdout.strip()
    subprocess.run(["losetup", "-d", attached.stdout.strip()], check=False)


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
