"""Compare what instances reach their storages with: limits of their volumes, their EBS and network bandwidth."""

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, NamedTuple

from pydantic import TypeAdapter

from matrix.input import instance_types
from matrix.input.instance_types import Bandwidth
from matrix.input.storage_names import brief_names
from matrix.storages.base import MOST_NETWORK_BYTES_PER_S, STREAM_BYTES_PER_S, AttachedVolumes, Storage
from matrix.storages.metrics import Burst
from matrix.storages.models import AnyStorage, metrics_of
from matrix.terms.documents.plan import PlanCell, PlanWarning
from matrix.terms.names import canonical
from matrix.terms.problems import Weight
from matrix.terms.quantities import number
from matrix.terms.sentences import MAX_NAMED, first_of

# EC2 counts in MB/s, volumes in MiB/s.
MB, MIB = 1e6, 2.0**20
KIB = 2**10
# "Guaranteed" of each io1 and io2 volume on instances that are not built on Nitro (AWS prescriptive guidance, and
# ModifyVolume's Iops): IOPS and MiB/s.
OUTSIDE_NITRO = 32_000, 500.0
# From this share of a limit on, a plan, which may be wrong by half, says that the limit may be reached.
NEAR = 0.8
CODE = "instance-carries-the-volumes"
_STORAGE: TypeAdapter[Storage] = TypeAdapter(AnyStorage)


@dataclass(frozen=True)
class EbsLimits:
    """EBS limits of an instance: sustained, and for 30 minutes a day."""

    bytes_per_s: float
    most_bytes_per_s: float
    iops: float
    most_iops: float


class Reach(NamedTuple):
    """How fast an instance reaches a storage: bytes per second at most, and its limits that credits raise."""

    most_bytes_per_s: float
    bursts: tuple[Burst, ...]
    limit_bytes_per_s: float = MOST_NETWORK_BYTES_PER_S
    """What it cannot exceed: of a type that is not known, more than what it is expected to reach."""


class StorageVolumes(NamedTuple):
    """The volumes that one storage of a plan, by its name, gives to an instance."""

    storage: str
    volumes: AttachedVolumes
    weighting: str | None = None  # of the bandwidth of the instances that have them
    asked_iops: float = math.inf  # of an instance by the plan
    asked_bytes_per_s: float = math.inf
    credits_used: float = math.inf  # by the plan, as a share of a full balance


@cache
def known_limits() -> dict[str, EbsLimits]:
    """Return the limits by instance type, each family from small to large, from this project's table."""
    return {
        name: EbsLimits(always * MB, most * MB, iops, most_iops)
        for name, (always, most, iops, most_iops) in instance_types.of_each("types").items()
    }


def limits_of(optimized: Mapping[str, Any]) -> EbsLimits | None:
    """Return the limits in EC2's EbsOptimizedInfo of an instance type, None if it has none."""
    names = ("BaselineThroughputInMBps", "MaximumThroughputInMBps", "BaselineIops", "MaximumIops")
    if any(name not in optimized for name in names):
        return None
    always, most, iops, most_iops = (float(optimized[name]) for name in names)
    return EbsLimits(always * MB, most * MB, iops, most_iops)


def storage_volumes(name: str, storage: Storage, instance_type: str, weighting: str | None) -> StorageVolumes | None:
    """Return the volumes of an instance of a type and bandwidth weighting, or of the storage's own server."""
    volumes = storage.attached(instance_type)
    # A file server is not an instance of the fleet.
    return StorageVolumes(name, volumes, None if storage.traits.is_shared else weighting) if volumes else None


def volumes_of(cells: Iterable[PlanCell]) -> list[StorageVolumes]:
    """Return the volumes of the cells of a plan; emulated storages have none."""
    cells = list(cells)
    names = brief_names((canonical(cell["storage"]), cell["storage"]) for cell in cells)
    found = (
        storage_volumes(
            names[canonical(cell["storage"])],
            _STORAGE.validate_python(cell["storage"]),
            cell["fleet"]["instanceType"],
            cell["fleet"].get("bandwidthWeighting"),
        )
        for cell in cells
        if "emulation" not in cell
    )
    return [volumes for volumes in found if volumes]


