"""The runs that measured a cell, by the table's index: it keeps all, but Step Functions forgets a run after 90 days.

https://docs.aws.amazon.com/step-functions/latest/dg/service-quotas.html (execution history retention time)
"""

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any, TypeAlias

from cli.messages import terminal

if TYPE_CHECKING:
    from botocore.exceptions import ClientError

INDEX = "cell-over-runs"
# The table is of an older version without this index, or the caller may read the table but not its indexes.
UNASKABLE = ("ValidationException", "AccessDeniedException")

# `Service.rows`.
Rows: TypeAlias = Callable[..., Iterator[dict[str, Any]]]


def runs_of(rows: Rows, cell: str, newest: Iterable[str]) -> list[str]:
    """Return the runs that measured a cell, whose id begins with `cell`, oldest first; none without an index.

    The cell's key in the index is read from the `newest` runs. If none of them has measured it, the whole index is
    searched, which reads a row for each point that was ever measured.
    """
    # boto3 takes half a second to import, so `matrix --help` must not import it.
    from botocore.exceptions import ClientError

    try:
        keys = {key for run in newest for key in _keys(rows, run, cell)} or _searched(rows, cell)
        measured = {(row["measured_at"], row["run"]) for key in keys for row in _over_runs(rows, key)}
    except ClientError as error:
        _note_unaskable(error, "only the newest runs are looked at")
        return []
    return [run for _, run in sorted(measured)]


def begun(rows: Rows, key: str) -> list[tuple[str, str]]:
    """Return `measured_at` and name of each run that measured the cell of this key, none without an index."""
    from botocore.exceptions import ClientError

    try:
        return sorted({(row["measured_at"], row["run"]) for row in _over_runs(rows, key)})
    except ClientError as error:
        _note_unaskable(error, "earlier runs are not counted")
        return []


def _note_unaskable(error: "ClientError", what: str) -> None:
    """Note what is missing without the index; raise another error."""
    if error.response["Error"]["Code"] not in UNASKABLE:
        raise error
    terminal.print_wrapped(terminal.stderr(), f"{what}: the table's index {INDEX} cannot be asked ({error})")


def _keys(rows: Rows, run: str, cell: str) -> set[str]:
    """Return the keys of a run's cells whose id begins with `cell`."""
    found = rows(
        {":run": f"RUN#{run}", ":cell": f"RESULT#{cell}"},
        KeyConditionExpression="PK = :run AND begins_with(SK, :cell)",
        ProjectionExpression="cell_key",
    )
    return {row["cell_key"] for row in found}


def _searched(rows: Rows, cell: str) -> set[str]:
    """Return the keys of all cells whose id begins with `cell`."""
    found = rows(
        {":cell": cell},
        IndexName=INDEX,
        FilterExpression="begins_with(cell, :cell)",
        ProjectionExpression="cell_key",
    )
    return {row["cell_key"] for row in found}


def _over_runs(rows: Rows, key: str) -> Iterator[dict[str, Any]]:
    """Yield run and date of each point of a cell in each run."""
    return rows(
        {":key": key},
        IndexName=INDEX,
        KeyConditionExpression="cell_key = :key",
        ProjectionExpression="run, measured_at",
    )
