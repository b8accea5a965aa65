"""The summary of a run without a readable one: it ended before its analysis, or the file is damaged.

It is made from the results of the run's cells.
"""

from collections.abc import Iterable
from typing import Any, cast

from cli.messages.errors import UnreadableRun
from cli.target.documents import note, readable
from cli.target.run_documents import RunDocuments
from cli.target.run_folders import RunStore
from cli.target.service import Execution
from matrix.terms.documents.plan import PlanDocument
from matrix.terms.documents.result import ResultDocument
from matrix.terms.documents.summary import SummaryDocument
from matrix.text.endings import INTERRUPTED

STATUS = INTERRUPTED


def resume_line(run: str, flag: str) -> str:
    """Return the sentence with the command that measures the missing cells."""
    return f"measure the rest: `matrix run --resume {run} {flag}`"


def summary(
    store: RunStore, run: str, execution: Execution | None, *, is_damaged: bool = False
) -> SummaryDocument | None:
    """Return a summary of the cells that a run measured before it ended; None if no cell has a result.

    `execution` is None if there is no record of it: Step Functions keeps one for 90 days. `is_damaged`: the run was
    analysed, but its summary cannot be read. Without a readable plan, the summary has only the cells with results.
    """
    left = RunDocuments(store, run)
    plan = readable(left.plan)
    cells = [cell["id"] for cell in plan["cells"]] if plan else store.measured_cells(run)
    results, damaged = _results(left, cells)
    if not results and not damaged:
        return None
    # numpy takes a tenth of a second to import, scipy half a second; an analysed run needs neither.
    from matrix.answer.costs import Bill
    from matrix.answer.decision import decide
    from matrix.answer.launches import join
    from matrix.answer.results import interrupted_summary, never_begun, never_measured, run_summary, unreadable_result

    known = plan or _plan_of(run, list(results.values()), "local" if store.is_here else "aws")
    shown = {
        **results,
        **{cell["id"]: unreadable_result(cell) for cell in known["cells"] if cell["id"] in damaged},
    }
    shown = join(known, shown, never_measured if is_damaged else never_begun)
    facts: dict[str, Any] = {
        "run": run,
        "plan": known,
        "environment": known.get("environment", ""),
        "started_at": execution.started_at if execution else known.get("created_at"),
        "finished_at": execution.ended_at if execution else None,
        "results": shown,
    }
    document = run_summary(**facts, left_behind=[]) if is_damaged else interrupted_summary(**facts)
    measured = document["totals"]["measured"]
    total = f"{document['totals']['cells']} cells" if plan else "an unknown number of cells"
    if is_damaged:
        sentence = f"summary.json cannot be read: this is put together from the results of {len(results)} of {total}"
    else:
        why = _why(execution)
        sentence = f"{measured} of {total} were measured before the run ended ({why}); {resume_line(run, store.flag)}"
    objective = (readable(left.matrix) or {}).get("objective")
    return {
        **document,
        "warnings": [sentence, *document["warnings"]],
        "decision": decide(document, results=shown, objective=objective, bill=Bill.of(plan, None)),
    }


def _results(left: RunDocuments, cells: Iterable[str]) -> tuple[dict[str, ResultDocument], set[str]]:
    """Return the results of these cells, and the cells whose result is damaged; damage is noted."""
    results: dict[str, ResultDocument] = {}
    damaged: set[str] = set()
    for cell in cells:
        try:
            result = left.result(cell)
        except UnreadableRun as error:
            note(error)
            damaged.add(cell)
        else:
            if result:
                results[cell] = result
    return results, damaged


def _plan_of(run: str, results: list[ResultDocument], environment: str) -> PlanDocument:
    """Return a plan made from the results of a run, whose own plan cannot be read.

    A launch is not a separate cell if there is a joined result of all launches.
    """
    known = {"name": run, "environment": environment, "totals": {"cost_usd": None}, "warnings": []}
    launches = {launch["cell"] for result in results for launch in result.get("launches", [])}
    cells = [{"id": result["id"]} for result in results if result["id"] not in launches]
    return cast("PlanDocument", {**known, "cells": cells})


def _why(execution: Execution | None) -> str:
    if execution is None:
        return "reason unknown"
    return ": ".join(filter(None, [execution.status, execution.error]))
