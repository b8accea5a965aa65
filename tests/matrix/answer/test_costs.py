"""What a result costs: worked out by hand from hourly rates, seconds and work."""

from types import SimpleNamespace

import pytest
from support.matrices import FSX
from support.runs_for_reports import build_run, cell_of

from matrix.answer.costs import Bill, prices_read, storage_limits
from matrix.answer.results import cell_result
from matrix.samples.file import SampleFile
from matrix.terms.figures import cost_words

TEN = {"ebs": {10: 3600.0}, "efs": {10: 7200.0}}


def test_a_build_costs_the_rates_of_its_fleet_while_it_works():
    summary, _, planned = build_run(TEN, spread=0.0)
    cell = cell_of(summary, "ebs", 10)
    rates = cell_of(planned, "ebs", 10)["rates_usd"]

    cost = Bill.of(planned, None).point_cost(cell, cell["points"][0])

    # Each of ten instances builds for an hour; EBS has no file system to share.
    assert cost.per == "build"
    assert cost.usd == pytest.approx(sum(rates.values()), rel=1e-6)
    assert cost.missing is None


def test_a_fleet_that_met_its_quorum_costs_the_instances_that_ran():
    summary, _, planned = build_run(TEN, spread=0.0)
    cell = cell_of(summary, "ebs", 10)
    half = cell | {"instances": {"expected": 10, "launched": 5}}

    whole_usd, half_usd = (Bill.of(planned, None).point_cost(each, each["points"][0]).usd for each in (cell, half))

    # The same work by five instances, each with its volume, costs half as much per hour.
    assert half_usd == pytest.approx(whole_usd / 2)


FILLED = {"populate": "fetch", "expectedSeconds": 900}  # as long as a build, so a quarter of an hour


def test_each_instance_with_a_storage_of_its_own_fills_it_beside_its_builds():
    summary, _, planned = build_run(TEN, spread=0.0)
    cell = cell_of(summary, "ebs", 10)
    cell |= {"workload": cell["workload"] | FILLED}
    hour = sum(cell_of(planned, "ebs", 10)["rates_usd"].values())
    measured = cell["points"][0] | {"metrics": cell["points"][0]["metrics"] | {"fetch_s": {"p50": 360.0}}}
    bill = Bill.of(planned, None)

    expected, seen = (bill.point_cost(cell, point).filling for point in (cell["points"][0], measured))

    assert (expected.seconds, expected.instances, expected.basis) == (900, 10, "as its matrix expects")
    assert (expected.is_assumed, expected.to_document()["is_assumed"]) == (True, True)
    assert "is_assumed" not in seen.to_document()
    assert [expected.added_usd(times) for times in (1, 10)] == pytest.approx([hour / 4, hour / 40], rel=1e-6)
    assert (seen.seconds, seen.basis) == (360, "as measured")
    assert seen.added_usd(1) == pytest.approx(hour / 10, rel=1e-6)
    assert bill.point_cost(cell_of(build_run(TEN)[0], "ebs", 10), cell["points"][0]).filling is None


def test_a_shared_storage_is_filled_once_for_all_and_paid_by_the_receipt():
    summary, _, planned = build_run(TEN, spread=0.0)
    cell = cell_of(summary, "efs", 10)
    cell |= {"workload": cell["workload"] | FILLED}
    system = next(each for each in planned["file_systems"] if each["id"] == cell["file_system"])["rates_usd"]["hour"]
    hour = sum(cell_of(planned, "efs", 10)["rates_usd"].values())
    of_cache = {"file_system": cell["file_system"], "cell": "cache", "hours": 0.5}
    lines = [of_cache | {"kind": "instance", "cost_usd": 0.2}, of_cache | {"kind": "volume", "cost_usd": 0.01}]

    expected = Bill.of(planned, None).point_cost(cell, cell["points"][0]).filling
    paid = Bill.of(planned, {"resources": lines}).point_cost(cell, cell["points"][0]).filling

    assert (expected.seconds, expected.instances) == (900, 1)
    assert expected.usd == pytest.approx((hour + system) / 4, rel=1e-6)
    # Ten builds at once, ten times.
    assert expected.added_usd(10) == pytest.approx(expected.usd / 100)
    assert (paid.seconds, paid.basis) == (1800, "the receipt")
    assert (expected.is_assumed, paid.is_assumed) == (True, False)
    assert paid.usd == pytest.approx(0.21 + system / 2, rel=1e-6)


def test_each_of_several_file_systems_is_filled():
    cell = cell_of(build_run(TEN, spread=0.0)[0], "efs", 10)
    cell |= {"workload": cell["workload"] | FILLED}
    one, two = (
        Bill.of(None, None).point_cost(cell | {"storage": FSX | several}, cell["points"][0]).filling
        for several in ({}, {"fileSystems": 2})
    )

    assert (one.instances, two.instances, two.seconds) == (1, 2, one.seconds)
    assert two.usd == pytest.approx(2 * one.usd)


