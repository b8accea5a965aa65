"""Traffic while something is written: cumulative bytes of network, disk and file, read each second."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from pathlib import Path

from agent.machine import counters

NETWORK, DISK, FILE = "network_sent_bytes", "disk_write_bytes", "file_bytes"
WATCHED = (
    *(NETWORK, "network_received_bytes", DISK, "disk_read_bytes"),
    *counters.SERVER_BYTES,
    "steal_s",
)


class Traffic:
    """The counters that a write moves."""

    def __init__(self, mount_kind: str, storage: Path, path: Path) -> None:
        """`path` is the file that will be written below `storage`, mounted as `mount_kind`."""
        self._storage, self._path = storage, path
        self._device = storage.stat().st_dev
        # Use a disk's own counter if there is one; a user's directory without one has only the file's growth.
        without_disk = FILE if mount_kind == "directory" else NETWORK
        has_disk = DISK in counters.of_device(self._device, storage)
        self.carrier = DISK if has_disk else without_disk

    def read(self) -> dict[str, float]:
        """Return bytes since boot (for the file: its size), and seconds that the hypervisor withheld the processors.

        It does not access the storage unless the file's growth is the only counter: on NFS a stat of a file that is
        being written first flushes all of it and waits (nfs_getattr in Linux), which would slow down the measurement
        and delay readings from each second to each ten.
        """
        counted = {**counters.of_machine(), **counters.of_device(self._device, self._storage)}
        reading = {name: counted[name] for name in WATCHED if name in counted}
        if self.carrier == FILE:
            reading[FILE] = self._path.stat().st_size if self._path.exists() else 0
        return reading


class Sampler:
    """Reads counters in its own thread, at the start, every `period_s` seconds and at the end.

    `most` limits the number of readings: beyond it every other one is dropped, and the next ones are taken half as
    often. Counters are cumulative, so no byte is lost.
    """

    def __init__(self, read: Callable[[], dict[str, float]], period_s: float = 1.0, *, most: int | None = None) -> None:
        self._read, self._period_s, self._most = read, period_s, most
        self._is_over = threading.Event()
        self._thread = threading.Thread(target=self._sample, name="sampler", daemon=True)
        self._taken: list[tuple[float, dict[str, float]]] = []

    def __enter__(self) -> Sampler:
        self._take()
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._is_over.set()
        self._thread.join()
        self._take()

    @property
    def begun(self) -> float:
        """When the first reading was taken, by the monotonic clock."""
        return self._taken[0][0]

    def last(self, count: int) -> list[tuple[float, dict[str, float]]]:
        """The newest readings, each with its moment by the monotonic clock; also while more are taken."""
        return self._taken[-count:]

    def seconds(self) -> list[float]:
        """When each reading was taken, since the first."""
        return [at - self._taken[0][0] for at, _ in self._taken]

    def series(self) -> dict[str, list[float]]:
        """Return each counter since the first reading, at least 0: the kernel lets steal decrease (proc(5))."""
        first = self._taken[0][1]
        return {name: [round(max(0.0, reading[name] - first[name]), 6) for _, reading in self._taken] for name in first}

    def _sample(self) -> None:
        due = self._taken[0][0] + self._period_s
        while not self._is_over.wait(max(0.0, due - time.monotonic())):
            self._keep_one_more()
            due += self._period_s

    def _keep_one_more(self) -> None:
        self._take()
        if self._most and len(self._taken) > self._most:
            del self._taken[1::2]
            self._period_s *= 2

    def _take(self) -> None:
        self._taken.append((time.monotonic(), self._read()))


def rates(seconds: list[float], counted: list[float]) -> list[float]:
    """Return counts per second in each interval; a last one that is too short is left out."""
    steps = [
        (after - before, more - less) for before, after, less, more in zip(seconds, seconds[1:], counted, counted[1:])
    ]
    usual = sorted(step for step, _ in steps)[len(steps) // 2] if steps else 0.0
    if len(steps) > 1 and steps[-1][0] < usual / 2:
        steps.pop()
    return [counted_in / step for step, counted_in in steps if step > 0]
