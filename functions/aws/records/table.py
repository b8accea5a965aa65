"""The results table: states of a run's file systems, cells and resources, as `matrix watch` shows them."""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal
from functools import cache, partial
from typing import Any

from boto3.dynamodb.conditions import Key
from botocore.exceptions import ClientError

from aws.stack import clients
from aws.stack.clock import now
from aws.stack.environment import environment
from matrix.terms.documents.plan import PlanDocument
from matrix.terms.documents.receipt import ReceiptDocument
from matrix.terms.keys import OPEN_RECEIPTS

# A cell over all runs.
OVER_RUNS = "cell-over-runs"
# The maximum number of connections of a client.
WRITES_AT_ONCE = 16


@cache
def _table() -> Any:
    return clients.table(environment().table)


def _numbers(value: Any) -> Any:
    """DynamoDB takes Decimal and no float."""
    return json.loads(json.dumps(value, allow_nan=False), parse_float=Decimal)


def _partition(run: str) -> str:
    return f"RUN#{run}"


def start_run(run: str, plan: PlanDocument, **facts: Any) -> None:
    """Write the run's own row and one for each file system and cell, all still `planned`."""
    at = now()
    rows: list[dict[str, Any]] = [
        {"SK": "PLAN", "run": run, "name": plan["name"], "cells": len(plan["cells"]),
         "expected_s": plan["totals"]["expected_s"], "cost_usd": plan["totals"]["cost_usd"],
         "committed_usd": 0, "metered_usd": 0, "reserved": {}, **facts},
        *({"SK": f"FS#{fs['id']}", "file_system": fs["id"], "storage_type": fs["storage"]["type"], "state": "planned",
           "since": at}
          for fs in plan["file_systems"] if fs["cells"]),
        *({"SK": f"CELL#{cell['id']}", "cell": cell["id"], "file_system": cell["file_system"],
           "state": "measured" if "taken_from" in cell else "planned",
           "since": at, "expected_s": cell["expected_s"], "steps": len(cell["steps"]),
           "instances": {"expected": cell["fleet"]["count"]}} for cell in plan["cells"]),
    ]  # fmt: skip
    with _table().batch_writer() as batch:
        for row in rows:
            batch.put_item(Item=_numbers({"PK": _partition(run), **row}))
        batch.put_item(Item=_numbers({"PK": OPEN_RECEIPTS, "SK": run, "run": run, "created_at": at}))


def set_file_system(run: str, file_system: str, state: str, **facts: Any) -> None:
    """Note the state a file system is in now, when it was first in it (`<state>_at`), and facts about it."""
    at = now()
    row = {"file_system": file_system, "state": state, "since": at, **facts}
    _update(run, f"FS#{file_system}", row, {f"{state}_at": at})


def set_cell(run: str, cell: str, state: str, **facts: Any) -> None:
    """Note the state a cell is in now, and facts about it."""
    _update(run, f"CELL#{cell}", {"cell": cell, "state": state, "since": now(), **facts})


def record_points(run: str, cell: str, points: Iterable[Mapping[str, Any]]) -> None:
    """Write one row for each point of a cell with its percentiles."""
    with _table().batch_writer() as batch:
        for point in points:
            row = {"PK": _partition(run), "SK": f"POINT#{cell}#{point['id']}", "cell": cell, **point}
            batch.put_item(Item=_numbers(row))


def record_results(run: str, rows: Sequence[Mapping[str, Any]]) -> None:
    """Write the rows for queries over runs, one for each point; a cell without figures has one row without a point.

    Their keys sort after PLAN and share no prefix with CELL or POINT, so watching a run does not read them.
    """
    _in_parallel([partial(_update, run, f"RESULT#{row['cell']}#{row.get('point', '')}", row) for row in rows])


def record_resource(run: str, kind: str, resource_id: str, **facts: Any) -> None:
    """Note that a resource exists and costs money since `created_at`, by default now; noted once, it stays so."""
    first = {"created_at": facts.pop("created_at", None) or now()}
    key = f"{_resources_of(facts.get('file_system', ''), facts.get('cell', ''))}{resource_id}"
    _update(run, key, {"kind": kind, "id": resource_id, **facts}, first)


def record_resources(run: str, resources: Iterable[tuple[str, str, Mapping[str, Any]]]) -> None:
    """Note resources (kind, id, facts) as `record_resource` does, many at once: a large fleet has thousands."""
    _in_parallel([partial(record_resource, run, kind, name, **facts) for kind, name, facts in resources])


def mark_deleted(run: str, deleted: Iterable[tuple[Mapping[str, Any], str]]) -> None:
    """Mark resources as gone, from pairs of a resource's row and the evidence."""
    _in_parallel([partial(_mark_deleted, run, row["SK"], proof) for row, proof in deleted])


def _mark_deleted(run: str, sort_key: str, verified: str) -> None:
    _update(run, sort_key, {"gone_at": now(), "verified": verified})


def note_binned(run: str, kept: Iterable[tuple[Mapping[str, Any], float]]) -> None:
    """Note until when (epoch s) the account's Recycle Bin keeps deleted resources, from pairs with a resource's row."""
    _in_parallel([partial(_update, run, row["SK"], {"binned_until": until}) for row, until in kept])


