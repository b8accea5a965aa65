"""Bills of drawn runs against their plan: nothing that a run moves is billed above its *high*.

Rates are drawn up to the limits that AWS documents, times up to the end that a workload has. The bill is by AWS's rules
as this file has them: prices, limits and the rounding of requests are written here anew, and not taken from the
product. docs/cost.md lists what is not in *high*.
"""

import math
from dataclasses import dataclass

import numpy as np
import pytest
from simulations.worlds import plan_of_world

from matrix.answer.metering import metered_usd
from matrix.price.book import published_prices

DRAWS = 30
ROUNDED = 2e-4  # a plan's costs are in hundredths of a cent
COUNTERS = [f"nfs_{way}_{what}" for way in ("read", "write") for what in ("bytes", "operations")]
COUNTERS += [f"nfs_{kind}_operations" for kind in ("other", "change", "open")]
KIB, MIB, GIB = 2**10, 2**20, 2**30
# What EC2 lists as the most of each type's network, in bytes per second.
NETWORKS = {"m6i.large": 12.5e9 / 8, "m6i.4xlarge": 12.5e9 / 8, "m6i.32xlarge": 50e9 / 8, "t3.medium": 5e9 / 8}


@dataclass(frozen=True)
class Service:
    """A service that charges by use: US dollars, and what it lets all clients and one client do in a second."""

    storage: dict
    read_gib: float = 0.0
    written_gib: float = 0.0
    get: float = 0.0
    put: float = 0.0
    read_bytes_per_s: float = math.inf
    written_bytes_per_s: float = math.inf
    reads_per_s: float = math.inf
    writes_per_s: float = math.inf
    client_bytes_per_s: float = math.inf
    is_of_each_client: bool = False  # whether each has so many requests for itself
    least_request: int = 1  # a request is billed as so many bytes at least
    part: float = math.inf  # of a GET or PUT: a larger request is several


EFS = {"read_gib": 0.03, "written_gib": 0.06, "least_request": 32 * KIB}
EFS |= {"read_bytes_per_s": 60 * GIB, "written_bytes_per_s": 5 * GIB, "reads_per_s": 250e3, "writes_per_s": 50e3}
SERVICES = {
    "efs": Service({"type": "efs"}, client_bytes_per_s=500 * MIB, **EFS),
    "efs by efs-utils": Service({"type": "efs", "tls": True}, client_bytes_per_s=1_500 * MIB, **EFS),
    # Of one zone: fewer operations.
    "efs of one zone": Service(
        {"type": "efs", "deployment": "oneZone"},
        client_bytes_per_s=500 * MIB,
        **EFS | {"reads_per_s": 35e3, "writes_per_s": 7e3},
    ),
    "s3-files": Service({"type": "s3-files"}, client_bytes_per_s=3 * GIB, **EFS | {"read_bytes_per_s": math.inf}),
    # A prefix for each client that S3 has not split; parts of 8 MiB.
    "mountpoint": Service(
        {"type": "mountpoint"},
        get=0.4e-6, put=5e-6, reads_per_s=5_500, writes_per_s=3_500, is_of_each_client=True, part=8 * MIB,
    ),
    "mountpoint of a directory bucket": Service(
        {"type": "mountpoint", "storageClass": "EXPRESS_ONEZONE"},
        read_gib=0.0006, written_gib=0.0032, get=0.03e-6, put=1.13e-6, reads_per_s=200e3, writes_per_s=100e3,
        part=8 * MIB,
    ),
}  # fmt: skip
WRITABLE = ["efs", "efs by efs-utils", "efs of one zone", "s3-files"]


def rate(service, way, size, network, count, draw):
    """Return the requests of a size that each instance sends in a second, up to every limit of AWS."""
    each = min(network, service.client_bytes_per_s) / size
    of_bytes, of_requests = (
        (service.read_bytes_per_s, service.reads_per_s)
        if way == "read"
        else (service.written_bytes_per_s, service.writes_per_s)
    )
    # Fast worlds are the ones that may cost more than planned.
    share = draw.beta(3, 1)
    return share * min(each, of_bytes / size / count, of_requests / (1 if service.is_of_each_client else count))


