"""The latency histograms of many steps as one object: Analyse cell reads it in place of one of each step.

Each step's own is there too, as soon as it is over: of an instance that is killed nothing is lost.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from agent.board.blackboard import Blackboard

# Kept in memory until then: 60 steps of an engine take a quarter of it, one of fio up to 150 kB.
FULL_BYTES = 4_000_000


class Latencies:
    """Puts histogram files together, `FULL_BYTES` at the most."""

    def __init__(self, blackboard: Blackboard) -> None:
        """Begin with none."""
        self._blackboard = blackboard
        self._steps: list[bytes] = []
        self._bytes = self._objects = 0

    def add(self, stem: str, body: bytes) -> None:
        """Take the histogram file of a step, JSON; `stem` is what the names of the step's files begin with."""
        if self._bytes + len(body) > FULL_BYTES:
            self.put()
        self._steps.append(json.dumps(stem).encode() + b":" + body)
        self._bytes += len(body)

    def put(self) -> None:
        """Upload what was taken since the last time, under a name that was not used before."""
        if self._steps:
            body = b'{"schema":1,"steps":{' + b",".join(self._steps) + b"}}"
            self._blackboard.put_zipped(f"latencies-{self._objects:04d}.json.gz", body)
            self._steps, self._bytes, self._objects = [], 0, self._objects + 1
