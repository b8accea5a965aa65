"""Poll fleet: say how far a cell's instances have got, and open the next gate when all stand before it."""

from typing import Any

from aws_lambda_powertools import Logger
from aws_lambda_powertools.utilities.typing import LambdaContext

from aws.fleet import watching
from aws.records import bucket, table
from aws.stack.clock import now
from aws.stack.environment import environment
from matrix.terms.keys import Board

logger = Logger()


@logger.inject_lambda_context
def handler(event: dict[str, Any], _context: LambdaContext) -> dict[str, Any]:
    """Answer `waiting`, `running` or `finished`; a fleet that cannot finish is an error that names the instances."""
    run, cell = event["run"], event["cell"]
    board = Board.of_cell(run, cell)
    watched = watching.watch(board)
    progress = watched.progress
    if progress.gate_to_open is not None:
        bucket.put(
            board.gate,
            {
                "step": progress.gate_to_open,
                "start_at": now() + environment().gate_margin_s,
                "ready": progress.ready,
                "expected": progress.expected,
            },
        )
    steps = watched.job["steps"]
    point = steps[progress.step]["point"] if progress.step < len(steps) else None
    state = "running" if progress.state == "finished" else progress.state
    table.set_cell(run, cell, state, step=progress.step, point=point, instances=progress.counts())
    return {"cell": cell, "poll_s": event["poll_s"], "state": progress.state}
