"""From what EC2 knows of an instance to the machine: its volumes, and the file systems that it can reach."""

from pathlib import Path
from typing import Any

from moto.ec2.models.instance_types import INSTANCE_TYPES
from moto.efs.models import efs_backends
from moto.fsx.models import fsx_backends

from local.instances.vm import machine
from local.instances.vm.image import image
from local.instances.vm.nfs import NfsServers

ROOT_DEVICES = ("/dev/xvda", "/dev/sda1")


class Machines:
    """Makes the command lines of all VMs of a cloud, and serves their file systems."""

    def __init__(self, aws_port: int, file_systems: Path, logs: Path) -> None:
        self._aws_port = aws_port
        self._folders = file_systems
        self._servers = NfsServers(logs)
        self._image = image()

    def command(self, instance: Any, metadata_port: int, folder: Path) -> list[str]:
        """Return what runs an instance as a VM; its volumes are sparse files in `folder`."""
        self._servers.end_removed()
        return machine.command(
            self._image,
            instance_id=instance.id,
            aws_port=self._aws_port,
            metadata_port=metadata_port,
            volumes=[*_volumes(instance, folder), *instance_store(instance, folder)],
            file_systems=[*self._file_systems(instance)],
            folder=folder,
        )

    def close(self) -> None:
        """End the servers of file systems."""
        self._servers.close()

    def _file_systems(self, instance: Any) -> list[machine.FileSystem]:
        """Return the available file systems, by the DNS names that EFS and FSx give them."""
        account, region = instance.owner_id, instance.region_name
        efs, fsx = efs_backends[account][region].file_systems_by_id, fsx_backends[account][region].file_systems
        exports = [(f"{efs_id}.efs.{region}.amazonaws.com", efs_id, "/") for efs_id in efs]
        exports += [(file_system.dns_name, fsx_id, "/fsx") for fsx_id, file_system in fsx.items()]
        return [
            machine.FileSystem(dns_name, self._servers.port(self._folders / folder, pseudo))
            for dns_name, folder, pseudo in exports
            if (self._folders / folder).is_dir()
        ]


def _volumes(instance: Any, folder: Path) -> list[machine.Volume]:
    """Return all volumes but the root volume, in place of which the image is booted."""
    volumes = []
    for device, attached in instance.block_device_mapping.items():
        if device in ROOT_DEVICES:
            continue
        volume = instance.ec2_backend.volumes[attached.volume_id]
        path = _sparse(folder / f"{volume.id}.img", volume.size * 2**30)
        volumes.append(machine.Volume(volume.id, device.removeprefix("/dev/"), path))
    return volumes


def instance_store(instance: Any, folder: Path) -> list[machine.Volume]:
    """Return the disks that come with the instance type; serial numbers are AWS and 17 digits, as on EC2."""
    described = INSTANCE_TYPES[instance.instance_type].get("InstanceStorageInfo", {}).get("Disks", [])
    sizes_gb = [disks["SizeInGB"] for disks in described for _ in range(disks["Count"])]
    serials = [f"AWS{instance.id.removeprefix('i-')[:16].upper()}{n:X}" for n in range(len(sizes_gb))]
    return [
        machine.Volume(serial, "", _sparse(folder / f"{serial}.img", gb * 10**9))
        for serial, gb in zip(serials, sizes_gb, strict=True)
    ]


def _sparse(path: Path, count_bytes: int) -> Path:
    with path.open("wb") as disk:
        disk.truncate(count_bytes)
    return path
