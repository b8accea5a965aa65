"""What a result costs: worked out by hand from hourly rates, seconds and work."""

from types import SimpleNamespace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.matrices import EBS, FSX
from support.runs_for_reports import build_run, cell_of

from matrix.answer.costs import Bill, prices_read, storage_limits
from matrix.answer.results import cell_result
from matrix.check.read import check_matrix
from matrix.input.workloads.contract import Clients
from matrix.plan.planning import plan
from matrix.samples.file import SampleFile
from matrix.terms.figures import describe_cost

TEN = {"ebs": {10: 3600.0}, "efs": {10: 7200.0}}


def ten(kind):
    """The cell of ten builds on a storage, as measured and as planned, and the plan."""
    summary, _, planned = build_run(TEN, spread=0.0)
    return cell_of(summary, kind, 10), cell_of(planned, kind, 10), planned


def cost_of(cell, planned=None, receipt=None):
    """The cost of the first point of a cell."""
    return Bill.of(planned, receipt).point_cost(cell, cell["points"][0])


def system_of(cell, planned):
    return next(each for each in planned["file_systems"] if each["id"] == cell["file_system"])


def test_a_build_costs_the_rates_of_its_fleet_while_it_works():
    cell, as_planned, planned = ten("ebs")

    cost = cost_of(cell, planned)

    # Each of ten instances builds for an hour; EBS has no file system to share.
    assert cost.per == "build"
    assert cost.usd == pytest.approx(sum(as_planned["rates_usd"].values()), rel=1e-6)
    assert cost.missing is None


def test_a_fleet_that_met_its_quorum_costs_the_instances_that_ran():
    cell, _, planned = ten("ebs")
    half = cell | {"instances": {"expected": 10, "launched": 5}}

    whole_usd, half_usd = (cost_of(each, planned).usd for each in (cell, half))

    # The same work by five instances, each with its volume, costs half as much per hour.
    assert half_usd == pytest.approx(whole_usd / 2)


FILLED = {"populate": "fetch", "expectedSeconds": 900}  # as long as a build, so a quarter of an hour


def test_each_instance_with_a_storage_of_its_own_fills_it_beside_its_builds():
    unfilled, as_planned, planned = ten("ebs")
    cell = unfilled | {"workload": unfilled["workload"] | FILLED}
    hour = sum(as_planned["rates_usd"].values())
    measured = cell["points"][0] | {"metrics": cell["points"][0]["metrics"] | {"fetch_s": {"p50": 360.0}}}

    expected, seen = (cost_of(cell | {"points": [point]}, planned).filling for point in (cell["points"][0], measured))

    assert (expected["seconds"], expected["instances"], expected["basis"]) == (900, 10, "as its matrix expects")
    assert expected["is_assumed"]
    assert "is_assumed" not in seen
    assert expected["usd"] / expected["builds"] == pytest.approx(hour / 4, rel=1e-6)
    assert (seen["seconds"], seen["basis"]) == (360, "as measured")
    assert seen["usd"] / seen["builds"] == pytest.approx(hour / 10, rel=1e-6)
    assert cost_of(unfilled, planned).filling is None


def test_a_shared_storage_is_filled_once_for_all_and_paid_by_the_receipt():
    cell, as_planned, planned = ten("efs")
    cell |= {"workload": cell["workload"] | FILLED}
    system_of(cell, planned)["rates_usd"]["hour"] = system = 2.0
    hour = sum(as_planned["rates_usd"].values())
    of_cache = {"file_system": cell["file_system"], "cell": "cache", "hours": 0.5}
    lines = [of_cache | {"kind": "volume", "cost_usd": usd} for usd in (0.01, None)]
    lines += [of_cache | {"kind": "instance", "cost_usd": 0.2}]

    expected = cost_of(cell, planned).filling
    paid = cost_of(cell, planned, {"resources": lines}).filling

    assert (expected["seconds"], expected["instances"]) == (900, 1)
    assert expected["usd"] == pytest.approx((hour + system) / 4, rel=1e-6)
    assert expected["builds"] == 10
    assert (paid["seconds"], paid["basis"]) == (1800, "the receipt")
    assert expected["is_assumed"]
    assert "is_assumed" not in paid
    assert paid["usd"] == pytest.approx(0.21 + system / 2, rel=1e-6)


