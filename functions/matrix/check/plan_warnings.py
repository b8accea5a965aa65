"""Warnings of figures that would be of something else than the storage: memory, a cache, credits, a compressor."""

import math
from collections import defaultdict
from collections.abc import Mapping
from typing import Any

from contract.fio_job import FioJob
from matrix.check.cells import Combination, ParsedMatrix
from matrix.input.instance_types import burstable, doubt
from matrix.input.workloads.command import CommandWorkload
from matrix.input.workloads.contract import Clients
from matrix.input.workloads.fio import FioWorkload, place
from matrix.input.workloads.metadata import MetadataWorkload
from matrix.input.workloads.read import ReadWorkload
from matrix.input.workloads.touch import TouchWorkload
from matrix.statistics.sample_size import needed
from matrix.terms.findings.replication import MIN_LAUNCHES, advice, describe_counts, shortages_of
from matrix.terms.fio_cautions import cautions_before
from matrix.terms.metrics import latency_of
from matrix.terms.problems import Problem, Problems, Weight
from matrix.terms.quantities import count_of
from matrix.terms.sentences import MAX_NAMED, first_of
from matrix.terms.sizes import format_size, rough_size

# fio's clock counts ms, the first and last are start and end. Below a second its rates are noise.
MIN_FIO_S = 1.0
# With this multiple of the cache's bytes, the cache can answer at most half of the random reads.
CACHES_TO_READ = 2
# Less than that costs at most 31 US dollars (EFS, elastic).
MANY_LAID_OUT_BYTES = 2**39
# "Typical sizes for byte-range requests are 8 MB or 16 MB" (S3 user guide, performance guidelines).
MIN_RANGE_BYTES = 2**20
# A compressor that saves less changes no figure beyond chance.
MIN_SAVED = 0.02


def a_difference_can_be_tested(parsed: ParsedMatrix) -> Problems:
    """Yield a warning if no comparison of storages has enough instances and repetitions, or launches, for a test."""
    matrix = parsed.matrix
    compared: defaultdict[tuple[str, str], set[str]] = defaultdict(set)
    counts: dict[tuple[str, str], int] = {}
    for cell in parsed.cells:
        compared[cell.comparison].add(cell.storage.fingerprint)
        counts[cell.comparison] = cell.fleet.count
    most = max((counts[comparison] for comparison, storages in compared.items() if len(storages) > 1), default=0)
    if not most:
        return
    if lacking := shortages_of(most, matrix.repetitions, matrix.launches if matrix.launches > 1 else None):
        path = {"instance": "fleet", "repetition": "repetitions", "launch": "launches"}[lacking[0]["unit"]]
        few = describe_counts(lacking)
        rule = f"no difference between storages can be tested with at most {few}, so results say open or not replicated"
        yield Problem(path, None, rule, advice(lacking), weight=Weight.NO_VERDICT)


def a_leader_is_launched_again(parsed: ParsedMatrix) -> Problems:
    """Yield a warning for each command on a leader, if too few launches replicate its figures."""
    if parsed.matrix.launches >= MIN_LAUNCHES:
        return
    for path, workload in parsed.workloads:
        if isinstance(workload, CommandWorkload) and workload.on == "leader":
            rule = "one instance of each fleet has figures, and in one launch it shows no interval and no difference"
            yield Problem(f"{path}.on", "leader", rule, f'set "launches": {MIN_LAUNCHES}', weight=Weight.NO_VERDICT)


