"""Derive a machine from EC2's data of an instance: its volumes, its security groups, and those of file systems."""

import ipaddress
import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from moto.ec2.models.instance_types import INSTANCE_TYPES
from moto.efs.models import efs_backends
from moto.fsx.models import fsx_backends

from cloud.vm import groups, machine
from cloud.vm.image import image
from cloud.vm.nfs import NfsServers

ROOT_DEVICES = ("/dev/xvda", "/dev/sda1")


class Machines:
    """Makes the command lines of all VMs of a local cloud, and serves their file systems."""

    def __init__(self, aws_port: int, file_systems: Path, logs: Path) -> None:
        self._aws_port = aws_port
        self._folders = file_systems
        self._servers = NfsServers(logs)
        self._image = image()

    def command(self, instance: Any, metadata_port: int, folder: Path) -> list[str]:
        """Return the command that runs an instance as a VM; its volumes are sparse files in `folder`."""
        self._servers.end_removed()
        return machine.command(
            self._image,
            instance_id=instance.id,
            interface=groups.Interface(instance.private_ip, _groups(instance.nics[0].group_set)),
            aws_port=self._aws_port,
            metadata_port=metadata_port,
            volumes=[*_volumes(instance, folder), *self._existing(instance), *instance_store(instance, folder)],
            file_systems=[*self._file_systems(instance), *self._servers_of_users(instance)],
            folder=folder,
        )

    def close(self) -> None:
        """End the servers of file systems."""
        self._servers.close()

    def _existing(self, instance: Any) -> Iterator[machine.Volume]:
        """Yield the volumes of a user, by their images `<id>.img`: plugged in from the start, whoever attaches them."""
        for volume_id in list(instance.ec2_backend.volumes):
            if (path := self._folders / f"{volume_id}.img").exists():
                yield machine.Volume(volume_id, "", path)

    def _servers_of_users(self, instance: Any) -> Iterator[machine.FileSystem]:
        """Yield the NFS servers in servers.json, by name the options of their export; each has a folder of its name."""
        if not (told := self._folders / "servers.json").exists():
            return
        known = instance.ec2_backend.groups[instance.vpc_id].values()
        interface = groups.Interface(
            "10.0.255.254", _groups(each for each in known if "FileSystemSecurityGroup" in each.name)
        )
        for host, export in json.loads(told.read_text()).items():
            yield machine.FileSystem(host, self._servers.port(self._folders / host, "/export", **export), interface)

    def _file_systems(self, instance: Any) -> list[machine.FileSystem]:
        """Return the available file systems, by the DNS names that EFS and FSx give them."""
        return [
            machine.FileSystem(dns_name, self._servers.port(self._folders / folder, pseudo), interface)
            for dns_name, folder, pseudo, interface in [*_efs(instance), *_fsx(instance)]
            if (self._folders / folder).is_dir()
        ]


Export = tuple[str, str, str, groups.Interface]


def _efs(instance: Any) -> Iterator[Export]:
    """Yield name, id, exported path and mount target: the one in the instance's zone, if there is one."""
    region, zone = instance.region_name, instance.placement.zone
    for efs_id, file_system in list(efs_backends[instance.owner_id][region].file_systems_by_id.items()):
        targets = {target.availability_zone_name: target for target in list(file_system.iter_mount_targets())}
        if targets:
            target = targets.get(zone) or next(iter(targets.values()))
            known = _named(instance.ec2_backend, target.security_groups, target.vpc_id)
            interface = groups.Interface(target.ip_address, known)
            yield f"{efs_id}.efs.{region}.amazonaws.com", efs_id, "/", interface


def _fsx(instance: Any) -> Iterator[Export]:
    """Yield name, id, exported path and interface."""
    file_systems = fsx_backends[instance.owner_id][instance.region_name].file_systems
    for fsx_id, file_system in list(file_systems.items()):
        yield file_system.dns_name, fsx_id, "/fsx", fsx_interface(file_system, instance.ec2_backend)


def fsx_interface(file_system: Any, ec2: Any) -> groups.Interface:
    """Return the interface of an FSx file system; moto gives it no address.

    The address of a Multi-AZ file system is floating: it is in the VPC's block or in a requested one, and belongs to no
    interface (FSx API, EndpointIpAddressRange).
    """
    subnet = ec2.get_subnet(file_system.subnet_ids[0])
    zfs = file_system.open_zfs_configuration or {}
    if zfs.get("DeploymentType", "").startswith("MULTI_AZ"):
        block = zfs.get("EndpointIpAddressRange") or ec2.get_vpc(subnet.vpc_id).cidr_block
        return groups.Interface(_last_address(block), None)
    known = _named(ec2, file_system.security_group_ids, subnet.vpc_id)
    return groups.Interface(_last_address(subnet.cidr_block), known)


def _last_address(block: str) -> str:
    return str(ipaddress.ip_network(block)[-2])


def _named(ec2: Any, ids: list[str] | None, vpc_id: str) -> tuple[groups.Group, ...]:
    """Return the groups of these ids; without any an interface has the default group of its VPC."""
    return _groups(map(ec2.get_security_group_from_id, ids) if ids else [ec2.get_default_security_group(vpc_id)])


def _groups(known: Iterable[Any]) -> tuple[groups.Group, ...]:
    return tuple(
        groups.Group(group.id, tuple(map(_rule, group.ingress_rules)), tuple(map(_rule, group.egress_rules)))
        for group in known
    )


def _rule(rule: Any) -> groups.Rule:
    others = {rule.ip_range.get("CidrIp"), rule.source_group.get("GroupId"), rule.prefix_list_id} - {None}
    first, last = (0, 65_535) if rule.from_port is None else (rule.from_port, rule.to_port)
    return groups.Rule(rule.ip_protocol, first, last, frozenset(others))


def _volumes(instance: Any, folder: Path) -> list[machine.Volume]:
    """Return all volumes except the root volume, because the image is booted in its place."""
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
