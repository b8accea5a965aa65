"""Admin commands to controllers of NVMe disks: on Nitro, EBS volumes and instance stores. They need root."""

from __future__ import annotations

import ctypes
import fcntl
import os
from pathlib import Path

# struct nvme_admin_cmd: linux/nvme_ioctl.h
NVME_IOCTL_ADMIN_CMD = 0xC0484E41
PAGE_BYTES = 4096


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