def test_each_of_several_file_systems_is_filled():
    cell, *_ = ten("efs")
    cell |= {"workload": cell["workload"] | FILLED}

    one, two = (cost_of(cell | {"storage": FSX | several}).filling for several in ({}, {"fileSystems": 2}))

    assert (one["instances"], two["instances"], two["seconds"]) == (1, 2, one["seconds"])
    assert two["usd"] == pytest.approx(2 * one["usd"])


@pytest.mark.parametrize("is_planned", [True, False])
def test_each_volume_of_a_stripe_is_part_of_the_cost(is_planned):
    cell, as_planned, planned = ten("ebs")
    volume_hour = as_planned["rates_usd"]["data_volume_hour"]
    striped = cell | {"storage": cell["storage"] | {"raid0": 4}}

    one, four = (cost_of(each, planned if is_planned else None).usd for each in (cell, striped))

    # An hour's build of each instance takes three volumes more for an hour.
    assert four - one == pytest.approx(3 * volume_hour, rel=1e-5)


def test_a_shared_file_system_is_part_of_the_cost():
    cell, as_planned, planned = ten("efs")
    system_of(cell, planned)["rates_usd"]["hour"] = 2.0
    hour = 10 * sum(as_planned["rates_usd"].values()) + 2.0

    assert cost_of(cell, planned).usd == pytest.approx(hour * 2 / 10, rel=1e-6)


def test_without_a_plan_list_prices_stand_in_and_are_named():
    cell, _, planned = ten("ebs")

    cost = cost_of(cell)

    assert cost.basis.startswith("list prices of us-east-1, 20")
    assert cost.usd == pytest.approx(cost_of(cell, planned).usd, rel=1e-3)


def elastic(workload, count=1, **of_point):
    """A cell of a point on an EFS of elastic throughput."""
    point = {"id": "p01", "params": {}, "fleet": [], "metrics": {}, "use": {}} | of_point
    return {
        "id": "c", "file_system": "efs", "storage": {"type": "efs", "throughputMode": "elastic"},
        "workload": workload, "fleet": {"instanceType": "m6i.large", "count": count}, "points": [point],
    }  # fmt: skip


def elastic_cost(*arguments, **of_point):
    return cost_of(elastic(*arguments, **of_point))


@pytest.mark.parametrize(("launches", "uploads"), [((1, 1), 1), ((1, 2), 2)])
def test_what_all_repetitions_read_is_made_once_in_each_launch(launches, uploads):
    work = {
        "type": "command", "name": "c", "command": "true", "objectSize": "1KiB", "objects": 1000, "expectedSeconds": 1,
    }  # fmt: skip
    fleet = [{"repetition": 1, "launch": launch, "span_s": 1.0, "runs_per_s": 1.0} for launch in launches]

    cost = cost_of(elastic(work, fleet=fleet) | {"storage": {"type": "s3"}})

    # Of 1,000 requests: 0.005 USD for PUT, and 0.0004 for GET, in both repetitions.
    assert 2 * cost.by_use.expected == pytest.approx(uploads * 0.005 + 2 * 0.0004, rel=1e-2)


NO_BYTES = {"nfs_read_bytes": 0.0, "nfs_write_bytes": 0.0}


@pytest.mark.parametrize(
    ("way", "counted", "billed_gib"),
    [
        # As the workload counts, 100 GiB were written in a minute, whatever the plan had thought of it.
        ("write_bytes", {}, 100.0),
        # Reads cost half as much as writes.
        ("read_bytes", {}, 50.0),
        # Of work that tells neither from the other all is written.
        ("bytes", {}, 100.0),
        # The mounts count the clients' caches out: 2 GiB, and 32 KiB for each small write.
        ("write_bytes", NO_BYTES | {"nfs_write_bytes": 2.0 * 2**30}, 2.0),
        ("write_bytes", NO_BYTES | {"nfs_write_bytes": 1.0, "nfs_write_operations": 2.0**16}, 2.0),
        # 2**19 requests for metadata are 2 GiB read.
        ("write_bytes", NO_BYTES | {"nfs_other_operations": 2.0**19}, 1.0),
    ],
)
def test_elastic_bytes_are_those_that_were_moved(way, counted, billed_gib):
    options = {"rw": way.removesuffix("_bytes"), "bs": "1m", "size": "1g", "time_based": 1, "runtime": 60}
    fleet = [{"repetition": 1, "span_s": 60.0, f"{way}_per_s": 100 * 2**30 / 60, "counted": counted}]

    cost = elastic_cost({"type": "fio", **options}, 2, params={"options": options}, fleet=fleet)

    # Two instances (with address and root volume) for a minute, and 0.06 USD per GiB written.
    instances = 2 * (0.096 + 0.005 + 20 * 0.08 / 730) / 60
    assert cost.per == "TB moved"
    assert cost.usd == pytest.approx((instances + billed_gib * 0.06) / (100 * 2**30 / 1e12), rel=1e-8)