def resources(run: str, file_system: str | None = None, cell: str | None = None) -> list[dict[str, Any]]:
    """Return the resource rows of a run or file system: all created ones, with `gone_at` if seen gone.

    `cell` restricts them to one cell (or cache, or image); "" to resources of no cell, such as EFS itself.
    """
    return list(_rows(run, "RESOURCE#" if file_system is None else _resources_of(file_system, cell)))


def _resources_of(file_system: str, cell: str | None) -> str:
    """Return the prefix of these resources: each cell asks for its own, and the others may have thousands more."""
    return f"RESOURCE#{file_system}#" if cell is None else f"RESOURCE#{file_system}#{cell}#"


def instances(run: str, file_system: str, cell: str) -> list[str]:
    """Return the instances that were created for a cell."""
    return [row["id"] for row in resources(run, file_system, cell) if row["kind"] == "instance"]


def begin_creation(run: str, what: str) -> None:
    """Note that something is about to be created."""
    _update(run, f"CREATION#{what}", {"what": what, "begun_at": now(), "is_over": False})


def end_creation(run: str, what: str) -> None:
    """Note that a creation is over: its resources have rows, or the call was refused."""
    _update(run, f"CREATION#{what}", {"is_over": True})


def open_creations(run: str) -> list[dict[str, Any]]:
    """Return the rows of creations without a recorded end."""
    return [row for row in _rows(run, "CREATION#") if not row["is_over"]]


def record_times(run: str, started_at: float | None, finished_at: float | None) -> None:
    """Record start and end of a run, as in its summary and report, for `matrix watch`."""
    _update(run, "PLAN", {"started_at": started_at, "finished_at": finished_at})


def end_run(run: str) -> None:
    """Note that a run in the table has ended, so that nothing more is created for it."""
    if run_row(run):
        _update(run, "ENDED", {}, {"ended_at": now()})


def ended_at(run: str) -> float | None:
    """Return when a sweep has noted the end of a run (epoch s); None before."""
    return next((float(row["ended_at"]) for row in _rows(run, "ENDED")), None)


def file_systems(run: str) -> list[dict[str, Any]]:
    """Return the rows of the run's file systems."""
    return list(_rows(run, "FS#"))


def reserve(run: str, name: str, usd: float, budget_usd: float | None) -> bool:
    """Reserve money of the run's budget for a cell or file system; return whether the budget allows it.

    A single conditional write, so that file systems measured at the same time cannot both take the last of it. A
    repeated call for the same name returns True and changes nothing.
    """
    condition, values = "attribute_not_exists(reserved.#name)", {":usd": usd}
    if budget_usd is not None:
        condition += " AND committed_usd <= :room"
        values[":room"] = round(budget_usd - usd, 6)
    update = "SET committed_usd = committed_usd + :usd, reserved.#name = :usd"
    return _update_plan(run, update, condition, name, values) or name in (run_row(run) or {})["reserved"]


def settle(run: str, name: str, spent_usd: float, metered_usd: float = 0.0) -> None:
    """Replace a reservation by the real cost in USD; without a reservation, or on a repeated call, do nothing."""
    reserved_usd = (run_row(run) or {}).get("reserved", {}).get(name)
    if reserved_usd is None:
        return
    values = {":freed": round(float(reserved_usd) - spent_usd, 6), ":metered": metered_usd}
    update = "SET committed_usd = committed_usd - :freed, metered_usd = metered_usd + :metered REMOVE reserved.#name"
    _update_plan(run, update, "attribute_exists(reserved.#name)", name, values)


def _update_plan(run: str, update: str, condition: str, name: str, values: Mapping[str, Any]) -> bool:
    return _update_if(
        condition,
        run,
        "PLAN",
        UpdateExpression=update,
        ExpressionAttributeNames={"#name": name},
        ExpressionAttributeValues=_numbers(values),
    )


def record_receipt(run: str, receipt: ReceiptDocument) -> None:
    """Write the receipt's row without its resources, which have own rows and may be thousands.

    A receipt of a sweep that started later is kept: a slow sweep knows less than one that started and ended meanwhile.
    """
    update = _setting({name: value for name, value in receipt.items() if name != "resources"}, {})
    update["ExpressionAttributeNames"] |= {"#sweep": "sweep", "#at": "at"}
    condition = "attribute_not_exists(#sweep.#at)"
    if receipt["sweep"] is not None:
        condition += " OR #sweep.#at <= :began"
        update["ExpressionAttributeValues"] |= _numbers({":began": receipt["sweep"]["at"]})
    _update_if(condition, run, "RECEIPT", **update)


def receipt_row(run: str) -> dict[str, Any]:
    """Return the receipt's row: of the sweep that started last."""
    response = _table().get_item(Key={"PK": _partition(run), "SK": "RECEIPT"}, ConsistentRead=True)
    return response.get("Item", {})


