"""Resources of a run in AWS's lists: found by tag for the table, looked up by id until gone."""

from collections.abc import Iterator
from typing import Any

from aws.ec2 import resources
from aws.ec2.resources import DeletionCheck, Resource
from aws.records import table
from aws.stack import tags
from aws.storages.clouds import FILE_SYSTEMS

_DELETION_CHECKS = {
    kind: DeletionCheck(storage.deleted, storage.DELETION_PROOF) for kind, storage in FILE_SYSTEMS.items()
}


def record(run: str, *, file_system: str | None = None) -> None:
    """Give every resource of a run or file system its row."""
    every = of_run(run, file_system)
    mine = (resource for resource in every if file_system in (None, resource.facts.get("file_system")))
    resources.add_rows(run, mine, file_system)


def of_run(run: str, file_system: str | None = None) -> Iterator[Resource]:
    """Yield every resource with the run's tag; of instances and volumes only those of a file system, if named.

    It asks only services that the run planned to use, because an account may forbid the others.
    """
    yield from resources.of_fleets(run, file_system)
    planned = table.file_systems(run)
    for kind, storage in FILE_SYSTEMS.items():
        if all(row["storage_type"] != kind for row in planned):
            continue
        for existing in storage.existing():
            if tags.is_ours(tags.as_mapping(existing.tags), run):
                yield Resource(kind, existing.id, resources.facts_of(existing.tags, existing.created_at))


def verify(run: str, *, file_system: str | None = None) -> list[dict[str, Any]]:
    """Ask each service for resources not known to be gone; mark the rows of gone ones, return the other rows."""
    return resources.verify(run, file_system=file_system, of_storages=_DELETION_CHECKS)