class Traffic:
    """What a run moves: what AWS bills of it in US dollars, and what the mounts count, which know no sizes."""

    def __init__(self, service):
        self.service, self.usd = service, 0.0
        self.counted = dict.fromkeys(COUNTERS, 0.0)

    def move(self, way, requests, size):
        """Add requests: each is rounded up to the least that AWS bills, and then to whole KiB."""
        service = self.service
        billed = requests * max(service.least_request, math.ceil(size / KIB) * KIB)
        gib, each = (service.read_gib, service.get) if way == "read" else (service.written_gib, service.put)
        self.usd += billed / GIB * gib + requests * max(1.0, size / service.part) * each
        self.counted[f"nfs_{way}_bytes"] += requests * size
        self.counted[f"nfs_{way}_operations"] += requests

    def make_files(self, files):
        """Add files that are made and removed: each request is billed as 4 KiB of metadata that are written."""
        self.usd += 2 * files * 4 * KIB / GIB * self.service.written_gib
        self.counted["nfs_open_operations"] += files
        self.counted["nfs_change_operations"] += files
        self.counted["nfs_other_operations"] += 2 * files


def fleet_of(draw):
    kind = str(draw.choice(list(NETWORKS)))
    return {"instanceType": kind, "count": int(draw.choice([1, 2, 8, 40, 200]))}, NETWORKS[kind]


def timed_job(service, draw):
    """Return the plan of fio that works until its time is over, and what it moves."""
    fleet, network = fleet_of(draw)
    ways = ["read"] if service.storage["type"] == "mountpoint" else ["read", "write", "rw"]
    size, way = int(draw.choice([4, 16, 64, 1_024])) * KIB, str(draw.choice(ways))
    seconds, ramp_s, jobs = int(draw.integers(10, 300)), int(draw.choice([0, 15])), int(draw.choice([1, 8]))
    share = {"read": 1.0, "write": 0.0}.get(way, float(draw.choice([30, 70])) / 100)
    mix = {"rwmixread": round(100 * share)} if way == "rw" else {}
    workload = {
        "type": "fio", "rw": f"rand{way}", "bs": f"{size // KIB}k", "direct": 1, "ioengine": "libaio", "iodepth": 16,
        "numjobs": jobs, "size": "1G", "runtime": seconds, "time_based": 1, **mix,
        **({"ramp_time": ramp_s} if ramp_s else {}),
    }  # fmt: skip
    repetitions = int(draw.choice([1, 3]))
    planned = plan_of_world([service.storage], fleet=fleet, workload=workload, repetitions=repetitions)
    # Of a mixture the slower way holds up the other.
    each_s = min(
        rate(service, each, size, network, fleet["count"], draw) / part
        for each, part in (("read", share), ("write", 1 - share))
        if part
    )
    requests = each_s * (seconds + ramp_s) * fleet["count"] * repetitions
    laid_out = jobs * GIB / MIB * fleet["count"] * (0 if way == "write" else repetitions if way == "rw" else 1)
    moved = Traffic(service)
    moved.move("read", share * requests, size)
    moved.move("write", (1 - share) * requests, size)
    moved.move("write", laid_out, MIB)
    return planned, moved


def unknown_command(service, draw):
    """Return the plan of a command that works until its cell's deadline ends it, and what it moves."""
    fleet, network = fleet_of(draw)
    workload = {"type": "command", "name": "own", "command": "true", "expectedSeconds": int(draw.integers(1, 2_000))}
    planned = plan_of_world([service.storage], fleet=fleet, workload=workload)
    seconds = draw.beta(3, 1) * planned["cells"][0]["deadline_s"]
    moved = Traffic(service)
    for way in ("read", "write"):
        size = int(draw.choice([4, 32, 100, 1_024])) * KIB
        requests = rate(service, way, size, network, fleet["count"], draw) * seconds * fleet["count"]
        moved.move(way, requests, size)
    return planned, moved