def fio_takes_a_second(parsed: ParsedMatrix) -> Problems:
    """Yield a warning for each fio workload that a storage of its cells may be done with in less than a second."""
    points = {path: workload.points() for path, workload in parsed.workloads}
    shortest: dict[str, tuple[float, Combination]] = {}
    # A larger fleet takes as long or longer.
    for cell in (cells[0] for cells in parsed.by_size):
        if isinstance(cell.workload, FioWorkload):
            clients = Clients(cell.fleet.count)
            took, path = min(
                (cell.workload.io_s(point, cell.storage, clients), f"{cell.workload_path}.{place(point, 'size')}")
                for point in points[cell.workload_path]
            )
            shortest[path] = min(shortest.get(path, (took, cell)), (took, cell), key=lambda pair: pair[0])
    for path, (took, cell) in shortest.items():
        if took < MIN_FIO_S:
            rule = f"may take only {took:.1g} s on {cell.storage_name}; below 1 s fio's rates mean nothing and it fails"
            fix = "write time_based 1 with a runtime, or a larger size"
            yield Problem(path, None, rule, fix, weight=Weight.NO_VERDICT)


def fio_measures_the_storage(parsed: ParsedMatrix) -> Problems:
    """Yield one warning for each option by which a fio workload measures something else than the storage."""
    for path, workload in {cell.workload_path: cell.workload for cell in parsed.cells}.items():
        warned: set[str] = set()
        for point in workload.points() if isinstance(workload, FioWorkload) else ():
            for name, rule, fix in cautions_before(FioJob(point["options"])):
                if rule not in warned:
                    warned.add(rule)
                    option = place(point, name)
                    yield Problem(f"{path}.{option}", point["options"].get(name), rule, fix, weight=Weight.UNFAIR)


def creates_are_alike(parsed: ParsedMatrix) -> Problems:
    """Yield a warning if creates in an instance's memory would be compared with durable creates."""
    storages_of: dict[str, tuple[TouchWorkload | MetadataWorkload, dict[bool, str]]] = {}
    for cell in parsed.cells:
        if isinstance(cell.workload, (TouchWorkload, MetadataWorkload)) and "none" in cell.workload.sync:
            _, by_sharing = storages_of.setdefault(cell.workload_path, (cell.workload, {}))
            by_sharing.setdefault(cell.storage.traits.is_shared, cell.storage_name)
    for path, (workload, by_sharing) in storages_of.items():
        if len(by_sharing) < 2:  # noqa: PLR2004 (shared or not)
            continue
        # Seen on two disks (ext4): 22,866 creates a second without a sync and 396 with one of each, 83,000 and 3,700.
        rule = (
            f"a create counts on {by_sharing[False]} when it is in the instance's memory, on"
            f" {by_sharing[True]} when it is stored: 20 to 60 times apart on one and the same disk"
        )
        is_synced_by_tool = isinstance(workload, MetadataWorkload) or workload.tool == ["engine"]
        fix = 'write sync "each"' if is_synced_by_tool else 'write tool "engine" and sync "each"'
        yield Problem(f"{path}.sync", "none", rule, fix, weight=Weight.UNFAIR)


def percentiles_have_operations(parsed: ParsedMatrix) -> Problems:
    """Yield a warning for each workload with a step of too few operations for the percentile that judges it."""
    asked = [metric] if parsed.matrix.objective and (metric := parsed.matrix.objective.metric) else []
    points = {path: workload.points() for path, workload in parsed.workloads}
    fewest: dict[tuple[str, str], tuple[float, Combination, dict[str, Any]]] = {}
    # An instance of a smaller fleet does as much or more.
    for cell in (cells[-1] for cells in parsed.by_size):
        workload, clients = cell.workload, Clients(cell.fleet.count)
        for point in points[cell.workload_path]:
            for metric in {*asked, workload.judged_by(point, workload.document)} & workload.yields:
                if latency := latency_of(metric):
                    count = workload.latencies_of(latency[0], point, cell.storage, clients)
                    least = fewest.get((cell.workload_path, metric), (math.inf,))[0]
                    if 0 < count < min(least, needed(latency[1])):
                        fewest[cell.workload_path, metric] = count, cell, point
    for (path, metric), (count, cell, point) in fewest.items():
        workload, field = cell.workload, cell.workload.operations_field
        least = needed(latency[1]) if (latency := latency_of(metric)) else 0
        rule = (
            f"about {count:,.0f} operations in a step on {cell.storage_name} are too few for {metric}, by which it is"
            f" judged: it takes {least:,}"
        )
        if isinstance(workload, FioWorkload):
            enough_s = math.ceil(least / count * workload.io_s(point, cell.storage, Clients(cell.fleet.count)))
            fix, field = f"write time_based 1 with runtime {enough_s} or more", place(point, field)
        else:
            fix = f"write {math.ceil(least * point[field] / count):,} or more, best for steps of 30 s and more"
        yield Problem(f"{path}.{field}", None, rule, fix, weight=Weight.NO_VERDICT)


