"""One step of taking a file system down: instances, then their volumes, then the file system, then copies of it."""

from collections.abc import Iterator
from contextlib import contextmanager, suppress

from botocore.exceptions import ClientError

from aws import storages
from aws.ec2 import instances as fleets
from aws.inventory import copies as backups
from aws.inventory import resources
from aws.records import table
from aws.records.plans import file_system_of, plan_of
from aws.run import budget
from aws.stack import tags


@contextmanager
def telling(run: str, file_system: str) -> Iterator[None]:
    """Note in the table why a deletion does not go on, for Analyse run to say it; the error goes on its way."""
    try:
        yield
    except Exception as error:
        why = {"name": type(error).__name__, "message": str(error)}
        with suppress(ClientError):  # the table may be what refuses
            table.set_file_system(run, file_system, "failed", undeleted=why)
        raise


def warnings(run: str) -> list[str]:
    """Say of each file system that could not be deleted why: the sweep that deletes it later does not know."""
    return [
        f"{row['file_system']}: not deleted with its cells, left to the sweep: {why['name']}: {why['message']}"
        for row in table.file_systems(run)
        if row["state"] == "failed" and (why := row.get("undeleted"))
    ]


def step(run: str, file_system: str) -> str:
    """Do what can be done now and return `gone` or `deleting`. Everything is found by tag or token, not from notes."""
    resources.record(run, file_system=file_system)
    if fleets_left(run, file_system):
        return "deleting"
    plan = plan_of(run)
    planned = file_system_of(plan, file_system)
    kind = storages.of(planned["storage"])
    resource_id = kind.find(storages.token(run, file_system))
    if resource_id and not kind.delete(resource_id):
        return "deleting"
    # Copies first: they have rows of their own, which only this look notes as gone.
    copies = copies_of(run, file_system)
    not_ours = backups.delete(copies)
    rows = resources.verify(run, file_system=file_system)
    if {*(copy.id for copy in copies), *(row["id"] for row in rows)} - not_ours:
        return "deleting"
    budget.settle_file_system(run, plan, planned)
    table.set_file_system(run, file_system, "gone")
    return "gone"


def fleets_left(run: str, file_system: str) -> bool:
    """End instances and volumes of the file system; say whether any is still there."""
    instances = fleets.of_file_system(run, file_system)
    fleets.terminate(instances)
    volumes = [
        (volume, state)
        for volume, state, volume_tags in fleets.tagged_volumes()
        if volume_tags[tags.RUN] == run and volume_tags.get(tags.FILE_SYSTEM) == file_system
    ]
    for volume, state in volumes:
        if state == "available":
            fleets.delete_volume(volume)
    return bool(instances or volumes)


def copies_of(run: str, file_system: str) -> list[backups.Copy]:
    """Return the copies that were made of the file system or its volumes, each with a row of its own."""
    rows = [row for row in table.resources(run) if row.get("file_system") == file_system]
    found = backups.look(run, rows)
    of_it = {row["id"] for row in rows}
    copies = [copy for copy in found.copies if copy.of in of_it]
    backups.note(run, backups.Look(copies, found.unasked), rows)
    return copies
