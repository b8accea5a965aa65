"""One step of taking a file system down: instances, then their volumes, then the file system itself."""

from aws import fleets, ledger, storages, tags
from aws.plans import file_system_of, plan_of


def step(run: str, file_system: str) -> str:
    """Do what can be done now and return `gone` or `deleting`. Everything is found by tag or token, not from notes."""
    if fleets_left(run, file_system):
        return "deleting"
    storage = file_system_of(plan_of(run), file_system)["storage"]
    kind = storages.of(storage)
    resource_id = kind.find(storages.token(run, file_system))
    if resource_id and not kind.delete(resource_id):
        return "deleting"
    for resource in ledger.resources(run):
        if resource.get("file_system") == file_system and "gone_at" not in resource:
            ledger.resource_gone(run, resource["id"], verified="no longer listed by its tags or token")
    ledger.set_file_system(run, file_system, "gone")
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
