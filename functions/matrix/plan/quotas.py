"""Account quotas that a plan needs: its highest use of each, and the refusal if the account has less."""

import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import chain
from operator import attrgetter, itemgetter, or_
from typing import Any

from matrix.plan.recycle_bin import VOLUME
from matrix.storages.base import Quota
from matrix.storages.models import MODELS, existing_id, how_many
from matrix.terms.documents.parts import Part
from matrix.terms.documents.plan import PlanCell, PlanDocument, PlanFileSystem
from matrix.terms.errors import QuotaExceeded
from matrix.terms.grouping import grouped

# Codes as the Service Quotas console and several public quota checkers have them, read November 2026.
STANDARD = Quota("ec2", "L-1216C47A", "Running On-Demand Standard (A, C, D, H, I, M, R, T, Z) instances", "vCPUs")
_CLASSES = {
    "dl": Quota("ec2", "L-6E869C2A", "Running On-Demand DL instances", "vCPUs"),
    "f": Quota("ec2", "L-74FC7D96", "Running On-Demand F instances", "vCPUs"),
    "g": Quota("ec2", "L-DB2E81BA", "Running On-Demand G and VT instances", "vCPUs"),
    "gr": Quota("ec2", "L-DB2E81BA", "Running On-Demand G and VT instances", "vCPUs"),
    "vt": Quota("ec2", "L-DB2E81BA", "Running On-Demand G and VT instances", "vCPUs"),
    "hpc": Quota("ec2", "L-F7808C92", "Running On-Demand HPC instances", "vCPUs"),
    "inf": Quota("ec2", "L-1945791B", "Running On-Demand Inf instances", "vCPUs"),
    "p": Quota("ec2", "L-417A185B", "Running On-Demand P instances", "vCPUs"),
    "trn": Quota("ec2", "L-2C3B7624", "Running On-Demand Trn instances", "vCPUs"),
    "u": Quota("ec2", "L-43DA4232", "Running On-Demand High Memory instances", "vCPUs"),
    "x": Quota("ec2", "L-7295265B", "Running On-Demand X instances", "vCPUs"),
}
STANDARD_SPOT = Quota("ec2", "L-34B43A08", "All Standard (A, C, D, H, I, M, R, T, Z) Spot Instance Requests", "vCPUs")
# High memory and HPC instances are not sold as Spot.
_SPOT_CLASSES = {
    "dl": Quota("ec2", "L-85EED4F7", "All DL Spot Instance Requests", "vCPUs"),
    "f": Quota("ec2", "L-88CF9481", "All F Spot Instance Requests", "vCPUs"),
    "g": Quota("ec2", "L-3819A6DF", "All G and VT Spot Instance Requests", "vCPUs"),
    "gr": Quota("ec2", "L-3819A6DF", "All G and VT Spot Instance Requests", "vCPUs"),
    "vt": Quota("ec2", "L-3819A6DF", "All G and VT Spot Instance Requests", "vCPUs"),
    "inf": Quota("ec2", "L-B5D1601B", "All Inf Spot Instance Requests", "vCPUs"),
    "p": Quota("ec2", "L-7212CCBC", "All P4, P3 and P2 Spot Instance Requests", "vCPUs"),
    "p5": Quota("ec2", "L-C4BD4855", "All P5 Spot Instance Requests", "vCPUs"),
    # The quota has no name for it: the other quota of P names its three generations. Public tables of 2026 disagree.
    "p6": Quota("ec2", "L-C4BD4855", "All P5 Spot Instance Requests", "vCPUs"),
    "trn": Quota("ec2", "L-6B0D517C", "All Trn Spot Instance Requests", "vCPUs"),
    "x": Quota("ec2", "L-E3A00192", "All X Spot Instance Requests", "vCPUs"),
}
# Each counts all volumes of its type in the region. EC2 begins a launch that exceeds such a quota, and ends its
# instances seconds later.
EBS_STORAGE = {
    "gp2": Quota("ebs", "L-D18FCD1D", "Storage for General Purpose SSD (gp2) volumes", "TiB"),
    "gp3": Quota("ebs", "L-7A658B76", "Storage for General Purpose SSD (gp3) volumes", "TiB"),
    "io1": Quota("ebs", "L-FD252861", "Storage for Provisioned IOPS SSD (io1) volumes", "TiB"),
    "io2": Quota("ebs", "L-09BD8365", "Storage for Provisioned IOPS SSD (io2) volumes", "TiB"),
    "sc1": Quota("ebs", "L-17AF77E8", "Storage for Cold HDD (sc1) volumes", "TiB"),
    "st1": Quota("ebs", "L-82ACEF56", "Storage for Throughput Optimized HDD (st1) volumes", "TiB"),
}
EBS_IOPS = {
    "io1": Quota("ebs", "L-B3A130E6", "IOPS for Provisioned IOPS SSD (io1) volumes", "IOPS"),
    "io2": Quota("ebs", "L-8D977E7E", "IOPS for Provisioned IOPS SSD (io2) volumes", "IOPS"),
}


