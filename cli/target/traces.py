"""The console's sources beside the documents of commands: definition, histories, blackboard, functions' logs."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any

from typing_extensions import TypedDict

from cli.target.service import Service, execution_arn
from cli.target.workdir import local_log
from matrix.terms.printable import printable

# The maximum of events in one answer of GetExecutionHistory.
# https://docs.aws.amazon.com/step-functions/latest/apireference/API_GetExecutionHistory.html
EVENTS_OF_A_PAGE = 1000
LOG_LINES = 200
# A function's last lines arrive some seconds after its response.
LATE_LINES_S = 5.0
# The runtime gives the time of an error in whole seconds.
GRAIN_S = 1.0

Event = dict[str, Any]


@dataclass(frozen=True)
class EventPage:
    """Events of a history in the requested order, and the token of the next page; "" after the last."""

    events: list[Event]
    following: str


class LogLines(TypedDict):
    """Lines of a function's log, the newest last, and their source."""

    group: str
    lines: list[str]


@dataclass(frozen=True)
class Traces(Service):
    """A deployment as the console sees it: what commands show, and these sources."""

    def definition(self, run: str) -> dict[str, Any]:
        """Return the definition with which a run was started: the stack may have been updated since."""
        described = self._states.describe_state_machine_for_execution(executionArn=execution_arn(self.deployment, run))
        definition: dict[str, Any] = json.loads(described["definition"])
        return definition

    def events(self, arn: str, after: str = "", *, newest_first: bool = False) -> EventPage:
        """Return a page of an execution's history; `after` is the token of the page before."""
        more = {"nextToken": after} if after else {}
        page = self._states.get_execution_history(
            executionArn=arn, maxResults=EVENTS_OF_A_PAGE, reverseOrder=newest_first, includeExecutionData=True, **more
        )
        return EventPage(page["events"], page.get("nextToken", ""))

    def children(self, run: str) -> Iterator[tuple[str, str]]:
        """Yield ARN and status of each iteration of a run's distributed Maps."""
        map_runs = self._states.get_paginator("list_map_runs").paginate(
            executionArn=execution_arn(self.deployment, run)
        )
        for arn in [listed["mapRunArn"] for page in map_runs for listed in page["mapRuns"]]:
            for page in self._states.get_paginator("list_executions").paginate(mapRunArn=arn):
                yield from ((listed["executionArn"], listed["status"]) for listed in page["executions"])

    def item(self, child: str) -> dict[str, Any]:
        """Return an iteration's input."""
        described = self._states.describe_execution(executionArn=child)
        item = json.loads(described.get("input") or "{}")
        return item if isinstance(item, dict) else {}

    def listing(self, run: str, below: str) -> Iterator[tuple[str, float]]:
        """Yield the name below a prefix of a run's folder, and the time (epoch seconds), of each object there."""
        prefix = f"runs/{run}/{below}"
        for listed in self.deployment.objects(prefix):
            yield listed["Key"].removeprefix(prefix), listed["LastModified"].timestamp()

    def log_lines(self, function: str, since: float, until: float) -> LogLines:
        """Return the lines that a function (by its ARN) logged from `since` to `until`, both in epoch seconds."""
        name = function.rsplit(":function:", maxsplit=1)[-1].partition(":")[0]
        read = self._local_lines if self.deployment.environment == "local" else self._aws_lines
        written = read(name, since, until + LATE_LINES_S)
        return {"group": written["group"], "lines": [printable(line) for line in written["lines"][-LOG_LINES:]]}

    def _aws_lines(self, name: str, since: float, until: float) -> LogLines:
        group = self.deployment.outputs["FunctionLogGroupName"]
        pages = (
            self.deployment.client("logs")
            .get_paginator("filter_log_events")
            .paginate(
                logGroupName=group,
                startTime=int(since * 1000),
                endTime=int(until * 1000),
            )
        )
        # All functions write into one group; a stream's name has the function before its version.
        # https://docs.aws.amazon.com/lambda/latest/dg/monitoring-cloudwatchlogs-loggroups.html
        ours = (line["message"].rstrip() for page in pages for line in page["events"]
                if f"/{name}[" in line["logStreamName"])  # fmt: skip
        return {"group": group, "lines": list(islice(ours, 10 * LOG_LINES))}

    def _local_lines(self, name: str, since: float, until: float) -> LogLines:
        path = local_log(name)
        if "/" in name or not path.is_file() or path.is_symlink():
            return {"group": str(path), "lines": []}
        lines = path.read_text(errors="replace").splitlines()
        return {"group": str(path), "lines": [line for line in lines if since - GRAIN_S <= _said_at(line) <= until]}


def _said_at(line: str) -> float:
    """Return the time of a log line (epoch seconds) from its text; 0 if it has none."""
    from datetime import datetime

    try:
        return datetime.fromisoformat(json.loads(line)["timestamp"].replace(",", ".")).timestamp()
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return 0.0
