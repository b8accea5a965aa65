"""An existing EBS volume: never formatted, and mounted read-only unless the matrix allows writes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agent import mounts
from agent.errors import MountFailed
from agent.mounts import ebs, ebs_device

if TYPE_CHECKING:
    import logging
    from pathlib import Path

# File systems that the kernels of our images can mount.
KNOWN = frozenset({"xfs", "ext4", "ext3", "ext2", "btrfs"})


def tools(mount: dict[str, Any]) -> set[str]:
    """Return the tools that detect the file system of the volume and make it read-only; no mkfs is among them."""
    del mount
    return {"blkid", "blockdev"}


def attach(mount: dict[str, Any], log: logging.Logger) -> Path:
    """Wait until Launch fleet has attached the volume, detect its file system, and mount it."""
    [disk] = ebs_device.wait_for_volumes(mount["volumes"], log)
    fstype = file_system_of(disk, mount["volumes"][0])
    options = ["noatime"]
    if mount.get("is_read_only"):
        # A read-only mount replays a journal, which writes. Of a closed disk the kernel refuses the mount instead.
        mounts.run(["blockdev", "--setro", str(disk)], f"{disk} could not be closed to writes")
        options.append("ro")
    path = mounts.MOUNT_POINT
    path.mkdir(parents=True, exist_ok=True)
    what = (
        f"{mount['volumes'][0]} ({fstype}) could not be mounted as it is; mount it once yourself, so that it is clean"
    )
    mounts.run(["mount", "-t", fstype, "-o", ",".join(options), str(disk), str(path)], what)
    log.info("mounted %s at %s by %s", disk, path, ",".join(options))
    return path


def file_system_of(disk: Path, volume: str) -> str:
    """Return the type of the file system on a disk. Raises MountFailed if there is none, or an unknown one."""
    blkid = mounts.command_result(["blkid", "-p", "-o", "export", str(disk)])
    if blkid.returncode == ebs.FOUND_NOTHING:
        raise MountFailed(f"{volume} holds no file system, and a volume that exists is never formatted; make one on it")
    if blkid.returncode != 0:
        raise MountFailed(f"blkid cannot say what {volume} holds: {blkid.stderr.strip() or blkid.stdout.strip()}")
    fields = dict(line.split("=", 1) for line in blkid.stdout.splitlines() if "=" in line)
    if "TYPE" not in fields and "PTTYPE" in fields:
        raise MountFailed(f"{volume} has partitions ({fields['PTTYPE']}), and only a whole volume is mounted")
    if fields.get("TYPE") not in KNOWN:
        named = fields.get("TYPE", "nothing that blkid names")
        raise MountFailed(f"{volume} holds {named}, and only {', '.join(sorted(KNOWN))} are mounted")
    return fields["TYPE"]
