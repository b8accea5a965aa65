"""Create file system: start to make what the cells of one storage share, tagged before it can cost anything."""

from typing import Any

from aws_lambda_powertools.utilities.typing import LambdaContext

from aws import storages
from aws.records import table
from aws.records.plans import file_system_of, plan_of
from aws.run import budget
from aws.stack import tags
from aws.stack.clock import now
from aws.stack.entry import entry


@entry
def handler(event: dict[str, Any], _context: LambdaContext) -> dict[str, Any]:
    """Create the file system, or find the one that an earlier attempt created.

    OverBudget or DeadlinePassed is raised before anything exists; its cells are then skipped.
    """
    run, name = event["run"], event["file_system"]
    plan = plan_of(run)
    planned = file_system_of(plan, name)
    budget.admit_file_system(run, plan, planned)
    table.set_file_system(run, name, "creating")
    kind, resource_id = storages.file_system(planned["storage"]), None
    if kind and (exists := storages.existing_id(planned["storage"])):
        # Somebody's own: it gets no tag and no row, by either of which it would be deleted.
        resource_id = exists
        table.set_file_system(run, name, "creating", resource_id=resource_id)
    elif kind:
        file_system_tags = tags.tags(plan, file_system=name)
        resource_id = kind.create(storages.token(run, name), planned["storage"], file_system_tags, run, name)
        table.set_file_system(run, name, "creating", resource_id=resource_id)
        table.record_resource(run, planned["storage"]["type"], resource_id, file_system=name)
    return {
        "resource_id": resource_id,
        "started_at": now(),
        "cells": planned["cells"],
        "populate": planned["populate"] is not None,
    }
