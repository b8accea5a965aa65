"""A large generated run for the console: 100 cells of 200 instances, one in progress, and 20,000 events."""

import json
import time
from collections.abc import Iterable, Iterator
from typing import Any

from support.console_source import PlayedRun

from cli.target.service import Execution
from matrix.check.read import read_matrix
from matrix.plan.planning import plan

RUN = "large"
BEGAN = time.time() - 2_000
INSTANCES = 200
STEPS_DONE = 10
TURNS = 2_200
ARN = "arn:aws:states:us-east-1:123456789012:execution:machine:large"
CHILD = "arn:aws:states:us-east-1:123456789012:execution:machine/EachFileSystem:1"


# 10 storages × 2 workloads × 5 fleets.
ASKED = {
    "name": RUN,
    "storage": [{"type": "ebs", "volumeType": "gp3", "sizeGiB": 20 + number} for number in range(10)],
    "workload": [
        {"type": "touch", "files": 5040, "threads": [1, 2, 3]},
        {"type": "dd", "dataSize": "64MiB", "threads": [1, 4]},
    ],
    "fleet": [
        {"instanceType": f"m6i.{size}", "count": count}
        for size, count in (
            ("large", INSTANCES),
            ("xlarge", INSTANCES),
            ("2xlarge", INSTANCES),
            ("4xlarge", 100),
            ("4xlarge", INSTANCES),
        )
    ],
    "repetitions": 5,
    "order": "as-written",
}


class LargeRun(PlayedRun):
    """The run progresses a little with each poll."""

    def __init__(self, definition: dict[str, Any]) -> None:
        self._plan: Any = plan(read_matrix(json.dumps(ASKED))).to_document()
        self.cells = [cell["id"] for cell in self._plan["cells"]]
        self.at = self.cells[50]
        self.looks = 0
        events = list(poll_events(json.dumps({"cell": self.at})))
        record = {
            "run": RUN,
            "definition": definition,
            "histories": {ARN: PARENT, CHILD: events},
            "items": {CHILD: {"file_system": self._plan["cells"][50]["file_system"]}},
        }
        super().__init__(record, page=1000)

    def execution(self, run: str) -> Execution:
        """A running execution."""
        self.looks += 1
        return Execution(run, "RUNNING", BEGAN, arn=ARN)

    def progress_rows(self, run: str) -> list[dict[str, Any]]:
        """Half of it is measured, one cell runs, and progresses with each poll."""
        rows: list[dict[str, Any]] = [{"SK": "PLAN", "expected_s": 1e5, "committed_usd": 80.0, "budget_usd": 250.0}]
        for number, cell in enumerate(self._plan["cells"]):
            state = "measured" if number < 50 else "running" if number == 50 else "planned"
            rows.append(
                {
                    "SK": f"CELL#{cell['id']}",
                    "cell": cell["id"],
                    "file_system": cell["file_system"],
                    "state": state,
                    "started_at": BEGAN if number <= 50 else None,
                    "finished_at": BEGAN + 9 if number < 50 else None,
                    "step": self.looks % 15,
                    "steps": 15,
                    "instances": {"expected": INSTANCES, "running": INSTANCES},
                }
            )
        return rows

    def point_rows(self, run: str, cell: str) -> list[dict[str, Any]]:
        """Different figures for each point."""
        number = self.cells.index(cell)
        planned = self._plan["cells"][number]
        metric = {
            "unit": "files/s",
            "higher_is_better": True,
            "primary": True,
            "n": 1000,
            "p50": 1000.0 + 37 * number,
            "intervals": {"p50": {"low": 990.0 + 37 * number, "high": 1010.0 + 37 * number}},
        }
        return [{"id": point["id"], "metrics": {"files_per_s": metric}} for point in planned["points"]]

    def document(self, run: str, name: str) -> dict[str, Any] | None:
        """The plan, and the documents of the agents of 200 instances."""
        if name == "plan.json":
            return self._plan
        if name.endswith("fleet.json"):
            return {"instances": [f"i-{number:04d}" for number in range(INSTANCES)], "launched_at": BEGAN}
        if name.endswith("meeting.json"):
            return {"nonce": "0" * 32}
        if name.endswith("samples.json"):
            instance = int(name.split("i-")[1][:4])
            return {
                "samples": [
                    {"step": step, "metrics": {"files_per_s": 900.0 + instance + step}, "start_skew_s": 0.001}
                    for step in range(STEPS_DONE)
                ]
            }
        return None

    def content(self, run: str, name: str, most: int | None = None) -> bytes | None:
        """Heartbeats, and no logs."""
        if not name.endswith("/heartbeat"):
            return None
        now = int(time.time())
        rates = [[now - ago, 1.0, 0, 1_000_000 + 10_000 * (ago % 7), 100] for ago in range(45, 0, -1)]
        heartbeat = {"at": now, "state": "running", "step": STEPS_DONE, "since": now - 20}
        return json.dumps({**heartbeat, "lately": {"of": "disk", "rates": rates}}).encode()

    def listing(self, run: str, below: str) -> Iterable[tuple[str, float]]:
        """Heartbeats and samples of 200 instances, ten gates, and ready marks for the next."""
        now = time.time()
        names = [f"AROA:i-{number:04d}" for number in range(INSTANCES)]
        if below.endswith("instances/"):
            times = {"heartbeat": now - 3, "samples.json": BEGAN}
            return [(f"{name}/{kind}", at) for name in names for kind, at in times.items()]
        if below.endswith("gates/"):
            return [(f"{step:04d}.json", now - 10) for step in range(STEPS_DONE)]
        return [(name, now - 1) for name in names[: 20 + self.looks % 50]] if "/ready/" in below else []


PARENT = [
    {"id": 1, "previousEventId": 0, "type": "ExecutionStarted", "timestamp": BEGAN},
    {"id": 2, "previousEventId": 1, "type": "MapStateEntered", "timestamp": BEGAN,
     "stateEnteredEventDetails": {"name": "Each file system", "input": "{}"}},
]  # fmt: skip


def poll_events(cell: str) -> Iterator[dict[str, Any]]:
    """A history of 20,000 events that polls one cell."""
    number = 0

    def event(kind: str, field: str = "", **details: Any) -> dict[str, Any]:
        nonlocal number
        number += 1
        said = {f"{field}EventDetails": details} if field else {}
        return {"id": number, "previousEventId": number - 1, "type": kind, "timestamp": BEGAN + number / 10, **said}

    yield event("ExecutionStarted")
    yield event("MapStateEntered", "stateEntered", name="Each cell", input="{}")
    yield event("MapStateStarted", "mapStateStarted", length=10)
    yield event("MapIterationStarted", "mapIterationStarted", name="Each cell", index=0)
    for _ in range(TURNS):
        yield event("WaitStateEntered", "stateEntered", name="Wait for fleet", input=cell)
        yield event("WaitStateExited", "stateExited", name="Wait for fleet", output=cell)
        yield event("TaskStateEntered", "stateEntered", name="Poll fleet", input=cell)
        yield event("TaskScheduled", "taskScheduled", parameters="{}")
        yield event("TaskStarted", "taskStarted", resource="invoke")
        yield event("TaskSucceeded", "taskSucceeded", output=cell)
        yield event("TaskStateExited", "stateExited", name="Poll fleet", output=cell)
        yield event("ChoiceStateEntered", "stateEntered", name="Fleet finished?", input=cell)
        yield event("ChoiceStateExited", "stateExited", name="Fleet finished?", output=cell)
