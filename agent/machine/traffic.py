"""Counters that are read each second while a step runs."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

# Seconds are kept to the millisecond, and two readings of the same one would have no rate.
MIN_APART_S = 0.001


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
