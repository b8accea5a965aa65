"""Rules for existing storages, which belong to the user."""

import re

from matrix.check.cells import ParsedMatrix
from matrix.input.matrix import Matrix
from matrix.price.book import published_prices
from matrix.storages.base import FILE_SYSTEM_ID, Storage
from matrix.storages.models import MODELS, is_mounted_read_only
from matrix.terms.problems import Problem, Problems, Weight


def existing_storages_come_to_no_harm(parsed: ParsedMatrix) -> Problems:
    """Yield a problem for an existing storage that is emulated or used twice at once, and a warning about its use."""
    matrix = parsed.matrix
    first: dict[str, tuple[str, bool]] = {}
    for path, storage in parsed.storages:
        if storage.existing_id:
            yield from _storage_problems(matrix, f"{path}.{storage.traits.existing_fields[0]}", storage, first)


def existing_storages_take_the_fleet(parsed: ParsedMatrix) -> Problems:
    """Yield a problem for each fleet that is larger than a storage that exists can have."""
    reported: set[str] = set()
    for cell in parsed.cells:
        most = cell.storage.traits.most_instances if cell.storage.existing_id else None
        path = f"{cell.fleet_path}.count"
        if most is not None and cell.fleet.count > most and path not in reported:
            reported.add(path)
            rule = f"{cell.storage.existing_id} can be had by {most} instance at a time"
            yield Problem(path, cell.fleet.count, rule, f"write {most}, or exclude it on {cell.storage_name}")


def read_only_storages_are_only_read(parsed: ParsedMatrix) -> Problems:
    """Yield a problem for each workload that writes to a storage that is mounted read-only."""
    reported: set[str] = set()
    for cell in parsed.cells:
        storage, path = cell.storage, cell.workload_path
        if is_mounted_read_only(storage.document) and not cell.workload.is_only_reading and path not in reported:
            reported.add(path)
            rule = f"writes to its storage, and {storage.existing_id} is mounted read-only"
            opened = f"{storage.traits.opened_by} for that storage, or " if storage.traits.opened_by else ""
            fix = (
                f"write {opened}a command (workDirectory local) or build (buildDirectory local) that reads what is"
                " below CACHE_DIR"
            )
            yield Problem(f"{path}.type", cell.workload.type, rule, fix)


def existing_storages_keep_no_cache(parsed: ParsedMatrix) -> Problems:
    """Yield a problem for each workload with a cache on an existing storage, where the next cell would find it."""
    reported: set[str] = set()
    for cell in parsed.cells:
        workload = cell.workload_path
        if cell.storage.existing_id and cell.workload.populate_seconds and workload not in reported:
            reported.add(workload)
            rule = f"keeps a cache on its storage, which nobody would remove from {cell.storage.existing_id}"
            yield Problem(
                f"{workload}.type",
                cell.workload.type,
                rule,
                f"leave it out, or leave out {cell.storage.traits.existing_fields[0]}",
            )


def disturbs_nobody(storage: Storage) -> bool:
    """Return whether an existing storage is only read, and is a bucket, or a volume, which has no other user."""
    is_apart = storage.traits.keeps_objects or storage.traits.most_instances is not None
    return bool(storage.existing_id) and is_apart and not storage.is_written_in(storage.document)


def _storage_problems(matrix: Matrix, path: str, storage: Storage, first: dict[str, tuple[str, bool]]) -> Problems:
    name = storage.existing_id or ""
    if matrix.emulate:
        yield Problem(
            path,
            name,
            "an emulated storage is only played",
            f"leave out {storage.traits.existing_fields[0]}, or emulate",
        )
        return
    # Cells that only read take nothing from each other; a volume has one instance at a time.
    is_alone = storage.is_written_in(storage.document) or storage.traits.most_instances is not None
    other, is_other_alone = first.setdefault(name, (path, is_alone))
    if other != path and (is_alone or is_other_alone) and matrix.max_concurrent_file_systems > 1:
        rule = f"{other} is the same: their cells would disturb each other"
        yield Problem(path, name, rule, "write maxConcurrentFileSystems 1")
    if disturbs_nobody(storage):
        return
    rule = (
        "exists: the run works in a folder of its own and removes that folder; the file system itself is not changed,"
        " tagged or deleted; its traffic is billed, and whoever else uses it is disturbed and in the figures"
    )
    if is_mounted_read_only(storage.document):
        rule = "exists: it is only read and not changed, but whoever else uses it is disturbed and in the figures"
    yield Problem(path, name, rule, "measure when nobody else uses it", weight=Weight.UNFAIR)


# Names of AWS's file systems: fs-….efs.REGION.amazonaws.com, and fs-… or svm-….fs-….fsx.REGION.amazonaws.com.
_OF_AWS = re.compile(r"(?:[a-z0-9-]+\.)?(fs-[0-9a-f]+)\.(efs|fsx)\.[a-z0-9-]+\.(?:amazonaws\.com(?:\.cn)?|aws)", re.I)


def servers_of_aws_have_their_type(parsed: ParsedMatrix) -> Problems:
    """Yield a warning for an nfs source that is a file system of AWS, whose charges and metrics nfs does not know."""
    book = published_prices()
    for path, storage in parsed.storages:
        found = _OF_AWS.match(storage.existing_id or "") if storage.type == "nfs" else None
        if not found:
            continue
        kind, name = found[2].lower(), found[1].lower()
        read, write = (book.price(f"efs_elastic_{way}_gib").usd for way in ("read", "write"))
        costs = (
            f"in elastic mode it charges ${read:g} per GiB read and ${write:g} per GiB written"
            if kind == "efs"
            else "its hours and its traffic between zones are charged"
        )
        existing = (name for name, model in MODELS.items() if FILE_SYSTEM_ID in model.traits.existing_fields)
        types = " or ".join(name for name in existing if name.startswith(kind))
        rule = f"is a file system of AWS ({kind.upper()}): {costs}, which is in no cost of an nfs storage"
        yield Problem(
            f"{path}.source", name, rule, f'write type {types} with fileSystemId "{name}"', weight=Weight.MONEY
        )


RULES = (
    servers_of_aws_have_their_type,
    existing_storages_come_to_no_harm,
    existing_storages_keep_no_cache,
    existing_storages_take_the_fleet,
    read_only_storages_are_only_read,
)
