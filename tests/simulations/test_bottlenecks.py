"""Cells with a known limit: how often it is named, and how often a limit is named that nobody reached.

Storages, instance types, sizes of requests and rates are drawn. Either one limit is reached, or workers wait for their
storage and use at most 85 % of any, or 99 % where AWS itself says that none was exceeded. CloudWatch agrees, has
nothing, or has minutes that several points shared. Each of these tests is red with the broken product that it is for.
"""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.random import Generator
from simulations.fleets import at_least, at_most
from support.bottleneck_cells import Document, cell, found, measured, watched

from matrix.answer.bottleneck import clients
from matrix.answer.bottleneck import evidence as evidence_module
from matrix.answer.bottleneck import watched as watched_module
from matrix.answer.bottleneck.credits import BASELINE_MARGIN, Credits
from matrix.answer.bottleneck.evidence import Ceiling, Evidence
from matrix.answer.bottleneck.provisioned import Credited
from matrix.answer.costs import storage_limits, storage_of
from matrix.input.instance_types import EBS_BURST_S, GBIT, NETWORK_BURST_S, network_of, of_each
from matrix.storages.models import is_shared, metrics_of
from matrix.terms.ceilings import (
    HOST,
    INSTANCE_EBS,
    INSTANCE_NETWORK,
    NOT_KNOWN,
    NOT_SATURATED,
    PROCESSORS,
    REACHED,
    TCP_CONNECTIONS,
)
from matrix.terms.findings.bottlenecks import PacketsHeld

WORLDS = 300
MAX_FALSE, MIN_NAMED = 0.01, 0.97
TYPES = ("t3.medium", "m6i.large", "m6i.xlarge", "c6i.4xlarge", "r6a.4xlarge", "m5n.2xlarge", "r6i.8xlarge")
GP3 = {"type": "ebs", "volumeType": "gp3", "sizeGiB": 500}
STORAGES: tuple[Document, ...] = (
    *(GP3 | {"iops": iops, "throughputMiBps": mibps} for iops, mibps in ((3_000, 125), (6_000, 250), (16_000, 1_000))),
    {"type": "ebs", "volumeType": "gp2", "sizeGiB": 100},
    {"type": "ebs", "volumeType": "io2", "sizeGiB": 500, "iops": 20_000},
    *({"type": "efs", "throughputMode": mode} for mode in ("elastic", "bursting")),
    {"type": "efs", "throughputMode": "provisioned", "provisionedThroughputMiBps": 300},
    {"type": "fsx-openzfs", "storageCapacityGiB": 1024, "throughputCapacityMBps": 1024},
    {"type": "nfs", "source": "files.example.com:/export"},
    {"type": "s3"},
)
CHECKS = {
    ("volume IOPS", None): "AWS/EBS VolumeIOPSExceededCheck",
    ("volume throughput", None): "AWS/EBS VolumeThroughputExceededCheck",
    (INSTANCE_EBS, "IOPS"): "AWS/EC2 InstanceEBSIOPSExceededCheck",
    (INSTANCE_EBS, "bytes"): "AWS/EC2 InstanceEBSThroughputExceededCheck",
}
BALANCES = {"IOPS": "AWS/EC2 EBSIOBalance%", "bytes": "AWS/EC2 EBSByteBalance%"}
# A limit's name, and whether it is the instance's of operations or bytes.
Limit = tuple[str, str | None]


def instance_limits(instance_type: str) -> Document:
    """The limits of a type, as a result has them."""
    mbps, most_mbps, iops, most_iops = of_each("types")[instance_type]
    network = network_of(instance_type)
    return {
        "ebs_bytes_per_s": {"baseline": mbps * 1e6, "maximum": most_mbps * 1e6},
        "ebs_iops": {"baseline": float(iops), "maximum": float(most_iops)},
        "network_bytes_per_s": {"baseline": network.always, "maximum": network.most},
    }


