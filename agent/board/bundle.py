"""One object with the histograms and curves of many steps for Analyse cell, instead of one object for each step.

Each step's histograms are also uploaded alone as soon as it ends, so a killed instance loses none. It loses its curves,
which are only for charts, and what its mount counted in all, without which its cell is billed as planned.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from contract import keys

if TYPE_CHECKING:
    from agent.board.blackboard import Blackboard

# Kept in memory up to this size: 60 steps of an engine take a quarter of it, one of fio up to 150 kB.
FULL_BYTES = 4_000_000


class Bundle:
    """Puts histograms and curves together, `FULL_BYTES` at the most."""

    def __init__(self, blackboard: Blackboard) -> None:
        self._blackboard = blackboard
        self._histograms: list[bytes] = []
        self._curves: list[bytes] = []
        self._bytes = self._objects = 0

    def add(self, stem: str, histograms: bytes | None, curve: dict[str, Any] | None) -> None:
        """Add a step's histograms (the content of its file) and curve; `stem` is the prefix of its files' names."""
        drawn = None if curve is None else json.dumps(curve, separators=(",", ":")).encode()
        new_bytes = len(histograms or b"") + len(drawn or b"")
        if self._bytes + new_bytes > FULL_BYTES:
            self.put()
        name = json.dumps(stem).encode() + b":"
        self._histograms += [name + histograms] if histograms else []
        self._curves += [name + drawn] if drawn else []
        self._bytes += new_bytes

    def put(self, moved: dict[str, float] | None = None) -> None:
        """Upload the steps added since the last upload, under a new name; with the last ones all that was `moved`."""
        if self._histograms or self._curves or moved:
            steps, curves = b",".join(self._histograms), b",".join(self._curves)
            in_all = json.dumps(moved or {}, separators=(",", ":")).encode()
            body = b'{"schema":1,"steps":{' + steps + b'},"curves":{' + curves + b'},"moved":' + in_all + b"}"
            self._blackboard.put_zipped(keys.bundle(self._objects), body)
            self._histograms, self._curves = [], []
            self._bytes, self._objects = 0, self._objects + 1
