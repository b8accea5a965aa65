"""The runs that measured a cell, by the table's index: it keeps all, but Step Functions forgets a run after 90 days.

https://docs.aws.amazon.com/step-functions/latest/dg/service-quotas.html (execution history retention time)
"""

from collections.abc import Iterable, Iterator
from typing import Any

from cli.messages import terminal
from cli.target.deployment import Deployment

INDEX = "cell-over-runs"
# The table is of an older version without this index, or the caller may read the table but not its indexes.
UNASKABLE = ("ValidationException", "AccessDeniedException")


def runs_of(deployment: Deployment, cell: str, newest: Iterable[str]) -> list[str]:
    """Return the runs that measured a cell, whose id begins with `cell`, oldest first; none without an index.

    The cell's key in the index is read from the `newest` runs. If none of them has measured it, the whole index is
    searched, which reads a row for each point that was ever measured.
    """
    # boto3 takes half a second to import, so `matrix --help` must not import it.
    from botocore.exceptions import ClientError

    table = _Table(deployment)
    try:
        keys = {row["cell_key"] for run in newest for row in table.results(run, cell)}
        keys = keys or {row["cell_key"] for row in table.searched(cell)}
        measured = {(row["measured_at"], row["run"]) for key in keys for row in table.over_runs(key)}
    except ClientError as error:
        if error.response["Error"]["Code"] not in UNASKABLE:
            raise
        note = f"only the newest runs are looked at: the table's index {INDEX} cannot be asked ({error})"
        terminal.print_wrapped(terminal.stderr(), note)
        return []
    return [run for _, run in sorted(measured)]


class _Table:
    """The results table, with plain values for its rows, all of which are texts here."""

    def __init__(self, deployment: Deployment) -> None:
        self._client: Any = deployment.client("dynamodb")
        self._name = deployment.outputs["TableName"]

    def results(self, run: str, cell: str) -> Iterator[dict[str, str]]:
        """Yield the keys of a run's cells whose id begins with `cell`."""
        yield from self._rows(
            "query",
            KeyConditionExpression="PK = :run AND begins_with(SK, :cell)",
            ExpressionAttributeValues={":run": {"S": f"RUN#{run}"}, ":cell": {"S": f"RESULT#{cell}"}},
            ProjectionExpression="cell_key",
        )

    def searched(self, cell: str) -> Iterator[dict[str, str]]:
        """Yield the keys of all cells whose id begins with `cell`."""
        yield from self._rows(
            "scan",
            IndexName=INDEX,
            FilterExpression="begins_with(cell, :cell)",
            ExpressionAttributeValues={":cell": {"S": cell}},
            ProjectionExpression="cell_key",
        )

    def over_runs(self, key: str) -> Iterator[dict[str, str]]:
        """Yield run and date of each point of a cell in each run."""
        yield from self._rows(
            "query",
            IndexName=INDEX,
            KeyConditionExpression="cell_key = :key",
            ExpressionAttributeValues={":key": {"S": key}},
            ProjectionExpression="run, measured_at",
        )

    def _rows(self, operation: str, **asked: Any) -> Iterator[dict[str, str]]:
        for page in self._client.get_paginator(operation).paginate(TableName=self._name, **asked):
            yield from ({name: value["S"] for name, value in row.items()} for row in page["Items"])
