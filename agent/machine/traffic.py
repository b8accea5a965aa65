"""Traffic while something is written: cumulative bytes of network, disk and file, read each second."""

from __future__ import annotations

import threading
import time
from bisect import bisect_left
from collections.abc import Callable
from pathlib import Path

from agent.machine import counters

NETWORK, DISK, FILE = "network_sent_bytes", "disk_write_bytes", "file_bytes"
WATCHED = (
    *(NETWORK, "network_received_bytes", DISK, "disk_read_bytes"),
    *counters.SERVER_BYTES,
    "steal_s",
)
# Seconds are kept to the millisecond, and two readings of the same one would have no rate.
MIN_APART_S = 0.001


class Traffic:
    """The counters that a write moves.

    `carrier` is the one that counts each written byte: of the disk, without one of the network, for a user's directory
    the size of the file.
    """

    def __init__(self, mount_kind: str, storage: Path, path: Path) -> None:
        """`path` is the file that will be written below `storage`, mounted as `mount_kind`."""
        self._storage, self._path = storage, path
        self._device = storage.stat().st_dev
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
            reading[FILE] = self._size()
        return reading

    def _size(self) -> int:
        try:
            return self._path.stat().st_size
        except FileNotFoundError:  # not written yet
            return 0


class Sampler:
    """Reads counters in its own thread, at the start, every `period_s` seconds and at the end.

    A reading that fails is left out and named by `warnings`: what is measured meanwhile is worth more.

    `most` limits the number of readings: beyond it every other one is dropped, and the next ones are taken half as
    often. Counters are cumulative, so no byte is lost.
    """

    def __init__(self, read: Callable[[], dict[str, float]], period_s: float = 1.0, *, most: int | None = None) -> None:
        self._read, self._period_s, self._most = read, period_s, most
        self._is_over = threading.Event()
        self._thread = threading.Thread(target=self._sample, name="sampler", daemon=True)
        self._readings: list[tuple[float, dict[str, float]]] = []
        self._entered = 0.0
        self._failures: list[str] = []

    def __enter__(self) -> Sampler:
        self._entered = time.monotonic()
        self._take()
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._is_over.set()
        self._thread.join()
        self._take()
        if len(self._readings) > 2 and self._readings[-1][0] - self._readings[-2][0] < MIN_APART_S:  # noqa: PLR2004
            del self._readings[-2]

    @property
    def begun(self) -> float:
        """When the first reading was taken, by the monotonic clock."""
        return self._readings[0][0] if self._readings else self._entered

    def last(self, count: int) -> list[tuple[float, dict[str, float]]]:
        """The newest readings, each with its moment by the monotonic clock; also while more are taken."""
        return self._readings[-count:]

    def seconds(self) -> list[float]:
        """When each reading was taken, since the first."""
        return [at - self.begun for at, _ in self._readings]

    def series(self) -> dict[str, list[float]]:
        """Return each counter since the first reading, at least 0: the kernel lets steal decrease (proc(5)).

        Without the counters that some reading lacks, as those of a disk that was detached.
        """
        readings = [reading for _, reading in self._readings]
        lasting = [name for name in self._first() if all(name in reading for reading in readings)]
        return {name: [round(max(0.0, each[name] - readings[0][name]), 6) for each in readings] for name in lasting}

    def rates(self, name: str) -> list[float]:
        """Return the counts per second of a counter in each whole period; empty if `series` lacks it."""
        return rates(self.seconds(), self.series().get(name, []), self._period_s)

    def warnings(self) -> list[str]:
        """Return what the curve of this step lacks."""
        sentences = []
        if self._failures:
            sentences.append(
                f"{len(self._failures)} reading{'' if len(self._failures) == 1 else 's'} of the machine's counters "
                f"failed during the step, and its curve has gaps there: {self._failures[0]}"
            )
        if ended := self._first().keys() - self.series().keys():
            sentences.append(
                f"the curve of the step lacks {', '.join(sorted(ended))}: the kernel no longer had these counters "
                "before its end, as after a detached disk or an unmounted storage"
            )
        return sentences

    def _first(self) -> dict[str, float]:
        return self._readings[0][1] if self._readings else {}

    def _sample(self) -> None:
        due = self._entered + self._period_s
        while not self._is_over.wait(max(0.0, due - time.monotonic())):
            self._keep_one_more()
            due += self._period_s
            if due < time.monotonic():
                # After a slow reading none is made up for: several within milliseconds would show spikes.
                due = time.monotonic() + self._period_s

    def _keep_one_more(self) -> None:
        self._take()
        if self._most and len(self._readings) > self._most:
            del self._readings[1::2]
            self._period_s *= 2

    def _take(self) -> None:
        try:
            reading = self._read()
        except Exception as error:  # whatever it is, the measurement goes on
            self._failures.append(f"{type(error).__name__}: {error}")
            return
        # The moment after the reading: one that had to wait has the counts of its end.
        self._readings.append((time.monotonic(), reading))


def rates(seconds: list[float], counted: list[float], period_s: float) -> list[float]:
    """Return counts per second in each whole period. Between two readings the counts are taken to rise evenly.

    So the n-th rate is that of the n-th period, also after readings that came late.
    """
    if len(counted) < 2:  # noqa: PLR2004 a rate needs two readings
        return []

    def counted_at(moment: float) -> float:
        place = min(max(bisect_left(seconds, moment), 1), len(seconds) - 1)
        before, after = seconds[place - 1], seconds[place]
        return counted[place - 1] + (counted[place] - counted[place - 1]) * (moment - before) / (after - before)

    at = [counted_at(number * period_s) for number in range(int(seconds[-1] / period_s) + 1)]
    return [(more - less) / period_s for less, more in zip(at, at[1:])]