SMALL = NO_BYTES | {"nfs_read_bytes": 4_096e6, "nfs_read_operations": 1e6}
SMALL |= {"nfs_other_operations": 3e6, "nfs_change_operations": 1e6, "nfs_open_operations": 1e6}


@pytest.mark.parametrize(
    ("workload", "most"),
    [
        # Requests of one size; or 3,906 of a MiB, and all others next to nothing.
        ({"type": "build", "build": "make"}, 4_096e6 + (1e6 - 3_906.25) * 32_768),
        ({"type": "fio", "rw": "randread", "bs": "4k", "direct": 1, "size": "1G"}, 32_768e6),
    ],
)
def test_requests_are_metered_by_themselves_and_where_no_size_is_known_within_a_range(workload, most):
    params = {"options": {name: value for name, value in workload.items() if name != "type"}}
    fleet = [{"repetition": 1, "span_s": 60.0, "builds_per_s": 1 / 60, "counted": SMALL}]

    used = elastic_cost(workload, params=params, fleet=fleet).by_use

    # Of the others a million change names, and a million may.
    low, high = ((1e6 * 4_096 + read) * 0.03 / 2**30 for read in (32_768e6, most))
    change = 1e6 * 4_096 * 0.06 / 2**30
    assert (used.low, used.high) == pytest.approx((low + change, high + 2 * change))
    assert used.expected == pytest.approx(low + 2 * change)


READ = {"type": "fio", "rw": "randread", "bs": "64k", "direct": 1, "ioengine": "libaio", "size": "1G"}


MINUTES = [60.0] * 10


def measured(matrix, works, counters=lambda moved, share: {}, seconds=MINUTES, ramp_s=0.0, zones="a"):
    """Return plan and result of the only cell of `matrix`; `works` has the work of each of its instances and steps."""
    planned = plan(check_matrix({"name": "m", "order": "as-written", **matrix}), region="us-east-1").to_document()
    [cell] = planned["cells"]
    files = []
    for number, (work, took_s) in enumerate(zip(works, seconds, strict=False)):
        samples = [
            {"point": step["point"], "repetition": step["repetition"], "step": at, "metrics": {"duration_s": took_s},
             "work": moved, "started_at": 1e9 + 1000 * at - ramp_s, "ended_at": 1e9 + 1000 * at + took_s,
             "work_started_at": 1e9 + 1000 * at, "work_ended_at": 1e9 + 1000 * at + took_s, "tool": {},
             "counters": counters(moved, (ramp_s + took_s) / took_s)}
            for at, step in enumerate(cell["steps"]) for moved in [work[step["point"]]]
        ]  # fmt: skip
        instance = {"id": f"i-{number}", "type": "m6i.large", "availability_zone": zones[number % len(zones)]}
        uploaded = {"run": "m", "cell": cell["id"], "instance": instance, "mount": {"kind": "nfs"}, "samples": samples}
        files.append(SampleFile.model_validate(uploaded))
    return planned, cell_result(cell, files, error=None, actual_s=None)


def nfs(moved, share):
    """What an NFS mount counts of work with direct I/O, and as evenly of a ramp."""
    read, written = (share * moved.get(f"{way}_bytes", 0.0) for way in ("read", "write"))
    return {"nfs_read_bytes": read, "nfs_read_operations": read / 65536, "nfs_write_bytes": written,
            "nfs_write_operations": written / 65536, "nfs_other_operations": 0.0}  # fmt: skip


