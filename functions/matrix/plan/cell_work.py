"""What the instances of a cell do: their seconds, and the bytes and requests that AWS meters."""

from collections.abc import Sequence
from typing import NamedTuple

from matrix.check.cells import Combination
from matrix.input.pace import Work
from matrix.input.workloads.contract import Clients
from matrix.input.workloads.sweeps import Footprint, Moved
from matrix.plan.instance_limits import Reach
from matrix.storages.base import Storage
from matrix.storages.metrics import Burst, LimitUnit
from matrix.storages.models import metrics_of
from matrix.terms.charges import NOTHING, Amount, Usage
from matrix.terms.documents.parts import Point

# The least that the kernel asks a file server for, unless a program passes the page cache.
PAGE_BYTES = 4_096


class Padded(NamedTuple):
    """Bytes a second of requests below the least size of a storage's metering: as they may count, and as they are."""

    counted: float
    moved: float


class Rates(NamedTuple):
    """What one instance does in a second at the quickest points of a cell, by the plan."""

    one_way_bytes: float
    """Bytes read or bytes written, whichever are more."""
    bytes: float
    operations: float
    padded: Padded
    """Of the point whose small requests may count as the most; none if all are large."""

    def of(self, counts: LimitUnit) -> float:
        """Return the rate in the unit of a limit."""
        return self.operations if counts == "IOPS" else self.bytes


class CellWork(NamedTuple):
    """What a fleet does on a storage."""

    time: Work
    """Time of each instance for all repetitions."""
    use: Usage
    """Bytes and requests of the whole fleet in all repetitions, and the most that it stores. It has no seconds."""
    rates: Rates
    credits_used: float = 0.0
    """The largest share of a full balance, of its network or its path to EBS, that an instance uses up."""


def cell_work(cell: Combination, points: Sequence[Point], repetitions: int, reach: Reach | None) -> CellWork:
    """Return the work of a cell. On a storage of its own each instance first fills its disks and its cache.

    `reach` has the limits of each instance. None: unknown, and no credits end, as those of emulated storages.
    """
    workload, storage, count = cell.workload, cell.storage, cell.fleet.count
    clients = Clients(count, reach.most_bytes_per_s, reach.limit_bytes_per_s) if reach else Clients(count)
    steps = [workload.footprint(point["params"], storage, clients).spread(repetitions) for point in points]
    filling_s = 0.0 if storage.traits.is_shared else workload.populate_seconds + storage.precondition_s
    after_credits_s = _seconds_after_credits(cell, steps, repetitions, reach.bursts) if reach else 0.0
    seconds = sum(step.seconds for step in steps) * repetitions + after_credits_s
    time = Work(seconds, len(points) * repetitions, count, filling_s)
    times, most = count * repetitions, [step.most for step in steps]
    if workload.assumed_bytes_per_s and reach:
        most, times_most = [_anything(storage, clients, time.deadline_s)], count
    else:
        times_most = times

    def amount(name: str, least: float) -> Amount:
        expected = times * sum(getattr(step, name) for step in steps)
        return Amount(least * expected, expected, times_most * sum(getattr(each, name) for each in most))

    use = Usage(
        NOTHING,
        read_bytes=amount("read_bytes", 0.5),
        written_bytes=amount("written_bytes", 0.5),
        stored_bytes=guessed(count * max(step.stored_bytes for step in steps)),
        read_requests=amount("read_requests", 1.0),
        write_requests=amount("put_requests", 1.0),
        read_padding=amount("read_padding", 0.5),
        written_padding=amount("written_padding", 0.5),
    )
    used = (_credits_used(burst, storage, steps) * repetitions for burst in (reach.bursts if reach else ()))
    return CellWork(time, use, rates(cell, points, clients), max(used, default=0.0))


def _anything(storage: Storage, clients: Clients, seconds: float) -> Moved:
    """Return what an instance may move each way in this time, by requests of a page at least."""
    (read, gets, read_padding), (written, puts, padding) = (
        most.moved(most.bytes_per_s * seconds, seconds)
        for most in (clients.most(storage, way, PAGE_BYTES) for way in ("read", "written"))
    )
    return Moved(read, written, gets, puts, read_padding, padding)


