"""Costs in worlds with known bills: what a result costs on AWS, by prices and arithmetic of this file alone.

Speeds are drawn. A bill by hand needs a calculator only: hours of all instances and of the storage from the first start
to the last end, bytes of all instances, and what crosses Availability Zones.
"""

import numpy as np
import pytest
from simulations.worlds import decided, plan_of_world

from matrix.answer import bottleneck
from matrix.answer.results import cell_result
from matrix.samples.file import SampleFile

DRAWS = 5
GIB, TB = 2.0**30, 1e12
# US dollars in us-east-1, as AWS lists them: m6i.large with its address and root volume, and storages, an hour.
INSTANCE = 0.096 + 0.005 + 20 * 0.08 / 730
GP2 = 100 * 0.10 / 730
FSX = (1024 * 0.09 + 1024 * 0.26) / 730
READ_GIB, WRITTEN_GIB, CROSSING_GIB = 0.03, 0.06, 0.02
EFS_ELASTIC = {"type": "efs"}
FSX_OPENZFS = {"type": "fsx-openzfs", "storageCapacityGiB": 1024, "throughputCapacityMBps": 1024}
READS = {"type": "fio", "rw": "randread", "bs": "64k", "direct": 1, "size": "1G", "time_based": 1, "runtime": 60}


def world(
    storage, seconds, moved, *, way="read", mount="nfs", zones=("a",), ramp_s=0.0, placement=None, home="a", **fields
):
    """A decided run on AWS of one storage: each instance moves bytes in some seconds, three times, after a ramp.

    `zones` are those of the instances, `home` that of the storage; None, as in older results, if it is not known.
    """
    count = len(seconds)
    fleet = {"instanceType": "m6i.large", "count": count, **({"placement": placement} if placement else {})}
    planned = plan_of_world([storage], fleet=fleet, workload=READS | {"rw": f"rand{way}"}, repetitions=3, **fields)
    [cell] = planned["cells"]
    files = []
    for number in range(count):
        took_s, bytes_ = float(seconds[number]), float(moved[number])
        counted = bytes_ * (took_s + ramp_s) / took_s
        counters = {f"{mount}_{each}_{what}": 0.0 for each in ("read", "write") for what in ("bytes", "operations")}
        counters |= {f"{mount}_{way}_bytes": counted, f"{mount}_{way}_operations": counted / 65536}
        samples = []
        for at, step in enumerate(cell["steps"]):
            start = 1e9 + 10_000.0 * at
            metrics = {"duration_s": took_s, "iops": bytes_ / 65536 / took_s, "mb_per_s": bytes_ / 1e6 / took_s}
            samples.append({
                "point": step["point"], "repetition": step["repetition"], "step": at, "metrics": metrics,
                "work": {f"{way}_bytes": bytes_}, "counters": counters, "tool": {"name": "fio"}, "workers": 1,
                "started_at": start - ramp_s, "work_started_at": start, "work_ended_at": start + took_s,
                "ended_at": start + took_s,
            })  # fmt: skip
        instance = {"id": f"i-{number}", "type": "m6i.large", "availability_zone": zones[number % len(zones)]}
        kind = {"nfs": "nfs", "disk": "ebs"}[mount]
        files.append(SampleFile.model_validate(
            {"run": "r", "cell": cell["id"], "instance": instance, "mount": {"kind": kind}, "samples": samples}
        ))  # fmt: skip
    result = cell_result(cell, files, error=None, actual_s=None, storage_zone=home)
    summary = decided(planned, [{**result, "bottleneck": bottleneck.find(result, "aws")}])
    [question] = summary["decision"]["questions"]
    [candidate] = question["candidates"]
    return candidate


def hours(seconds):
    """Hours from the first start to the last end of three repetitions."""
    return 3 * max(seconds) / 3600


