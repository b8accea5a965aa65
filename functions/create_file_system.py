"""Create file system: start to create the shared storage of a group of cells, tagged before it can cost anything."""

from typing import Any

from aws_lambda_powertools.utilities.typing import LambdaContext

from aws.records import table
from aws.records.plans import file_system_of, plan_of
from aws.run import budget, creations
from aws.stack import denials, tags
from aws.stack.clock import now
from aws.stack.entry import entry
from aws.storages import clouds
from matrix.storages.models import existing_id


@entry
def handler(event: dict[str, Any], _context: LambdaContext) -> dict[str, Any]:
    """Create the file system, or each of several, or find those that an earlier attempt created.

    OverBudget or DeadlinePassed is raised before anything exists; its cells are then skipped.
    """
    run, name = event["run"], event["file_system"]
    plan = plan_of(run)
    planned = file_system_of(plan, name)
    budget.admit_file_system(run, plan, planned)
    table.set_file_system(run, name, "creating")
    storage, resource_ids = planned["storage"], []
    kind = clouds.file_system(storage)
    if kind and (exists := existing_id(storage)):
        # The user's existing one gets no tag and no row, because either would lead to its deletion.
        resource_ids = [exists]
        table.set_file_system(run, name, "creating", resource_ids=resource_ids)
    elif kind:
        file_system_tags = tags.tags(plan, file_system=name)
        facts = {"file_system": name, **({"cell": kind.PURPOSE} if kind.PURPOSE else {})}
        with creations.noted(run, name), denials.explained(plan):
            for zone, token in enumerate(clouds.tokens(run, name, storage)):
                resource_ids.append(kind.create(token, storage, file_system_tags, run, name, zone))
                table.record_resource(run, storage["type"], resource_ids[-1], **facts)
        table.set_file_system(run, name, "creating", resource_ids=resource_ids)
    return {
        "resource_ids": resource_ids,
        "started_at": now(),
        "cells": planned["cells"],
        "populate": planned["populate"] is not None,
    }