def rates(cell: Combination, points: Sequence[Point], clients: Clients) -> Rates:
    """Return the quickest of each rate over a cell's points."""
    steps = [cell.workload.footprint(point["params"], cell.storage, clients) for point in points]
    lasting = [step for step in steps if step.seconds > 0]
    return Rates(
        max((max(step.read_bytes, step.written_bytes) / step.seconds for step in lasting), default=0.0),
        max((_amount(step, "bytes/s", cell.storage) / step.seconds for step in lasting), default=0.0),
        max((_amount(step, "IOPS", cell.storage) / step.seconds for step in lasting), default=0.0),
        max((_padded(step, cell.storage) for step in lasting), default=Padded(0.0, 0.0)),
    )


def _padded(step: Footprint, storage: Storage) -> Padded:
    moved, padding = step.read_bytes + step.written_bytes, step.read_padding + step.written_padding
    if not padding:
        return Padded(0.0, 0.0)
    bytes_per_s = {
        "nfs_read_bytes_per_s": step.read_bytes / step.seconds,
        "nfs_write_bytes_per_s": step.written_bytes / step.seconds,
    }
    counted = metrics_of(storage.type).bytes_of(storage.document, bytes_per_s) or 0.0
    return Padded(counted * (1 + padding / moved), moved / step.seconds)


def guessed(amount: float) -> Amount:
    """Return an estimated amount of bytes: half of it to twice."""
    return Amount(amount / 2, amount, amount * 2)


def _seconds_after_credits(
    cell: Combination, steps: Sequence[Footprint], repetitions: int, bursts: Sequence[Burst]
) -> float:
    """Return the further seconds of steps that work faster than a sustained limit, once its credits have ended.

    Limits are those of the storage, and of each instance's network or its path to EBS. A balance lasts over all steps
    of a cell. A step that ends after a given time takes no longer: it does less.
    """
    storage, count = cell.storage, cell.fleet.count
    kept_gib = max(step.stored_bytes for step in steps) * count / 2**30
    sharing = count if storage.traits.is_shared else 1
    ending = [step for step in steps if step.longest_s > step.seconds]
    limits = [(burst, sharing) for burst in storage.bursts_keeping(kept_gib)] + [(burst, 1) for burst in bursts]
    return max((_seconds_beyond(burst, storage, ending, repetitions, users) for burst, users in limits), default=0.0)


def _seconds_beyond(burst: Burst, storage: Storage, steps: Sequence[Footprint], repetitions: int, users: int) -> float:
    """Return how much longer than planned the steps of so many users of a limit take in all, 0 if its credits last."""
    amounts = [(step, _amount(step, burst.counts, storage) * users) for step in steps]
    above = [(step, amount) for step, amount in amounts if amount > burst.sustained * step.seconds]
    if burst.credits is None:
        return 0.0
    work = sum(amount for _, amount in above) * repetitions
    # Credits pay for what is above the sustained rate: work = credits + sustained * seconds.
    needed_s = max(work / burst.most, (work - burst.credits) / burst.sustained)
    longest_s = sum(step.longest_s for step, _ in above) * repetitions
    return max(0.0, min(needed_s, longest_s) - sum(step.seconds for step, _ in above) * repetitions)


def _credits_used(burst: Burst, storage: Storage, steps: Sequence[Footprint]) -> float:
    """Return the share of a full balance that one user of a limit uses up in these steps; 0 if AWS publishes none."""
    above = (_amount(step, burst.counts, storage) - burst.sustained * step.seconds for step in steps)
    return sum(max(0.0, amount) for amount in above) / burst.credits if burst.credits else 0.0


def _amount(step: Footprint, counts: LimitUnit, storage: Storage) -> float:
    """Return the bytes or the operations of a step. Large and sequential blocks are operations of the largest size."""
    moved = step.read_bytes + step.written_bytes
    if counts == "bytes/s":
        return moved
    return max(step.operations, moved / storage.block_times.unit_bytes if storage.block_times else 0.0)