@dataclass(frozen=True)
class Need:
    """A plan's largest use of a quota at one time."""

    quota: Quota
    amount: float
    fix: str


def class_of(instance_type: str, *, is_spot: bool = False) -> Quota:
    """Return the quota that counts the vCPUs of an instance type, on-demand or Spot."""
    classes, standard = (_SPOT_CLASSES, STANDARD_SPOT) if is_spot else (_CLASSES, STANDARD)
    generation = re.match(r"([a-z]+)[0-9]*", instance_type)
    families = [generation[0], generation[1]] if generation else []  # of p5.48xlarge: p5, p
    return next((classes[family] for family in families if family in classes), standard)


def needs(plan: PlanDocument, vcpus: Mapping[str, int], at_once: int) -> list[Need]:
    """Return the plan's use of each quota while `at_once` of its file systems are measured at the same time.

    Cells on one file system run in turn, after the instances that fill its cache, so each file system counts with the
    largest of them. In the worst case the `at_once` largest file systems of one launch run together; launches run in
    turn, after the builders of images. What an ending instance may still take is not counted: the next launch waits for
    it (aws/ec2/instances.py). `vcpus` is by instance type; a missing type counts as 0.
    """
    cells = {cell["id"]: cell for cell in plan["cells"]}
    launches = grouped(
        (system.get("launch", 1), system) for system in filter(itemgetter("cells"), plan["file_systems"])
    )
    largest: dict[Quota, Need] = {}
    builders: Counter[Quota] = Counter()
    for image in plan.get("images", []):
        if image["bake"]:
            builders[class_of(image["builder"])] += vcpus.get(image["builder"], 0)
    of_builders = [Need(quota, amount, 'leave out "bake" of an image') for quota, amount in builders.items() if amount]
    of_launches = (_needs(systems, cells, vcpus, at_once) for systems in launches.values())
    for need in chain(of_builders, *of_launches, _kept_needs(plan)):
        largest[need.quota] = max(need, largest.get(need.quota, need), key=attrgetter("amount"))
    return list(largest.values())


def _needs(
    systems: Sequence[PlanFileSystem], cells: Mapping[str, PlanCell], vcpus: Mapping[str, int], at_once: int
) -> list[Need]:
    """Return the use of each quota by the file systems of one launch."""
    fleets = [[*_fleets_of(system, cells)] for system in systems]
    servers = [
        {"instanceType": of_server, "count": 1}
        if (of_server := MODELS[system["storage"]["type"]].server_type(system["storage"]))
        else None
        for system in systems
    ]
    needed = []

    def claimed(fleet: Mapping[str, Any] | None, quota: Quota) -> float:
        return fleet["count"] * vcpus.get(fleet["instanceType"], 0) if fleet and _class_of_fleet(fleet) == quota else 0

    for quota in dict.fromkeys(_class_of_fleet(fleet) for fleet in chain(*fleets, filter(None, servers))):
        peaks = [
            max(claimed(fleet, quota) for fleet in group) + claimed(server, quota)
            for group, server in zip(fleets, servers, strict=True)
        ]
        needed.append(Need(quota, _largest(peaks, at_once), "lower the fleets' count or maxConcurrentFileSystems"))
    needed += _volume_needs([[cells[cell] for cell in system["cells"]] for system in systems], at_once)
    uses = grouped(
        (use.quota, use)
        for storage in (system["storage"] for system in systems if existing_id(system["storage"]) is None)
        for use in MODELS[storage["type"]].quota_uses(storage)
    )
    for quota, of_quota in uses.items():
        ways = filter(None, (of_quota[0].lower, "lower maxConcurrentFileSystems"))
        needed.append(Need(quota, _largest((use.amount for use in of_quota), at_once), ", or ".join(ways)))
    return [need for need in needed if need.amount]


