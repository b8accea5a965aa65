"""What Analyse cell reads of many steps, as one object in place of one of each: latency histograms, and curves.

Each step's histograms are an object of their own too, as soon as it is over: of an instance that is killed none is
lost. Its curves, which only add a picture, are lost then.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from contract import keys

if TYPE_CHECKING:
    from agent.board.blackboard import Blackboard

# Kept in memory until then: 60 steps of an engine take a quarter of it, one of fio up to 150 kB.
FULL_BYTES = 4_000_000


class Bundle:
    """Puts histograms and curves together, `FULL_BYTES` at the most."""

    def __init__(self, blackboard: Blackboard) -> None:
        """Begin with none."""
        self._blackboard = blackboard
        self._histograms: list[bytes] = []
        self._curves: list[bytes] = []
        self._bytes = self._objects = 0

    def add(self, stem: str, histograms: bytes | None, curve: dict[str, Any] | None) -> None:
        """Take what a step has of the two; `histograms` are its file, `stem` is what its files' names begin with."""
        drawn = None if curve is None else json.dumps(curve, separators=(",", ":")).encode()
        new_bytes = len(histograms or b"") + len(drawn or b"")
        if self._bytes + new_bytes > FULL_BYTES:
            self.put()
        name = json.dumps(stem).encode() + b":"
        self._histograms += [name + histograms] if histograms else []
        self._curves += [name + drawn] if drawn else []
        self._bytes += new_bytes

    def put(self) -> None:
        """Upload what was taken since the last time, under a name that was not used before."""
        if self._histograms or self._curves:
            steps, curves = b",".join(self._histograms), b",".join(self._curves)
            body = b'{"schema":1,"steps":{' + steps + b'},"curves":{' + curves + b"}}"
            self._blackboard.put_zipped(keys.bundle(self._objects), body)
            self._histograms, self._curves = [], []
            self._bytes, self._objects = 0, self._objects + 1
