"""The assumptions of a plan, in sentences."""

from collections.abc import Sequence

from matrix.check.existing import disturbs_nobody
from matrix.input import workloads
from matrix.input.matrix import Matrix
from matrix.input.pace import PREPARE_S, STEP_S, WORK_FACTOR, gate_wait_s
from matrix.plan import images
from matrix.plan.images import PlannedImage
from matrix.price.book import BOOK_REGION, OBJECTS_A_STEP, OBJECTS_ONCE, SPOT_SHARE, PriceBook
from matrix.storages.models import MODELS
from matrix.terms.charges import MIN_BILLED_S, ROOT_VOLUME_GIB
from matrix.terms.quantities import count_of

# Fields of a matrix without effect on the measurements of its cells.
UNMEASURED = {
    "$schema", "budgetUsd", "dryRun", "resume", "maxConcurrentFileSystems", "objective", "owner", "deadlineHours",
    "agreed", "compareWith", "tags", "intended",
}  # fmt: skip


def spot_types(matrix: Matrix) -> list[str]:
    """Return the instance types that a matrix wants as Spot."""
    return list(dict.fromkeys(fleet.instance_type for fleet in matrix.fleets() if fleet.spot))


def _spot_assumptions(types: list[str], book: PriceBook) -> list[str]:
    lines = []
    known = [name for name in types if name in book.spot]
    for name in known:
        price = book.spot[name]
        lines.append(
            f"Spot of {name}: {price.now:.4f} USD an hour now, mean of {count_of(price.zones, 'zone')},"
            f" {price.lowest:.4f} to {price.highest:.4f} in the last week (EC2); low is the least of that,"
            " high the on-demand price"
        )
    unknown = [name for name in types if name not in book.spot]
    if unknown:
        low, expected, high = SPOT_SHARE
        lines.append(
            f"Spot of {', '.join(unknown)}: {low:.0%} (low), {expected:.0%} (expected) or {high:.0%} (high) of"
            " on-demand is assumed: EC2 was not asked for its price, or gave none that is believable"
        )
    return lines


def assumptions(
    matrix: Matrix, book: PriceBook, storage_types: set[str], planned_images: Sequence[PlannedImage]
) -> list[str]:
    """Return the assumptions behind the estimates, in sentences."""
    prices_of = f"{book.region} (where unknown those of {BOOK_REGION})" if book.elsewhere else book.region
    lines = [
        f"an instance boots and prepares in {PREPARE_S:.0f} s; EC2 and EBS bill at least {MIN_BILLED_S} s",
        f"a step takes {STEP_S:.0f} s beside its work, and a fleet starts {gate_wait_s(2):.0f} to"
        f" {gate_wait_s(1000):.0f} s after the last of it is ready",
        "work is estimated from provisioned throughput, IOPS and published latencies, and from the network or EBS"
        " bandwidth of the instance type: at most 5 Gbit/s for each thread and each TCP connection, 90 MB/s for each"
        " thread on S3, and less once burst credits of the storage, or of the instance for its network or EBS, have"
        " ended",
        f"low: half the work; high: every cell runs until its deadline, {WORK_FACTOR} times the work and 15 minutes,"
        " and moves twice the bytes that its matrix says, or in a given time as many as AWS's limits allow",
        f"on-demand Linux prices of {prices_of}; each instance has {ROOT_VOLUME_GIB} GiB of gp3 and a public IPv4",
    ]
    if matrix.emulate:
        lines.append("the storages are emulated on this machine: nothing is created on AWS, nothing below is spent")
    lines += _spot_assumptions(spot_types(matrix), book)
    kept = next((image.kept_month for image in planned_images if image.is_baked), None)
    if kept:
        lines.append(
            f"baking an image takes {images.BAKE_S.expected / 60:.0f} minutes of one instance, unless it is there;"
            f" it is kept, for {kept.low:.2f} to {kept.high:.2f} USD a month each, until `matrix reap --images`"
        )
    lines += [
        model.traits.assumption for name, model in MODELS.items() if name in storage_types and model.traits.assumption
    ]
    lines += [
        f"{path} exists: it is only read, and neither changed, tagged nor deleted; its requests are billed"
        for path, storage in matrix.located("storage")
        if disturbs_nobody(storage)
    ]
    workload_types = {workload.type for workload in matrix.workload}
    lines += [
        model.assumption for name, model in workloads.MODELS.items() if name in workload_types and model.assumption
    ]
    lines.append(
        "Step Functions, Lambda and S3: a poll is 3 transitions, a call and four listings; instances put at most"
        f" {OBJECTS_A_STEP} objects a step and {OBJECTS_ONCE} once, and those of a fleet list once a step"
    )
    lines += [book.sources(), *book.assumptions()]
    lines.append(
        "what passes between Availability Zones because of a placement is charged both ways; spread is over three"
    )
    lines.append("CloudWatch is not in the estimate")
    return lines


def of_order(matrix: Matrix, storages: int, expected_s: float) -> list[str]:
    """Report the time between the measurements of storages, if one launch cannot measure them all at once."""
    at_once = matrix.max_concurrent_file_systems
    if matrix.launches > 1 or matrix.emulate or storages <= at_once:
        return []
    turns = "one after the other" if at_once == 1 else f"{at_once} at a time"
    return [
        f"the {storages} storages are measured {turns}, up to {expected_s / 3600:.1f} h apart: what changes from hour"
        f" to hour is in their comparison; `maxConcurrentFileSystems` {storages} measures them side by side, `launches`"
        " repeat them in other orders"
    ]
