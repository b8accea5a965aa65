"""One step of deleting a file system: its instances, then their volumes, then itself, then copies of it."""

from aws.ec2 import instances as fleets
from aws.records import table
from aws.records.plans import file_system_of, plan_of
from aws.run import budget
from aws.stack import tags
from aws.storages import clouds
from aws.storages.base import Copy
from aws.teardown import copies as backups
from aws.teardown import inventory
from matrix.storages.models import existing_id


def warnings(run: str) -> list[str]:
    """Return a sentence for each file system that could not be deleted; the later sweep does not know the reason."""
    return [
        f"{row['file_system']}: not deleted with its cells, left to the sweep: {why['name']}: {why['message']}"
        for row in table.file_systems(run)
        if row["state"] == "failed" and (why := row.get("undeleted"))
    ]


def step(run: str, file_system: str) -> str:
    """Do all deletions that are possible now; return `gone` or `deleting`. Finds resources by tag or token."""
    inventory.record(run, file_system=file_system)
    if fleets_left(run, file_system):
        return "deleting"
    plan = plan_of(run)
    planned = file_system_of(plan, file_system)
    is_ours = not existing_id(planned["storage"])
    kind = clouds.file_system(planned["storage"]) if is_ours else None
    if kind:
        known = [kind.find(token) for token in clouds.tokens(run, file_system, planned["storage"])]
        are_deleted = [kind.delete(resource_id) for resource_id in known if resource_id]
        if not all(are_deleted):
            return "deleting"
    # Copies before verify: they have rows too, and only copies_of marks these as gone.
    copies = copies_of(run, file_system)
    not_ours = backups.delete(copies)
    rows = inventory.verify(run, file_system=file_system)
    if {*(copy.id for copy in copies), *(row["id"] for row in rows)} - not_ours:
        return "deleting"
    budget.settle_file_system(run, plan, planned)
    table.set_file_system(run, file_system, "gone")
    return "gone"


def fleets_left(run: str, file_system: str) -> bool:
    """Delete instances and volumes of the file system; return whether any still exists."""
    instances = fleets.of_file_system(run, file_system)
    fleets.terminate(instances)
    volumes = list(fleets.volumes(tags.of_part(run, file_system)))
    for volume in volumes:
        if volume["State"] == "available":
            fleets.delete_volume(volume["VolumeId"])
    return bool(instances or volumes)


def copies_of(run: str, file_system: str) -> list[Copy]:
    """Return the copies of the file system and its volumes, and give each a row."""
    rows = table.resources(run, file_system)
    seen = backups.find(run, rows)
    of_it = {row["id"] for row in rows}
    copies = [copy for copy in seen.copies if copy.of in of_it]
    backups.note(run, backups.FoundCopies(copies, seen.unasked), rows)
    return copies