@pytest.mark.parametrize(
    ("mbps", "seconds", "ramp_s"),
    [
        ([100] * 10, [60.0] * 10, 0.0),
        ([20] * 6 + [100] * 4, [60.0] * 10, 0.0),
        ([20] * 4 + [100] * 6, [60.0] * 10, 0.0),
        ([100, 100 / 3], [20.0, 60.0], 0.0),
        ([100, 100, 10, 10], [10.0, 10.0, 100.0, 100.0], 0.0),
        ([100] * 3, [60.0] * 3, 60.0),
        ([20, 100, 50], [60.0, 40.0, 90.0], 15.0),
    ],
)
def test_bytes_of_an_uneven_fleet_cost_their_sum_without_the_ramp(mbps, seconds, ramp_s):
    works = [{"p01": {"read_bytes": rate * 1e6 * took}} for rate, took in zip(mbps, seconds, strict=True)]
    matrix = {"storage": [{"type": "efs"}], "workload": [READ], "repetitions": 3}
    matrix |= {"fleet": [{"instanceType": "m6i.large", "count": len(mbps)}]}

    planned, cell = measured(matrix, works, nfs, seconds, ramp_s)
    cost = cost_of(cell, planned)

    moved = 3 * sum(work["p01"]["read_bytes"] for work in works)
    instances = len(mbps) * (0.096 + 0.005 + 20 * 0.08 / 730) * 3 * max(seconds) / 3600
    assert cost.usd == pytest.approx((instances + 0.03 * moved / 2**30) / (moved / 1e12), rel=1e-3)
    assert cost.is_assumed is False


@settings(deadline=None, max_examples=25)
@given(
    fleet=st.lists(st.tuples(st.floats(0.1, 1000.0), st.floats(1.0, 900.0)), min_size=1, max_size=6),
    ramp_s=st.sampled_from([0.0, 0.5, 60.0, 600.0]),
    in_ramp=st.floats(0.0, 3.0),
)
def test_a_tb_that_is_read_from_efs_elastic_never_costs_less_than_its_price(fleet, ramp_s, in_ramp):
    works = [{"p01": {"read_bytes": rate * 1e6 * took}} for rate, took in fleet]
    matrix = {"storage": [{"type": "efs"}], "workload": [READ], "repetitions": 1}
    matrix |= {"fleet": [{"instanceType": "m6i.large", "count": len(fleet)}]}

    def counters(moved, share):
        return nfs(moved, 1 + (share - 1) * in_ramp)

    planned, cell = measured(matrix, works, counters, [took for _, took in fleet], ramp_s)

    assert cost_of(cell, planned).usd >= 0.03 * 1e12 / 2**30


def test_bytes_that_crossed_zones_are_those_of_the_instances_elsewhere():
    # As planned by shares of instances it would be half of the bytes.
    cell = elastic(READ, count=2) | {"storage": FSX}
    cell["fleet"] |= {"placement": [1, 1]}
    whole = {"span_s": 60.0, "read_bytes_per_s": 1e9}
    none, some, unknown = (
        cost_of(cell | {"points": [cell["points"][0] | {"fleet": [whole | fact, {"span_s": None}]}]})
        for fact in ({"crossed_bytes": 0.0}, {"crossed_bytes": 6e9}, {})
    )

    assert (some.usd - none.usd) * 0.06 == pytest.approx(0.02 * 6e9 / 2**30)
    assert some.by_use.expected * 0.06 == pytest.approx(0.02 * 6e9 / 2**30)
    assert (unknown.usd - none.usd) * 0.06 == pytest.approx(0.02 * 30e9 / 2**30)


REGIONAL = [
    {"type": "efs"}, {"type": "s3-files"}, {"type": "s3"}, {"type": "mountpoint"}, EBS,
    {"type": "efs", "throughputMode": "provisioned", "provisionedThroughputMiBps": 100},
    FSX | {"deploymentType": "MULTI_AZ_1", "throughputCapacityMBps": 5120},
]  # fmt: skip
IN_ONE_ZONE = [
    {"type": "s3-express"}, {"type": "mountpoint", "storageClass": "EXPRESS_ONEZONE"}, FSX,
    {"type": "fsx-lustre", "storageCapacityGiB": 1200},
    {"type": "fsx-ontap", "storageCapacityGiB": 1024, "throughputMBpsPerHaPair": 1536},
]  # fmt: skip
WRITE = {"type": "dd", "dataSize": "64GiB", "blockSize": "1MiB", "sync": "end", "threads": [1, 4]}
PAGES = {"type": "read", "access": "random", "requests": 1_000_000, "requestSize": 4096, "threads": [1, 16]}


