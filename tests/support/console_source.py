"""A run for the console, played from a record of the local cloud's answers (tests/cli/recorded_runs)."""

import gzip
import json
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from cli.console.admission import Admission
from cli.console.server import Console, Handler, Server, new_token
from cli.console.stopping import Stop
from cli.messages.errors import UnknownRun
from cli.target.deployment import Deployment
from cli.target.service import Execution, plain_row
from cli.target.traces import EventPage, LogLines, Traces

RECORDS = Path(__file__).parents[1] / "cli" / "recorded_runs"


def recorded(name: str) -> dict[str, Any]:
    return json.loads(gzip.decompress((RECORDS / f"{name}.json.gz").read_bytes()))


@dataclass
class NoStop:
    """Notes the runs that it was asked to stop."""

    runs: list[str] = field(default_factory=list)

    def start(self, run: str) -> None:
        """Note it."""
        self.runs.append(run)

    def view(self, run: str) -> dict[str, Any]:
        """A view that never ends."""
        return {"state": "stopping" if run in self.runs else "no", "lines": []}


@contextmanager
def serving(source: Traces, run: str, stop: Stop) -> Iterator[Console]:
    """A console that answers on a free port."""
    with Server(("127.0.0.1", 0), Handler) as server:
        server.console = Console(source, run, stop, Admission(server.server_port, new_token()))
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server.console
        server.shutdown()


@dataclass
class PlayedRun:
    """A record as a deployment; `until` selects the run's state at that time (epoch s)."""

    record: dict[str, Any]
    until: float = float("inf")
    asked: list[tuple[str, ...]] = field(default_factory=list)
    page: int = 50
    deployment = Deployment("local", "s", "eu-central-1", None)
    is_here, flag = True, "--local"

    def execution(self, run: str) -> Execution:
        if run != self.record["run"]:
            raise UnknownRun(f"no run {run}")
        kept = Execution(**self.record["execution"])
        has_ended = kept.ended_at is not None and kept.ended_at <= self.until
        return kept if has_ended else replace(kept, status="RUNNING", ended_at=None, error="", cause="")

    def executions(self, limit: int) -> list[Execution]:
        return [self.execution(self.record["run"])][:limit]

    def progress_rows(self, run: str) -> list[dict[str, Any]]:
        return [row for row in self._rows() if "state" in row or row["SK"] == "PLAN"]

    def point_rows(self, run: str, cell: str) -> list[dict[str, Any]]:
        """Id and metrics of a cell's points."""
        rows = [row for row in self._rows() if row["SK"].startswith(f"POINT#{cell}#")]
        return [{"id": row["id"], "metrics": row["metrics"]} for row in rows]

    def _rows(self) -> list[dict[str, Any]]:
        return [plain_row(row) for row in self.record["rows"]]

    def document(self, run: str, name: str) -> dict[str, Any] | None:
        self.asked.append(("document", name))
        return self.record["documents"].get(name)

    def content(self, run: str, name: str, most: int | None = None) -> bytes | None:
        """An object that was recorded."""
        text = self.record["documents"].get(name)
        return None if text is None else gzip.compress("\n".join(text).encode())

    def definition(self, run: str) -> dict[str, Any]:
        return self.record["definition"]

    def events(self, arn: str, after: str = "", *, newest_first: bool = False) -> EventPage:
        """A page of the events until that time."""
        self.asked.append(("events", arn, after))
        known = [event for event in self.record["histories"][arn] if event["timestamp"] <= self.until]
        ordered = known[::-1] if newest_first else known
        begin = int(after or 0)
        end = begin + self.page
        return EventPage(ordered[begin:end], str(end) if end < len(ordered) else "")

    def children(self, run: str) -> Iterator[tuple[str, str]]:
        """Iterations that had started."""
        for arn in self.record["items"]:
            if self.record["histories"][arn][0]["timestamp"] <= self.until:
                yield arn, "RUNNING"

    def item(self, child: str) -> dict[str, Any]:
        """The input of one iteration."""
        return self.record["items"][child]

    def listing(self, run: str, below: str) -> Iterable[tuple[str, float]]:
        """Objects that existed."""
        keys = [(key, at) for key, at in self.record["keys"] if key.startswith(below) and at <= self.until]
        return [(key.removeprefix(below), at) for key, at in keys]

    def log_lines(self, function: str, since: float, until: float) -> LogLines:
        """One line."""
        return {"group": "/aws/lambda/function", "lines": [f"{function} from {since} to {until}"]}
