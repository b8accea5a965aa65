"""What the instances of a cell do: their seconds, and the bytes and requests that AWS meters."""

from collections.abc import Sequence
from typing import NamedTuple

from matrix.check.cells import Combination
from matrix.input.pace import Work
from matrix.input.workloads.sweeps import Footprint
from matrix.storages.base import Burst
from matrix.terms.charges import NOTHING, Amount, Usage
from matrix.terms.documents.parts import Point

# A step that moves at least this share of the bytes that its storage allows is limited by the storage.
LIMITED_SHARE = 0.99


class CellWork(NamedTuple):
    """What a fleet does on a storage."""

    time: Work
    """Time of each instance for all repetitions."""
    use: Usage
    """Bytes and requests of the whole fleet in all repetitions, and the most that it stores. It has no seconds."""


def cell_work(cell: Combination, points: Sequence[Point], repetitions: int, bursts: Sequence[Burst] | None) -> CellWork:
    """Return the work of a cell. On a storage of its own each instance first fills its disks and its cache.

    `bursts` are the limits of each instance that credits raise. None: no credits end, as those of emulated storages.
    """
    workload, storage, count = cell.workload, cell.storage, cell.fleet.count
    steps = [workload.footprint(point["params"], storage, count) for point in points]
    filling_s = 0.0 if storage.is_shared else workload.populate_seconds + storage.precondition_s
    after_credits_s = 0.0 if bursts is None else _seconds_after_credits(cell, points, steps, repetitions, bursts)
    seconds = sum(step.seconds for step in steps) * repetitions + after_credits_s
    times = count * repetitions
    use = Usage(
        NOTHING,
        read_bytes=guessed(times * sum(step.read_bytes for step in steps)),
        written_bytes=guessed(times * sum(step.written_bytes for step in steps)),
        stored_bytes=guessed(count * max(step.stored_bytes for step in steps)),
        read_requests=Amount.exactly(times * sum(step.read_requests for step in steps)),
        write_requests=Amount.exactly(times * sum(step.put_requests for step in steps)),
    )
    return CellWork(Work(seconds, len(points) * repetitions, count, filling_s), use)


def guessed(amount: float) -> Amount:
    """Return an estimated amount of bytes: half of it to twice."""
    return Amount(amount / 2, amount, amount * 2)


def _seconds_after_credits(
    cell: Combination, points: Sequence[Point], steps: Sequence[Footprint], repetitions: int, bursts: Sequence[Burst]
) -> float:
    """Return the further seconds of steps that move bytes faster than a sustained limit, once its credits have ended.

    Limits are those of the storage, and of each instance's network or its path to EBS. A balance lasts over all steps
    of a cell. A step of a given time takes no longer: it moves less. Nor does one whose time the matrix expects.
    """
    storage, count = cell.storage, cell.fleet.count
    if hasattr(cell.workload, "expected_seconds"):
        return 0.0
    sharing = count if storage.is_shared else 1
    kept_gib = max(step.stored_bytes for step in steps) * count / 2**30
    ending = [
        step
        for point, step in zip(points, steps, strict=True)
        if not (point["params"].get("options") or {}).get("time_based")
    ]
    at_the_limit = LIMITED_SHARE * storage.bandwidth_bytes_per_s / sharing
    limited = [step for step in ending if _bytes_per_s(step) >= at_the_limit]
    longer_s = [_seconds_beyond(burst, limited, repetitions, sharing) for burst in storage.bursts_keeping(kept_gib)]
    longer_s += [_seconds_beyond(burst, ending, repetitions, 1) for burst in bursts]
    return max(longer_s, default=0.0)


def _seconds_beyond(burst: Burst, steps: Sequence[Footprint], repetitions: int, sharing: int) -> float:
    """Return how much longer than planned the steps take in all from one balance of credits, 0 if it suffices."""
    steps = [step for step in steps if _bytes_per_s(step) * sharing > burst.sustained]
    if not steps or burst.counts != "bytes/s" or burst.credits is None:
        return 0.0
    planned_s = sum(step.seconds for step in steps) * repetitions
    moved = sum(step.read_bytes + step.written_bytes for step in steps) * sharing * repetitions
    rate = min(moved / planned_s, burst.most)
    # t = lasts + (work - rate * lasts) / sustained
    lasts_s = min(moved / rate, burst.credits / (rate - burst.sustained))
    return lasts_s + (moved - rate * lasts_s) / burst.sustained - planned_s


def _bytes_per_s(step: Footprint) -> float:
    """Return the bytes per second that one instance is planned to move."""
    return (step.read_bytes + step.written_bytes) / step.seconds if step.seconds else 0.0
