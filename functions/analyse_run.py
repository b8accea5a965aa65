"""Analyse run: gather all cells into the run's summary, for machines and for people."""

from aws_lambda_powertools import Logger
from aws_lambda_powertools.utilities.typing import LambdaContext

from aws import blackboard, ledger
from aws.clock import now
from aws.environment import environment
from aws.plans import plan_of
from matrix import rendering
from matrix.keys import Board, run_key
from matrix.results import run_summary

logger = Logger()


@logger.inject_lambda_context
def handler(event: dict, _context: LambdaContext) -> dict:
    """Write summary.json, .csv and .md; answer whether every cell was measured and nothing was left behind."""
    run = event["run"]
    plan = plan_of(run)
    results = {
        cell["id"]: result
        for cell in plan["cells"]
        if (result := blackboard.get(Board.of_cell(run, cell["id"]).result)) is not None
    }
    left_behind = [{"kind": row["kind"], "id": row["id"]} for row in ledger.resources(run) if "gone_at" not in row]
    summary = run_summary(
        run=run,
        plan=plan,
        environment=environment().name,
        started_at=plan["created_at"],
        finished_at=now(),
        results=results,
        left_behind=left_behind,
    )
    blackboard.put(run_key(run, "summary.json"), summary)
    blackboard.put_text(run_key(run, "summary.csv"), rendering.to_csv(summary), "text/csv")
    blackboard.put_text(run_key(run, "summary.md"), rendering.to_markdown(summary), "text/markdown")
    return {
        "state": "measured" if summary["status"] == "measured" and not left_behind else "failed",
        "totals": summary["totals"],
        "left_behind": len(left_behind),
        "cost_usd": summary["cost_usd"],
        "summary": f"s3://{environment().bucket}/{run_key(run, 'summary.json')}",
    }
