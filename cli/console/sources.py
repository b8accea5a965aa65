"""The console's only access to data: the service layer of the commands. Tests replace it by fakes."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Protocol

from cli.target.documents import ProgressRow
from cli.target.service import Execution
from cli.target.traces import EventPage, LogLines
from matrix.terms.documents.result import PointMetrics


class Commands(Protocol):
    """Data that commands show too: cli/target/service.py."""

    def execution(self, run: str) -> Execution:
        """Return the execution of a run."""

    def executions(self, limit: int) -> list[Execution]:
        """Return the newest runs, newest first."""

    def progress_rows(self, run: str) -> list[ProgressRow]:
        """Return the rows of a run's plan, file systems and cells."""

    def point_rows(self, run: str, cell: str) -> list[PointMetrics]:
        """Return id and metrics of each of a cell's points."""

    def document(self, run: str, name: str) -> dict[str, Any] | None:
        """Return a document of a run; None when it is not there. Raises UnreadableRun."""

    def content(self, run: str, name: str, most: int | None = None) -> bytes | None:
        """Return the bytes of an object of a run; None when it is not there."""


class Traces(Protocol):
    """Data that only the console shows: cli/target/traces.py."""

    def definition(self, run: str) -> dict[str, Any]:
        """Return the definition that a run began with."""

    def events(self, arn: str, after: str = "", *, newest_first: bool = False) -> EventPage:
        """Return a page of an execution's history."""

    def children(self, run: str) -> Iterable[tuple[str, str]]:
        """Yield ARN and status of each iteration of a run's distributed Maps."""

    def item(self, child: str) -> dict[str, Any]:
        """Return the input of an iteration."""

    def listing(self, run: str, below: str) -> Iterable[tuple[str, float]]:
        """Yield name and time (epoch seconds) of each object below a prefix of a run's folder."""

    def log_lines(self, function: str, since: float, until: float) -> LogLines:
        """Return the log lines of a function between two epoch seconds."""


@dataclass(frozen=True)
class Source:
    """A deployment as the console sees it."""

    commands: Commands
    traces: Traces
    environment: str
    """local or aws."""
    flag: str = ""
    """The option by which commands choose it."""