def most_operations(storage: Document, limits: Document, block: float, count: int, credits_: str) -> dict[Limit, float]:
    """The operations a second that each limit allows an instance, with credits ("maximum") or without ("baseline")."""
    of_storage = storage_limits(storage)
    each = count if is_shared(storage) else 1
    metrics = metrics_of(storage["type"])
    names = {"efs": ("EFS IOPS limit", "EFS permitted throughput"), "ebs": ("volume IOPS", "volume throughput"),
             "fsx-openzfs": (None, "FSx throughput capacity"), "s3": ("S3 requests of a prefix", None)}  # fmt: skip
    iops, throughput = names.get(storage["type"], (None, None))
    most = {(INSTANCE_NETWORK, None): limits["network_bytes_per_s"][credits_] / block}
    if iops:
        most[iops, None] = of_storage["IOPS"][0] / each
    if throughput and "MB/s" in of_storage:
        most[throughput, None] = of_storage["MB/s"][0] * 1e6 / each / block
    if storage["type"] == "ebs":
        del most[INSTANCE_NETWORK, None]
        most[INSTANCE_EBS, "IOPS"] = limits["ebs_iops"][credits_]
        most[INSTANCE_EBS, "bytes"] = limits["ebs_bytes_per_s"][credits_] / block
    if connections := metrics.connections(storage):
        most[TCP_CONNECTIONS, None] = connections * 5 * GBIT / block
    if cap := metrics.client_cap(storage):
        most[cap.name, None] = cap.bytes_per_s / block
    return most


def traffic(storage: Document, operations: float, block: float, held: float = 0.0) -> Document:
    """What an instance counts a second when it writes; EC2 held back this share of its packets."""
    moved = operations * block
    packets = moved / 9_001 + operations
    none = {"cpu_s": 0.2, "network_received_bytes": 0.01 * moved, "network_received_packets": packets,
            "network_sent_bytes": moved, "network_sent_packets": packets,
            "bw_in_allowance_exceeded": 0.0, "bw_out_allowance_exceeded": held * packets}  # fmt: skip
    if storage["type"] == "ebs":
        return none | {
            "iops": operations, "network_sent_bytes": 1e4, "network_sent_packets": 100.0,
            "bw_out_allowance_exceeded": 0.0, "disk_write_operations": operations, "disk_write_bytes": moved,
            "disk_read_operations": 0.0, "disk_read_bytes": 0.0,
        }  # fmt: skip
    if storage["type"] == "fsx-lustre":
        return none | {"iops": operations, "lustre_write_bytes": moved, "lustre_read_bytes": 0.0}
    if storage["type"] == "s3":
        return none | {"metrics": {"requests_per_s": operations}}
    return none | {
        "iops": operations, "nfs_write_operations": operations, "nfs_write_bytes": moved, "nfs_read_operations": 0.0,
        "nfs_read_bytes": 0.0, "nfs_other_operations": 0.0,
    }  # fmt: skip


def drawn(rng: Generator) -> tuple[Document, str, float, int]:
    """A storage, an instance type, bytes of a request and a number of instances."""
    storage = STORAGES[rng.integers(len(STORAGES))]
    return storage, TYPES[rng.integers(len(TYPES))], 4_096.0 * 4 ** rng.integers(0, 5), int(rng.integers(1, 5))


def result(
    rng: Generator, storage: Document, instance_type: str, count: int, *used: Document, metrics: Document | None = None
) -> Document:
    """The result of instances that were launched some minutes before their first point."""
    planned = cell(storage, tuple({"bs": f"{number}k"} for number in range(len(used))), count)
    planned["fleet"]["instanceType"] = instance_type
    ends = [each.get("at", 60.0 * number) + each.get("seconds", 60.0) for number, each in enumerate(used)]
    made = measured(planned, *used, instance_limits=instance_limits(instance_type))
    made["actual_s"] = max(ends) + rng.uniform(60, 200)
    return made if metrics is None else made | {"cloudwatch": watched(metrics)}


def is_falsely_named(rng: Generator, *, is_watched: bool) -> bool:
    """Whether a limit is named of a cell whose workers wait, with credits of the instances left."""
    most, baseline = 1.0, 1.0
    while baseline > most / 2:
        # Rates that can meet a baseline by chance.
        storage, instance_type, block, count = drawn(rng)
        limits = instance_limits(instance_type)
        most = min(most_operations(storage, limits, block, count, "maximum").values())
        by_limit = most_operations(storage, limits, block, count, "baseline")
        baseline = min(by_limit[limit] for limit in by_limit if limit[0] in (INSTANCE_EBS, INSTANCE_NETWORK))
    is_denied = is_watched and storage["type"] == "ebs"
    operations = most * math.exp(rng.uniform(*np.log((0.6, 0.99) if is_denied else (0.05, 0.85))))
    # Bursts of milliseconds, up to half of all packets as in the thread of test_bottleneck.py.
    held = math.exp(rng.uniform(math.log(1e-5), math.log(0.5)))
    metrics = quiet(1)
    kept = metrics if is_denied else {} if is_watched else None
    said = found(result(rng, storage, instance_type, count, traffic(storage, operations, block, held), metrics=kept))
    return said["name"] not in (NOT_SATURATED, NOT_KNOWN)


