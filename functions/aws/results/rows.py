"""A run's figures as rows: in the table, which answers questions over runs, and in the bucket for Athena."""

from collections.abc import Collection
from concurrent.futures import ThreadPoolExecutor

from aws_lambda_powertools import Logger

from aws.records import bucket, table
from aws.records.plans import plan_of
from matrix.answer.costs import Bill
from matrix.answer.rows import Origin, Row, rows_of, to_json_lines
from matrix.terms.documents.plan import PlanCell, PlanDocument
from matrix.terms.documents.result import ResultDocument
from matrix.terms.keys import points_key

PUTS_AT_ONCE = 16


def record(run: str, cell: PlanCell, result: ResultDocument) -> None:
    """Write the rows of a cell as soon as it has ended: its run may be stopped before its analysis.

    One of several launches has none: it counts together with the others, which Analyse run does.
    """
    if "joined" in cell:
        return
    try:
        rows = list(rows_of(Origin.of_plan(plan_of(run)), result, None))
        _put(run, rows)
        table.record_results(run, _primary(rows))
    except Exception:  # any error: it must not cost the measurement
        Logger().exception("no rows of %s", cell["id"])


def record_run(plan: PlanDocument, results: Collection[ResultDocument], bill: Bill) -> list[str]:
    """Write the rows of cells that a run has measured itself, now with costs; return the error, if any."""
    try:
        origin = Origin.of_plan(plan)
        rows = [list(rows_of(origin, result, bill)) for result in results]
        with ThreadPoolExecutor(PUTS_AT_ONCE) as pool:
            for _ in pool.map(lambda of_cell: _put(origin.run, of_cell), rows):
                pass
        table.record_results(origin.run, [row for of_cell in rows for row in _primary(of_cell)])
    except Exception as error:  # any error: it must not cost the measurement
        Logger().exception("no rows")
        return [f"the run has no rows that answer questions: {type(error).__name__}: {error}"]
    return []


def _put(run: str, rows: list[Row]) -> None:
    bucket.put_text(points_key(run, rows[0]["cell"]), to_json_lines(rows), "application/x-ndjson")


def _primary(rows: list[Row]) -> list[Row]:
    return [row for row in rows if row["is_primary"]]
