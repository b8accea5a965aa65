"""Rules for combinations of storages, workloads and instance types, regardless of sizes."""

from matrix.check.cells import Combination, ParsedMatrix
from matrix.fields import limits
from matrix.input import instance_types
from matrix.input.workloads.command import CommandWorkload
from matrix.input.workloads.fio import FioWorkload
from matrix.input.workloads.fio_places import number_of_disks
from matrix.input.workloads.metadata import MetadataWorkload
from matrix.storages.ebs import EbsStorage
from matrix.storages.models import how_many
from matrix.terms.problems import Problem, Problems, Weight, shorten
from matrix.terms.quantities import count_of


def instance_type_can_use_the_storage(parsed: ParsedMatrix) -> Problems:
    """Yield a problem for each instance type from which a storage of its cell cannot be used."""
    reported: set[tuple[str, str]] = set()
    for cell in parsed.cells:
        kind = cell.fleet.instance_type
        unfit = cell.storage.unfit(kind)
        if unfit is None or (cell.fleet_path, kind) in reported:
            continue
        reported.add((cell.fleet_path, kind))
        rule, alike = unfit
        fix = f"write {alike}, or exclude it on {cell.storage_name}"
        yield Problem(f"{cell.fleet_path}.instanceType", kind, rule, fix)


def bandwidth_can_be_weighted(parsed: ParsedMatrix) -> Problems:
    """Yield a problem for each type whose bandwidth cannot be weighted, a warning if the table lacks the type."""
    reported: set[tuple[str, str]] = set()
    for cell in parsed.cells:
        kind, weighting = cell.fleet.instance_type, cell.fleet.bandwidth_weighting
        if weighting is None or instance_types.can_be_weighted(kind) or (cell.fleet_path, kind) in reported:
            continue
        reported.add((cell.fleet_path, kind))
        is_known = kind in instance_types.of_each("types")
        rule = f"cannot be asked for of {kind}: EC2 weights the bandwidth of types of the 8th generation and later only"
        if not is_known:
            rule = f"may not be had of {kind}, which instance_limits.json lacks: EC2 would refuse the launch"
        fix = "leave it out, or write a type such as m8g.4xlarge (families: `weightable` in instance_limits.json)"
        yield Problem(
            f"{cell.fleet_path}.bandwidthWeighting", weighting, rule, fix, weight=None if is_known else Weight.NOTE
        )


def storage_is_for_the_workload(parsed: ParsedMatrix) -> Problems:
    """Yield a problem for workloads that need more of a file system than S3, Mountpoint or our server has."""
    reported: set[tuple[str, tuple[str, ...]]] = set()
    for cell in parsed.cells:
        kind, only, workload = cell.storage.type, cell.storage.only_workloads, cell.workload.type
        if not only or workload in only or (kind, only) in reported:
            continue
        reported.add((kind, only))
        named = " or ".join(only)
        rule = "it is only read from" if only == ("read",) else f"it is only for workload {named}"
        fix = f"exclude it for storage type {kind}, or use workload {named}"
        if workload == "command":
            fix += '; for commands S3 has client "command"'
        if cell.workload.wants_objects and cell.storage.traits.keeps_objects:
            fix += '; for requests that are counted one by one S3 has client "boto3"'
        yield Problem("workload", workload, f"cannot be done on {cell.storage_name}: {rule}", fix)


def storage_has_the_abilities(parsed: ParsedMatrix) -> Problems:
    """Yield a problem for each field that makes a workload need an ability that a storage lacks."""
    reported: set[tuple[str, str]] = set()
    for cell in parsed.cells:
        lacks = cell.storage.lacks
        if not lacks:
            continue
        name = cell.storage_name
        for need in cell.workload.needs():
            path = f"{cell.workload_path}.{need.field}"
            if need.ability in lacks and (path, name) not in reported:
                reported.add((path, name))
                fix = f"exclude it for storage type {cell.storage.type}"
                rule = f"cannot be done on {name}: {lacks[need.ability]}"
                yield Problem(path, need.value, rule, f"{need.fix}, or {fix}" if need.fix else fix)


