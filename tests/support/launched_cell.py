"""A launched cell on moto: its documents, and the uploads of its two instances."""

from typing import Any

from support.function_events import RUN, load_event

import plan_matrix
from aws.records import bucket
from aws.records.plans import plan_of
from matrix.run.job import measuring_job
from matrix.terms.documents.plan import PlanCell
from matrix.terms.keys import Board

FLEET = ("i-1", "i-2")
HISTOGRAMS = {"schema": 1, "unit": "ns", "histograms": {"create_lat": {"bins": {"1000": 64}}}}


def launch_cell(context: Any, launched_at: float = 1.0) -> PlanCell:
    """Plan the example and write the files of the functions and both instances of its first cell until the end."""
    plan_matrix.handler(load_event("plan_matrix"), context)
    cell = plan_of(RUN)["cells"][0]
    board = Board.of_cell(RUN, cell["id"])
    setting = {"run": RUN, "mount": {"kind": "root"}, "bucket": "b", "environment": "aws", "gate_margin_s": 5.0}
    bucket.put(board.job, measuring_job(cell=cell, now=launched_at, **setting))
    bucket.put(board.fleet, {"instances": FLEET, "expected": len(FLEET), "shortfall": "", "launched_at": launched_at})
    for instance in FLEET:
        folder = f"{board.instances}AROA:{instance}"
        samples = [
            {
                **step, "step": n, "started_at": 1.0, "ended_at": 2.0,
                "metrics": {"files_per_s": 64.0, "duration_s": 1.0},
                "raw": [f"raw/{step['point']}-r{step['repetition']}.{kind}.json" for kind in ("histograms", "series")],
            }
            for n, step in enumerate(cell["steps"])
        ]  # fmt: skip
        identity = {"id": instance, "type": cell["fleet"]["instanceType"]}
        document = {"schema": 1, "run": RUN, "cell": cell["id"], "instance": identity, "samples": samples}
        bucket.put(f"{folder}/samples.json", document)
        bucket.put(f"{folder}/heartbeat", {})
        for step in cell["steps"]:
            stem = f"{folder}/raw/{step['point']}-r{step['repetition']}"
            bucket.put(f"{stem}.histograms.json", HISTOGRAMS)
    # The last of them has lived to put its latencies together.
    steps = {f"{step['point']}-r{step['repetition']}": HISTOGRAMS for step in cell["steps"]}
    bucket.put(f"{folder}/latencies-0000.json.gz", {"schema": 1, "steps": steps})
    return cell
