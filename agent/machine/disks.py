"""Which disk is which volume.

On Nitro instances /dev/sdf is only the name in the launch request; the kernel calls the volume /dev/nvme1n1 or so, in
any order. The serial number is the volume's id, and the vendor's part of the controller's identification holds the
requested name. On Amazon Linux udev links that name to the disk; other distributions have no such link.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from agent.machine import nvme

EBS_MODEL = "Amazon Elastic Block Store"
INSTANCE_STORE_MODEL = "Amazon EC2 NVMe Instance Storage"
# A disk without a model (virtio) has its kind in its serial number: an EBS volume's begins with vol.
INSTANCE_STORE_SERIAL = re.compile(r"AWS[0-9A-F]{17}")
# Opcode 6 is identify, with CNS 1 for the controller (NVMe base specification).
IDENTIFY, CONTROLLER = 0x06, 1
VENDOR_OFFSET, NAME_BYTES = 3072, 32


@dataclass(frozen=True)
class Disk:
    """A block device as sysfs describes it."""

    name: str
    serial: str
    model: str


def all_disks(root: Path = Path("/")) -> list[Disk]:
    """Return the disks of this machine, without partitions."""
    block = root / "sys/block"
    names = sorted(path.name for path in block.iterdir()) if block.is_dir() else []
    return [_disk(block / name) for name in names if re.fullmatch(r"nvme\d+n\d+|xvd[a-z]+|sd[a-z]+|vd[a-z]+", name)]


def find(device: str, root: Path = Path("/")) -> Path | None:
    """Return the device of a volume by the name in the launch request, or None if it has not appeared."""
    disks = all_disks(root)
    dev = root / "dev"
    name = device.replace("/dev/", "", 1)
    for candidate in (name, re.sub(r"^sd", "xvd", name)):
        if (dev / candidate).exists():
            return dev / candidate
    for disk in disks:
        if disk.model == EBS_MODEL and requested_name(dev / disk.name) in (name, re.sub(r"^sd", "xvd", name)):
            return dev / disk.name
    return None


def instance_stores(root: Path = Path("/")) -> list[Path]:
    """Return the devices of the disks that come with the instance type; on Nitro the root disk is never one of them."""
    return [
        root / "dev" / disk.name
        for disk in all_disks(root)
        if disk.model == INSTANCE_STORE_MODEL or INSTANCE_STORE_SERIAL.fullmatch(disk.serial)
    ]


def requested_name(device: Path) -> str | None:
    """Return the requested name (without /dev/) from the volume's NVMe controller; needs root."""
    return parse_vendor_name(nvme.command(device, IDENTIFY, cdw10=CONTROLLER))


def parse_vendor_name(identification: bytes) -> str | None:
    """Return the requested name in a controller's identification: 32 characters filled with blanks or zeros."""
    raw = identification[VENDOR_OFFSET : VENDOR_OFFSET + NAME_BYTES]
    name = raw.split(b"\0", 1)[0].decode("ascii", errors="replace").strip()
    return name.replace("/dev/", "", 1) or None


def _disk(path: Path) -> Disk:
    def read(*names: str) -> str:
        for name in names:
            if (path / name).is_file():
                return (path / name).read_text(errors="replace").strip()
        return ""

    return Disk(path.name, read("device/serial", "serial"), read("device/model"))
