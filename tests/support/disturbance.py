"""Figures that depend on a free core: if other processes took the cores meanwhile, they are measured again.

The tolerance of a figure does not change. On a quiet machine a wrong figure fails at once; on a busy one it gets some
more attempts, and if other processes disturbed all of them, the test is skipped with that reason.
"""

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

ATTEMPTS = 5
# An idle machine uses some hundredths of a core. From a fifth on, one wake-up in ten (of two cores) is delayed.
MAX_CORES_TAKEN = 0.2
_TICKS_PER_S = os.sysconf("SC_CLK_TCK")


class Window:
    """A stretch of time, and how many cores other processes used in it on average."""

    cores_taken = 0.0

    def __enter__(self) -> "Window":
        self._before = _reading()
        return self

    def __exit__(self, *_: object) -> None:
        wall_s, all_s, own_s = (after - before for after, before in zip(_reading(), self._before, strict=True))
        self.cores_taken = max(0.0, all_s - own_s) / wall_s

    @property
    def is_disturbed(self) -> bool:
        return self.cores_taken > MAX_CORES_TAKEN

    def skip(self, failure: AssertionError) -> None:
        """End the test without a verdict on the figure."""
        pytest.skip(f"disturbed: other processes used {self.cores_taken:.1f} of {os.cpu_count()} cores: {failure}")

    @contextmanager
    def excused(self) -> Iterator[None]:
        """For figures of one long measurement: a failed assertion skips the test if this window was disturbed."""
        try:
            yield
        except AssertionError as failure:
            if not self.is_disturbed:
                raise
            self.skip(failure)


class Attempt:
    """One measurement with its assertions, as a block; the last one ends the test one way or the other."""

    def __init__(self, number: int) -> None:
        self.number = number
        self.is_good = False

    def __enter__(self) -> "Attempt":
        self._window = Window().__enter__()
        return self

    def __exit__(self, kind: type[BaseException] | None, failure: BaseException | None, _trace: object) -> bool:
        self._window.__exit__()
        self.is_good = kind is None
        if not isinstance(failure, AssertionError) or not self._window.is_disturbed:
            return False
        if self.number == ATTEMPTS:
            self._window.skip(failure)
        return True


def attempts() -> Iterator[Attempt]:
    """`for attempt in attempts(): with attempt: ...` repeats the block while it fails and was disturbed."""
    for number in range(1, ATTEMPTS + 1):
        attempt = Attempt(number)
        yield attempt
        if attempt.is_good:
            return


def _reading() -> tuple[float, float, float]:
    """Seconds on the clock, of CPU time of the whole machine, and of CPU time of this process and its descendants."""
    return time.monotonic(), machine_cpu_s(), own_cpu_s()


def machine_cpu_s() -> float:
    """CPU seconds of all processes since boot, including those that a hypervisor stole from this machine (proc(5))."""
    fields = Path("/proc/stat").read_text().split("\n", 1)[0].split()[1:9]
    user, nice, system, _idle, _iowait, irq, softirq, steal = map(int, fields)
    return (user + nice + system + irq + softirq + steal) / _TICKS_PER_S


def own_cpu_s() -> float:
    """CPU seconds of this process and its descendants, including ended ones: their parents inherit the sums."""
    parents: dict[int, int] = {}
    ticks: dict[int, int] = {}
    for entry in Path("/proc").glob("[0-9]*/stat"):
        try:
            # The name of a program may contain blanks and brackets; the numbers follow its last bracket.
            fields = entry.read_text().rpartition(")")[2].split()
        except OSError:
            continue  # it has ended
        process = int(entry.parent.name)
        parents[process] = int(fields[1])
        ticks[process] = sum(map(int, fields[11:15]))  # utime, stime, cutime, cstime
    return sum(ticks[process] for process in ticks if _descends(process, parents)) / _TICKS_PER_S


def _descends(process: int, parents: dict[int, int]) -> bool:
    while process and process != os.getpid():
        process = parents.get(process, 0)
    return process == os.getpid()
