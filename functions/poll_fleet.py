"""Poll fleet: report the progress of a cell's instances, and when to poll again.

It opens the next gate if all instances wait and none of them opens it.
"""

from typing import Any

from aws_lambda_powertools import Logger
from aws_lambda_powertools.utilities.typing import LambdaContext

from aws.fleet import watching
from aws.records import bucket, table
from aws.stack.clock import now
from aws.stack.entry import entry
from matrix.run import polling
from matrix.terms.documents.job import Gate
from matrix.terms.keys import Board

logger = Logger()


@entry
def handler(event: dict[str, Any], _context: LambdaContext) -> dict[str, Any]:
    """Answer `waiting`, `running` or `finished`; a fleet that cannot finish is an error that names the instances."""
    run, cell = event["run"], event["cell"]
    board = Board.of_cell(run, cell)
    watched = watching.watch(board)
    progress, barrier, place = watched.progress, watched.job["barrier"], watched.place
    if progress.gate_to_open is not None and barrier and place:
        gate: Gate = {
            "step": progress.gate_to_open,
            "start_at": now() + barrier["margin_s"],
            "opener": "Poll fleet",
        }
        bucket.put_if_absent(place.gate(progress.gate_to_open), gate)
        logger.warning("no instance has opened the gate of step %d", progress.gate_to_open)
    steps = watched.job["steps"]
    point = steps[progress.step]["point"] if progress.step < len(steps) else None
    state = "running" if progress.state == "finished" else progress.state
    table.set_cell(run, cell, state, step=progress.step, point=point, instances=progress.counts())
    points = [each["point"] for each in steps]
    left_s = polling.left_s(points, watched.opened_at, now())
    # A run that started before the stack was updated has no `early_looks`; its interval stays unchanged.
    poll = polling.next_poll(event["poll_s"], event.get("early_looks", 0), left_s)
    return {
        "cell": cell,
        "poll_s": event["poll_s"],
        "wait_s": poll.wait_s,
        "early_looks": poll.early_looks,
        "state": progress.state,
    }
