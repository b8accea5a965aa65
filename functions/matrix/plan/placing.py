"""Placement of a fleet's instances: the number in each Availability Zone, and the quorum."""

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction

from matrix.input.matrix import Matrix
from matrix.storages.base import Storage
from matrix.storages.models import MODELS, how_many
from matrix.terms.charges import Amount
from matrix.terms.documents.parts import StorageFields
from matrix.terms.problems import Problem, Problems
from matrix.terms.quantities import count_of


def resolved(placement: str | Sequence[float] | None, storage: StorageFields) -> str | list[float]:
    """Return the placement of a fleet on a storage (its document): as written, else the default of the storage.

    FSx file systems, EFS One Zone and file servers are in one Availability Zone; traffic from other zones is slower and
    charged, so the default is their zone. EFS Regional has a mount target in each zone, and EBS volumes are in the zone
    of their instance, so the default is all zones. Of several file systems each gets an equal part of the fleet.
    """
    if placement is not None:
        return placement if isinstance(placement, str) else list(placement)
    if "fileSystems" in storage:
        return [1.0] * how_many(storage)
    model = MODELS.get(storage["type"])
    return "same-az" if model and model.is_in_one_zone(storage) else "spread"


def pays_between_zones(storage: Storage) -> bool:
    """Return False if it has a mount target or a file system in each zone, or if its price includes the traffic."""
    document = storage.document
    is_regional = resolved(None, document) == "spread" or how_many(document) > 1
    return not (is_regional or storage.is_free_between_zones)


def cross_zone_share(placement: str | Sequence[float] | None, storage: Storage, count: int, zones: int = 0) -> Amount:
    """Return the share of a fleet of `count` instances whose traffic to its storage in another zone is charged.

    The number of zones of `spread` is not known before the launch (0): two to six, mostly three.
    """
    if not pays_between_zones(storage):
        return Amount.exactly(0.0)
    where = resolved(placement, storage.document)
    known = zones if where == "spread" else len(where)
    return Amount(*(1 - shares(where, count, known or guess)[0] / count for guess in (2, 3, 6)))


def shares(placement: str | Sequence[float], count: int, zones: int) -> list[int]:
    """Return how many of `count` instances go into each zone, the file system's first; they add up to `count`.

    Shares that do not come out even are rounded by largest remainder, ties to the earlier zone. ValueError if the
    placement names more zones than there are.
    """
    if placement == "same-az":
        return [count]
    weights = [1.0] * zones if isinstance(placement, str) else list(placement)
    if len(weights) > zones:
        raise ValueError(
            f"placement has {count_of(len(weights), 'share')}, but the stack has subnets in {count_of(zones, 'zone')}"
        )
    whole = sum(map(Fraction, weights))
    exact = [count * Fraction(weight) / whole for weight in weights]
    rounded = [int(share) for share in exact]
    by_remainder = sorted(range(len(exact)), key=lambda zone: (rounded[zone] - exact[zone], zone))
    for zone in by_remainder[: count - sum(rounded)]:
        rounded[zone] += 1
    return rounded


def problems(
    matrix: Matrix, zones: int, *, reaches_multi_az: bool, region: str, first_zone_id: Callable[[], str]
) -> Problems:
    """Yield a problem for each fleet or storage with more zones than the stack has subnets in, or out of reach.

    A Multi-AZ file system of FSx is out of reach if the stack does not know the addresses of the user's own VPC. So is
    a storage that AWS does not offer in the zone of the stack's first subnet; `first_zone_id` returns the zone's id.
    """
    fleets = [(f"fleet[{i}]", axis.placement) for i, axis in enumerate(matrix.fleet)]
    fleets += [(f"include[{i}].fleet", inclusion.fleet.placement) for i, inclusion in enumerate(matrix.include)]
    for path, placement in fleets:
        if isinstance(placement, list) and len(placement) > zones:
            rule = f"has {len(placement)} shares, but the stack has subnets in {zones} Availability Zones"
            yield Problem(f"{path}.placement", placement, rule, "write fewer shares, or give the stack more subnets")
    for path, storage in matrix.located("storage"):
        if (count := how_many(storage.document)) > zones:
            rule = f"are in a zone each, but the stack has subnets in {zones} Availability Zones"
            yield Problem(f"{path}.fileSystems", count, rule, f"write {zones}, or give the stack more subnets")
        if storage.least_zones > zones and not storage.existing_id:
            rule = f"is in {storage.least_zones} Availability Zones, and the stack has subnets in {zones}"
            fix = "give the stack a subnet of another zone in SubnetIds, or write one for a single zone"
            yield Problem(f"{path}.deploymentType", storage.document.get("deploymentType"), rule, fix)
        if storage.offered_zones is not None and not storage.existing_id:
            offered, here = storage.offered_zones.get(region, ()), first_zone_id()
            if here not in offered:
                yield Problem(f"{path}.type", storage.type, *_not_offered(offered, here, region, storage.offered_zones))
        if storage.is_beyond_security_groups and not reaches_multi_az:
            rule = (
                "has an endpoint that no security group holds, and the stack lets its instances out to no address of it"
            )
            fix = "deploy the stack with MultiAzCidr, the addresses of your VPC, or write a type for a single zone"
            yield Problem(f"{path}.deploymentType", storage.document.get("deploymentType"), rule, fix)


def of_region(matrix: Matrix, region: str) -> Problems:
    """Yield a problem for each storage that AWS refuses in this region."""
    for path, storage in matrix.located("storage"):
        if refused := storage.refused_in(region):
            field, rule, fix = refused
            yield Problem(f"{path}.{field}", storage.document.get(field), rule, fix, code="storage-fits-the-region")


def _not_offered(offered: Sequence[str], here: str, region: str, regions: Mapping[str, object]) -> tuple[str, str]:
    """Return why a storage cannot be made in the zone `here`, and a fix."""
    if not offered:
        return f"AWS has none in {region}", f"deploy a stack in {', '.join(regions)}"
    rule = f"AWS has none in {here}, the zone of the stack's first subnet"
    fix = (
        f"deploy the stack with AvailabilityZones or SubnetIds that begin with one of {', '.join(offered)};"
        " `aws ec2 describe-availability-zones` shows their names in your account"
    )
    return rule, fix


def least(quorum: float | None, count: int) -> int:
    """Return how many of `count` instances are enough: a quorum below 1 is a share, rounded up, else a number."""
    if quorum is None:
        return count
    # The share as written: 0.07 of 100 is 7, which the float's exact value would round up to 8.
    enough = -(-Fraction(str(quorum)) * count // 1) if quorum < 1 else quorum
    return min(count, max(1, int(enough)))
