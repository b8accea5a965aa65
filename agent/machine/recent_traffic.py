"""Recent traffic of the storage: rates for people who watch, separate from the measurement.

It reuses the counters that are read each second for the step's curve (over_time.py).
"""

from __future__ import annotations

import contextlib
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from agent.machine import counters
from agent.machine.host import boot_id

if TYPE_CHECKING:
    from agent.machine.traffic import Sampler

# More seconds than between two heartbeats, so that one may be lost; 2 kB of text.
MAX_RATES = 45
DISK, NETWORK = "disk", "network"
# Which counters are read bytes, written bytes and operations, by where they are counted.
COUNTED = {
    DISK: (("disk_read_bytes",), ("disk_write_bytes",), ("disk_read_operations", "disk_write_operations")),
    NETWORK: (
        ("network_received_bytes",),
        ("network_sent_bytes",),
        counters.SERVER_OPERATIONS,
    ),
}


class RecentTraffic:
    """The rates of the last seconds, of the step that runs and of those before it."""

    def __init__(self, has_network: bool = True, storage: Path | None = None) -> None:
        """`has_network`: the traffic of `storage` goes over the network if no disk counts it."""
        self._has_network = has_network
        self._machine, self._disk = boot_id(), _device(storage)
        self._lock = threading.Lock()
        self._watched: Sampler | None = None
        self._rates: list[list[float]] = []
        self._of = ""

    def begin(self, watched: Sampler) -> None:
        with self._lock:
            self._watched = watched

    def end(self) -> None:
        """Keep the last rates of the step, which has ended."""
        with self._lock:
            self._rates, self._watched = self._all(), None

    def document(self) -> dict[str, Any] | None:
        """Return the rates: the end of each second (epoch s), its length, then bytes read, written and operations.

        All three are per second. `counter` is the same for instances of one machine that share a disk or a network,
        as in local runs: all of them count the same traffic. None if the kernel counts nothing of this storage.
        """
        with self._lock:
            rates = self._all()
        counter = f"{self._machine} {self._disk if self._of == DISK else NETWORK}" if self._machine else ""
        return {"of": self._of, "counter": counter, "rates": rates} if rates else None

    def _all(self) -> list[list[float]]:
        current = self._of_step(self._watched.last(MAX_RATES + 1)) if self._watched else []
        return [*self._rates, *current][-MAX_RATES:]

    def _of_step(self, readings: list[tuple[float, dict[str, float]]]) -> list[list[float]]:
        names = readings[0][1] if readings else {}
        self._of = DISK if "disk_read_bytes" in names else NETWORK
        if self._of == NETWORK and not (self._has_network and "network_received_bytes" in names):
            return []
        groups = COUNTED[self._of]
        epoch = time.time() - time.monotonic()
        rates = []
        for (before, less), (after, more) in zip(readings, readings[1:]):
            took = after - before
            if took > 0:
                moved = [
                    sum(max(0.0, more[name] - less[name]) for name in group if name in less and name in more)
                    for group in groups
                ]
                rates.append([round(epoch + after, 1), round(took, 2), *(round(amount / took) for amount in moved)])
        return rates


def _device(storage: Path | None) -> int | None:
    with contextlib.suppress(OSError):
        return counters.device_of(storage) if storage else None
    return None
