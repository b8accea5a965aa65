"""Prices of today from AWS's price list: which products a matrix needs, and the price in what the Pricing API answers.

Attributes as the price list has them; those of FSx and EFS checked against infracost's filters (Apache-2.0), November
2026. A query that fits no product, or several at different prices, leaves the book's price in force.
"""

import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from matrix.input.matrix import Matrix
from matrix.input.storages.ebs import EbsStorage
from matrix.input.storages.efs import EfsStorage
from matrix.input.storages.file_server import FileServerStorage
from matrix.input.storages.fsx_openzfs import FsxOpenZfsStorage

MIB_PER_GIB = 1_024


@dataclass(frozen=True)
class Query:
    """A product in the price list; `name` is that of the book, or an instance type."""

    name: str
    service: str
    attributes: tuple[tuple[str, str], ...]  # to ask for
    usage: str = ""  # how the product's usage type ends; its start depends on the region
    scale: float = 1.0  # from the price list's unit to the book's


def queries(matrix: Matrix) -> list[Query]:
    """Return what to ask for: the instance types and storages of a matrix."""
    fleets = [fleet for axis in matrix.fleet for fleet in axis.fleets()] + [cell.fleet for cell in matrix.include]
    needed = [_instance(name) for name in dict.fromkeys(fleet.instance_type for fleet in fleets)]
    needed += _ebs("gp3")  # every instance has such a root volume
    for storage in [*matrix.storage, *(cell.storage for cell in matrix.include)]:
        if isinstance(storage, EbsStorage):
            needed += _ebs(storage.volume_type)
        if isinstance(storage, EfsStorage):
            needed += _efs(storage)
        if isinstance(storage, FsxOpenZfsStorage):
            needed += _fsx(storage)
        if isinstance(storage, FileServerStorage):
            needed.append(_instance(storage.instance_type))
    return list(dict.fromkeys(needed))


def _instance(name: str) -> Query:
    fixed = (
        ("operatingSystem", "Linux"), ("tenancy", "Shared"), ("preInstalledSw", "NA"), ("capacitystatus", "Used"),
        ("licenseModel", "No License required"), ("marketoption", "OnDemand"),
    )  # fmt: skip
    return Query(name, "AmazonEC2", (("instanceType", name), *fixed))


def _ebs(kind: str) -> list[Query]:
    of_kind = ("volumeApiName", kind)
    queries = [Query(f"ebs_{kind}_gib_month", "AmazonEC2", (("productFamily", "Storage"), of_kind))]
    iops = {"gp3": "VolumeP-IOPS.gp3", "io1": "VolumeP-IOPS.piops", "io2": "VolumeP-IOPS.io2"}
    if kind in iops:
        operation = (("productFamily", "System Operation"), of_kind)
        queries.append(Query(f"ebs_{kind}_iops_month", "AmazonEC2", operation, iops[kind]))
    if kind == "io2":
        for tier, above in (("tier2", 32_000), ("tier3", 64_000)):
            name = f"ebs_io2_iops_month_above_{above}"
            queries.append(Query(name, "AmazonEC2", operation, f"VolumeP-IOPS.io2.{tier}"))
    if kind == "gp3":
        throughput = (("productFamily", "Provisioned Throughput"), of_kind)
        per_mib = 1 / MIB_PER_GIB
        queries.append(Query("ebs_gp3_mibps_month", "AmazonEC2", throughput, "VolumeP-Throughput.gp3", per_mib))
    return queries


def _efs(storage: EfsStorage) -> list[Query]:
    zone, usage = ("one_zone", "-Z-ByteHrs") if storage.deployment == "oneZone" else ("regional", "-ByteHrs")
    kept = Query(f"efs_{zone}_gib_month", "AmazonEFS", (("productFamily", "Storage"),), f"TimedStorage{usage}")
    if storage.throughput_mode == "elastic":
        moved = (("read", "Read"), ("write", "Write"))
        usage = "ETDataAccess-Bytes"
        return [
            kept,
            *(Query(f"efs_elastic_{way}_gib", "AmazonEFS", (("accessType", word),), usage) for way, word in moved),
        ]
    if storage.throughput_mode != "provisioned":
        return [kept]
    throughput = (("productFamily", "Provisioned Throughput"),)
    return [kept, Query("efs_provisioned_mibps_month", "AmazonEFS", throughput, "ProvisionedTP-MiBpsHrs")]


def _fsx(storage: FsxOpenZfsStorage) -> list[Query]:
    """HA has a deployment option of its own in the price list, whose name nobody could confirm: the book's price."""
    zones = {"SINGLE_AZ_1": ("single_az", "Single-AZ"), "SINGLE_AZ_2": ("single_az_2", "Single-AZ_2"),
             "MULTI_AZ_1": ("multi_az", "Multi-AZ")}  # fmt: skip
    if storage.deployment_type not in zones:
        return []
    zone, option = zones[storage.deployment_type]
    fixed = (("fileSystemType", "OpenZFS"), ("deploymentOption", option))
    return [
        Query(f"fsx_{zone}_gib_month", "AmazonFSx", (("productFamily", "Storage"), ("storageType", "SSD"), *fixed)),
        Query(f"fsx_{zone}_mbps_month", "AmazonFSx", (("productFamily", "Provisioned Throughput"), *fixed)),
        Query(f"fsx_{zone}_iops_month", "AmazonFSx", (("productFamily", "Provisioned IOPS"), *fixed)),
    ]


def price_in(products: Iterable[str], query: Query) -> float | None:
    """Return the price per unit of the book in the products of an answer, None where it is not unmistakable."""
    prices = set()
    for text in products:
        product = json.loads(text)
        if _usage_type(product).endswith(query.usage) and not _is_infrequent(product):
            prices |= set(_on_demand_usd(product))
    return prices.pop() * query.scale if len(prices) == 1 else None


def _usage_type(product: Any) -> str:
    return str(product["product"]["attributes"].get("usagetype", ""))


def _is_infrequent(product: Any) -> bool:
    """`IATimedStorage-ByteHrs` ends as `TimedStorage-ByteHrs` does, but is the class for files that nobody reads."""
    return any(word in _usage_type(product) for word in ("IATimed", "ArchiveTimed", "BackupUsage"))


def _on_demand_usd(product: Any) -> Iterable[float]:
    for offer in product.get("terms", {}).get("OnDemand", {}).values():
        for dimension in offer["priceDimensions"].values():
            usd = float(dimension["pricePerUnit"].get("USD", 0.0))
            if usd > 0 and float(dimension.get("beginRange") or 0) == 0:
                yield usd