@pytest.mark.parametrize(
    ("storage", "placement", "cross_zone_share"),
    [
        *[(storage, where, 0.0) for storage in REGIONAL for where in ("spread", [1, 1])],
        *[(storage, "same-az", 0.0) for storage in (*IN_ONE_ZONE, {"type": "efs", "deployment": "oneZone"})],
        # Two of three instances are in the zone of the storage.
        *[(storage, where, 1 / 3) for storage in IN_ONE_ZONE for where in ("spread", [1, 1])],
    ],
    ids=str,
)
def test_work_as_planned_costs_as_planned(storage, placement, cross_zone_share):
    work = PAGES if storage["type"] in ("s3", "s3-express") else WRITE
    fleet = {"instanceType": "m6i.large", "count": 3, "placement": placement}
    matrix = {"storage": [storage], "workload": [work], "repetitions": 2, "fleet": [fleet]}
    checked = check_matrix({"name": "m", **matrix}).matrix
    each = {
        f"p{n:02d}": checked.workload[0].footprint(params, checked.storage[0], Clients(3)).spread(2)
        for n, params in enumerate(checked.workload[0].points(), start=1)
    }
    works = [{name: {"read_bytes": step.read_bytes, "write_bytes": step.written_bytes} for name, step in each.items()}]
    moved = sum(2 * 3 * (step.read_bytes + step.written_bytes) for step in each.values())

    planned, cell = measured(matrix, works * 3, nfs, zones="aab")
    bill, rates = Bill.of(planned, None), planned["cells"][0]["rates_usd"]
    costs = [bill.point_cost(cell, point) for point in cell["points"]]
    usd = sum(cost.usd for cost in costs) * moved / 1e12 / len(costs)

    [system] = planned["file_systems"]
    of_time = (3 * sum(rates.values()) + system["rates_usd"]["hour"]) * 2 * 60 * len(each) / 3600
    of_use = sum(charge["cost_usd"]["expected"] for charge in planned["cells"][0].get("by_use", []))
    of_zones = 0.02 * cross_zone_share * moved / 2**30
    assert usd == pytest.approx(of_time + of_use + of_zones, rel=1e-3)
    assert not any(cost.missing or cost.is_assumed for cost in costs)


def test_elastic_bytes_that_are_not_known_make_the_cost_a_lower_bound():
    cell = elastic({"type": "build", "name": "published elsewhere"}, metrics={"duration_s": {"p50": 3600.0}})

    assert cost_of(cell).missing == "what is billed by the byte or request"
    assert cost_of(cell | {"storage": EBS}).missing is None


@pytest.mark.parametrize(("counted", "is_assumed"), [({}, True), (NO_BYTES, False)])
def test_a_cost_that_rests_on_assumed_bytes_says_so_and_has_two_digits(counted, is_assumed):
    """Of a build that moved next to nothing the plan assumes 10 MB/s: $0.00839 had three digits of that."""
    fleet = [{"repetition": 1, "span_s": 60.0, "builds_per_s": 1 / 60, "counted": counted}]

    cost = elastic_cost({"type": "build", "build": "make", "expectedSeconds": 60}, fleet=fleet)

    document = cost.to_document()
    assert document.get("is_assumed", False) is is_assumed
    assert not is_assumed or describe_cost({**document, "usd": 1_234.5}) == "about $1,200"
    assert describe_cost({**document, "usd": 0.00839}) == ("about $0.0084" if is_assumed else "$0.00839")


def test_work_of_no_price_or_of_no_known_storage_costs_nothing_that_could_be_said():
    cell, _, planned = ten("ebs")
    idle = cell["points"][0] | {"fleet": [{"repetition": 1, "span_s": 10.0}], "metrics": {}}

    assert cost_of(cell | {"points": [idle]}, planned) is None
    assert cost_of(cell | {"storage": {"type": "tape"}}) is None


