"""Throughput of every step over time: bytes of the network and of the storage's disk, and operations, each second.

Up to MAX_READINGS are kept: each second of the first eight minutes, each 2 s, 4 s, 8 s … of longer steps, so a build
of three hours has one each 32 s.
"""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import Any

from agent.machine import counters
from agent.machine.traffic import Sampler

MAX_READINGS = 480
# A curve of fewer readings shows no more than the rate of the whole.
MIN_READINGS = 3
KEPT = (
    *("network_received_bytes", "network_sent_bytes", "disk_read_bytes", "disk_write_bytes"),
    *("disk_read_operations", "disk_write_operations"),
    *counters.SERVER_OPERATIONS,
)


def sampler(storage: Path | None) -> Sampler:
    """Watch the network and the mount at `storage` without accessing it: its device is looked up now."""
    device = None
    if storage is not None:
        with contextlib.suppress(OSError):
            device = counters.device_of(storage)

    def read() -> dict[str, float]:
        counted = counters.of_network()
        if storage is not None and device is not None:
            counted.update(counters.of_device(device, storage))
        return {name: counted[name] for name in KEPT if name in counted}

    return Sampler(read, most=MAX_READINGS)


def nothing() -> Sampler:
    """Watch the time only, because an emulated storage has no network or disk traffic."""
    return Sampler(dict, most=MAX_READINGS)


def document(watched: Sampler, operations: list[tuple[int, int]], epoch_s: float) -> dict[str, Any] | None:
    """Return the counts since the first reading; None if the step is too short for a curve, or nothing was counted.

    `operations`: the engine's count of ended operations by moment (monotonic ns), in rising order.
    `epoch_s`: epoch seconds at 0 of the monotonic clock.
    """
    seconds = watched.seconds()
    counted = {name: [int(value) for value in values] for name, values in watched.series().items() if values[-1]}
    if len(seconds) < MIN_READINGS or not (counted or operations):
        return None
    curve: dict[str, Any] = {
        "begun_at": round(epoch_s + watched.begun, 3),
        "seconds": [round(at, 3) for at in seconds],
        "counted": counted,
    }
    if operations:
        every = -(-len(operations) // MAX_READINGS)
        kept = [operations[0], *operations[-1:0:-every][::-1]]
        curve["operations"] = {
            "seconds": [round(max(0.0, at / 1e9 - watched.begun), 3) for at, _ in kept],
            "done": [done for _, done in kept],
        }
    return curve
