"""Account quotas that a plan needs: how much of each it takes at once, and what to say where there is less."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import chain
from typing import Any

from matrix.errors import QuotaExceeded
from matrix.storages.file_server import volume

Document = dict[str, Any]


@dataclass(frozen=True)
class Quota:
    """A quota as Service Quotas names it."""

    service: str
    code: str
    name: str
    unit: str


# Codes as the Service Quotas console and several public quota checkers have them, read November 2026.
STANDARD = Quota("ec2", "L-1216C47A", "Running On-Demand Standard (A, C, D, H, I, M, R, T, Z) instances", "vCPUs")
_CLASSES = {
    "dl": Quota("ec2", "L-6E869C2A", "Running On-Demand DL instances", "vCPUs"),
    "f": Quota("ec2", "L-74FC7D96", "Running On-Demand F instances", "vCPUs"),
    "g": Quota("ec2", "L-DB2E81BA", "Running On-Demand G and VT instances", "vCPUs"),
    "vt": Quota("ec2", "L-DB2E81BA", "Running On-Demand G and VT instances", "vCPUs"),
    "hpc": Quota("ec2", "L-F7808C92", "Running On-Demand HPC instances", "vCPUs"),
    "inf": Quota("ec2", "L-1945791B", "Running On-Demand Inf instances", "vCPUs"),
    "p": Quota("ec2", "L-417A185B", "Running On-Demand P instances", "vCPUs"),
    "trn": Quota("ec2", "L-2C3B7624", "Running On-Demand Trn instances", "vCPUs"),
    "u": Quota("ec2", "L-43DA4232", "Running On-Demand High Memory instances", "vCPUs"),
    "x": Quota("ec2", "L-7295265B", "Running On-Demand X instances", "vCPUs"),
}
EFS_FILE_SYSTEMS = Quota("elasticfilesystem", "L-848C634D", "File systems per account", "file systems")
FSX_THROUGHPUT = Quota("fsx", "L-4EDE4065", "OpenZFS throughput capacity", "MB/s")
FSX_STORAGE = Quota("fsx", "L-88479C21", "OpenZFS SSD storage capacity", "GiB")


@dataclass(frozen=True)
class Need:
    """How much of a quota a plan takes at once at most."""

    quota: Quota
    amount: float
    way_out: str


def class_of(instance_type: str) -> Quota:
    """Return the quota that counts the vCPUs of an instance type."""
    letters = re.match(r"[a-z]+", instance_type)
    return _CLASSES.get(letters[0] if letters else "", STANDARD)


def needs(plan: Mapping[str, Any], vcpus: Mapping[str, int], at_once: int) -> list[Need]:
    """Return what a plan takes of each quota while `at_once` of its file systems are measured at the same time.

    Cells on one file system follow each other, so each file system counts with its largest cell, and of all file
    systems the largest `at_once` may meet. `vcpus` by instance type; one that is not in it counts nothing.
    """
    systems = [one for one in plan["file_systems"] if one["cells"]]
    cells = {cell["id"]: cell for cell in plan["cells"]}
    fleets = [[cells[cell]["fleet"] for cell in one["cells"]] for one in systems]
    servers = [
        {"instanceType": one["storage"]["instanceType"], "count": 1}
        if one["storage"]["type"] == "file-server"
        else None
        for one in systems
    ]
    found = []

    def taken(fleet: Mapping[str, Any] | None, quota: Quota) -> float:
        kind = fleet["instanceType"] if fleet else ""
        return fleet["count"] * vcpus.get(kind, 0) if fleet and class_of(kind) == quota else 0

    for quota in dict.fromkeys(class_of(one["instanceType"]) for one in chain(*fleets, filter(None, servers))):
        peaks = [
            max(taken(fleet, quota) for fleet in group) + taken(server, quota)
            for group, server in zip(fleets, servers, strict=True)
        ]
        found.append(Need(quota, _largest(peaks, at_once), "lower the fleets' count or maxConcurrentFileSystems"))
    efs = [1.0 for one in systems if one["storage"]["type"] == "efs"]
    fsx = [one["storage"] for one in systems if one["storage"]["type"] == "fsx-openzfs"]
    fewer = "lower maxConcurrentFileSystems"
    found.append(Need(EFS_FILE_SYSTEMS, _largest(efs, at_once), fewer))
    throughputs = [one["throughputCapacityMBps"] for one in fsx]
    found.append(Need(FSX_THROUGHPUT, _largest(throughputs, at_once), f"lower throughputCapacityMBps, or {fewer}"))
    capacities = [one["storageCapacityGiB"] for one in fsx]
    found.append(Need(FSX_STORAGE, _largest(capacities, at_once), f"lower storageCapacityGiB, or {fewer}"))
    return [need for need in found if need.amount]


def _largest(amounts: Iterable[float], count: int) -> float:
    return sum(sorted(amounts, reverse=True)[:count])


def check(need: Need, value: float, in_use: float) -> None:
    """Raise QuotaExceeded where a quota's value leaves less than is needed beside what is in use already."""
    if need.amount + in_use <= value:
        return
    quota = need.quota
    used = f" beside {in_use:,.0f} in use" if in_use else ""
    raise QuotaExceeded(
        f"{quota.name} ({quota.service} {quota.code}) is {value:,.0f} {quota.unit} in this account and region; the "
        f"plan needs {need.amount:,.0f}{used}. Ask for more in Service Quotas, or {need.way_out}. Nothing was created"
    )