def objects_are_in_a_bucket(parsed: ParsedMatrix) -> Problems:
    """Yield a problem for objects on a storage without a bucket, and for a cache on one without a file system."""
    reported: set[str] = set()
    for cell in parsed.cells:
        workload, is_bucket = cell.workload, cell.storage.only_workloads == ("command",)
        if not isinstance(workload, CommandWorkload):
            continue
        is_own = is_bucket and not cell.storage.existing_id
        field, value = ("populate", workload.populate) if is_own else ("objectSize", workload.object_size)
        path = f"{cell.workload_path}.{field}"
        if value and path not in reported:
            reported.add(path)
            rule = "fills a folder, of which S3 has none"
            if not is_own:
                why = "is somebody's, to whose bucket nothing is written" if is_bucket else "holds no objects"
                rule = f"{cell.storage_name} {why}"
            yield Problem(path, shorten(value), rule, f"leave it out, or exclude it on {cell.storage_name}")


def requests_are_for_objects(parsed: ParsedMatrix) -> Problems:
    """Yield a problem for requests for objects to each kind of file system."""
    reported: set[str] = set()
    for cell in parsed.cells:
        storage = cell.storage
        if not cell.workload.wants_objects or storage.only_workloads or storage.type in reported:
            continue
        reported.add(storage.type)
        rule = f"cannot be done on {cell.storage_name}: it keeps files, and takes no requests for objects"
        fix = f"exclude it for storage type {storage.type}; for small files use workload metadata or touch"
        yield Problem("workload", cell.workload.type, rule, fix)


def neighbours_can_be_read(parsed: ParsedMatrix) -> Problems:
    """Yield one problem for each workload that reads another instance's data if an instance cannot do so."""
    refused: set[str] = set()
    for cell in parsed.cells:
        if not cell.workload.reads_of_others:
            continue
        (field, value), count = cell.workload.reads_of_others, cell.fleet.count
        path = f"{cell.workload_path}.{field}"
        rule, fix = "", ""
        if not cell.storage.traits.is_shared or cell.storage.only_workloads:
            rule = f"{cell.storage_name} is not a file system that instances share and cache"
            fix = f"exclude it for storage type {cell.storage.type}"
        elif value == "neighbour" and count == 1:
            rule, fix = "in a fleet of 1 there is no neighbour", "write a fleet of 2 or more instances"
        elif how_many(cell.storage.document) > 1:
            rule = f"a neighbour may be on another of the file systems of {cell.storage_name}"
            fix = "exclude it there, or leave fileSystems out"
        elif cell.fleet.quorum:
            rule = "a fleet that may be smaller than its count does not know its neighbours"
            fix = "leave fleet.quorum out"
        if rule and path not in refused:
            refused.add(path)
            yield Problem(path, value, rule, fix)


def device_is_an_empty_disk(parsed: ParsedMatrix) -> Problems:
    """Yield a problem for each storage without its own disk that a workload on the raw device may write, or read."""
    reported: set[tuple[str, str]] = set()
    for cell in parsed.cells:
        path, name = f"{cell.workload_path}.device", cell.storage_name
        can_read = cell.workload.is_only_reading and cell.storage.existing_id is None
        if (
            not cell.workload.wants_device
            or (cell.storage.traits.has_device and (can_read or not cell.storage.is_filled))
            or (path, name) in reported
        ):
            continue
        reported.add((path, name))
        is_filled = cell.storage.is_filled
        rule = "holds data already, all of which would be overwritten" if is_filled else "is not an empty disk"
        fix = f"exclude it for storage type {cell.storage.type}, or leave device out"
        yield Problem(path, value=True, rule=f"cannot be done on {name}, which {rule}", fix=fix)


