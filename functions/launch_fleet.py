"""Launch fleet: launch the instances of a cell, which run its job together."""

from functools import partial
from typing import Any

from aws_lambda_powertools.utilities.typing import LambdaContext

from aws.ec2 import images
from aws.fleet import launching
from aws.records import table
from aws.records.plans import cell_of, plan_of
from aws.stack.clock import now
from aws.stack.entry import entry
from aws.stack.environment import environment
from aws.storages import clouds
from matrix.input.pace import early_looks
from matrix.run.job import measuring_job
from matrix.terms.keys import Board


@entry
def handler(event: dict[str, Any], _context: LambdaContext) -> dict[str, Any]:
    """Launch the fleet of a cell; a refusal for quota or capacity is an error with its own name."""
    run = event["run"]
    plan = plan_of(run)
    cell = cell_of(plan, event["cell"])
    table.set_file_system(run, cell["file_system"], "measuring")
    table.set_cell(run, cell["id"], "launching", started_at=now())
    launching.launch(
        plan=plan,
        board=Board.of_cell(run, cell["id"]),
        cell=cell,
        purpose=cell["id"],
        fleet=cell["fleet"],
        boot=images.booted(plan, cell),
        mount=clouds.mount_of(
            cell["storage"], event["resource_ids"], run, wants_device=bool(cell["workload"].get("device"))
        ),
        job=partial(measuring_job, cell=cell, gate_margin_s=environment().gate_margin_s),
        subnets=clouds.subnets(cell["storage"]),
        attach=partial(clouds.STORAGES[cell["storage"]["type"]].attach, cell["storage"]),
        storage_zone=clouds.zone_of(cell["storage"]),
    )
    table.set_cell(run, cell["id"], "waiting")
    neighbours = [each for each in plan["cells"] if each["file_system"] == cell["file_system"]]
    looks = early_looks([(each["deadline_s"], each["poll_s"]) for each in neighbours])
    return {"cell": cell["id"], "poll_s": cell["poll_s"], "wait_s": cell["poll_s"], "early_looks": looks}
