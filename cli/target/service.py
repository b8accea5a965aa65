"""The command line's calls to a deployment: executions, rows and documents of a run, and Reap."""

import json
import secrets
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any, ClassVar, cast

from cli.messages.errors import FunctionFailed, UnknownRun
from cli.target import known_runs, over_runs
from cli.target.deployment import Deployment
from cli.target.documents import ProgressRow, parsed
from cli.target.workdir import local_log
from matrix.terms.documents.result import PointMetrics
from matrix.terms.keys import BASELINES, OPEN_RECEIPTS, baseline_key
from matrix.terms.sentences import error_text, message_of

# Names of runs among which a misspelt one is looked for.
NAMES_TO_SEARCH = 40
SHOWN_RUNS = 10
# The parent, 16 hexadecimal digits, in the trace headers of this command: "matrix".
# https://docs.aws.amazon.com/xray/latest/devguide/xray-concepts.html#xray-concepts-tracingheader
TRACED_BY = "00006d6174726978"
STARTED_JUST_NOW = timedelta(seconds=5)
PROGRESS_COLUMNS = (
    "SK", "cell", "file_system", "state", "since", "started_at", "finished_at", "expected_s",
    "step", "steps", "point", "instances", "error", "committed_usd", "reserved", "budget_usd",
)  # fmt: skip


@dataclass(frozen=True)
class Execution:
    """The state machine's execution of a run."""

    run: str
    status: str  # RUNNING SUCCEEDED FAILED TIMED_OUT ABORTED
    started_at: float
    ended_at: float | None = None
    error: str = ""
    cause: str = ""
    arn: str = ""

    @property
    def reason(self) -> str:
        """Name and message of the error that ended it, if any."""
        return error_text({"name": self.error, "message": self.cause})

    @property
    def is_running(self) -> bool:
        """Whether the execution has not ended yet."""
        return self.status in ("RUNNING", "PENDING_REDRIVE")


