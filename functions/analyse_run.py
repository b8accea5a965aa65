"""Analyse run: combine all cells into the run's summary, for programs and for people."""

from typing import Any

from aws_lambda_powertools import Logger
from aws_lambda_powertools.utilities.typing import LambdaContext

from aws.records import bucket, table
from aws.records.plans import cell_of, plan_of
from aws.results import analysing, comparisons, observing, rows
from aws.run import endings
from aws.run.failures import readable
from aws.stack.clock import now
from aws.stack.entry import entry
from aws.stack.environment import environment
from aws.teardown import deleting, receipts
from matrix.answer import launches
from matrix.answer.costs import Bill
from matrix.answer.decision import decide
from matrix.answer.results import run_summary
from matrix.answer.service_times import service_times
from matrix.answer.values import values_of
from matrix.input.storage_names import candidate_names
from matrix.report import csv_rows, markdown, page
from matrix.terms.documents.parts import Failure
from matrix.terms.documents.plan import PlanDocument
from matrix.terms.documents.result import ResultDocument
from matrix.terms.documents.summary import SummaryDocument
from matrix.terms.keys import Board, run_key
from matrix.text.headlines import answer_sentences

logger = Logger()


@entry
def handler(event: dict[str, Any], _context: LambdaContext) -> dict[str, Any]:
    """Write the summaries and the report; answer whether every cell was measured and everything was cleaned up.

    `failure` is why the images of the run could not be baked, if they could not.
    """
    run = event["run"]
    plan = plan_of(run)
    if event.get("failure"):
        _record_unbaked(run, plan, readable(event["failure"]))
    results = {
        cell["id"]: result
        for cell in plan["cells"]
        if (result := bucket.read(Board.of_cell(run, cell["id"]).result, ResultDocument)) is not None
    }
    warnings = _refresh(run, results, plan)
    results = _join(run, results, plan)
    receipt = receipts.make(run, sweep=None)
    left_behind = receipts.still_there(receipt)
    summary = run_summary(
        run=run,
        plan=plan,
        environment=plan["environment"],
        started_at=plan["created_at"],
        finished_at=now(),
        results=results,
        left_behind=left_behind,
    )
    summary["receipt"] = receipt
    summary["service_times"] = service_times(plan, table.file_systems(run), results)
    summary["warnings"] += deleting.warnings(run)
    warnings += _decide(summary, results, plan)
    own = [results[cell["id"]] for cell in summary["cells"] if cell["id"] in results and "taken_from" not in cell]
    warnings += rows.record_run(plan, own, Bill.of(plan, receipt))
    table.record_times(run, summary["started_at"], summary["finished_at"])
    bucket.put(run_key(run, "summary.json"), summary)
    bucket.put_text(run_key(run, "summary.csv"), csv_rows.to_csv(summary), "text/csv")
    bucket.put_text(run_key(run, "summary.md"), markdown.to_markdown(summary), "text/markdown")
    warnings += _write_values(run, summary, results)
    warnings += _compare(plan, summary, results)
    undrawn = _write_report(run, summary, results, plan)
    if not receipts.is_current(receipt):  # for a run that was stopped during this function, and swept meanwhile
        receipts.settle(run)
    return {
        "state": "measured" if summary["status"] == "measured" and not left_behind else "failed",
        "totals": summary["totals"],
        "left_behind": len(left_behind),
        "cost_usd": summary["cost_usd"],
        "decision": answer_sentences(summary, candidate_names(summary)),
        "summary": f"s3://{environment().bucket}/{run_key(run, 'summary.json')}",
        "report": None if undrawn else f"s3://{environment().bucket}/{run_key(run, 'report.html')}",
        "open_report": None if undrawn else endings.report_address(run),
        "warnings": warnings + undrawn,
    }


def _record_unbaked(run: str, plan: PlanDocument, error: Failure) -> None:
    """Write the results of all cells, of which none was launched."""
    logger.error("image failed", error=error)
    error["subject"] = "baking its image"
    for file_system in plan["file_systems"]:
        for cell in file_system["cells"]:
            analysing.write_unmeasured(cell_of(plan, cell), analysing.Uploads(run, cell, None), error)
        if file_system["cells"]:
            table.set_file_system(run, file_system["id"], "failed", error=error)


def _refresh(run: str, results: dict[str, ResultDocument], plan: PlanDocument) -> list[str]:
    """Read metrics again that CloudWatch may have published since; return warnings: no figure depends on them."""
    try:
        observing.refresh(run, results, plan["environment"])
    except Exception as error:  # any error: it must not lose measured results
        logger.exception("metrics not refreshed")
        return [f"CloudWatch's metrics were not looked at again: {type(error).__name__}: {error}"]
    return []


def _join(run: str, results: dict[str, ResultDocument], plan: PlanDocument) -> dict[str, ResultDocument]:
    """Write one result for all launches of each cell that was launched several times; return all results."""
    joined = launches.join(plan, results)
    for cell in joined.keys() - {cell["id"] for cell in plan["cells"]}:
        bucket.put(Board.of_cell(run, cell).result, joined[cell])
    return joined


def _decide(summary: SummaryDocument, results: dict[str, ResultDocument], plan: PlanDocument) -> list[str]:
    """Put the decision into the summary; return warnings: the figures are valid without a decision."""
    bill = Bill.of(plan, summary["receipt"])
    try:
        summary["decision"] = decide(summary, results=results, objective=plan.get("objective"), bill=bill)
    except Exception as error:  # any error: it must not lose measured results
        logger.exception("no decision")
        return [f"no decision was reached: {type(error).__name__}: {error}"]
    return []


def _write_values(run: str, summary: SummaryDocument, results: dict[str, ResultDocument]) -> list[str]:
    """Write the values for comparisons; return warnings: comparisons can read the results themselves."""
    try:
        bucket.put(run_key(run, "summary.values.json"), values_of(summary, results))
    except Exception as error:  # any error: it must not lose measured results
        logger.exception("no values")
        return [f"summary.values.json was not written: {type(error).__name__}: {error}"]
    return []


def _compare(plan: PlanDocument, summary: SummaryDocument, results: dict[str, ResultDocument]) -> list[str]:
    """Compare the run with the one that its matrix names; return warnings: no figure depends on it."""
    asked = plan.get("compare_with")
    if asked is None:
        return []
    try:
        bucket.put(run_key(summary["run"], "comparison.json"), comparisons.compared(summary, results, asked))
    except Exception as error:  # any error: it must not lose measured results
        logger.exception("no comparison")
        return [f"comparison.json was not written: {type(error).__name__}: {error}"]
    return []


def _write_report(
    run: str,
    summary: SummaryDocument,
    results: dict[str, ResultDocument],
    plan: PlanDocument,
) -> list[str]:
    """Write report.html; return warnings: a page that cannot be drawn must not lose measured figures."""
    try:
        html = page.render(summary, results=results, plan=plan)
        bucket.put_text(run_key(run, "report.html"), html, "text/html; charset=utf-8")
    except Exception as error:  # any error: the summary is written, and `matrix report` can draw the page again
        logger.exception("no report")
        return [f"report.html was not written: {type(error).__name__}: {error}"]
    return []
