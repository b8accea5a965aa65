"""A run that the stack's schedule started: its matrix, and what it is compared with."""

import json
from itertools import islice
from typing import Any

from aws.records import bucket
from aws.run import executions
from aws.stack.environment import environment
from matrix.terms.errors import ScheduleRefused
from matrix.terms.keys import BASELINE_PREFIX, run_key

# A run of longer ago is no measure of the last night.
RECENT = 10


def matrix(scheduled: dict[str, str], execution_arn: str) -> Any:
    """Return the matrix of a scheduled run, with the run that it is compared with.

    `scheduled` is what the template's RunSchedule gives. Unless the matrix names a base by compareWith, the stack's
    baseline or else the run before is written into it. Raises ScheduleRefused.
    """
    name = scheduled["matrix"]
    before = executions.before(execution_arn, f"{name}-scheduled-")
    if running := next((each.name for each in before if each.status == "RUNNING"), None):
        raise ScheduleRefused(
            f"{running} of the same schedule still runs. Let the parameter Schedule leave more time, or measure less"
        )
    # EventBridge Scheduler delivers at least once. Each delivery may have another id, and thus another name.
    if before and json.loads(executions.given(before[0].arn)).get("scheduled") == scheduled:
        raise ScheduleRefused(f"{before[0].name} was started for {scheduled['at']} already")
    where = f"s3://{environment().bucket}/schedules/{name}.json"
    document = bucket.get(f"schedules/{name}.json")
    if document is None:
        raise ScheduleRefused(
            f"{where} does not exist, which the parameter ScheduledMatrix names: aws s3 cp FILE {where}"
        )
    if not isinstance(document, dict) or document.get("compareWith"):
        return document
    if base := _base(scheduled["baseline"], before):
        document["compareWith"] = base
    return document


def _base(baseline: str, before: list[executions.Execution]) -> str | None:
    """Return the stack's baseline, or the newest run before that measured every cell; None for a first run.

    A cell that it lacks would be compared with nothing. Of the last RECENT analysed ones, if none did, the newest.
    """
    if baseline:
        return f"{BASELINE_PREFIX}{baseline}"
    analysed = (each for each in before if bucket.exists(run_key(each.name, "summary.values.json")))
    recent = sorted(islice(analysed, RECENT), key=lambda run: run.status != "SUCCEEDED")
    return recent[0].name if recent else None