def named_disks_are_the_storages(parsed: ParsedMatrix) -> Problems:
    """Yield a problem for each job that names another number of disks than the storage makes one of."""
    reported: set[tuple[str, str]] = set()
    for cell in parsed.cells:
        workload, name = cell.workload, cell.storage_name
        if not (isinstance(workload, FioWorkload) and workload.wants_device and cell.storage.traits.has_device):
            continue
        disks, field = number_of_disks(workload.targets), "filename" if workload.job_file is None else "jobFile"
        its = int(cell.storage.document.get("raid0") or 1)
        if disks > 1 and disks != its and (workload.fingerprint, name) not in reported:
            reported.add((workload.fingerprint, name))
            rule = f"names {disks} devices, and {name} is {its}"
            yield Problem(f"{cell.workload_path}.{field}", disks, rule, f"write raid0 {disks}, or name one device")


def snapshots_are_loaded(parsed: ParsedMatrix) -> Problems:
    """Yield warnings of cells in which not all volumes, or not all repetitions, load a snapshot as the matrix says."""
    warned: set[str] = set()
    launches, repetitions = parsed.matrix.launches, parsed.matrix.repetitions
    for cell in parsed.cells:
        volume, count = cell.storage, cell.fleet.count
        if not isinstance(volume, EbsStorage) or volume.snapshot_id is None:
            continue
        found: dict[str, tuple[object, str, str]] = {}
        at_once = limits.EBS_INITIALIZATION_MIBPS_AT_ONCE.value
        if volume.fast_snapshot_restore and count > volume.fast_restores:
            fast = count_of(volume.fast_restores, "volume")
            rule = f"full credits of {volume.snapshot_id} make {fast} fast at once, not {count}"
            found[f"{cell.fleet_path}.count"] = (count, rule, f"write count {volume.fast_restores}, or a rate")
        elif not volume.fast_snapshot_restore and repetitions > 1:
            rule = "only the first repetition reads a block of the snapshot for the first time"
            found["repetitions"] = (repetitions, rule, f'write 1, and "launches": {max(launches, 3)}')
        if (rate := count * (volume.volume_initialization_rate or 0)) > at_once:
            rule = f"{count} volumes load {rate:,} MiB/s; a region has {at_once:,.0f} unless its quota was raised"
            fix = f"write {int(at_once // count)} or less, or fewer instances"
            found[f"{cell.storage_path}.volumeInitializationRate"] = (volume.volume_initialization_rate, rule, fix)
        for path, (value, rule, fix) in found.items():
            if path not in warned:
                warned.add(path)
                yield Problem(path, value, rule, fix, weight=Weight.UNFAIR)


def several_file_systems_are_used_alike(parsed: ParsedMatrix) -> Problems:
    """Yield one problem for each part of a matrix that does not go with several file systems, one in each zone."""
    refused: set[str] = set()
    for cell in [cell for cell in parsed.cells if "fileSystems" in cell.storage.document]:
        for problem in _against_several(cell, how_many(cell.storage.document)):
            if problem.path not in refused:
                refused.add(problem.path)
                yield problem


def _against_several(cell: Combination, several: int) -> Problems:
    """Yield problems of a cell on several file systems: its placement, count or workload."""
    fleet = cell.fleet_path
    of = f"{cell.storage_name} is {several} file systems:"
    placement, count = cell.fleet.placement, cell.fleet.count
    if placement is not None and (isinstance(placement, str) or placement != [placement[0]] * several):
        rule = f"{of} each has an equal part of the fleet, in its zone"
        yield Problem(f"{fleet}.placement", placement, rule, f"leave it out, or write {[1] * several}")
    if count < several:
        rule = f"{of} {several - count} of them are paid for and not used"
        yield Problem(f"{fleet}.count", count, rule, "exclude the cell", weight=Weight.MONEY)
    if isinstance(cell.workload, MetadataWorkload) and "fleet" in cell.workload.directories:
        path = f"{cell.workload_path}.directories"
        rule = f"{of} the instances have no directory in common"
        yield Problem(path, "fleet", rule, "write own, or exclude it there")


RULES = (
    instance_type_can_use_the_storage,
    bandwidth_can_be_weighted,
    storage_is_for_the_workload,
    storage_has_the_abilities,
    named_disks_are_the_storages,
    objects_are_in_a_bucket,
    requests_are_for_objects,
    neighbours_can_be_read,
    device_is_an_empty_disk,
    snapshots_are_loaded,
    several_file_systems_are_used_alike,
)