def warnings(attached: Iterable[StorageVolumes], types: Mapping[str, EbsLimits]) -> list[PlanWarning]:
    """Return a warning for each storage and instance type if the instance limits its volumes.

    If the maximum of a type is above its sustained limit, it lasts 30 minutes a day. So volumes above the sustained
    limit get a warning too, if the plan's steps use that time up.
    """
    attached = list(attached)
    by_pair: dict[tuple[str, str], PlanWarning] = {
        (storage, f"{volumes.instance_type} outside Nitro"): {
            "path": "fleet",
            "value": volumes.instance_type,
            "message": message,
            "weight": Weight.UNFAIR,
            "code": CODE,
        }
        for storage, volumes, *_ in attached
        if (message := _outside_nitro(storage, volumes))
    }
    alike: dict[tuple[str, str], list[str]] = {}
    for each in dict.fromkeys(attached):
        storage, volumes, weighting, *asked = each
        limits = types.get(volumes.instance_type)
        reached = _reached(limits, volumes.instance_type, volumes.count, weighting) if limits else None
        over = list(_over(volumes, reached, *asked)) if reached else []
        if over:
            those = "the volume" if volumes.count == 1 else f"the {volumes.count} volumes"
            found = (
                f"{_describe_instance(volumes, weighting)} is slower than {those} of {{}}: {'; '.join(over)}; this"
                f" measures the instance, not the storage; {_way_out(volumes, weighting)}"
            )
            alike.setdefault((volumes.instance_type, found), []).append(storage)
    slower: list[PlanWarning] = [
        {
            "path": "fleet",
            "value": instance_type,
            "message": found.format(first_of(storages, MAX_NAMED)),
            "weight": Weight.UNFAIR,
            "code": CODE,
        }
        for (instance_type, found), storages in alike.items()
    ]
    return [*by_pair.values(), *slower]


def unknown(attached: Iterable[StorageVolumes]) -> list[PlanWarning]:
    """Return a warning for each instance type with volumes whose EBS limits this project's table lacks."""
    types = dict.fromkeys(volumes.instance_type for _, volumes, *_ in attached)
    message = (
        "EBS limits of {} are not known here: an old type shares its network with EBS, of a new one EC2 may say them as"
        " the run starts; if they are below the volumes', the instance is measured"
    )
    unknown_types = (name for name in types if name not in known_limits())
    return [
        {"path": "fleet", "value": name, "message": message.format(name), "weight": Weight.UNFAIR}
        for name in unknown_types
    ]


def reach_of(instance_type: str, weighting: str | None, storage: Storage) -> Reach:
    """Return how fast an instance reaches a storage: by its network and its connections, or by its path to EBS."""
    volumes, network = storage.attached(instance_type), instance_types.network_of(instance_type)
    limits = known_limits().get(instance_type)
    if not storage.traits.is_shared:
        if not volumes:  # the instance's own disks
            return Reach(storage.bandwidth_bytes_per_s, ())
        if limits is None:
            return Reach(STREAM_BYTES_PER_S, ())
        reached = _reached(limits, instance_type, volumes.count, weighting)
        bursts = instance_types.bursts(_ebs(reached), Bandwidth(reached.iops, reached.most_iops))
        return Reach(reached.most_bytes_per_s, tuple(bursts))
    if limits and network:
        _, network = instance_types.weighted(weighting, _ebs(limits), network)
    capped, most = beyond_network(storage), network.most if network else STREAM_BYTES_PER_S
    limit = network.most if network else MOST_NETWORK_BYTES_PER_S
    return Reach(min(most, capped), tuple(instance_types.bursts(network=network)), min(limit, capped))


def beyond_network(storage: Storage) -> float:
    """Return how fast an instance could reach a shared storage if its network were no limit."""
    metrics = metrics_of(storage.type)
    cap, connections = metrics.client_cap(storage.document), metrics.connections(storage.document)
    return min(cap.bytes_per_s if cap else math.inf, connections * STREAM_BYTES_PER_S if connections else math.inf)


def _ebs(limits: EbsLimits) -> Bandwidth:
    return Bandwidth(limits.bytes_per_s, limits.most_bytes_per_s)


def _outside_nitro(storage: str, volumes: AttachedVolumes) -> str:
    most_iops, most_mibps = OUTSIDE_NITRO
    iops, mibps = (volumes.iops or 0.0) / volumes.count, volumes.bytes_per_s / MIB / volumes.count
    is_beyond = volumes.is_provisioned and (iops > most_iops or mibps > most_mibps)
    if not is_beyond or instance_types.is_nitro(volumes.instance_type):
        return ""
    return (
        f"{volumes.instance_type} is not built on Nitro, where AWS guarantees {most_iops:,} IOPS and {most_mibps:g}"
        f" MiB/s of an io1 or io2 volume; {storage} has {iops:,.0f} IOPS and {mibps:,.0f} MiB/s; take a Nitro type"
    )