def is_named(rng: Generator, *, is_watched: bool) -> bool:
    """Whether the limit that holds a cell back is named."""
    while True:
        storage, instance_type, block, count = drawn(rng)
        credits_ = rng.choice(["baseline", "maximum"])
        limits = instance_limits(instance_type)
        by_limit = most_operations(storage, limits, block, count, credits_)
        (first, most), *others = sorted(by_limit.items(), key=lambda item: item[1])
        is_told_apart = not others or most < 0.85 * others[0][1]
        if is_told_apart and (credits_ == "maximum" or first[0] in (INSTANCE_EBS, INSTANCE_NETWORK)):
            break
    held = 0.1 if first[0] == INSTANCE_NETWORK else 0.0
    used = [traffic(storage, most * rng.uniform(0.95, 1.0), block, held)]
    if credits_ == "baseline":
        # Before it, a point that used up the credits.
        before = min(most_operations(storage, limits, block, count, "maximum").values())
        spare = limits[named_limit(first)]["maximum"] / limits[named_limit(first)]["baseline"]
        if before < most * 1.1 or spare == 1:
            return is_named(rng, is_watched=is_watched)
        seconds = full_s(first) * (most * spare - most) / (before - most)
        used = [traffic(storage, before, block) | {"seconds": seconds}, used[0] | {"at": seconds + 20}]
    minutes = math.ceil(max(each.get("at", 0.0) for each in used) / 60) + 1
    metrics = quiet(minutes)
    if credits_ == "baseline" and first[1]:
        metrics[BALANCES[first[1]]] = [*[50.0] * (minutes - 2), 0.0, 0.0]
    elif first in CHECKS:
        metrics[CHECKS[first]] = [1.0] * minutes
    kept = None if not is_watched else metrics if storage["type"] == "ebs" else {}
    said = found(result(rng, storage, instance_type, count, *used, metrics=kept))
    return first[0] == list(said["points"].values())[-1]


def quiet(minutes: int) -> dict[str, list[float]]:
    """CloudWatch's word that no limit of volumes and instances was exceeded."""
    checks = {check: [0.0] * minutes for check in CHECKS.values()}
    return checks | {balance: [99.0] * minutes for balance in BALANCES.values()}


def named_limit(limit: Limit) -> str:
    """The name of an instance's limit in its result."""
    return {"IOPS": "ebs_iops", "bytes": "ebs_bytes_per_s", None: "network_bytes_per_s"}[limit[1]]


def full_s(limit: Limit) -> float:
    """How long full credits of an instance last."""
    return NETWORK_BURST_S if limit[1] is None else EBS_BURST_S


def shared_minutes(rng: Generator) -> tuple[bool, bool]:
    """One of three points is held back, as CloudWatch alone knows: whether an idle one is blamed, and it is cleared."""
    seconds, begun = rng.uniform(15, 150, size=3), rng.uniform(0, 60)
    starts = begun + np.cumsum([0.0, *(seconds[:-1] + rng.uniform(0, 20, size=2))])
    used = [{"at": float(at), "seconds": float(each)} for at, each in zip(starts, seconds, strict=True)]
    least_s = rng.uniform(5, 40)
    minutes = range(math.ceil((starts[-1] + seconds[-1]) / 60))
    held_s = [min(60 * number + 60, starts[1] + seconds[1]) - max(60 * number, starts[1]) for number in minutes]
    checks = [float(each >= least_s) for each in held_s]
    points = found(result(rng, GP3, "m6i.large", 2, *used, metrics={CHECKS["volume IOPS", None]: checks}))["points"]
    is_blamed = any(points[idle] == "volume IOPS" for idle in ("p01", "p03"))
    return is_blamed, any(checks) and points["p02"] == NOT_SATURATED