def _fleets_of(system: PlanFileSystem, cells: Mapping[str, PlanCell]) -> Iterable[Mapping[str, Any]]:
    """Yield the fleets on a file system, which follow each other."""
    if populate := system["populate"]:  # on-demand, also where the cells are Spot
        of_cell = cells[populate["cell"]]["fleet"]
        yield {"instanceType": of_cell["instanceType"], "count": how_many(system["storage"])}
    for cell in system["cells"]:
        yield cells[cell]["fleet"]


def _class_of_fleet(fleet: Mapping[str, Any]) -> Quota:
    return class_of(fleet["instanceType"], is_spot=bool(fleet.get("spot")))


def _volume_needs(systems: Sequence[Sequence[PlanCell]], at_once: int) -> Iterable[Need]:
    """Yield the use of the quotas of volume types by the cells of each file system."""
    peaks = [_largest_of_each(map(_volumes_of, cells)) for cells in systems]
    for quota in (*EBS_STORAGE.values(), *EBS_IOPS.values()):
        fewer = "lower the fleets' count, the volumes' size or IOPS, or maxConcurrentFileSystems"
        yield Need(quota, _largest((peak[quota] for peak in peaks), at_once), fewer)


def _kept_needs(plan: PlanDocument) -> Iterable[Need]:
    """Yield the use of the quotas of volume types by all cells together, where the Recycle Bin keeps their volumes."""
    if not plan.get("recycle_bin_days", {}).get(VOLUME):
        return
    cells, claimed = {cell["id"]: cell for cell in plan["cells"]}, Counter[Quota]()
    for system in plan["file_systems"]:
        # A file server is there once for all cells of its file system.
        is_served = bool(MODELS[system["storage"]["type"]].server_type(system["storage"]))
        for number, cell in enumerate(system["cells"]):
            claimed += _volumes_of(cells[cell], is_served_already=is_served and number > 0)
    for quota, amount in claimed.items():
        yield Need(quota, amount, "exclude the stack from the rules of the Recycle Bin: docs/company.md")


def _volumes_of(cell: PlanCell, *, is_served_already: bool = False) -> Counter[Quota]:
    """Return TiB and IOPS of all volumes that exist while a cell is measured: root and data, the file server's too."""
    count, storage = cell["fleet"]["count"], cell["storage"]
    root: Part = {"volumeType": "gp3", "sizeGiB": cell["root_volume_gib"]}
    volumes = [(count, root)]
    if "work_volume" in cell:
        volumes.append((count, {**cell["work_volume"]}))
    if not is_served_already:
        volumes += [(number, dict(volume)) for number, volume in MODELS[storage["type"]].volumes_of(storage, count)]
    claimed: Counter[Quota] = Counter()
    for number, made in volumes:
        kind = made["volumeType"]
        claimed[EBS_STORAGE[kind]] += number * made["sizeGiB"] / 1_024
        if kind in EBS_IOPS:
            claimed[EBS_IOPS[kind]] += number * (made.get("iops") or 0)
    return claimed


def _largest_of_each(claimed: Iterable[Counter[Quota]]) -> Counter[Quota]:
    return reduce(or_, claimed, Counter())


def _largest(amounts: Iterable[float], count: int) -> float:
    return sum(sorted(amounts, reverse=True)[:count])


def refusal(need: Need, value: float, in_use: float) -> str | None:
    """Return the request for a higher quota if the account's free part is less than needed, else None."""
    if need.amount + in_use <= value:
        return None
    quota = need.quota
    used = f" beside {_figure(in_use)} in use" if in_use else ""
    return (
        f"{quota.name} ({quota.service} {quota.code}) is {value:,.0f} {quota.unit} in this account and region; "
        f"the plan needs {_figure(need.amount)}{used}. Ask for more: {request_line(quota, need.amount + in_use)}; or"
        f" {need.fix}."
    )


def request_line(quota: Quota, amount: float) -> str:
    """Return the command that asks AWS to raise a quota to at least `amount`."""
    return (
        f"aws service-quotas request-service-quota-increase --service-code {quota.service} --quota-code {quota.code}"
        f" --desired-value {math.ceil(amount)}"
    )


def refuse(refusals: Sequence[str]) -> None:
    """Raise QuotaExceeded with all requests for higher quotas, if there are any."""
    if refusals:
        raise QuotaExceeded(" ".join([*refusals, "Nothing was created"]))


def _figure(amount: float) -> str:
    """Return an amount with its tenth unless that is 0, so that 50.2 TiB wanted of 50 do not read as 50."""
    return f"{amount:,.1f}".removesuffix(".0")
