"""What the instances of a cell do: their seconds, and the bytes and requests that AWS meters."""

from collections.abc import Sequence
from typing import NamedTuple

from matrix.check.cells import Combination
from matrix.input.pace import Work
from matrix.input.workloads.sweeps import Footprint
from matrix.terms.charges import NOTHING, Amount, Usage
from matrix.terms.documents.parts import Point

# A step that moves at least this share of the bytes that its storage allows is limited by the storage.
LIMITED_SHARE = 0.99


class CellWork(NamedTuple):
    """What a fleet does on a storage. Cells of one workload, storage and fleet size share it."""

    time: Work
    """Time of each instance for all repetitions."""
    use: Usage
    """Bytes and requests of the whole fleet in all repetitions, and the most that it stores. It has no seconds."""


def cell_work(cell: Combination, points: Sequence[Point], repetitions: int) -> CellWork:
    """Return the work of a cell. On a storage of its own each instance first fills its disks and its cache."""
    workload, storage, count = cell.workload, cell.storage, cell.fleet.count
    steps = [workload.footprint(point["params"], storage, count) for point in points]
    filling_s = 0.0 if storage.is_shared else workload.populate_seconds + storage.precondition_s
    after_credits_s = _seconds_after_credits(cell, points, steps, repetitions)
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
    cell: Combination, points: Sequence[Point], steps: Sequence[Footprint], repetitions: int
) -> float:
    """Return the further seconds of steps that move bytes as fast as the storage's burst, once its credits have ended.

    Their balance lasts over all steps of a cell. A step of a given time takes no longer: it moves less. Nor does one
    whose time the matrix expects.
    """
    workload, storage, count = cell.workload, cell.storage, cell.fleet.count
    if not storage.bursts or hasattr(workload, "expected_seconds"):
        return 0.0
    sharing, kept_gib = (count if storage.is_shared else 1), max(step.stored_bytes for step in steps) * count / 2**30
    for burst in storage.bursts_keeping(kept_gib):
        if burst.counts != "bytes/s" or burst.credits is None:
            continue
        limited = [
            step
            for point, step in zip(points, steps, strict=True)
            if not (point["params"].get("options") or {}).get("time_based")
            and (step.read_bytes + step.written_bytes) * sharing
            >= LIMITED_SHARE * storage.bandwidth_bytes_per_s * step.seconds
        ]
        moved = sum(step.read_bytes + step.written_bytes for step in limited) * sharing * repetitions
        at_burst_s = sum(step.seconds for step in limited) * repetitions
        # t = lasts + (work - rate * lasts) / sustained
        if at_burst_s and (rate := moved / at_burst_s) > burst.sustained:
            lasts_s = min(at_burst_s, burst.credits / (rate - burst.sustained))
            return lasts_s + (moved - rate * lasts_s) / burst.sustained - at_burst_s
    return 0.0
