"""Nitro volumes' own counters: log page 0xD0 of their NVMe controllers, for EBS and the instance store alike.

The layout is that of AWS's own reader (amazonlinux/amazon-ec2-utils, ebsnvme) and of nvme-cli's plugin for Amazon
(plugins/amzn/amzn-nvme.c): 4096 bytes, little-endian, counted since the volume was attached. The guide states that a
volume answers once a second; more frequent requests wait. Requests need root.
"""

from __future__ import annotations

import ctypes
import fcntl
import os
import re
import struct
from pathlib import Path

from agent.machine.counters import device_of

# struct nvme_admin_cmd: linux/nvme_ioctl.h
NVME_IOCTL_ADMIN_CMD = 0xC0484E41
GET_LOG_PAGE = 0x02
PAGE_BYTES = 4096
STATISTICS_PAGE = 0xD0
EBS_MAGIC, INSTANCE_STORE_MAGIC = 0x3C23B510, 0xEC2C0D7E
# magic, version; then read and write operations, bytes and microseconds; then microseconds in which more was asked for
# than the volume's IOPS and throughput and than the instance's EBS IOPS and throughput; then the length of the queue.
HEAD = struct.Struct("<II11Q")
MICROSECONDS = 1e6


def of_storage(storage: Path, root: Path = Path("/")) -> dict[str, float]:
    """Return the summed counters of the volumes below a path: `volume_read_bytes` and so on.

    Empty if the path is on other storage, or if one of several volumes has no counters: a partial sum would look like
    the effect of a cache.
    """
    try:
        device = device_of(storage)
    except OSError:
        return {}
    disks = disks_below(root / f"sys/dev/block/{os.major(device)}:{os.minor(device)}")
    pages = [parse_statistics(log_page(root / "dev" / disk)) for disk in disks]
    if not pages or not all(pages):
        return {}
    summed = {name: sum(page[name] for page in pages) for name in pages[0]}
    # A stripe waits for all of its volumes, which are limited at the same time: use their mean, not their sum.
    return {name: amount / len(pages) if name.endswith("_exceeded_s") else amount for name, amount in summed.items()}


def disks_below(block: Path) -> list[str]:
    """Return the NVMe disks of a block device in sysfs: itself, the disk of a partition, the members of an array.

    Empty if one of them is not an NVMe disk.
    """
    device = block.resolve()
    if (device / "partition").exists():
        device = device.parent
    members = sorted((device / "slaves").iterdir()) if (device / "slaves").is_dir() else []
    if not members:
        return [device.name] if re.fullmatch(r"nvme\d+n\d+", device.name) else []
    below = [disks_below(member) for member in members]
    return [disk for disks in below for disk in disks] if all(below) else []


def log_page(device: Path) -> bytes:
    """Return the statistics page of a disk's controller; empty if it has none or access is denied."""
    dwords = PAGE_BYTES // 4
    # Bits 16 to 27 are one less than the dwords that are asked for (NVMe base specification, Get Log Page).
    return command(device, GET_LOG_PAGE, namespace=1, cdw10=STATISTICS_PAGE | (dwords - 1) << 16)


def parse_statistics(page: bytes) -> dict[str, float]:
    """Return a page's counters: operations, bytes, and seconds; empty if the page is not Amazon's."""
    if len(page) < HEAD.size:
        return {}
    magic, _, *counted = HEAD.unpack_from(page)
    if magic not in (EBS_MAGIC, INSTANCE_STORE_MAGIC):
        return {}
    names = ("read_operations", "write_operations", "read_bytes", "write_bytes")
    counters = {f"volume_{name}": float(amount) for name, amount in zip(names, counted)}
    counters["volume_read_s"], counters["volume_write_s"] = (us / MICROSECONDS for us in counted[4:6])
    # An instance store disk has only its own limit, in the field that EBS uses for the instance's.
    limits = ("volume", "instance_ebs") if magic == EBS_MAGIC else ("", "volume")
    for first, whose in zip((6, 8), limits):
        if whose:
            counters[f"{whose}_iops_exceeded_s"] = counted[first] / MICROSECONDS
            counters[f"{whose}_throughput_exceeded_s"] = counted[first + 1] / MICROSECONDS
    return counters


def command(device: Path, opcode: int, *, namespace: int = 0, cdw10: int = 0) -> bytes:
    """Return the page with which a disk's controller answers an admin command; empty if it refuses."""
    answer = ctypes.create_string_buffer(PAGE_BYTES)
    admin_command = _AdminCommand(
        opcode=opcode, nsid=namespace, addr=ctypes.addressof(answer), data_len=PAGE_BYTES, cdw10=cdw10
    )
    try:
        descriptor = os.open(device, os.O_RDONLY)
    except OSError:
        return b""
    try:
        # Above zero it is the status that the controller gave instead of an answer.
        return b"" if fcntl.ioctl(descriptor, NVME_IOCTL_ADMIN_CMD, admin_command) else answer.raw
    except OSError:
        return b""
    finally:
        os.close(descriptor)


class _AdminCommand(ctypes.Structure):
    _fields_ = (
        ("opcode", ctypes.c_uint8),
        ("flags", ctypes.c_uint8),
        ("rsvd1", ctypes.c_uint16),
        ("nsid", ctypes.c_uint32),
        ("cdw2", ctypes.c_uint32),
        ("cdw3", ctypes.c_uint32),
        ("metadata", ctypes.c_uint64),
        ("addr", ctypes.c_uint64),
        ("metadata_len", ctypes.c_uint32),
        ("data_len", ctypes.c_uint32),
        ("cdw10", ctypes.c_uint32),
        ("cdw11", ctypes.c_uint32),
        ("cdw12", ctypes.c_uint32),
        ("cdw13", ctypes.c_uint32),
        ("cdw14", ctypes.c_uint32),
        ("cdw15", ctypes.c_uint32),
        ("timeout_ms", ctypes.c_uint32),
        ("result", ctypes.c_uint32),
    )
