"""Warnings of limits that a cell comes near to by its own plan: of credits, of the network, of one client."""

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from contract.fio_job import FioJob
from matrix.check.cells import Combination
from matrix.input.instance_types import GBIT, network_of, smallest_with_network
from matrix.input.workloads.contract import Clients
from matrix.plan.cell_work import Rates, rates
from matrix.plan.instance_limits import NEAR, beyond_network
from matrix.storages.metrics import Burst
from matrix.storages.models import metrics_of
from matrix.terms.documents.parts import Point
from matrix.terms.problems import Problem, Problems, Weight, check
from matrix.terms.quantities import number, rough_duration

MIB = 2.0**20


class PlannedRates(NamedTuple):
    """A cell, its points, and what each of its instances does in a second."""

    cell: Combination
    points: Sequence[Point]
    rates: Rates
    credits_used: float  # of an instance, as a share of a full balance
    has_job_hours: bool


def problems(planned: Iterable[PlannedRates]) -> Problems:
    """Yield a warning for each limit that some cell comes near to."""
    yield from check(RULES, list(planned))


def network_is_sustained(planned: Sequence[PlannedRates]) -> Problems:
    """Yield a warning for each type whose network a cell's steps reach: at most, or beyond its credits."""
    nearest: dict[str, tuple[float, PlannedRates]] = {}
    for each in planned:
        name, network = each.cell.fleet.instance_type, network_of(each.cell.fleet.instance_type)
        if not each.cell.storage.traits.is_shared or not each.cell.workload.moves_data:
            continue
        if network is None:
            nearest.setdefault(name, (0.0, each))
        else:
            always, most = (each.rates.one_way_bytes / limit for limit in network)
            share = max(each.credits_used if always >= NEAR else 0.0, most)
            nearest[name] = max(nearest.get(name, (0.0, each)), (share, each), key=lambda pair: pair[0])
    for name, (share, each) in nearest.items():
        cell, network = each.cell, network_of(name)
        path = f"{cell.fleet_path}.instanceType"
        if network is None:
            rule = f"the network bandwidth of {name} is not known here: it may be slower than {cell.storage_name}"
            yield Problem(path, name, rule, "compare its baseline bandwidth (EC2 instance types)", weight=Weight.UNFAIR)
        elif share >= NEAR:
            # What it would move if its network were not the limit.
            unlimited = Clients(cell.fleet.count, beyond_network(cell.storage))
            wanted = rates(cell, each.points, unlimited).one_way_bytes
            more = network.most if each.credits_used >= NEAR else math.nextafter(network.most, math.inf)
            larger = smallest_with_network(name, wanted) or smallest_with_network(name, more)
            if each.credits_used < NEAR and (wanted <= network.most or not larger):
                continue
            has = f"{network.most / GBIT:g} Gbit/s of the network"
            if network.always < network.most:
                has = f"{network.always / GBIT:g} Gbit/s of the network always, {network.most / GBIT:g} for minutes"
            rule = (
                f"{name} has {has}; on {cell.storage_name} {cell.workload.slug} would move"
                f" {number(each.rates.one_way_bytes / GBIT)}: this measures the instance"
            )
            fix = f"take {larger}" if larger else "take a type of another family: none of this one has that always"
            yield Problem(path, name, rule, fix, weight=Weight.UNFAIR)


def storage_has_no_burst(planned: Sequence[PlannedRates]) -> Problems:
    """Yield a warning for each storage that a cell uses faster than its sustained limit, as long as credits last.

    Whoever writes the hours of the job is told by the decision, which counts the mean rate over them.
    """
    nearest: dict[str, tuple[float, float, Burst, PlannedRates]] = {}
    for each in planned:
        storage, path = each.cell.storage, f"{each.cell.storage_path}.{each.cell.storage.traits.bursts_by}"
        users = each.cell.fleet.count if storage.traits.is_shared else 1
        for burst in () if each.has_job_hours else storage.bursts:
            rate = users * each.rates.of(burst.counts)
            found = rate / burst.sustained, rate, burst, each
            if found[0] >= NEAR and found[0] > nearest.get(path, (0.0,))[0]:
                nearest[path] = found
    for path, (_, rate, burst, each) in nearest.items():
        scale, unit = (1.0, "IOPS") if burst.counts == "IOPS" else (1e6, "MB/s")
        lasts_s = burst.lasts_s(burst.most)
        until = "from credits (AWS does not say for how long)" if lasts_s is None else (
            f"for {rough_duration(lasts_s)} from credits"
        )  # fmt: skip
        cell = each.cell
        rule = (
            f"{cell.storage_name} has {number(burst.sustained / scale)} {unit} always ({burst.of}) and"
            f" {number(burst.most / scale)} {until}; {cell.workload.slug} would take {number(rate / scale)}:"
            " short steps measure the credits"
        )
        fix = "write objective.jobHours, the hours that your job lasts: the decision counts its mean rate over them"
        yield Problem(path, None, rule, fix, weight=Weight.UNFAIR)


