"""Write each object, row and execution to disk when moto accepts it, before the caller gets its response."""

import logging
import os
import threading
from collections.abc import Iterator
from typing import Any

from moto.dynamodb.responses import DynamoHandler
from moto.s3.models import S3Backend

from local.corrections import packed
from local.corrections.requests import body_of
from local.keeping.runs import KeptExecution, KeptRuns
from local.programs.liveness import started_ticks

LOG = logging.getLogger(__name__)
PARTITION = "RUN#"
# Operations that write rows; rows of a run are never deleted.
WRITING = ("PutItem", "UpdateItem", "BatchWriteItem")


class Keeper:
    """Writes all data for the results bucket, the results table and the state machine of one stack to disk."""

    def __init__(self, runs: KeptRuns) -> None:
        self._runs = runs
        self._outputs: dict[str, str] = {}
        self._executions = threading.Lock()
        self._process = os.getpid(), started_ticks(os.getpid()) or 0

    def install(self) -> None:
        """Hook into every write; install it after corrections and permission checks."""
        self._keep_objects()
        self._keep_rows()

    def begin(self, outputs: dict[str, str]) -> None:
        """Start to write the data of the stack with these outputs."""
        self._outputs = outputs

    def keep_execution(self, execution: Any) -> None:
        """Write the status of an execution; called at its start and its end, by different threads."""
        if execution.state_machine_arn != self._outputs.get("StateMachineArn"):
            return
        with self._executions:
            ended = execution.stop_date
            pid, started = self._process
            kept = KeptExecution(
                run=execution.name,
                status=execution.status,
                started_at=execution.start_date.timestamp(),
                ended_at=ended.timestamp() if ended and execution.status != "RUNNING" else None,
                error=execution.error or "",
                cause=execution.cause or "",
                arn=execution.execution_arn,
                cloud_pid=pid,
                cloud_started_ticks=started,
            )
            try:
                self._runs.keep_execution(kept)
            except OSError as err:
                # Start and end it anyway, so that the command can report the reason.
                LOG.warning("execution %s is not kept: %s", execution.name, err)

    def _keep_objects(self) -> None:
        put = S3Backend.put_object
        packed.share_permissions()

        def put_and_keep(backend: Any, bucket_name: str, key_name: str, *rest: Any, **options: Any) -> Any:
            stored = put(backend, bucket_name, key_name, *rest, **options)
            if bucket_name != self._outputs.get("BucketName"):
                return stored
            keys = backend.get_bucket(bucket_name).keys
            is_of_run = key_name.startswith("runs/")
            if is_of_run and not self._runs.keep_object(key_name, lambda: keys[key_name].value):
                LOG.warning("%s is not kept: no file can have this name", key_name)
            packed.pack_object(keys[key_name])
            return stored

        S3Backend.put_object = put_and_keep

    def _keep_rows(self) -> None:
        call_action, lock = DynamoHandler.call_action, threading.Lock()

        def call_and_keep(handler: Any) -> Any:
            if handler._get_action() not in WRITING:
                return call_action(handler)
            # A row is read after its write, so no other write may come between; rows stay in the order of writes.
            with lock:
                answer = call_action(handler)
                for key in _keys(body_of(handler), self._outputs.get("TableName", "")):
                    self._keep_row(handler.dynamodb_backend, key)
                return answer

        DynamoHandler.call_action = call_and_keep

    def _keep_row(self, backend: Any, key: dict[str, Any]) -> None:
        partition = str(key.get("PK", {}).get("S", ""))
        if partition.startswith(PARTITION):
            row = backend.get_item(self._outputs["TableName"], {name: key[name] for name in ("PK", "SK")})
            if row is not None:
                self._runs.keep_row(partition.removeprefix(PARTITION), row.to_json()["Attributes"])


def _keys(request: dict[str, Any], table: str) -> Iterator[dict[str, Any]]:
    """Yield the items or keys of one table that a request writes."""
    if request.get("TableName") == table:
        yield request.get("Item") or request.get("Key") or {}
    for written in request.get("RequestItems", {}).get(table, []):
        yield written.get("PutRequest", {}).get("Item") or {}
