"""The results table: where each file system, cell and resource of a run stands. What `matrix watch` shows."""

import json
from collections.abc import Iterable, Iterator, Mapping
from decimal import Decimal
from functools import cache
from typing import Any

import boto3
from boto3.dynamodb.conditions import Key

from aws.clock import now
from aws.environment import environment


@cache
def _table() -> Any:
    return boto3.resource("dynamodb").Table(environment().table)


def _numbers(value: Any) -> Any:
    """DynamoDB takes Decimal and no float."""
    return json.loads(json.dumps(value, allow_nan=False), parse_float=Decimal)


def _partition(run: str) -> str:
    return f"RUN#{run}"


def start_run(run: str, plan: Mapping[str, Any], **facts: Any) -> None:
    """Write the run's own row and one for each file system and cell, all still `planned`."""
    at = now()
    rows: list[dict[str, Any]] = [
        {"SK": "PLAN", "run": run, "name": plan["name"], "cells": len(plan["cells"]),
         "expected_s": plan["totals"]["expected_s"], "cost_usd": plan["totals"]["cost_usd"], **facts},
        *({"SK": f"FS#{fs['id']}", "file_system": fs["id"], "state": "planned", "since": at}
          for fs in plan["file_systems"]),
        *({"SK": f"CELL#{cell['id']}", "cell": cell["id"], "file_system": cell["file_system"], "state": "planned",
           "since": at, "expected_s": cell["expected_s"], "steps": len(cell["steps"]),
           "instances": {"expected": cell["fleet"]["count"]}} for cell in plan["cells"]),
    ]  # fmt: skip
    with _table().batch_writer() as batch:
        for row in rows:
            batch.put_item(Item=_numbers({"PK": _partition(run), **row}))


def set_file_system(run: str, file_system: str, state: str, **facts: Any) -> None:
    """Note the state a file system is in now, and facts about it."""
    _update(run, f"FS#{file_system}", {"file_system": file_system, "state": state, "since": now(), **facts})


def set_cell(run: str, cell: str, state: str, **facts: Any) -> None:
    """Note the state a cell is in now, and facts about it."""
    _update(run, f"CELL#{cell}", {"cell": cell, "state": state, "since": now(), **facts})


def record_points(run: str, cell: str, points: Iterable[Mapping[str, Any]]) -> None:
    """Write one row for each point of a cell with its percentiles."""
    with _table().batch_writer() as batch:
        for point in points:
            row = {"PK": _partition(run), "SK": f"CELL#{cell}#POINT#{point['id']}", "cell": cell, **point}
            batch.put_item(Item=_numbers(row))


def record_resource(run: str, kind: str, resource_id: str, **facts: Any) -> None:
    """Note that a resource exists from now on and costs money."""
    _update(run, f"RESOURCE#{resource_id}", {"kind": kind, "id": resource_id, "created_at": now(), **facts})


def resource_gone(run: str, resource_id: str, verified: str) -> None:
    """Note that a resource is gone, and how that was seen."""
    _update(run, f"RESOURCE#{resource_id}", {"gone_at": now(), "verified": verified})


def resources(run: str) -> list[dict[str, Any]]:
    """Return the run's resource rows: all that was created, with `gone_at` where it was seen gone."""
    return list(_rows(run, "RESOURCE#"))


def run_row(run: str) -> dict[str, Any] | None:
    """Return the run's own row, None for a run that is not in the table."""
    return _table().get_item(Key={"PK": _partition(run), "SK": "PLAN"}, ConsistentRead=True).get("Item")


def _rows(run: str, prefix: str) -> Iterator[dict[str, Any]]:
    condition = Key("PK").eq(_partition(run)) & Key("SK").begins_with(prefix)
    start: dict[str, Any] = {}
    while True:
        page = _table().query(KeyConditionExpression=condition, ConsistentRead=True, **start)
        yield from page["Items"]
        if "LastEvaluatedKey" not in page:
            return
        start = {"ExclusiveStartKey": page["LastEvaluatedKey"]}


def _update(run: str, sort_key: str, facts: Mapping[str, Any]) -> None:
    names = {f"#n{i}": name for i, name in enumerate(facts)}
    values = {f":v{i}": value for i, value in enumerate(_numbers(list(facts.values())))}
    _table().update_item(
        Key={"PK": _partition(run), "SK": sort_key},
        UpdateExpression="SET " + ", ".join(f"#n{i} = :v{i}" for i in range(len(facts))),
        ExpressionAttributeNames=names,
        ExpressionAttributeValues=values,
    )
