"""The open loop: operations are due at given moments, even if earlier ones have not ended.

A closed loop starts an operation when the one before it has ended. While a storage stalls, a worker then has one slow
operation, and the requests that users would have sent meanwhile are missing (coordinated omission; Tene, "How NOT to
measure latency", 2013). In an open loop they fall due, wait, and their latency counts from the due moment.

The moments are a Poisson process, as of many independent users. Given their number in an interval, they are independent
and uniform in it (Ross, Introduction to Probability Models, "conditional distribution of the arrival times"), so the
rate of a step is exactly the requested one. With evenly spaced moments all instances of a fleet, which start together,
would send requests at the same moments.
"""

from __future__ import annotations

import os
import struct
import time

from agent.engine import worker_pool

TYPE_CHECKING = False  # see agent.engine.worker_pool
if TYPE_CHECKING:
    from typing import Any, Callable

    # Does the operation of this number, which was due at this moment (monotonic ns); returns the clock at its end.
    Operate = Callable[[int, int], int]

# Number of the next operation; when (monotonic ns) the first worker began, 0 before that.
BATON = struct.Struct("=qq")


class Arrivals:
    """The due moments of operations. Each goes to the next free worker, in order.

    Workers are threads or forks. They share a pipe that holds one message with the next number: a worker reads it and
    writes the following number back at once, so no number is used twice.
    """

    def __init__(self, operations: int, rate_per_s: float, seed: str) -> None:
        """Draw the moments, before any worker exists."""
        import random  # here, because it takes 9 ms, which engines with a closed loop save

        generator = random.Random(seed)  # noqa: S311 no secret
        span_ns = operations / rate_per_s * 1e9
        self._moments_ns = sorted(int(generator.random() * span_ns) for _ in range(operations))
        self._taking, self._giving = os.pipe()
        os.write(self._giving, BATON.pack(0, 0))
        worker_pool.sharpen_timer()

    @classmethod
    def of(cls, plan: dict[str, Any], operations: int) -> Arrivals | None:
        """The arrivals that an engine's plan asks for; None where its loop is closed."""
        loop = plan.get("open_loop")
        return cls(operations, loop["rate_per_s"], loop["seed"]) if loop else None

    def work(self, operate: Operate) -> worker_pool.Timed:
        """Do operations when they are due, until none remains; return the times of one worker."""
        now, sleep = time.monotonic_ns, time.sleep
        timed = worker_pool.Timed()
        while True:
            number, timed.start_ns = BATON.unpack(os.read(self._taking, BATON.size))
            timed.start_ns = timed.start_ns or now()
            is_over = number == len(self._moments_ns)
            os.write(self._giving, BATON.pack(number if is_over else number + 1, timed.start_ns))
            if is_over:
                return timed
            due_ns = timed.start_ns + self._moments_ns[number]
            early_ns = due_ns - now()
            if early_ns > 0:
                sleep(early_ns / 1e9)
            begun_ns = now()
            if early_ns > 0:
                timed.late_ns.append(begun_ns - due_ns)
            timed.ended.append(operate(number, due_ns))
            timed.begun.append(begun_ns)
            timed.due.append(due_ns)
