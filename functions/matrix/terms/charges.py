"""Charges of AWS: used amounts, with their names in the price book and in AWS's price list."""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from matrix.terms.documents.parts import Volume

# "Metadata operations are metered in 1 KiB increments after the first 4 KiB. Data operations are metered in 1 KiB
# increments after the first 32 KiB" (EFS guide, metered sizes). S3 Files runs on EFS and is metered alike.
METERED_DATA_BYTES, METERED_METADATA_BYTES, METERED_STEP_BYTES = 32_768, 4_096, 1_024
LARGEST_REQUEST_BYTES = 2**20  # the mounts' rsize and wsize
# The parts that agents put large objects in (agent/engine/records.py), and Mountpoint by default.
PUT_PART_BYTES = 8 * 2**20
HOUR_S = 3_600
MONTH_S = 730 * HOUR_S  # AWS's month of 730 hours
ROOT_VOLUME_GIB = 20  # as in the launch template of template.yaml
MIN_BILLED_S = 60  # EC2 instances and EBS volumes: by the second, at least a minute


class Amount(NamedTuple):
    """An amount of use: at least, most likely, at most.

    A tuple, because a plan makes dozens for each cell, and a frozen dataclass takes three times as long to make.
    """

    low: float
    expected: float
    high: float

    @classmethod
    def exactly(cls, amount: float) -> "Amount":
        """Return an amount that is certain."""
        return cls(amount, amount, amount)

    def times(self, factor: float) -> "Amount":
        return Amount(self.low * factor, self.expected * factor, self.high * factor)

    def and_also(self, other: "Amount") -> "Amount":
        """Return the sum of two amounts."""
        return Amount(self.low + other.low, self.expected + other.expected, self.high + other.high)

    def plus(self, more: float) -> "Amount":
        return Amount(self.low + more, self.expected + more, self.high + more)

    def at_least(self, least: float) -> "Amount":
        return Amount(max(self.low, least), max(self.expected, least), max(self.high, least))


NOTHING = Amount(0.0, 0.0, 0.0)


class Usage(NamedTuple):
    """Use of a file system: seconds of existence, bytes read, written and stored, and requests that S3 bills."""

    seconds: Amount
    read_bytes: Amount
    written_bytes: Amount
    stored_bytes: Amount
    read_requests: Amount = NOTHING
    write_requests: Amount = NOTHING
    read_padding: Amount = NOTHING
    """Bytes that EFS meters beyond those read, as it counts a request as at least 32 KiB."""
    written_padding: Amount = NOTHING
    """The same beyond those written."""
    is_steady: bool = False
    """Whether the stored bytes are constant and do not grow with a run."""

    @property
    def months(self) -> Amount:
        """Its time of existence in months."""
        return self.seconds.times(1 / MONTH_S)

    @property
    def kept_gib_months(self) -> Amount:
        """GiB-months of its stored bytes, if they are stored for its whole existence."""
        pairs = zip(self.stored_bytes, self.months, strict=True)
        return Amount(*(stored / 2**30 * months for stored, months in pairs))

    @property
    def varying_gib_months(self) -> Amount:
        """GiB-months of stored bytes that grow during a run: expected half of them, at most all.

        If the stored bytes are constant, all of them.
        """
        kept = self.kept_gib_months
        return kept if self.is_steady else Amount(0.0, kept.expected / 2, kept.high)


class Charge(NamedTuple):
    """A number of units of a price; `name` is the price's name in prices.json, or an instance type for its hours."""

    name: str
    amount: Amount


def metered_request_bytes(size: float) -> float:
    """Return the bytes as which EFS meters a request of data of this size."""
    return max(METERED_DATA_BYTES, math.ceil(size / METERED_STEP_BYTES) * METERED_STEP_BYTES)


def metered_by_mounts(
    counted: Mapping[str, float], a_byte: tuple[float | None, float | None]
) -> tuple[Amount, Amount] | None:
    """Return the (read, written) bytes that EFS and S3 Files meter of what the mounts counted; None: they did not.

    `a_byte`: as how many a byte that is read, and written, is metered; None: not known, as mounts count no sizes. At
    least, requests have one size. At most, as many as can be have the largest and all others are tiny. An OPEN may make
    a file, which is metered as writing metadata.
    """
    if not {"nfs_read_bytes", "nfs_write_bytes"} <= counted.keys():
        return None

    def operations(kind: str) -> float:
        return counted.get(f"nfs_{kind}_operations", 0.0)

    def metered(way: str, known: float | None) -> Amount:
        moved, requests = counted[f"nfs_{way}_bytes"], operations(way)
        least = max(moved, requests * METERED_DATA_BYTES)
        most = moved + (requests - moved / LARGEST_REQUEST_BYTES) * METERED_DATA_BYTES
        return Amount(least, least, max(least, most)) if known is None else Amount.exactly(max(least, moved * known))

    changes, opened = operations("change"), operations("open")
    changed = Amount(changes, changes + opened, changes + opened).times(METERED_METADATA_BYTES)
    looked_up = operations("other") - changes - opened
    read, written = (metered(way, known) for way, known in zip(("read", "write"), a_byte, strict=True))
    return read.plus(looked_up * METERED_METADATA_BYTES), written.and_also(changed)


@dataclass(frozen=True)
class Query:
    """A product in the price list; `name` is that of the book, or an instance type."""

    name: str
    service: str
    attributes: tuple[tuple[str, str], ...]  # to ask for
    usage: str = ""  # how the product's usage type ends; its start depends on the region
    scale: float = 1.0  # from the price list's unit to the book's


def instance_charges(instance_type: str, count: int, each_s: Amount, work: Volume | None = None) -> Iterator[Charge]:
    """Yield the charges of `count` instances for `each_s` seconds each: machines, addresses, root and work volumes."""
    billed_s = each_s.at_least(MIN_BILLED_S)
    hours = billed_s.times(count / HOUR_S)
    yield Charge(instance_type, hours)
    yield Charge("public_ipv4_hour", hours)
    yield Charge("ebs_gp3_gib_month", billed_s.times(ROOT_VOLUME_GIB * count / MONTH_S))
    if work:
        yield volume_charge(work, billed_s.times(count))


def volume_charge(volume: Volume, each_s: Amount) -> Charge:
    """Return the charge of a volume that exists for `each_s` seconds."""
    return Charge(f"ebs_{volume['volumeType']}_gib_month", each_s.times(volume["sizeGiB"] / MONTH_S))


def instance_query(instance_type: str) -> Query:
    """Return the product that an on-demand hour of Linux is."""
    fixed = (
        ("operatingSystem", "Linux"), ("tenancy", "Shared"), ("preInstalledSw", "NA"), ("capacitystatus", "Used"),
        ("licenseModel", "No License required"), ("marketoption", "OnDemand"),
    )  # fmt: skip
    return Query(instance_type, "AmazonEC2", (("instanceType", instance_type), *fixed))