def known_command(service, draw):
    """Return the plan of a command, and what it moves: up to twice what its matrix says."""
    fleet, _ = fleet_of(draw)
    read, written = (round(float(draw.uniform(0, 50)), 1) for _ in range(2))
    workload = {"type": "command", "name": "own", "command": "true", "expectedReadGiB": read}
    planned = plan_of_world([service.storage], fleet=fleet, workload=workload | {"expectedWriteGiB": written})
    each = draw.uniform(0, 2) * fleet["count"]
    moved = Traffic(service)
    moved.move("read", each * read * GIB / MIB, MIB)
    moved.move("write", each * written * GIB / MIB, MIB)
    return planned, moved


def counted_work(service, draw):
    """Return the plan of work whose requests the matrix counts, and what it moves."""
    fleet, _ = fleet_of(draw)
    size, requests = int(draw.choice([4, 16, 100, 1_024])) * KIB, int(draw.choice([512, 8_192]))
    kind, instances, moved = str(draw.choice(["read", "dd", "touch"])), fleet["count"], Traffic(service)
    if kind == "read":
        workload = {"type": "read", "access": "random", "requestSize": size, "requests": requests, "threads": 8}
        moved.move("read", instances * requests, size)
        moved.move("write", instances * requests * size / MIB, MIB)
    elif kind == "dd":
        workload = {"type": "dd", "dataSize": size * requests, "blockSize": size, "sync": "block", "threads": 8}
        moved.move("write", instances * requests, size)
    else:
        workload = {"type": "touch", "tool": "engine", "files": requests, "threads": 16, "sync": "each"}
        moved.make_files(instances * requests)
    return plan_of_world([service.storage], fleet=fleet, workload=workload), moved


@pytest.mark.parametrize("name", SERVICES)
@pytest.mark.parametrize("run", [timed_job, unknown_command, known_command, counted_work])
def test_no_run_is_billed_above_the_highest_figure_of_its_plan(run, name):
    draw = np.random.default_rng(62)
    if name not in WRITABLE and run is counted_work:
        pytest.skip("its requests are those of the client, which looks each file up")

    runs = [run(SERVICES[name], draw) for _ in range(DRAWS)]

    highest = [(planned["cells"][0]["metered_usd"]["high"], moved.usd) for planned, moved in runs]
    assert [(high, paid) for high, paid in highest if paid > high] == []


@pytest.mark.parametrize("name", WRITABLE)
@pytest.mark.parametrize("run", [timed_job, unknown_command, known_command, counted_work])
def test_no_run_is_billed_above_what_its_cell_is_settled_at_by_its_mounts(run, name):
    draw = np.random.default_rng(62)

    runs = [run(SERVICES[name], draw) for _ in range(DRAWS)]

    for planned, moved in runs:
        [cell] = planned["cells"]
        settled = metered_usd(cell, {"points": []}, [], [moved.counted], published_prices())
        assert settled["high"] >= moved.usd
        assert settled["high"] <= cell["metered_usd"]["high"]
        if name != "s3-files":  # of which S3 may answer all reads
            beside = cell["metered_usd"]["high"] - sum(use["cost_usd"]["high"] for use in cell["by_use"])
            assert settled["low"] <= moved.usd + beside
            # Requests of 32 KiB may be as many of a MiB, and all others tiny: mounts cannot tell.
            assert settled["high"] - beside <= 2 * moved.usd + ROUNDED


@pytest.mark.parametrize("name", SERVICES)
def test_the_highest_figure_of_timed_work_is_near_what_the_limits_allow(name):
    draw = np.random.default_rng(62)

    runs = [timed_job(SERVICES[name], draw) for _ in range(DRAWS)]

    # A bound that no run comes near would let a budget refuse everything.
    assert max(moved.usd / planned["cells"][0]["metered_usd"]["high"] for planned, moved in runs) > 0.5
