"""Populate cache: launch the instance that fills the download cache on a file system, before any cell runs."""

from functools import partial
from typing import Any

from aws_lambda_powertools.utilities.typing import LambdaContext

from aws.ec2 import images
from aws.fleet import launching
from aws.records import table
from aws.records.plans import cell_of, file_system_of, plan_of
from aws.stack.entry import entry
from aws.storages import clouds
from matrix.run.job import populating_job
from matrix.storages.models import how_many
from matrix.terms.keys import Board


@entry
def handler(event: dict[str, Any], _context: LambdaContext) -> dict[str, Any]:
    """Launch the populating instance of each file system, with the type of the first cell that uses the cache."""
    run, name = event["run"], event["file_system"]
    plan = plan_of(run)
    planned = file_system_of(plan, name)
    populate = planned["populate"]
    if populate is None:
        raise ValueError(f"{name}: no workload on this file system has a cache to fill")
    cell = cell_of(plan, populate["cell"])
    table.set_file_system(run, name, "populating")
    zones = [1.0] * how_many(planned["storage"])
    launching.launch(
        plan=plan,
        board=Board.of_cache(run, name),
        cell=cell,
        purpose="cache",
        # On-demand, in the file system's zone: it is not measured, and a Spot interruption would fail all cells.
        fleet={
            "instanceType": cell["fleet"]["instanceType"],
            "count": len(zones),
            "placement": zones,
        },
        boot=images.booted(plan, cell),
        mount=clouds.mount_of(cell["storage"], event["resource_ids"], run),
        job=partial(populating_job, cell=cell),
        subnets=clouds.subnets(cell["storage"]),
    )
    return {"state": "populating", "poll_s": cell["poll_s"]}