def open_receipts() -> list[str]:
    """Return the runs whose receipt is not complete yet."""
    rows = _table().query(KeyConditionExpression=Key("PK").eq(OPEN_RECEIPTS), ConsistentRead=True)["Items"]
    return [row["run"] for row in rows]


def close_receipt(run: str, swept_at: float) -> None:
    """Note that sweeps may skip a run, by the receipt of the sweep that began at `swept_at`."""
    _unless_reopened(_table().delete_item, run, swept_at)


def reopen_receipt(run: str, swept_at: float) -> None:
    """Note that the next sweep visits a run again, even if an earlier sweep has closed its receipt."""
    _unless_reopened(_table().update_item, run, swept_at, **_setting({"run": run, "swept_at": swept_at}, {}))


def _unless_reopened(write: Callable[..., Any], run: str, swept_at: float, **update: Any) -> None:
    """Write the row of a run's open receipt, unless a sweep that began later has written it."""
    values = update.pop("ExpressionAttributeValues", {}) | _numbers({":began": swept_at})
    condition = "attribute_not_exists(swept_at) OR swept_at <= :began"
    _if_so(
        write,
        Key={"PK": OPEN_RECEIPTS, "SK": run},
        ConditionExpression=condition,
        ExpressionAttributeValues=values,
        **update,
    )


def cell_row(run: str, cell: str) -> dict[str, Any]:
    response = _table().get_item(Key={"PK": _partition(run), "SK": f"CELL#{cell}"}, ConsistentRead=True)
    return response.get("Item", {})


def run_row(run: str) -> dict[str, Any] | None:
    """Return the run's own row, None for a run that is not in the table."""
    return _table().get_item(Key={"PK": _partition(run), "SK": "PLAN"}, ConsistentRead=True).get("Item")


def runs_of_cell(key: str) -> list[tuple[str, str]]:
    """Return `measured_at` and the name of each run that measured a cell, by the cell's key over runs."""
    asked = {"IndexName": OVER_RUNS, "ProjectionExpression": "run, measured_at"}
    rows = _query(KeyConditionExpression=Key("cell_key").eq(key), **asked)
    return sorted({(row["measured_at"], row["run"]) for row in rows})


def _rows(run: str, prefix: str) -> Iterator[dict[str, Any]]:
    condition = Key("PK").eq(_partition(run)) & Key("SK").begins_with(prefix)
    return _query(KeyConditionExpression=condition, ConsistentRead=True)


def _query(**asked: Any) -> Iterator[dict[str, Any]]:
    start: dict[str, Any] = {}
    while True:
        page = _table().query(**asked, **start)
        yield from page["Items"]
        if "LastEvaluatedKey" not in page:
            return
        start = {"ExclusiveStartKey": page["LastEvaluatedKey"]}


def _in_parallel(writes: Sequence[Callable[[], None]]) -> None:
    """Write rows, possibly thousands; raises the error of the first write that failed.

    It uses UpdateItem, because BatchWriteItem replaces rows and would lose another function's changes.
    """
    if len(writes) <= WRITES_AT_ONCE:
        for write in writes:
            write()
        return
    # 9,000 rows of 1,000 instances with 8 volumes each: 90 s and more one by one, 6 s at once.
    _table()  # made here, since the sessions that make it are for one thread
    with ThreadPoolExecutor(WRITES_AT_ONCE) as pool:
        for _ in pool.map(lambda write: write(), writes):
            pass


def _update(run: str, sort_key: str, facts: Mapping[str, Any], first: Mapping[str, Any] | None = None) -> None:
    """Set attributes of a row; set those of `first` only if the row lacks them."""
    table = _table()
    # Clients may be shared by threads, which `_in_parallel` does; tables of boto3 may not.
    # https://docs.aws.amazon.com/boto3/latest/guide/resources.html#multithreading-or-multiprocessing-with-resources
    table.meta.client.update_item(
        TableName=table.name, Key={"PK": _partition(run), "SK": sort_key}, **_setting(facts, first or {})
    )


def _setting(facts: Mapping[str, Any], first: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments of UpdateItem that set attributes; names may be words that expressions reserve."""
    together = {**facts, **first}
    changes = [
        f"#n{i} = if_not_exists(#n{i}, :v{i})" if name in first else f"#n{i} = :v{i}" for i, name in enumerate(together)
    ]
    return {
        "UpdateExpression": "SET " + ", ".join(changes),
        "ExpressionAttributeNames": {f"#n{i}": name for i, name in enumerate(together)},
        "ExpressionAttributeValues": {f":v{i}": value for i, value in enumerate(_numbers(list(together.values())))},
    }


def _update_if(condition: str, run: str, sort_key: str, **update: Any) -> bool:
    """Update a row if the condition holds; return whether it did."""
    key = {"PK": _partition(run), "SK": sort_key}
    return _if_so(_table().update_item, Key=key, ConditionExpression=condition, **update)


def _if_so(write: Callable[..., Any], **arguments: Any) -> bool:
    """Make a conditional write; return whether its condition held."""
    try:
        write(**arguments)
    except ClientError as error:
        if error.response["Error"]["Code"] != "ConditionalCheckFailedException":
            raise
        return False
    return True