def ceiling_warnings(plan: Mapping[str, Any], types: Mapping[str, Mapping[str, Any]]) -> list[Document]:
    """Return a warning for each volume and instance type where the instance is the bottleneck, not the volume.

    `types` are EC2's EbsOptimizedInfo by instance type. The maximum can be had for 30 minutes a day only where it lies
    above the baseline, so a volume above the baseline is worth a word as well.
    """
    warnings: dict[tuple[str, str], Document] = {}
    for cell in plan["cells"]:
        storage, instance_type = _volume_and_holder(cell)
        ebs = types.get(instance_type)
        if storage["type"] != "ebs" or ebs is None:
            continue
        over = [text for text in (_over(storage, ebs, limit) for limit in _LIMITS) if text]
        if over:
            message = f"{instance_type} is slower than the volume of {cell['file_system']}: {'; '.join(over)}"
            warnings[cell["file_system"], instance_type] = {
                "path": "fleet", "value": instance_type, "message": f"{message}; this would measure the instance",
            }  # fmt: skip
    return list(warnings.values())


def _volume_and_holder(cell: Mapping[str, Any]) -> tuple[Mapping[str, Any], str]:
    """The storage that is a volume, and the type of the instances that have it: the fleet's, or the file server's."""
    storage = cell["storage"]
    if storage["type"] == "file-server":
        return volume(storage["sizeGiB"]), storage["instanceType"]
    return storage, cell["fleet"]["instanceType"]


@dataclass(frozen=True)
class _Limit:
    """A field of an EBS storage, EC2's words for the ceiling on it, and how EC2's unit becomes that of the field."""

    field: str
    word: str
    unit: str
    scale: float


# EBS volumes count in MiB/s, EbsOptimizedInfo in MB/s.
_LIMITS = (_Limit("iops", "Iops", "IOPS", 1.0), _Limit("throughputMiBps", "ThroughputInMBps", "MiB/s", 1e6 / 2**20))


def _over(storage: Mapping[str, Any], ebs: Mapping[str, Any], limit: _Limit) -> str:
    wanted = storage.get(limit.field)
    if wanted is None or f"Maximum{limit.word}" not in ebs:
        return ""
    most, always = (limit.scale * ebs[f"{kind}{limit.word}"] for kind in ("Maximum", "Baseline"))
    if wanted > most:
        return f"{wanted:,.0f} {limit.unit} of the volume, {most:,.0f} of the instance"
    if wanted > always:
        return f"{wanted:,.0f} {limit.unit} of the volume, {always:,.0f} of the instance beyond 30 minutes a day"
    return ""
