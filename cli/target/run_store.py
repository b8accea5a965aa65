"""The interface of a place that holds runs, so that commands read runs from any place in the same way."""

from collections.abc import Callable, Iterable, Iterator
from typing import Any, Protocol

from cli.target.documents import ProgressRow
from cli.target.service import Execution

# Yields CloudWatch's answers to GetMetricData.
MetricPages = Callable[..., Iterator[dict[str, Any]]]


class RunStore(Protocol):
    """A place that holds runs.

    On this machine these are folders (`RunFolders`); in a deployment bucket, table and Step Functions (`Service`). A
    running local cloud is such a deployment too: its content is also in the folders, which outlast it.
    """

    @property
    def name(self) -> str:
        """Its name in messages."""

    @property
    def flag(self) -> str:
        """The option that chooses the deployment, for commands that messages suggest."""

    @property
    def is_here(self) -> bool:
        """Whether it is on this machine."""

    @property
    def metric_pages(self) -> MetricPages | None:
        """A function that queries CloudWatch again for late metrics; None if there can be none."""

    @property
    def poll_every_s(self) -> float:
        """Seconds between two polls of a running run."""

    def runs(self) -> Iterable[str]:
        """Return the names of all runs that have any files."""

    def started(self) -> Iterator[str]:
        """Yield the names of started runs, newest first: all, or as many as the store searches."""

    def past(self, cell: str | None) -> list[str]:
        """Return the names of the runs for a view over time: the newest, and all that measured this cell."""

    def execution(self, run: str) -> Execution | None:
        """Return the execution of a run; None if it was never started.

        Raises UnknownRun if no record of it exists, UnreadableRun if its file is damaged.
        """

    def progress_rows(self, run: str) -> list[ProgressRow]:
        """Return the rows of a run's plan, file systems and cells."""

    def document(self, run: str, name: str) -> dict[str, Any] | None:
        """Return a document of a run, such as summary.json; None if it does not exist. Raises UnreadableRun."""

    def content(self, run: str, name: str, most: int | None = None) -> bytes | None:
        """Return the bytes, or the first `most`, of a file of a run, such as a log; None if it does not exist."""

    def names(self, run: str, below: str = "") -> Iterator[str]:
        """Yield the names within a run of all its files, or of those `below` a prefix, such as cells/."""

    def measured_cells(self, run: str) -> list[str]:
        """Return the cells of a run that have a result, readable or not."""

    def where(self, run: str) -> str:
        """Return the place of a run's results, for messages."""

    def baselines(self) -> list[str]:
        """Return the names of the baselines, in order."""

    def baseline(self, name: str) -> bytes | None:
        """Return the document of a baseline; None if there is none."""

    def put_baseline(self, name: str, body: bytes) -> None:
        """Store the document of a baseline."""

    def delete_baseline(self, name: str) -> None:
        """Delete a baseline."""
