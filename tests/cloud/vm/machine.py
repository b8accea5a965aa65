"""The command line of qemu that runs an instance as a machine.

Emulated, not virtualised: /dev/kvm is missing or fails on the machines that need this, so figures measured inside are
not those of any hardware. A guest reaches the host's loopback at HOST, the metadata service at its usual address, and
each file system at its own address.
"""

import shutil
import sys
from dataclasses import dataclass
from pathlib import Path

from cloud.vm import groups
from cloud.vm.image import Image
from local.instances.metadata import GUEST, MAC

NETWORK, HOST, RESOLVER = "169.254.169.0/24", "169.254.169.2", "169.254.169.3"
METADATA = "169.254.169.254"
# EC2's time service; not emulated.
CLOCK = "169.254.169.123"
# The AWS APIs, which this machine emulates: an address that is reserved and never routed (RFC 5737).
APIS, HTTPS_PORT = groups.Interface("203.0.113.1", None), 443
NFS_PORT, HTTP_PORT = 2049, 80
MEMORY_MIB = 1280
# No AVX: the C library would use it, and emulated AVX makes everything a fifth slower.
CPU = "qemu64,+ssse3,+sse4.1,+sse4.2,+popcnt"
# The first address of file systems: above qemu's own, below its DHCP range.
FIRST_FILE_SYSTEM = 32
PIPE = Path(__file__).with_name("pipe.py")
# The firmware must identify the machine as EC2, because cloud-init checks nothing else.
FIRMWARE = ("-smbios", "type=0,vendor=Amazon EC2", "-smbios", "type=1,manufacturer=Amazon EC2,uuid={0},serial={0}")


@dataclass(frozen=True)
class Volume:
    """A disk of the machine: its volume's id, the device it was asked to be (`sdf`), and the file that holds it.

    A disk of an instance store has no such device: it is empty.
    """

    id: str
    device: str
    path: Path

    @property
    def serial(self) -> str:
        """The volume's id as EBS shows it to the guest: without its dash, 20 characters."""
        return self.id.replace("-", "")[:20]


@dataclass(frozen=True)
class FileSystem:
    """A shared file system: the name that instances mount, the port where this machine serves it, its interface."""

    dns_name: str
    port: int
    interface: groups.Interface


def command(
    image: Image, *, instance_id: str, interface: groups.Interface, aws_port: int, metadata_port: int,
    volumes: list[Volume], file_systems: list[FileSystem], folder: Path,
) -> list[str]:  # fmt: skip
    """Return the command that runs the machine until it powers itself off."""
    addresses = {file_system: f"169.254.169.{FIRST_FILE_SYSTEM + n}" for n, file_system in enumerate(file_systems)}
    hosts, names, rules = folder / "hosts", folder / "volumes", folder / "groups"
    hosts.write_text("".join(f"{address} {file_system.dns_name}\n" for file_system, address in addresses.items()))
    names.write_text("".join(f"{volume.serial} {volume.device}\n" for volume in volumes if volume.device))
    services = [groups.Service(APIS, HTTPS_PORT, HOST, aws_port)]
    services += [groups.Service(to.interface, NFS_PORT, address, NFS_PORT) for to, address in addresses.items()]
    rules.write_text(groups.ruleset(interface, services, (RESOLVER, METADATA, CLOCK)))
    forwards = [(METADATA, HTTP_PORT, f"{metadata_port} secret")]
    forwards += [(address, NFS_PORT, str(file_system.port)) for file_system, address in addresses.items()]
    # EC2's UUIDs begin with ec2; the rest is made from the instance's id.
    uuid = f"ec2{instance_id.removeprefix('i-'):0<29}"[:32]
    uuid = "-".join((uuid[:8], uuid[8:12], uuid[12:16], uuid[16:20], uuid[20:]))
    # NFS clients of the same host name are one client to the server, and would take each other's state.
    settings = f"systemd.hostname={instance_id} systemd.setenv=AWS_ENDPOINT_URL=http://{HOST}:{aws_port}"
    fast = "quiet mitigations=off cryptomgr.notests nokaslr systemd.show_status=no"
    kernel = f"console=ttyS0 panic=-1 net.ifnames=0 {fast} {settings}"
    return [
        *(
            shutil.which("qemu-system-x86_64") or "qemu-system-x86_64",
            "-accel",
            "tcg,thread=multi",
            "-cpu",
            CPU,
            "-m",
            str(MEMORY_MIB),
        ),
        *("-display", "none", "-serial", "stdio", "-no-reboot", "-nodefaults"),
        *("-kernel", str(image.kernel), "-initrd", str(image.initramfs), "-append", kernel),
        *("-netdev", _network(forwards), "-device", f"virtio-net-pci,netdev=net,mac={MAC},romfile="),
        *(word.format(uuid) for word in FIRMWARE),
        *("-fw_cfg", f"name=opt/storage-matrix/hosts,file={hosts}"),
        *("-fw_cfg", f"name=opt/storage-matrix/volumes,file={names}"),
        *("-fw_cfg", f"name=opt/storage-matrix/groups,file={rules}"),
        *(word for volume in volumes for word in _disk(volume)),
    ]


def _network(forwards: list[tuple[str, int, str]]) -> str:
    parts = [f"user,id=net,net={NETWORK},host={HOST},dns={RESOLVER},dhcpstart={GUEST}"]
    for address, port, target in forwards:
        parts.append(f"guestfwd=tcp:{address}:{port}-cmd:{sys.executable} -S {PIPE} {target}")
    return ",".join(parts)


def _disk(volume: Volume) -> list[str]:
    # Unlocked: a user's volume is plugged into each machine that runs, and one of them mounts it.
    file = f"file.filename={volume.path},file.locking=off"
    drive = f"{file},if=none,id={volume.serial},format=raw,cache=writeback,discard=unmap"
    return ["-drive", drive, "-device", f"virtio-blk-pci,drive={volume.serial},serial={volume.serial}"]