@pytest.mark.parametrize("is_planned", [True, False])
def test_each_volume_of_a_stripe_is_part_of_the_cost(is_planned):
    summary, _, planned = build_run(TEN, spread=0.0)
    cell = cell_of(summary, "ebs", 10)
    volume_hour = cell_of(planned, "ebs", 10)["rates_usd"]["data_volume_hour"]
    striped = cell | {"storage": cell["storage"] | {"raid0": 4}}
    bill = Bill.of(planned if is_planned else None, None)

    one, four = (bill.point_cost(of, of["points"][0]).usd for of in (cell, striped))

    # An hour's build of each instance takes three volumes more for an hour.
    assert four - one == pytest.approx(3 * volume_hour, rel=1e-5)


def test_a_shared_file_system_is_part_of_the_cost():
    summary, _, planned = build_run(TEN, spread=0.0)
    cell = cell_of(summary, "efs", 10)
    rates = cell_of(planned, "efs", 10)["rates_usd"]
    hour = next(one for one in planned["file_systems"] if one["id"] == cell["file_system"])["rates_usd"]["hour"]

    cost = Bill.of(planned, None).point_cost(cell, cell["points"][0])

    assert cost.usd == pytest.approx((10 * sum(rates.values()) + hour) * 2 / 10, rel=1e-6)


def test_without_a_plan_list_prices_stand_in_and_are_named():
    summary, _, planned = build_run(TEN, spread=0.0)
    cell = cell_of(summary, "ebs", 10)

    cost = Bill.of(None, None).point_cost(cell, cell["points"][0])

    assert cost.basis.startswith("list prices of us-east-1, 20")
    assert cost.usd == pytest.approx(Bill.of(planned, None).point_cost(cell, cell["points"][0]).usd, rel=1e-3)


def elastic(workload, count=1, **of_point):
    """A cell of a point on an EFS of elastic throughput."""
    point = {"id": "p01", "params": {}, "fleet": [], "metrics": {}, "use": {}} | of_point
    return {
        "id": "c", "file_system": "efs", "storage": {"type": "efs", "throughputMode": "elastic"},
        "workload": workload, "fleet": {"instanceType": "m6i.large", "count": count}, "points": [point],
    }  # fmt: skip


def elastic_cost(*arguments, **of_point):
    cell = elastic(*arguments, **of_point)
    return Bill.of(None, None).point_cost(cell, cell["points"][0])


NO_BYTES = {"seconds": 60.0, "nfs_read_bytes_per_s": 0.0, "nfs_write_bytes_per_s": 0.0}


@pytest.mark.parametrize(
    ("way", "use", "billed_gib"),
    [
        # As the workload counts, 100 GiB were written in a minute, whatever the plan had thought of it.
        ("write", {}, 100.0),
        # Reads cost half as much as writes.
        ("read", {}, 50.0),
        # The mount counts the client's cache out: a GiB of each in a minute, and 4 KiB for each small write.
        ("write", NO_BYTES | {"nfs_write_bytes_per_s": 2**30 / 60}, 2.0),
        ("write", NO_BYTES | {"nfs_write_bytes_per_s": 1.0, "nfs_write_operations_per_s": 2**18 / 60}, 2.0),
        # 2**18 requests for metadata of each are 2 GiB read.
        ("write", NO_BYTES | {"nfs_other_operations_per_s": 2**18 / 60}, 1.0),
    ],
)
def test_elastic_bytes_are_those_that_were_moved(way, use, billed_gib):
    options = {"rw": way, "bs": "1m", "size": "1g", "time_based": 1, "runtime": 60}
    fleet = [{"repetition": 1, "span_s": 60.0, f"{way}_bytes_per_s": 100 * 2**30 / 60}]

    cost = elastic_cost({"type": "fio", **options}, 2, params={"options": options}, fleet=fleet, use=use)

    # Two instances (with address and root volume) for a minute, and 0.06 USD per GiB written.
    instances = 2 * (0.096 + 0.005 + 20 * 0.08 / 730) / 60
    assert cost.per == "TB moved"
    assert cost.usd == pytest.approx((instances + billed_gib * 0.06) / (100 * 2**30 / 1e12), rel=1e-8)


def test_a_ramp_makes_no_result_dearer():
    samples = [
        {"point": "p01", "repetition": 1, "step": 0, "metrics": {"iops": 10.0}, "work": {"write_bytes": 1e9},
         "started_at": start, "ended_at": 30.1, "work_started_at": 20.0, "work_ended_at": 30.0}
        for start in (19.9, 5.0)
    ]  # fmt: skip
    cell = {
        "id": "c", "file_system": "ebs", "storage": {"type": "ebs", "volumeType": "gp3", "sizeGiB": 100},
        "workload": {"type": "fio", "rw": "write"},
        "fleet": {"instanceType": "m6i.large", "count": 1}, "expected_s": 30.0,
        "points": [{"id": "p01", "params": {}}], "steps": [{"point": "p01", "repetition": 1}],
    }  # fmt: skip
    costs = []
    for sample in samples:
        instance = {"id": "i-1", "type": "m6i.large"}
        file = SampleFile.model_validate({"run": "r", "cell": "c", "instance": instance, "samples": [sample]})
        result = cell_result(cell, [file], error=None, actual_s=None)
        costs.append(Bill.of(None, None).point_cost(result, result["points"][0]))

    # 10 s of work either way, of which the first took 0.2 s more and the second 15.1 s.
    assert costs[0].per == "TB moved"
    assert costs[1].usd == pytest.approx(costs[0].usd)