def describe_block(attached: Iterable[StorageVolumes]) -> Iterator[str]:
    """Write the block size at which the volumes of each storage reach both of their limits."""
    alike: dict[str, dict[str, None]] = {}
    for storage, volumes, *_ in dict.fromkeys(attached):
        if volumes.iops:
            size = f"{volumes.bytes_per_s / volumes.iops / KIB:.3g} KiB"
            limits = f"{number(volumes.bytes_per_s / MIB)} MiB/s / {number(volumes.iops)} IOPS"
            alike.setdefault(f"{size} ({limits})", {})[storage] = None
    if alike:
        sizes = (f"{first_of(list(storages), MAX_NAMED)} {size}" for size, storages in alike.items())
        yield f"volumes reach both their IOPS and their throughput with blocks of: {', '.join(sizes)}"


def smallest_that_carries(volumes: AttachedVolumes, weighting: str | None = None) -> str | None:
    """Return the smallest type of the family whose sustained limits reach those of the volumes. None: no known one."""
    of_family = _limits_by_family().get(volumes.instance_type.partition(".")[0], {})
    reached = {name: _reached(limits, name, volumes.count, weighting) for name, limits in of_family.items()}
    return next((name for name, limits in reached.items() if not any(_over(volumes, limits))), None)


def _reached(limits: EbsLimits, instance_type: str, volumes: int, weighting: str | None) -> EbsLimits:
    """Return the limits of a type for this number of volumes, with bandwidth weighting and the split over EBS cards."""
    of_type = {"ebs_bytes_per_s": _ebs(limits), "ebs_iops": Bandwidth(limits.iops, limits.most_iops)}
    if network := instance_types.network_of(instance_type):
        of_type["network_bytes_per_s"] = network
    found = instance_types.reached(of_type, weighting, volumes, instance_types.ebs_cards(instance_type))
    return EbsLimits(*found["ebs_bytes_per_s"], *found["ebs_iops"])


def _describe_instance(volumes: AttachedVolumes, weighting: str | None) -> str:
    """Return the instance type with its bandwidth weighting, such as `m8g.large (weighted ebs-1)`."""
    cards = instance_types.ebs_cards(volumes.instance_type)
    words = [f"weighted {weighting}"] if weighting else []
    words += [f"{min(volumes.count, cards)} of its {cards} EBS cards"] if cards > 1 else []
    return f"{volumes.instance_type} ({', '.join(words)})" if words else volumes.instance_type


@cache
def _limits_by_family() -> dict[str, dict[str, EbsLimits]]:
    families: dict[str, dict[str, EbsLimits]] = {}
    for name, limits in known_limits().items():
        families.setdefault(name.partition(".")[0], {})[name] = limits
    return families


def _way_out(volumes: AttachedVolumes, weighting: str | None) -> str:
    carrying = smallest_that_carries(volumes, weighting)
    if carrying is None:
        return "no type of its family that is known here carries that always"
    return f"the smallest of its family that carries that always is {carrying}"


def _over(
    volumes: AttachedVolumes,
    limits: EbsLimits,
    asked_iops: float = math.inf,
    asked_bytes_per_s: float = math.inf,
    credits_used: float = math.inf,
) -> Iterator[str]:
    """Yield in words each limit of an instance that is below the limit of its volumes, and is reached."""
    of = "the volume" if volumes.count == 1 else "the volumes"
    for wanted, limit, asked, unit, scale in (
        (volumes.iops or 0.0, Bandwidth(limits.iops, limits.most_iops), asked_iops, "IOPS", 1.0),
        (volumes.bytes_per_s, Bandwidth(limits.bytes_per_s, limits.most_bytes_per_s), asked_bytes_per_s, "MiB/s", MIB),
    ):
        always, most = limit
        if wanted > most and asked >= NEAR * most:
            yield f"{wanted / scale:,.0f} {unit} of {of}, {most / scale:,.0f} of the instance"
        elif wanted > always and asked >= NEAR * always and credits_used >= NEAR:
            yield f"{wanted / scale:,.0f} {unit} of {of}, {always / scale:,.0f} of the instance beyond 30 minutes a day"
