"""The rows by which the table answers questions over runs."""

from collections.abc import Iterable

from aws_lambda_powertools import Logger

from aws.records import table
from matrix.answer.costs import Bill
from matrix.answer.rows import rows_of
from matrix.terms.documents.plan import PlanDocument
from matrix.terms.documents.result import ResultDocument


def record(run: str, plan: PlanDocument, results: Iterable[ResultDocument], bill: Bill | None = None) -> list[str]:
    """Write the rows of cells that this run has measured; return what went wrong: the figures hold without them."""
    try:
        table.record_results(
            run, [row for result in results for row in rows_of(plan, result, bill) if row["is_primary"]]
        )
    except Exception as error:  # of any kind: it must not cost what was measured
        Logger().exception("no rows")
        return [f"the table has no rows that answer questions: {type(error).__name__}: {error}"]
    return []
