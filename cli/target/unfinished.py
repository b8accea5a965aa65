"""The summary of a run that has none to be read: it ended before its analysis, or the file is damaged.

It is made from the results of the run's cells.
"""

from collections.abc import Callable
from typing import Any, cast

from cli.target.documents import readable
from cli.target.service import Execution
from matrix.terms.documents.plan import PlanDocument
from matrix.terms.documents.result import ResultDocument
from matrix.terms.documents.summary import SummaryDocument

Read = Callable[[str], dict[str, Any] | None]

STATUS = "interrupted"


def resume_line(run: str, flag: str) -> str:
    """Say how the cells that are missing are measured."""
    return f"measure the rest: `matrix run --resume {run} {flag}`"


def summary(
    run: str, read: Read, execution: Execution | None, flag: str, *, is_damaged: bool = False
) -> SummaryDocument | None:
    """Return the summary of what a run measured before it ended; None where there is no result of any cell.

    `execution` is None where nobody remembers it: Step Functions does so for 90 days. `flag` chooses the deployment.
    `is_damaged`: the run was analysed, but its summary cannot be read.
    """
    plan = cast("PlanDocument | None", readable(read, "plan.json"))
    cells = plan["cells"] if plan else []
    results = {
        cell["id"]: cast("ResultDocument", result)
        for cell in cells
        if (result := readable(read, f"cells/{cell['id']}/result.json"))
    }
    if plan is None or not results:
        return None
    # numpy takes a tenth of a second to import, scipy half a one; a run that was analysed needs neither.
    from matrix.answer.costs import Bill
    from matrix.answer.decision import decide
    from matrix.answer.results import interrupted_summary, run_summary

    facts: dict[str, Any] = {
        "run": run,
        "plan": plan,
        "environment": plan.get("environment", ""),
        "started_at": execution.started_at if execution else plan.get("created_at"),
        "finished_at": execution.ended_at if execution else None,
        "results": results,
    }
    document = run_summary(**facts, left_behind=[]) if is_damaged else interrupted_summary(**facts)
    measured, total = document["totals"]["measured"], document["totals"]["cells"]
    if is_damaged:
        sentence = (
            f"summary.json cannot be read: this is put together from the results of {len(results)} of {total} cells"
        )
    else:
        why = _why(execution)
        sentence = f"{measured} of {total} cells were measured before the run ended ({why}); {resume_line(run, flag)}"
    objective = (readable(read, "matrix.json") or {}).get("objective")
    return {
        **document,
        "warnings": [sentence, *document["warnings"]],
        "decision": decide(document, results=results, objective=objective, bill=Bill.of(plan, None)),
    }


def _why(execution: Execution | None) -> str:
    if execution is None:
        return "nobody knows why"
    return ": ".join(word for word in (execution.status, execution.error) if word)
