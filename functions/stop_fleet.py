"""Stop fleet: end every instance of a cell, whether it measured or failed, so that the next cell runs alone."""

from typing import Any

from aws_lambda_powertools.utilities.typing import LambdaContext

from aws.ec2 import instances as fleets
from aws.ec2 import resources
from aws.records import table
from aws.records.plans import cell_of, plan_of
from aws.stack.entry import entry


@entry
def handler(event: dict[str, Any], _context: LambdaContext) -> dict[str, Any]:
    """Terminate the instances with the cell's tags; tags also find those of a launch that crashed half-way."""
    run, cell = event["run"], event["cell"]
    table.set_cell(run, cell, "stopping")
    file_system = cell_of(plan_of(run), cell)["file_system"]
    resources.record(run, cell, file_system)
    instances = fleets.of_file_system(run, file_system, cell)
    fleets.terminate(instances)
    return {"cell": cell, "stopped": len(instances)}