def data_exceeds_the_servers_cache(parsed: ParsedMatrix) -> Problems:
    """Yield a warning if a server caches what a fleet reads: O_DIRECT bypasses only the instance's cache.

    Random records are drawn anew in each repetition, so all data count. Sequential reads and, by default, fio's random
    ones are of the same bytes each time: then only these count, however large the data are.
    """
    warned: set[str] = set()
    for cell in parsed.cells:
        if not cell.storage.cache_bytes or not isinstance(cell.workload, (ReadWorkload, FioWorkload)):
            continue
        points = [point for point in cell.workload.points() if cell.workload.reads(point)]
        path = cell.workload_path
        if not points or path in warned:
            continue
        is_repeated = parsed.matrix.repetitions * len(points) > 1
        read, stored, jobs, is_shared = min(_read_bytes(cell, point, is_repeated=is_repeated) for point in points)
        wanted = CACHES_TO_READ * cell.storage.cache_bytes
        if stored * cell.fleet.count < wanted:
            read = stored
        if read * cell.fleet.count < wanted:
            warned.add(path)
            is_of_records = isinstance(cell.workload, ReadWorkload)
            name = "dataSize" if is_of_records else "size"
            # Of data that all share each instance has its part.
            files = cell.fleet.count if is_shared else 1
            whose = "the same " if is_shared and cell.fleet.count > 1 else ""
            part = "" if read == stored else f" of {rough_size(stored * files)}, the same in each repetition"
            rule = (
                f"{_describe_fleet(cell.fleet.count)} {whose}{rough_size(read * files)}{part}"
                f"{f' ({jobs} jobs together)' if jobs > 1 else ''}, and the server of"
                f" {cell.storage_name} caches {cell.storage.cache_bytes / 1e9:,.0f} GB: this measures its memory and"
                " network, up to three times faster than its disks"
            )
            gib = math.ceil(wanted * files / cell.fleet.count / jobs / 2**30)
            more = f'write {name} "{gib}GiB" or more{" (of each job)" if jobs > 1 else ""} to read from its disks'
            if read < stored:
                more = "read more in each step" + (", or access random" if is_of_records else ", or write randrepeat 0")
            fix = f"{more}, or leave this fleet out; the report says what the cache answered"
            yield Problem(f"{path}.{name}", rough_size(stored * files), rule, fix, weight=Weight.UNFAIR)


def _read_bytes(cell: Combination, point: Mapping[str, Any], *, is_repeated: bool) -> tuple[float, float, int, bool]:
    """Return what a server's cache must hold to answer a point's repetitions, all data, fio's jobs, and if all share.

    Bytes are those of one instance: of shared data its part.
    """
    params, clients = dict(point), Clients(cell.fleet.count)
    footprint = cell.workload.footprint(params, cell.storage, clients)
    if isinstance(cell.workload, FioWorkload):
        stored, options = cell.workload.data_bytes(params, cell.storage, clients), point["options"]
        pattern = FioJob(options).pattern
        are_same = not pattern.startswith("rand") or str(options.get("randrepeat", 1)) != "0"
    else:
        stored, are_same = footprint.stored_bytes, point["access"] == "sequential"
    # A mixture's reads are not known apart.
    same = min(footprint.read_bytes, stored) if are_same and is_repeated else 0.0
    return same or stored, stored, _jobs(point), point.get("data") == "shared"


def _jobs(point: Mapping[str, Any]) -> int:
    """The number of fio jobs with a file of the given size each."""
    return FioJob(point.get("options") or {}).jobs


