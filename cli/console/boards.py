"""Read the blackboard of a cell to show its fleet: three listings, and the new samples."""

from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

from cli.console.fleet_view import Board, objects_of
from cli.follow.heartbeats import CONNECTIONS, HeartbeatReader
from cli.messages.errors import UnreadableRun
from cli.target.traces import Traces
from matrix.run.gates import instances_of, steps_of

# Samples read by one poll; 200 instances need four polls after each step.
READ_AT_ONCE = 50


@dataclass
class Boards:
    """The blackboards of a run's cells, as of the last poll."""

    run: str
    samples: dict[str, dict[str, tuple[float, Sequence[Mapping[str, Any]]]]] = field(default_factory=dict)
    """By cell and instance: (time of the samples read last, finished steps)."""
    heartbeats: HeartbeatReader = field(default_factory=HeartbeatReader)

    def look(self, source: Traces, cell: str, steps: int, now: float) -> Board:
        """Read the new objects of a cell's blackboard and return its state."""
        below = f"cells/{cell}/"
        record = _document(source, self.run, f"{below}fleet.json")
        listing = list(source.listing(self.run, f"{below}instances/"))
        objects = objects_of(listing)
        gates, ready = self._met(source, below)
        unread = self._read_samples(source, cell, listing)
        return Board(
            instances=tuple(record.get("instances", ())),
            objects=objects,
            gates=gates,
            ready=ready,
            samples={instance: steps for instance, (_, steps) in self.samples.get(cell, {}).items()},
            unread=unread,
            heartbeats=self.heartbeats.read(source, self.run, cell, listing, steps, now),
        )

    def _met(self, source: Traces, below: str) -> tuple[dict[int, float], dict[str, float]]:
        """Return (times of the opened gates by step, time by instance that is ready for the next step)."""
        # The secret name of the start barrier keeps out instances of other cells, so never send it to the browser.
        nonce = _document(source, self.run, f"{below}meeting.json").get("nonce")
        if not nonce:
            return {}, {}
        gates = steps_of(dict(source.listing(self.run, f"{below}meet/{nonce}/gates/")))
        following = max(gates, default=-1) + 1
        ready = source.listing(self.run, f"{below}meet/{nonce}/ready/{following:04d}/")
        return dict(gates), instances_of(dict(ready))

    def _read_samples(self, source: Traces, cell: str, listing: Sequence[tuple[str, float]]) -> int:
        """Read changed samples, at most READ_AT_ONCE; return the number of unread ones."""
        known = self.samples.setdefault(cell, {})
        changed = []
        for name, at in listing:
            userid, _, rest = name.partition("/")
            instance = userid.rpartition(":")[2]
            if rest == "samples.json" and known.get(instance, (0.0, ()))[0] < at:
                changed.append((instance, f"cells/{cell}/instances/{name}", at))
        now = changed[:READ_AT_ONCE]
        with ThreadPoolExecutor(CONNECTIONS) as pool:
            documents = pool.map(lambda each: _document(source, self.run, each[1]), now)
            for (instance, _, at), document in zip(now, documents, strict=True):
                known[instance] = at, document.get("samples", ())
        return len(changed) - len(now)


def _document(source: Traces, run: str, name: str) -> dict[str, Any]:
    """Return a document, or an empty one if it is missing or damaged. Documents of instances are not trusted."""
    try:
        return source.document(run, name) or {}
    except UnreadableRun:
        return {}
