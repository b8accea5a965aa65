"""Where runs live, as one question: what a command asks about a run, whichever place has it."""

from collections.abc import Callable, Iterable, Iterator
from typing import Any, Protocol

from cli.target.documents import ProgressRow
from cli.target.service import Execution

# Yields CloudWatch's answers to GetMetricData.
MetricPages = Callable[..., Iterator[dict[str, Any]]]


class RunStore(Protocol):
    """A place that runs live in.

    On this machine these are folders (`RunFolders`); in a deployment bucket, table and Step Functions (`Service`). A
    local cloud that is up is such a deployment too: what it keeps is in the folders as well, and they outlast it.
    """

    @property
    def name(self) -> str:
        """What it is called in messages."""

    @property
    def flag(self) -> str:
        """The option that chooses the deployment, for commands that messages suggest."""

    @property
    def is_here(self) -> bool:
        """Whether it is on this machine."""

    @property
    def metric_pages(self) -> MetricPages | None:
        """How CloudWatch is asked again for metrics that came late; None where none can come."""

    @property
    def look_every_s(self) -> float:
        """The pause between two looks at a run that goes on."""

    def runs(self) -> Iterable[str]:
        """Return the names of all runs that have left anything."""

    def started(self) -> Iterator[str]:
        """Yield the names of the runs that were started, newest first: all, or as many as are looked through."""

    def past(self, cell: str | None) -> list[str]:
        """Return the names of the runs that are shown over time: the newest, and all that have measured this cell."""

    def execution(self, run: str) -> Execution | None:
        """Return how a run stands; None where it was never started.

        Raises UnknownRun where nobody remembers it, UnreadableRun where its file is damaged.
        """

    def progress_rows(self, run: str) -> list[ProgressRow]:
        """Return the rows of a run's plan, file systems and cells."""

    def document(self, run: str, name: str) -> dict[str, Any] | None:
        """Return a document of a run, such as summary.json; None where it is not there. Raises UnreadableRun."""

    def content(self, run: str, name: str, most: int | None = None) -> bytes | None:
        """Return the bytes, or the first `most`, of a file of a run, such as a log; None where it is not there."""

    def names(self, run: str, below: str = "") -> Iterator[str]:
        """Yield the names within a run of all its files, or of those `below` a prefix, such as cells/."""

    def measured_cells(self, run: str) -> list[str]:
        """Return the cells of a run that have a result, readable or not."""

    def where(self, run: str) -> str:
        """Say where the results of a run are."""

    def baselines(self) -> list[str]:
        """Return the names of the baselines, in order."""

    def baseline(self, name: str) -> bytes | None:
        """Return the document of a baseline; None where there is none."""

    def put_baseline(self, name: str, body: bytes) -> None:
        """Keep the document of a baseline."""

    def delete_baseline(self, name: str) -> None:
        """Delete a baseline."""