def _describe_fleet(count: int) -> str:
    return f"{count_of(count, 'instance')} read{'s' if count == 1 else ''}"


def storage_is_not_overloaded(parsed: ParsedMatrix) -> Problems:
    """Yield a warning for each shared storage if commands are assumed to write more than its published throughput.

    Only writes count, though as much is read: only some types have one limit for both together. Storages without a
    throughput limit are left out, and storages that existed before, because their limit is not known.
    """
    overloads: dict[tuple[str, str], list[Combination]] = {}
    for cell in parsed.cells:
        storage = cell.storage
        if not storage.traits.is_shared or not cell.workload.assumed_bytes_per_s:
            continue
        is_bounded = storage.traits.ceilings.is_throughput_bounded and storage.is_throughput_published
        is_known = is_bounded and storage.traits.are_limits_published and storage.existing_id is None
        wanted = cell.fleet.count * cell.workload.assumed_bytes_per_s
        if is_known and wanted > storage.bandwidth_bytes_per_s:
            overloads.setdefault((cell.storage_path, cell.workload.fingerprint), []).append(cell)
    for (path, _), overloaded in overloads.items():
        cell = min(overloaded, key=lambda each: each.fleet.count)
        storage, count, each = cell.storage, cell.fleet.count, cell.workload.assumed_bytes_per_s
        rule = (
            f"{cell.storage_name} is limited to {storage.bandwidth_bytes_per_s / 1e6:,.0f} MB/s"
            f" ({storage.traits.ceilings.throughput}), but {count_of(count, 'instance')} of {cell.workload.slug} would"
            f" write {count * each / 1e6:,.0f} MB/s at the {each / 1e6:g} MB/s each that the plan assumes: the"
            " storage's limit will be measured, not your command"
        )
        most = int(storage.bandwidth_bytes_per_s / each)
        fewer = f', or set "count": {most} at most' if most else ""
        yield Problem(path, None, rule, f"{storage.traits.ceilings.more_throughput}{fewer}", weight=Weight.UNFAIR)


def data_is_incompressible(parsed: ParsedMatrix) -> Problems:
    """Yield a warning for each option with which compressible data would measure a compressor."""
    on_compressors = {
        (cell.storage_path, cell.workload_path): cell for cell in parsed.cells if cell.storage.compressor is not None
    }
    for (at, path), cell in on_compressors.items():
        workload, of = cell.workload, f"{cell.storage.compressor} on {at}"
        if workload.writes_zeros:
            rule = f"zeros on {at} ({cell.storage.compressor}): compressible data measures the compressor"
            yield Problem(f"{path}.source", "zero", rule, "write source random", weight=Weight.UNFAIR)
        elif isinstance(workload, FioWorkload):
            saved: dict[tuple[str, str], float] = {}
            for point in workload.points():
                name, share = FioJob(point["options"]).saved
                option = place(point, name), name
                saved[option] = max(share, saved.get(option, 0.0))
            for (at_option, name), share in saved.items():
                if share >= MIN_SAVED:
                    rule = f"{of} saves about {100 * share:.0f} % of fio's data: this measures the compressor"
                    leave = "" if name == "refill_buffers" else f"leave {name} out and "
                    fix = f"{leave}write refill_buffers 1"
                    yield Problem(f"{path}.{at_option}", workload.options.get(name), rule, fix, weight=Weight.UNFAIR)
        elif isinstance(workload, CommandWorkload):
            rule = f"{of} makes what the command writes smaller: its rate is of fewer bytes than it counts"
            fix = "write random data, or data as compressible as yours, or compression NONE"
            yield Problem(f"{path}.command", None, rule, fix, weight=Weight.UNFAIR)


def instance_types_are_known(parsed: ParsedMatrix) -> Problems:
    """Yield a warning for each instance type that may not exist. On AWS, Plan matrix refuses what EC2 does not know."""
    types: dict[str, str] = {}
    for cell in parsed.cells:
        types[cell.fleet.instance_type] = f"{cell.fleet_path}.instanceType"
        if server := cell.storage.server_type(cell.storage.document):
            types[server] = f"{cell.storage_path}.instanceType"
    for name, path in types.items():
        if doubted := doubt(name):
            yield Problem(path, name, *doubted, weight=Weight.UNFAIR)