def test_elastic_bytes_that_are_not_known_make_the_cost_a_lower_bound():
    cost = elastic_cost({"type": "build", "name": "published elsewhere"}, metrics={"duration_s": {"p50": 3600.0}})

    assert cost.missing == "what is billed by the byte or request"


@pytest.mark.parametrize(
    ("use", "is_assumed"),
    [({}, True), ({"seconds": 60.0, "nfs_read_bytes_per_s": 1e6, "nfs_write_bytes_per_s": 1e6}, False)],
)
def test_a_cost_that_rests_on_assumed_bytes_says_so_and_has_two_digits(use, is_assumed):
    """Of a build that moved next to nothing the plan assumes 10 MB/s: $0.00839 had three digits of that."""
    fleet = [{"repetition": 1, "span_s": 60.0, "builds_per_s": 1 / 60}]

    cost = elastic_cost({"type": "build", "build": "make", "expectedSeconds": 60}, fleet=fleet, use=use)

    document = cost.to_document()
    assert document.get("is_assumed", False) is is_assumed
    assert not is_assumed or cost_words({**document, "usd": 1_234.5}) == "about $1,200"
    assert cost_words({**document, "usd": 0.00839}) == ("about $0.0084" if is_assumed else "$0.00839")


def test_work_of_no_price_or_of_no_known_storage_costs_nothing_that_could_be_said():
    summary, _, planned = build_run(TEN)
    cell = cell_of(summary, "ebs", 10)
    idle = cell["points"][0] | {"fleet": [{"repetition": 1, "span_s": 10.0}], "metrics": {}}

    assert Bill.of(planned, None).point_cost(cell, idle) is None
    assert Bill.of(None, None).point_cost(cell | {"storage": {"type": "tape"}}, cell["points"][0]) is None


def test_volumes_add_up_and_a_file_system_does_not():
    ebs = {"type": "ebs", "volumeType": "gp3", "sizeGiB": 200, "iops": 3000, "throughputMiBps": 125}
    efs = {"type": "efs", "throughputMode": "provisioned", "provisionedThroughputMiBps": 100}

    assert storage_limits(ebs, 4)["MiB/s"] == (500.0, "throughput of 4 volumes")
    assert storage_limits(efs, 4)["MiB/s"] == (100.0, "throughput of the file system, of writes")
    # What elastic throughput ends at depends on the region, and is five times as much in some.
    assert storage_limits({"type": "efs"}, 4).keys() == {"IOPS"}
    assert storage_limits({"type": "efs", "deployment": "oneZone"}, 4)["IOPS"][0] == 7_000
    assert storage_limits({"type": "tape"}, 4) == {}


def test_a_line_without_a_price_costs_nothing_and_other_cells_are_not_billed():
    summary, _, planned = build_run({"efs": {1: 3600.0, 10: 3600.0}}, spread=0.0, repetitions=1)
    cell, other = (cell_of(summary, "efs", count) for count in (10, 1))
    system = cell["file_system"]
    lines = [
        {"file_system": system, "cell": cell["id"], "cost_usd": 0.5},
        {"file_system": system, "cell": cell["id"], "cost_usd": None},
        {"file_system": system, "cell": "cache", "cost_usd": None},
        {"file_system": system, "cell": "file-server", "cost_usd": 2.0},
        {"file_system": "another", "cell": None, "cost_usd": 64.0},
    ]
    metered = cell_of(planned, "efs", 10)["metered_usd"]["expected"]
    bill = Bill.of(planned, {"resources": lines})

    usd, basis = bill.cell_usd(cell)
    cost, unbilled = (bill.point_cost(each, each["points"][0]) for each in (cell, other))

    # Two cells share the file system's 2 dollars; ten builds.
    assert (usd, basis) == (pytest.approx(0.5 + 2.0 / 2 + metered), "the receipt")
    assert (cost.usd_billed, cost.billed_basis) == (pytest.approx(usd / 10), basis)
    assert bill.cell_usd(other) is None
    assert unbilled.usd_billed is None


def test_without_a_receipt_a_cell_is_billed_as_planned():
    summary, _, planned = build_run(TEN, spread=0.0)
    cell, of_plan = (cell_of(document, "ebs", 10) for document in (summary, planned))

    usd, basis = Bill.of(planned, None).cell_usd(cell)

    assert basis == "the plan"
    assert usd == of_plan["cost_usd"]["expected"] + of_plan.get("metered_usd", {}).get("expected", 0.0)


def test_prices_are_of_the_month_in_which_the_newest_was_read():
    months = {"old": "2025-12", "new": "2026-11", "between": "2026-02"}
    book = SimpleNamespace(prices={name: SimpleNamespace(read=month) for name, month in months.items()})

    assert prices_read(book) == "2026-11"