def one_client_is_enough(planned: Sequence[PlannedRates]) -> Problems:
    """Yield a warning for each storage of which a cell's instance would take all that one client gets, and no more."""
    warned: set[str] = set()
    for each in planned:
        cell, storage = each.cell, each.cell.storage
        cap = metrics_of(storage.type).client_cap(storage.document)
        share = storage.bandwidth_bytes_per_s / cell.fleet.count
        if not cap or cell.storage_path in warned or not cell.workload.moves_data:
            continue
        network = network_of(cell.fleet.instance_type)
        if network and network.always < cap.bytes_per_s:
            continue  # a larger instance has more
        unlimited = rates(cell, each.points, Clients(cell.fleet.count, math.inf)).one_way_bytes
        if each.rates.one_way_bytes >= NEAR * cap.bytes_per_s and min(share, unlimited) > cap.bytes_per_s:
            warned.add(cell.storage_path)
            rule = (
                f"one instance gets {number(cap.bytes_per_s / MIB)} MiB/s of {cell.storage_name} at most"
                f" ({cap.name}), and {cell.workload.slug} asks for more: a larger instance or more threads"
                " change nothing"
            )
            yield Problem(cell.storage_path, None, rule, cap.advice, weight=Weight.UNFAIR)


def small_requests_use_up_throughput(planned: Sequence[PlannedRates]) -> Problems:
    """Yield a warning for each storage whose throughput small requests may use up by the least size of its metering.

    EFS's TotalIOBytes "includes minimums"; no page of AWS says whether what limits bursting and provisioned throughput
    does. So the rate of a cell lies between that of its bytes and that of its requests as 32 KiB each.
    """
    worst: dict[str, tuple[float, PlannedRates]] = {}
    for each in planned:
        if not each.rates.padded.counted:
            continue
        storage, path = each.cell.storage, each.cell.storage_path
        if storage.is_billed_by_use or not metrics_of(storage.type).metered or not each.cell.workload.moves_data:
            continue
        used = each.rates.padded.counted * each.cell.fleet.count
        if used > worst.get(path, (NEAR * storage.bandwidth_bytes_per_s,))[0]:
            worst[path] = used, each
    for path, (used, each) in worst.items():
        cell, rate = each.cell, each.rates.padded.moved * each.cell.fleet.count
        least = rate * min(1.0, cell.storage.bandwidth_bytes_per_s / used)
        rule = (
            f"requests below 32 KiB likely use up throughput as 32 KiB, which is not proved: {cell.workload.slug} moves"
            f" between {number(least / MIB)} and {number(rate / MIB)} MiB/s on {cell.storage_name}"
        )
        fix = "larger requests, or throughputMode elastic; MeteredIOBytes in the report shows which is true"
        yield Problem(path, None, rule, fix, weight=Weight.NO_VERDICT)


def random_requests_are_large_on_hdd(planned: Sequence[PlannedRates]) -> Problems:
    """Yield a warning for each workload whose small random requests use up the operations of an HDD volume."""
    warned: set[str] = set()
    for each in planned:
        cell, storage = each.cell, each.cell.storage
        if not storage.merges_sequential or cell.workload_path in warned:
            continue
        for point in each.points:
            block = _random_block(point["params"])
            operations = rates(cell, [point], Clients(cell.fleet.count)).operations
            if block is None or block >= MIB or operations < NEAR * storage.effective_iops:
                continue
            warned.add(cell.workload_path)
            rule = (
                f"a random request counts as 1 MiB on HDD volumes: {cell.storage_name} has {storage.effective_iops:,}"
                f" a second at most, {number(storage.effective_iops * block / 1e6)} MB/s of these"
            )
            fix = "take gp3, larger blocks, or a sequential pattern"
            yield Problem(cell.workload_path, None, rule, fix, weight=Weight.MONEY)
            break


def paid_iops_are_used(planned: Sequence[PlannedRates]) -> Problems:
    """Yield a warning for each storage of whose paid IOPS its cells keep too few operations in flight to use half."""
    most: dict[str, tuple[float, PlannedRates]] = {}
    for each in planned:
        cell, path = each.cell, each.cell.storage_path
        if cell.storage.paid_iops:
            per_s = max(_most_per_s(cell, point["params"]) for point in each.points)
            most[path] = max(most.get(path, (0.0, each)), (per_s, each), key=lambda pair: pair[0])
    for path, (per_s, each) in most.items():
        storage, iops = each.cell.storage, each.cell.storage.paid_iops
        if per_s < iops / 2:
            rule = (
                f"{each.cell.storage_name} has {iops:,} IOPS that are paid for; with so few operations in flight, each"
                f" of a typical latency, {each.cell.workload.slug} makes about {number(per_s)} a second"
            )
            fix = "raise iodepth (libaio, direct 1), numjobs or threads, or pay for fewer if your job waits like this"
            yield Problem(f"{path}.iops", storage.document.get("iops"), rule, fix, weight=Weight.MONEY)


def _most_per_s(cell: Combination, params: Mapping[str, Any]) -> float:
    """Return how many operations a second a fleet can make at the storage's typical latency; infinite if not known."""
    times, sharing = cell.storage.block_times, Clients(cell.fleet.count).sharing(cell.storage)
    if times is None or "beside" in params:
        return math.inf
    if "options" not in params:
        return params["threads"] * sharing / times.read_s if "request_bytes" in params else math.inf
    job = FioJob(params["options"])
    if job.is_merged or (job.writes and not job.is_synced):
        return math.inf
    latency_s = min(times.read_s if job.reads else math.inf, times.write_s if job.writes else math.inf)
    return job.jobs * job.depth * sharing / latency_s


def _random_block(params: Mapping[str, Any]) -> float | None:
    """Return the mean size of a point's random requests past the page cache; None if it has none."""
    if "options" in params:
        job = FioJob(params["options"])
        return job.mean_block if "rand" in job.pattern and (job.is_direct or job.reads) else None
    return float(params["request_bytes"]) if params.get("access") == "random" else None


RULES = (
    network_is_sustained,
    storage_has_no_burst,
    one_client_is_enough,
    small_requests_use_up_throughput,
    random_requests_are_large_on_hdd,
    paid_iops_are_used,
)
