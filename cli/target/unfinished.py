"""The summary of a run that has none to be read: it ended before its analysis, or the file is damaged.

It is made from the results of the run's cells.
"""

from collections.abc import Callable
from functools import partial
from typing import Any, cast

from cli.messages.errors import UnreadableRun
from cli.target.documents import note, readable
from cli.target.run_store import RunStore
from cli.target.service import Execution
from matrix.terms.documents.plan import PlanDocument
from matrix.terms.documents.result import ResultDocument
from matrix.terms.documents.summary import SummaryDocument
from matrix.text.endings import INTERRUPTED

Read = Callable[[str], dict[str, Any] | None]

STATUS = INTERRUPTED
DAMAGED: dict[str, Any] = {}


def resume_line(run: str, flag: str) -> str:
    """Say how the cells that are missing are measured."""
    return f"measure the rest: `matrix run --resume {run} {flag}`"


def summary(
    store: RunStore, run: str, execution: Execution | None, *, is_damaged: bool = False
) -> SummaryDocument | None:
    """Return the summary of what a run measured before it ended; None where there is no result of any cell.

    `execution` is None where nobody remembers it: Step Functions does so for 90 days. `is_damaged`: the run was
    analysed, but its summary cannot be read. Without a plan that can be read, it tells of the cells that have results.
    """
    read = partial(store.document, run)
    plan = cast("PlanDocument | None", _unless_damaged(read, "plan.json"))
    cells = [cell["id"] for cell in plan["cells"]] if plan else store.measured_cells(run)
    seen = {cell: _unless_damaged(read, f"cells/{cell}/result.json") for cell in cells}
    results = {cell: cast("ResultDocument", result) for cell, result in seen.items() if result}
    if all(result is None for result in seen.values()):
        return None
    # numpy takes a tenth of a second to import, scipy half a one; a run that was analysed needs neither.
    from matrix.answer.costs import Bill
    from matrix.answer.decision import decide
    from matrix.answer.launches import join
    from matrix.answer.results import interrupted_summary, never_begun, never_measured, run_summary, unreadable_result

    known = plan or _plan_of(run, list(results.values()), "local" if store.is_here else "aws")
    shown = {
        **results,
        **{cell["id"]: unreadable_result(cell) for cell in known["cells"] if seen[cell["id"]] == DAMAGED},
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
    total = f"{document['totals']['cells']} cells" if plan else "nobody knows how many cells"
    if is_damaged:
        sentence = f"summary.json cannot be read: this is put together from the results of {len(results)} of {total}"
    else:
        why = _why(execution)
        sentence = f"{measured} of {total} were measured before the run ended ({why}); {resume_line(run, store.flag)}"
    objective = (readable(read, "matrix.json") or {}).get("objective")
    return {
        **document,
        "warnings": [sentence, *document["warnings"]],
        "decision": decide(document, results=shown, objective=objective, bill=Bill.of(plan, None)),
    }


def _unless_damaged(read: Read, name: str) -> dict[str, Any] | None:
    """Return a document, None where there is none, and an empty one where it is damaged, which is noted."""
    try:
        return read(name)
    except UnreadableRun as error:
        note(error)
        return DAMAGED


def _plan_of(run: str, results: list[ResultDocument], environment: str) -> PlanDocument:
    """Return what the results of a run say of its plan, which cannot be read.

    A launch is no cell of its own where there is a result of all launches.
    """
    known = {"name": run, "environment": environment, "totals": {"cost_usd": None}, "warnings": []}
    launches = {launch["cell"] for result in results for launch in result.get("launches", [])}
    cells = [{"id": result["id"]} for result in results if result["id"] not in launches]
    return cast("PlanDocument", {**known, "cells": cells})


def _why(execution: Execution | None) -> str:
    if execution is None:
        return "nobody knows why"
    return ": ".join(word for word in (execution.status, execution.error) if word)