def test_limits_are_those_of_a_volume_or_of_the_whole_file_system():
    ebs = {"type": "ebs", "volumeType": "gp3", "sizeGiB": 200, "iops": 3000, "throughputMiBps": 125}
    efs = {"type": "efs", "throughputMode": "provisioned", "provisionedThroughputMiBps": 100}

    assert storage_limits(ebs)["MB/s"] == (pytest.approx(131.072), "throughput of the volume")
    assert storage_limits(efs)["MB/s"] == (pytest.approx(104.8576), "throughput of the file system, of writes")
    # What elastic throughput ends at depends on the region, and is five times as much in some.
    assert storage_limits({"type": "efs"}).keys() == {"IOPS"}
    assert storage_limits({"type": "efs", "deployment": "oneZone"})["IOPS"][0] == 7_000
    assert storage_limits({"type": "tape"}) == {}


def test_the_bills_of_all_cells_are_the_receipt_and_a_file_system_is_shared_by_the_time_of_its_use():
    summary, _, planned = build_run({"efs": {1: 3600.0, 10: 3600.0}}, spread=0.0, repetitions=1)
    cell, other = (cell_of(summary, "efs", count) for count in (10, 1))
    system = cell["file_system"]

    def line(name, start, end, usd):
        hours = (end - start) / 3600
        return {"file_system": system, "cell": name, "created_at": start, "hours": hours, "cost_usd": usd}

    # The second cell waited for an instance until it was launched anew: it kept the file system for three hours.
    lines = [
        line(cell["id"], 1000.0, 4600.0, 0.5),
        line(cell["id"], 1000.0, 4600.0, None),
        line(other["id"], 5000.0, 6000.0, 0.1),
        line(other["id"], 14000.0, 15800.0, 0.2),
        line("cache", 0.0, 900.0, 0.4),
        line("file-server", 0.0, 20000.0, 2.0),
        line(None, 0.0, 20000.0, 1.0),
        line(None, 0.0, 20000.0, 64.0) | {"file_system": "another"},
    ]
    metered = {name["id"]: cell_of(planned, "efs", count)["metered_usd"]["expected"]
               for name, count in ((cell, 10), (other, 1))}  # fmt: skip
    bill = Bill.of(planned, {"resources": lines})

    (usd, basis), (others_usd, _) = bill.cell_usd(cell), bill.cell_usd(other)
    cost = bill.point_cost(cell, cell["points"][0])

    assert (usd, basis) == (pytest.approx(0.5 + 3.4 / 4 + metered[cell["id"]]), "the receipt")
    assert usd + others_usd == pytest.approx(0.8 + 3.4 + sum(metered.values()))
    # Ten builds.
    assert (cost.usd_billed, cost.billed_basis) == (pytest.approx(usd / 10), basis)
    alone = Bill.of(planned, {"resources": [each for each in lines if each["cell"] != other["id"]]})
    assert alone.cell_usd(cell)[0] == pytest.approx(0.5 + 3.4 + metered[cell["id"]])
    assert alone.cell_usd(other) is None
    assert alone.point_cost(other, other["points"][0]).usd_billed is None


def test_without_a_receipt_cells_are_billed_as_planned():
    summary, _, planned = build_run({"ebs": {10: 3600.0}, "efs": {1: 3600.0, 10: 3600.0}}, spread=0.0)
    bill = Bill.of(planned, None)

    billed = [bill.cell_usd(cell) for cell in summary["cells"]]

    assert {basis for _, basis in billed} == {"the plan"}
    whole = planned["totals"]["cost_usd"]["expected"] - sum(each["cost_usd"]["expected"] for each in planned["images"])
    assert sum(usd for usd, _ in billed) == pytest.approx(whole, abs=1e-3)
    # A file system is shared by the planned time of its cells.
    [few, many] = (cell_of(planned, "efs", count) for count in (1, 10))
    system_of(few, planned)["cost_usd"]["expected"] = 7.0
    share = few["expected_s"] / (few["expected_s"] + many["expected_s"])
    assert bill.cell_usd(cell_of(summary, "efs", 1))[0] == pytest.approx(few["cost_usd"]["expected"] + 7.0 * share)


def test_prices_are_of_the_month_in_which_the_newest_was_read():
    months = {"old": "2025-12", "new": "2026-11", "between": "2026-02"}
    book = SimpleNamespace(prices={name: SimpleNamespace(read=month) for name, month in months.items()})

    assert prices_read(book) == "2026-11"
