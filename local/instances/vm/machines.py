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
        """Those that are available; a name is what EFS and FSx tell their customers to mount."""
        account, region = instance.owner_id, instance.region_name
        efs, fsx = efs_backends[account][region].file_systems_by_id, fsx_backends[account][region].file_systems
        found = [(f"{one}.efs.{region}.amazonaws.com", one, "/") for one in efs]
        found += [(one.dns_name, name, "/fsx") for name, one in fsx.items()]
        return [
            machine.FileSystem(name, self._servers.port(self._folders / one, pseudo))
            for name, one, pseudo in found
            if (self._folders / one).is_dir()
        ]


def _volumes(instance: Any, folder: Path) -> list[machine.Volume]:
    """All but the root volume, which is the image's."""
    found = []
    for device, attached in instance.block_device_mapping.items():
        if device in ROOT_DEVICES:
            continue
        volume = instance.ec2_backend.volumes[attached.volume_id]
        path = _sparse(folder / f"{volume.id}.img", volume.size * 2**30)
        found.append(machine.Volume(volume.id, device.removeprefix("/dev/"), path))
    return found


def instance_store(instance: Any, folder: Path) -> list[machine.Volume]:
    """The disks that the instance type brings along, with serial numbers as EC2 gives them: AWS and 17 digits."""
    described = INSTANCE_TYPES[instance.instance_type].get("InstanceStorageInfo", {}).get("Disks", [])
    sizes_gb = [one["SizeInGB"] for one in described for _ in range(one["Count"])]
    serials = [f"AWS{instance.id.removeprefix('i-')[:16].upper()}{n:X}" for n in range(len(sizes_gb))]
    return [
        machine.Volume(serial, "", _sparse(folder / f"{serial}.img", gb * 10**9))
        for serial, gb in zip(serials, sizes_gb, strict=True)
    ]


def _sparse(path: Path, count_bytes: int) -> Path:
    with path.open("wb") as disk:
        disk.truncate(count_bytes)
    return path