@dataclass(frozen=True)
class Service:
    """A running deployment. Tests replace it by a fake."""

    deployment: Deployment
    poll_every_s: ClassVar[float] = 5.0  # each poll costs money

    @property
    def name(self) -> str:
        """Its name in messages."""
        return f"the stack {self.deployment.stack}"

    @property
    def flag(self) -> str:
        """The option that chooses the deployment, for commands that messages suggest."""
        return self.deployment.flag

    @property
    def is_here(self) -> bool:
        """Whether it is the local cloud on this machine."""
        return self.deployment.environment == "local"

    # --- executions ---------------------------------------------------------------------------------------------------

    def start(self, run: str, matrix: dict[str, Any]) -> bool:
        """Start a run; return False if another command has started it.

        StartExecution succeeds again for a running execution of the same name and input. The execution keeps the trace
        header of the first call, which DescribeExecution returns: it is random, so it tells whose call that was, also
        if boto3 had to repeat it. If AWS has put a header of its own there, the age of the execution decides.
        """
        # They take a while to import, so `matrix --help` must not import them.
        from email.utils import parsedate_to_datetime

        from botocore.exceptions import BotoCoreError, ClientError

        trace = f"Root=1-{int(time.time()):08x}-{secrets.token_hex(12)};Parent={TRACED_BY};Sampled=0"
        started = self._states.start_execution(
            stateMachineArn=self.deployment.outputs["StateMachineArn"],
            name=run,
            input=json.dumps(matrix),
            traceHeader=trace,
        )
        try:
            kept = self._states.describe_execution(executionArn=started["executionArn"])
        except (BotoCoreError, ClientError):  # DescribeExecution does not know it yet, or fails: it was started here
            return True
        if TRACED_BY in kept.get("traceHeader", ""):
            return bool(kept["traceHeader"] == trace)
        answered_at = parsedate_to_datetime(started["ResponseMetadata"]["HTTPHeaders"]["date"])
        return bool(answered_at - started["startDate"] < STARTED_JUST_NOW)

    def execution(self, run: str) -> Execution:
        """Return the execution of a run; raises UnknownRun with the names of those that exist."""
        try:
            description = self._states.describe_execution(executionArn=execution_arn(self.deployment, run))
        except self._states.exceptions.ExecutionDoesNotExist:
            raise self.unknown(run) from None
        return _execution(description)

    def unknown(self, run: str) -> UnknownRun:
        """Return the error with the names of the existing runs."""
        names = [execution.run for execution in self.executions(NAMES_TO_SEARCH)]
        is_local = self.deployment.environment == "local"
        kept = known_runs.kept_runs() if is_local else []
        message = f"no run {run} {'on this machine' if is_local else f'of the stack {self.deployment.stack}'}"
        return known_runs.unknown_run(message, run, [*names, *kept])

    def executions(self, limit: int) -> list[Execution]:
        """Return the newest runs, newest first."""
        arn = self.deployment.outputs["StateMachineArn"]
        pages = self._states.get_paginator("list_executions").paginate(
            stateMachineArn=arn, PaginationConfig={"MaxItems": limit}
        )
        executions = [_execution(listed) for page in pages for listed in page["executions"]]
        return sorted(executions, key=lambda execution: execution.started_at, reverse=True)

    def started(self) -> Iterator[str]:
        """Yield the names of the newest runs, newest first."""
        return (execution.run for execution in self.executions(SHOWN_RUNS))

    def past(self, cell: str | None) -> list[str]:
        """Return the names of the newest runs, and of all that measured this cell, however old."""
        newest = list(self.started())
        return list(dict.fromkeys([*newest, *(over_runs.runs_of(self.rows, cell, newest) if cell else [])]))

    def stop(self, run: str, cause: str) -> None:
        """Stop a run: the state machine ends at once, without its own clean-up."""
        self._states.stop_execution(executionArn=execution_arn(self.deployment, run), error="Interrupted", cause=cause)

    # --- rows and documents -------------------------------------------------------------------------------------------

    def progress_rows(self, run: str) -> list[ProgressRow]:
        """Return the rows of a run's plan, file systems and cells, with only the columns of its progress.

        The rows of points and resources are most of a run, and do not change during it. Their keys come after PLAN, so
        that only the rows that are shown are read, and paid for.
        """
        names = {f"#{column}": column for column in PROGRESS_COLUMNS}
        rows = self.rows(
            {":run": f"RUN#{run}", ":first": "CELL#", ":last": "PLAN"},
            KeyConditionExpression="PK = :run AND SK BETWEEN :first AND :last",
            ProjectionExpression=", ".join(names),
            ExpressionAttributeNames=names,
        )
        # Casts here and below: only the stack's functions write the table, and DynamoDB has no types.
        return [cast("ProgressRow", row) for row in rows]

    def point_rows(self, run: str, cell: str) -> list[PointMetrics]:
        """Return id and metrics of each of a cell's points, with their percentiles; empty before it is measured."""
        rows = self.rows(
            {":run": f"RUN#{run}", ":points": f"POINT#{cell}#"},
            KeyConditionExpression="PK = :run AND begins_with(SK, :points)",
            ProjectionExpression="#id, #metrics",
            ExpressionAttributeNames={"#id": "id", "#metrics": "metrics"},
        )
        return [cast("PointMetrics", row) for row in rows]

    def has_open_receipt(self, run: str) -> bool:
        """Return whether a run was planned, and no sweep has completed its receipt with all its resources yet."""
        values = {":open": OPEN_RECEIPTS, ":run": run}
        return any(self.rows(values, KeyConditionExpression="PK = :open AND SK = :run", ConsistentRead=True))

    def rows(self, values: Mapping[str, str], **asked: Any) -> Iterator[dict[str, Any]]:
        """Yield the rows of the table that a query finds, or a scan without a condition on keys.

        `values` are those of its expressions.
        """
        table = self.deployment.client("dynamodb")
        is_query = "KeyConditionExpression" in asked
        pages = (table.get_paginator("query") if is_query else table.get_paginator("scan")).paginate(
            TableName=self.deployment.outputs["TableName"],
            ExpressionAttributeValues={name: {"S": value} for name, value in values.items()},
            **asked,
        )
        return (plain_row(row) for page in pages for row in page["Items"])

    def document(self, run: str, name: str) -> dict[str, Any] | None:
        """Return a document of a run from the bucket, such as summary.json; None if it does not exist.

        Raises UnreadableRun if its content does not match its name.
        """
        stored = self.content(run, name)
        where = f"{self.where(run)}{name}"
        return None if stored is None else parsed(stored, name, where, "measure the run again, or fix the object")

    def content(self, run: str, name: str, most: int | None = None) -> bytes | None:
        """Return the bytes, or the first `most`, of an object of a run, such as a log; None if it does not exist."""
        return self._object(f"runs/{run}/{name}", most)

    def _object(self, key: str, most: int | None = None) -> bytes | None:
        try:
            stored = self._bucket.get_object(Bucket=self.deployment.outputs["BucketName"], Key=key)
        except self._bucket.exceptions.NoSuchKey:
            return None
        return cast("bytes", stored["Body"].read(most))

    def names(self, run: str, below: str = "") -> Iterator[str]:
        """Yield the names within a run of all its objects, or of those `below` a prefix, such as cells/."""
        top = f"runs/{run}/"
        return (listed["Key"].removeprefix(top) for listed in self.deployment.objects(f"{top}{below}"))

    def measured_cells(self, run: str) -> list[str]:
        """Return the cells of a run that have a result, readable or not."""
        parts = (name.split("/") for name in self.names(run, "cells/"))
        return sorted(known_runs.plain(cell for _, cell, *name in parts if name == ["result.json"]))

    def upload(self, path: Path, key: str) -> None:
        """Copy a file to one object."""
        self._bucket.put_object(Bucket=self.deployment.outputs["BucketName"], Key=key, Body=path.read_bytes())

    def metric_pages(self, **query: Any) -> Iterator[dict[str, Any]]:
        """Yield CloudWatch's answers to GetMetricData."""
        yield from self.deployment.client("cloudwatch").get_paginator("get_metric_data").paginate(**query)

    def where(self, run: str) -> str:
        """Return the place of a run's results, for messages."""
        return f"s3://{self.deployment.outputs['BucketName']}/runs/{run}/"

    # --- baselines ----------------------------------------------------------------------------------------------------

    def baselines(self) -> list[str]:
        """Return the names of the baselines, in order."""
        keys = (listed["Key"] for listed in self.deployment.objects(BASELINES))
        return sorted({key.removeprefix(BASELINES).partition("/")[0] for key in keys})

    def baseline(self, name: str) -> bytes | None:
        """Return the document of a baseline; None if there is none."""
        return self._object(baseline_key(name))

    def put_baseline(self, name: str, body: bytes) -> None:
        """Store the document of a baseline."""
        bucket, key = self.deployment.outputs["BucketName"], baseline_key(name)
        self._bucket.put_object(Bucket=bucket, Key=key, Body=body, ContentType="application/json")

    def delete_baseline(self, name: str) -> None:
        self._bucket.delete_object(Bucket=self.deployment.outputs["BucketName"], Key=baseline_key(name))

    # --- clean-up -----------------------------------------------------------------------------------------------------

    def reap(
        self,
        run: str | None,
        *,
        dry_run: bool = False,
        images: bool = False,
        owner: str | None = None,
        older_than_s: float | None = None,
    ) -> dict[str, Any]:
        """Let Reap delete a run's resources, all past their deadline, or images; return the deleted and the remaining.

        With `owner` and `older_than_s` only the resources of that owner's runs, or of runs planned at least so long
        ago.
        """
        fields = {"run": run, "dryRun": dry_run, "images": images, "owner": owner, "olderThanS": older_than_s}
        event = {name: value for name, value in fields.items() if value}
        name = self.deployment.outputs["ReapFunctionName"]
        answer = self.deployment.client("lambda", manner="once").invoke(
            FunctionName=name, Payload=json.dumps(event).encode()
        )
        document: dict[str, Any] = json.loads(answer["Payload"].read() or b"{}")
        if answer.get("FunctionError"):
            raise FunctionFailed(
                f"{name} failed: {document.get('errorType', 'error')}: {document.get('errorMessage', document)}",
                f"see its log: `{self._log_command(name)}`, then try again",
            )
        return document

    def _log_command(self, function: str) -> str:
        """Return the command that shows the newest lines of a function's log."""
        if self.deployment.environment == "local":
            return f"tail {local_log(function)}"
        return f"aws logs tail {self.deployment.outputs['FunctionLogGroupName']} --region {self.deployment.region}"

    # --- clients ------------------------------------------------------------------------------------------------------

    @property
    def _states(self) -> Any:
        return self.deployment.client("stepfunctions")

    @property
    def _bucket(self) -> Any:
        return self.deployment.client("s3")


def execution_arn(deployment: Deployment, run: str) -> str:
    return deployment.outputs["StateMachineArn"].replace(":stateMachine:", ":execution:") + f":{run}"


def _execution(description: dict[str, Any]) -> Execution:
    stopped = description.get("stopDate")
    return Execution(
        run=description["name"],
        status=description["status"],
        started_at=description["startDate"].timestamp(),
        ended_at=stopped.timestamp() if stopped else None,
        error=description.get("error", ""),
        cause=message_of(description.get("cause", "")),
        arn=description["executionArn"],
    )


def plain_row(item: dict[str, Any]) -> dict[str, Any]:
    """Return a row with plain values from a row in DynamoDB's form."""
    from boto3.dynamodb.types import TypeDeserializer

    read = TypeDeserializer().deserialize
    return {name: _plain(read(value)) for name, value in item.items()}


def _plain(value: Any) -> Any:
    """Turn DynamoDB's decimals into plain numbers."""
    if isinstance(value, Decimal):
        return int(value) if value == value.to_integral_value() else float(value)
    if isinstance(value, dict):
        return {key: _plain(nested) for key, nested in value.items()}
    return [_plain(nested) for nested in value] if isinstance(value, list) else value
