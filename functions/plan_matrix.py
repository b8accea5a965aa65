"""Plan matrix: refuse a bad matrix with all its problems, else say which cells will be measured and at what cost."""

import json

from aws_lambda_powertools import Logger
from aws_lambda_powertools.utilities.typing import LambdaContext

from aws import agent_package, blackboard, ledger
from aws.clock import now
from aws.environment import environment
from matrix.keys import run_key
from matrix.planning import plan
from matrix.scenario import read_matrix

logger = Logger()


@logger.inject_lambda_context
def handler(event: dict, _context: LambdaContext) -> dict:
    """Write the plan of a run. InvalidMatrix fails the execution before anything exists."""
    run = event["run"]
    matrix = read_matrix(json.dumps(event["matrix"]))
    planned = plan(matrix, region=environment().region)
    created_at = now()
    document = planned.to_document() | {
        "run": run,
        "execution_arn": event["execution_arn"],
        "created_at": created_at,
        "deadline_at": created_at + planned.deadline_s,
        "owner": matrix.owner or "unknown",
        "environment": environment().name,
        "agent_key": agent_package.publish(),
    }
    blackboard.put(run_key(run, "matrix.json"), event["matrix"])
    blackboard.put(run_key(run, "plan.json"), document)
    facts = ("execution_arn", "created_at", "deadline_at", "owner", "environment")
    ledger.start_run(run, document, **{name: document[name] for name in facts})
    expected_usd = document["totals"]["cost_usd"]["expected"]
    return {
        "file_systems": [one["id"] for one in document["file_systems"]],
        "max_concurrent_file_systems": matrix.max_concurrent_file_systems,
        "dry_run": matrix.dry_run,
        "within_budget": matrix.budget_usd is None or expected_usd <= matrix.budget_usd,
        "budget_usd": matrix.budget_usd,
        "totals": document["totals"],
        "plan": f"s3://{environment().bucket}/{run_key(run, 'plan.json')}",
    }
