"""Start scheduled run: start the scheduled matrix if it is valid and limited, and no run of it is in progress."""

import json
import os
from typing import Any

from aws_lambda_powertools import Logger
from aws_lambda_powertools.utilities.typing import LambdaContext

from aws.records import bucket
from aws.run import executions
from aws.stack.entry import entry
from aws.stack.environment import environment
from matrix.check.read import check_matrix
from matrix.run import schedule
from matrix.terms.errors import ScheduleRefused
from matrix.terms.keys import BASELINE_PREFIX, run_key

logger = Logger()


@entry
def handler(event: dict[str, Any], _context: LambdaContext) -> dict[str, Any]:
    """Start the run that is due at {"scheduledTime": "2026-11-25T01:30:00Z"}; answer its name.

    Unless the matrix names a run to compare with, the stack's baseline or else the run before is written into it.
    Raises InvalidMatrix or ScheduleRefused, which the alarm ScheduledRunAlarm reports: a run that was never started
    sends no message.
    """
    document = _matrix(os.environ["SCHEDULED_MATRIX"])
    name = document["name"]
    machine, run = os.environ["STATE_MACHINE_ARN"], schedule.run_name(name, event["scheduledTime"])
    going = [other for other in executions.running(machine) if schedule.is_scheduled(name, other) and other != run]
    if going:
        raise ScheduleRefused(
            f"{run} is not started: {going[0]} of the same matrix still runs. Let the parameter Schedule leave more "
            "time, or measure less"
        )
    if base := document.get("compareWith") or _compared_with(name, run):
        document["compareWith"] = base
    is_new = executions.start(machine, run, json.dumps(document))
    logger.info("started" if is_new else "started before", run=run, compare_with=base)
    return {"run": run, "is_new": is_new, "compare_with": base}


def _matrix(key: str) -> dict[str, Any]:
    """Return the matrix under a key of the bucket. Raises InvalidMatrix, ScheduleRefused or InvalidDocument."""
    where = f"s3://{environment().bucket}/{key}"
    document: dict[str, Any] | None = bucket.get(key)
    if document is None:
        raise ScheduleRefused(
            f"{where} does not exist, which the parameter ScheduledMatrix names: aws s3 cp FILE {where}"
        )
    if check_matrix(document).matrix.budget_usd is None:
        raise ScheduleRefused(
            f"{where}: budgetUsd is missing. Nobody agrees to the cost of a scheduled run, so its matrix limits it"
        )
    return document


def _compared_with(matrix: str, run: str) -> str | None:
    """Return the stack's baseline, or the newest analysed run of the matrix before this one; None for a first run."""
    if baseline := os.environ["SCHEDULED_BASELINE"]:
        return f"{BASELINE_PREFIX}{baseline}"
    earlier = schedule.before(matrix, run, bucket.folders(run_key(f"{matrix}-", "").rstrip("/")))
    return next((each for each in earlier if bucket.exists(run_key(each, "summary.values.json"))), None)