def simulated(draw: Callable[[Generator], Any], worlds: int = WORLDS) -> list[Any]:
    """What so many worlds show."""
    rng = np.random.default_rng(8)
    return [draw(rng) for _ in range(worlds)]


@pytest.mark.parametrize("is_watched", [True, False])
def test_no_limit_is_named_where_workers_wait(is_watched):
    assert at_most(simulated(lambda rng: is_falsely_named(rng, is_watched=is_watched)), MAX_FALSE)


@pytest.mark.parametrize("is_watched", [True, False])
def test_the_limit_that_holds_a_cell_back_is_named(is_watched):
    assert at_least(simulated(lambda rng: is_named(rng, is_watched=is_watched)), MIN_NAMED)


def test_no_idle_point_is_blamed_for_a_minute_that_it_shared_and_no_held_one_cleared():
    blamed, cleared = zip(*simulated(shared_minutes), strict=True)

    assert at_most(blamed, MAX_FALSE)
    assert at_most(cleared, MAX_FALSE)


BURSTING: tuple[Document, ...] = (
    *({"type": "fsx-openzfs", "storageCapacityGiB": 1024, "nconnect": 16, "throughputCapacityMBps": mbps}
      for mbps in (64, 256)),
    {"type": "fsx-lustre", "deploymentType": "PERSISTENT_2", "storageCapacityGiB": 2400, "throughputMBpsPerTiB": 250},
    *({"type": "ebs", "volumeType": "gp2", "sizeGiB": gib} for gib in (100, 500)),
    {"type": "ebs", "volumeType": "st1", "sizeGiB": 500},
    {"type": "efs", "throughputMode": "bursting"},
)  # fmt: skip
OF_BURSTS = {
    *("volume IOPS", "volume throughput", "volume burst credits", "EFS permitted throughput", "EFS burst credits"),
    *("FSx throughput capacity", "FSx disk throughput", "FSx disk"),
}
FSX_USED, FSX_LEFT = "AWS/FSx FileServerDiskThroughputUtilization", "AWS/FSx FileServerDiskThroughputBalance"


def paid_from_credits(
    rng: Generator, *, share: tuple[float, float], after_s: float = 0.0, left: float | None = None
) -> str:
    """The limit of a point at a share of a storage's burst; with `after_s`, of its sustained rate after its credits.

    `left` are the credits, in per cent, that FSx reports beside the used share of its sustained rate.
    """
    fitting = BURSTING[:2] if left else [each for each in BURSTING if not after_s or "fsx" not in each["type"]]
    storage, count = fitting[rng.integers(len(fitting))], int(rng.integers(1, 5))
    burst = storage_of(storage).bursts[0]
    block = 4_096.0 if burst.counts == "IOPS" else 2.0**20
    each = (count if is_shared(storage) else 1) * (1.0 if burst.counts == "IOPS" else block)
    rate = math.exp(rng.uniform(*np.log(share))) * (burst.sustained if after_s else burst.most)
    used = [traffic(storage, rate / each, block)]
    if after_s and burst.credits:
        seconds = after_s * burst.credits / (burst.most - burst.sustained)
        used = [traffic(storage, burst.most / each, block) | {"seconds": seconds}, used[0] | {"at": seconds}]
    metrics = {FSX_USED: [100 * rate / burst.sustained], FSX_LEFT: [left]} if left else None
    said = found(result(rng, storage, "r6i.8xlarge", count, *used, metrics=metrics))
    return str(list(said["points"].values())[-1])


@pytest.mark.parametrize("cloudwatch", [{}, {"left": 60.0}])
def test_a_rate_that_credits_of_a_storage_pay_is_at_no_limit_below_the_burst(cloudwatch):
    names = simulated(lambda rng: paid_from_credits(rng, share=(0.05, 0.85), **cloudwatch))

    assert at_most([name not in (NOT_SATURATED, NOT_KNOWN) for name in names], MAX_FALSE)
    # Near what FSx sustains, nobody says how much it has left.
    assert cloudwatch or 0 < names.count(NOT_KNOWN) < len(names) / 10