def processors_have_credits(parsed: ParsedMatrix) -> Problems:
    """Yield a warning for each instance type whose processors are paid, or slowed down, beyond its credits."""
    types = {cell.fleet.instance_type: f"{cell.fleet_path}.instanceType" for cell in parsed.cells}
    for name, path in {} if parsed.matrix.emulate else types.items():
        if not (credit := burstable(name)):
            continue
        rule = (
            f"has {credit.vcpus:g} vCPUs always, more only from credits, of which a new instance has few: beyond them"
        )
        rule += (
            f" each vCPU-hour costs ${credit.surplus_usd:g} (unlimited, the default), which is not in the estimate"
            if credit.is_unlimited
            else f" it has only these, or pays ${credit.surplus_usd:g} per vCPU-hour if your account makes it unlimited"
        )
        yield Problem(path, name, rule, "take a type without credits, such as m6i.large", weight=Weight.MONEY)


def small_reads_of_objects_are_requests(parsed: ParsedMatrix) -> Problems:
    """Yield a warning for each sequential read of objects in small parts: S3 answers and bills each as one GET."""
    warned: set[str] = set()
    for cell in parsed.cells:
        workload, path = cell.workload, f"{cell.workload_path}.requestSize"
        if not isinstance(workload, ReadWorkload) or not cell.storage.traits.keeps_objects or path in warned:
            continue
        small = [size for size in workload.request_size if size < MIN_RANGE_BYTES]
        if small and "sequential" in workload.access:
            warned.add(path)
            size = format_size(min(small))
            rule = (
                f"each request of {size} is one GET on {cell.storage_name}: its latency is measured, and each is billed"
            )
            yield Problem(path, size, rule, 'write "8MiB", the range that S3\'s clients ask for', weight=Weight.MONEY)


def much_is_laid_out(parsed: ParsedMatrix) -> Problems:
    """Yield a warning for each fio workload that lays out much, how much at most, and on which storages."""
    found: defaultdict[str, dict[str, float]] = defaultdict(dict)
    for cell in (cells[-1] for cells in parsed.by_size):
        if not isinstance(cell.workload, FioWorkload) or cell.workload.is_only_reading:
            continue
        clients = Clients(cell.fleet.count)
        of_points = [cell.workload.laid_out_bytes(point, cell.storage, clients) for point in cell.workload.points()]
        laid_out = parsed.matrix.launches * sum(parsed.matrix.repetitions * each + once for each, once in of_points)
        given_by = cell.workload.options
        name = "jobFile" if cell.workload.job_file else "size" if "size" in given_by else "filesize"
        of_storages = found[f"{cell.workload_path}.{name}"]
        of_storages[cell.storage_name] = max(of_storages.get(cell.storage_name, 0.0), laid_out)
    for path, of_storages in found.items():
        much = {name: laid_out for name, laid_out in of_storages.items() if laid_out >= MANY_LAID_OUT_BYTES}
        if much:
            rule = (
                f"fio lays out {'up to ' * (len(much) > 1)}{max(much.values()) / 2**40:.1f} TiB on"
                f" {first_of(list(much), MAX_NAMED)} before it measures, in time and cost of the plan"
            )
            yield Problem(path, None, rule, "write a smaller size", weight=Weight.MONEY)


RULES = (
    instance_types_are_known,
    processors_have_credits,
    much_is_laid_out,
    small_reads_of_objects_are_requests,
    a_difference_can_be_tested,
    a_leader_is_launched_again,
    fio_takes_a_second,
    fio_measures_the_storage,
    creates_are_alike,
    percentiles_have_operations,
    data_exceeds_the_servers_cache,
    storage_is_not_overloaded,
    data_is_incompressible,
)