UNEVEN = (1.0, 1.0, 1.0, 0.2, 0.1)
# Speeds of the instances, the seconds of a ramp, the storage, what it costs an hour and each GiB that it moves.
WORLDS = {
    "equal instances": ((1.0,) * 5, 0.0, EFS_ELASTIC, "read", 0.0, READ_GIB),
    "a slow host": (UNEVEN, 0.0, EFS_ELASTIC, "read", 0.0, READ_GIB),
    "most hosts slow": ((1.0, 0.2, 0.1, 0.1, 0.1), 0.0, EFS_ELASTIC, "read", 0.0, READ_GIB),
    "writes of uneven instances": (UNEVEN, 0.0, EFS_ELASTIC, "write", 0.0, WRITTEN_GIB),
    "a ramp": (UNEVEN, 30.0, EFS_ELASTIC, "read", 0.0, READ_GIB),
    "a storage by the hour": (UNEVEN, 0.0, FSX_OPENZFS, "read", FSX, 0.0),
}


@pytest.mark.parametrize("case", WORLDS)
@pytest.mark.parametrize("is_by_time", [True, False], ids=["equal time", "equal bytes"])
def test_a_tb_costs_what_the_bill_by_hand_says(case, is_by_time):
    speeds, ramp_s, storage, way, usd_hour, usd_gib = WORLDS[case]
    rng = np.random.default_rng(44)
    for _ in range(DRAWS):
        mbps = 100 * np.array(speeds) * np.exp(0.05 * rng.normal(size=len(speeds)))
        seconds = np.full(len(speeds), 60.0) if is_by_time else 60.0 * 100 / mbps
        moved = mbps * 1e6 * seconds

        cost = world(storage, seconds, moved, way=way, ramp_s=ramp_s)["cost"]

        whole = 3 * moved.sum()
        by_hand = (len(speeds) * INSTANCE + usd_hour) * hours(seconds) + usd_gib * whole / GIB
        assert cost["usd"] == pytest.approx(by_hand / (whole / TB), rel=0.01)
        assert cost["missing"] is None


EVEN_ZONES = [
    ([1, 1], "ab", 4, 2),
    ([1, 1], "aab", 3, 1),
    ([1, 3], "abbb", 4, 3),
    ("spread", "abc", 6, 4),
    ("spread", "ab", 5, 2),
    ("spread", "abc", 1, 0),
    ("same-az", "a", 4, 0),
]


@pytest.mark.parametrize(
    ("placement", "zones", "count", "away", "slowness", "home"),
    [
        *[(*row, 1.0, home) for row in EVEN_ZONES for home in ("a", None)],
        *[([1, 1], "ab", 4, 2, slowness, "a") for slowness in (0.9, 0.8, 0.5, 0.1)],
        ("spread", "abc", 6, 4, 0.7, "a"),
        # Wherever the fleet is, bytes count from the zone of the storage.
        ("same-az", "b", 4, 4, 1.0, "a"),
    ],
)
def test_bytes_from_other_zones_are_on_the_bill(placement, zones, count, away, slowness, home):
    is_away = [zones[number % len(zones)] != "a" for number in range(count)]
    seconds = [60.0] * count
    moved = [20 * GIB * (slowness if each else 1.0) for each in is_away]

    cost = world(FSX_OPENZFS, seconds, moved, zones=zones, placement=placement, home=home)["cost"]

    whole, crossing = 3 * sum(moved), 3 * sum(20 * GIB * slowness for each in is_away if each)
    assert sum(is_away) == away
    by_hand = (count * INSTANCE + FSX) * hours(seconds) + CROSSING_GIB * crossing / GIB
    assert cost["usd"] == pytest.approx(by_hand / (whole / TB), rel=0.01)


@pytest.mark.parametrize("job_s", [1_000.0, 2_500.0, 7_200.0, 86_400.0])
def test_a_job_on_credits_costs_its_hours_at_full_and_at_baseline_rate(job_s):
    # 3,000 IOPS of gp2 for 2,000 s, then 300: 64 KiB each.
    seconds, moved = [60.0], [3_000 * 65_536 * 60.0]
    gp2 = {"type": "ebs", "volumeType": "gp2", "sizeGiB": 100}
    objective = {"metric": "iops", "atLeast": 1.0, "percentile": 50, "jobHours": job_s / 3600}

    candidate = world(gp2, seconds, moved, mount="disk", objective=objective)

    done = 3_000 * min(job_s, 2_000) + 300 * max(0.0, job_s - 2_000)
    assert candidate["value"] == pytest.approx(done / job_s, rel=0.01)
    by_hand = (INSTANCE + GP2) * job_s / 3600 / (done * 65_536 / TB)
    assert candidate["cost"]["usd"] == pytest.approx(by_hand, rel=0.01)