@pytest.mark.parametrize(
    "at",
    [
        {"share": (0.95, 1.0)},
        {"share": (0.95, 1.0), "after_s": 1.0},
        {"share": (0.95, 1.0), "left": 60.0},
        {"share": (0.95, 1.0), "after_s": 1.0, "left": 0.5},
    ],
    ids=["the burst", "the sustained rate", "the burst by CloudWatch", "the sustained rate by CloudWatch"],
)
def test_the_limit_of_a_storage_with_credits_is_named_at_the_burst_and_after_them(at):
    assert at_least([name in OF_BURSTS for name in simulated(lambda rng: paid_from_credits(rng, **at))], MIN_NAMED)


@pytest.mark.parametrize(("held", "is_named"), [((1, 8), False), ((14, 20), True)])
def test_a_few_throttled_volumes_of_twenty_are_not_the_limit_of_a_point(held, is_named):
    def name(rng: Generator) -> str:
        count = int(rng.integers(*held, endpoint=True))
        said = result(rng, GP3, "m6i.large", 20, {})
        volumes = {f"vol-{number}": f"i-{number}" for number in range(20)}
        documents = [watched({CHECKS["volume IOPS", None]: [float(number < count)]}, VolumeId=volume)
                     for number, volume in enumerate(volumes)]  # fmt: skip
        kept = documents[0] | {"series": [series for each in documents for series in each["series"]]}
        kept["resources"] |= {"volumes": volumes}
        return str(found(said | {"cloudwatch": kept})["name"])

    assert set(simulated(name, 30)) == {"volume IOPS" if is_named else NOT_SATURATED}


def test_what_the_host_takes_is_no_work_of_the_client():
    def name(rng: Generator, *, is_taken: bool) -> str:
        stolen = rng.uniform(0.3, 0.9) if is_taken else rng.uniform(0.0, 0.04)
        busy = rng.uniform(0.92, 1.0) - stolen
        said = measured(cell(GP3), {"cpu_s": 2 * busy, "steal_s": 2 * stolen})
        return str(found(said)["name"])

    assert set(simulated(lambda rng: name(rng, is_taken=True))) == {HOST}
    assert set(simulated(lambda rng: name(rng, is_taken=False))) == {PROCESSORS}


def never(*_: object) -> bool:
    """A product that looks at no evidence of a kind."""
    return False


def is_near_baseline(credits_: Credits, point: str) -> bool:
    """A product that takes each rate near a baseline for a limited one."""
    return REACHED <= (credits_.rates[point] or 0.0) / credits_.limit["baseline"] <= BASELINE_MARGIN


def of_ten_packets(evidence: Evidence, allowance: str, *_: object) -> Ceiling:
    """A product to which ten packets a second are a bottleneck."""
    per_s = {point: use[f"{allowance}_allowance_exceeded_per_s"] for point, use in evidence.uses.items()}
    packets = PacketsHeld(allowance=allowance, per_s=max(per_s.values()), share=0.0)
    return Ceiling(INSTANCE_NETWORK, {point: float(each >= 10) for point, each in per_s.items()}, packets, True)


@pytest.mark.parametrize(
    ("place", "name", "broken", "test", "given"),
    [
        (Credits, "hold_to_baseline", is_near_baseline, test_no_limit_is_named_where_workers_wait, (False,)),
        (clients, "_of_packets", of_ten_packets, test_no_limit_is_named_where_workers_wait, (False,)),
        (Ceiling, "denies", never, test_no_limit_is_named_where_workers_wait, (True,)),
        (Credits, "hold_to_baseline", never, test_the_limit_that_holds_a_cell_back_is_named, (False,)),
        (Credited, "at", lambda limit, *_: limit.most,
         test_a_rate_that_credits_of_a_storage_pay_is_at_no_limit_below_the_burst, ({},)),
        (watched_module, "MANY_INSTANCES", 0.05, test_a_few_throttled_volumes_of_twenty_are_not_the_limit_of_a_point,
         ((1, 8), False)),
        (evidence_module, "NEARLY_ALL", 0.4,
         test_no_idle_point_is_blamed_for_a_minute_that_it_shared_and_no_held_one_cleared, ()),
    ],
    ids=["coincidence with a baseline", "ten packets", "no word against", "no baseline", "no credits of a storage",
         "one volume", "most of a minute"],
)  # fmt: skip
def test_a_broken_product_is_found(place, name, broken, test, given, monkeypatch):
    monkeypatch.setattr(place, name, broken)

    with pytest.raises(AssertionError):
        test(*given)
