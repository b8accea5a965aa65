"""Costs, worked out by hand from the price book's figures."""

from pathlib import Path

import pytest
from support.matrices import BUILD, EFS, FLEET, FSX, matrix

from local.corrections import yaml_template
from matrix.plan.planning import plan
from matrix.price import book as price_book
from matrix.price.book import (
    Price,
    PriceBook,
    file_system_cost,
    instances_cost,
    machine_rates,
    orchestration_cost,
    published_prices,
    volume_hours,
    volumes_cost,
)
from matrix.storages.ebs import EbsStorage, io2_tiers
from matrix.storages.efs import EfsStorage
from matrix.storages.fsx_openzfs import FsxOpenZfsStorage
from matrix.terms.charges import Amount, Usage

MONTH_S = 730 * 3600
ROOT = Path(__file__).parents[3]


def test_an_hour_of_ten_instances():
    cost = instances_cost(published_prices(), "c5.2xlarge", 10, Amount.exactly(3600))

    # c5.2xlarge 0.34, a public address 0.005, 20 GiB of gp3 at 0.08 for 1 of 730 hours; ten of each.
    assert cost.expected == pytest.approx(10 * (0.34 + 0.005 + 20 * 0.08 / 730))
    assert cost.to_document() == {"low": 3.4719, "expected": 3.4719, "high": 3.4719}  # all confirmed


def test_what_instances_put_in_steps_and_what_they_put_once_is_paid():
    book, nothing = published_prices(), Amount.exactly(0)
    few, many = (orchestration_cost(book, poll_turns=nothing, steps=3, instances=count, each_s=nothing)
                 for count in (2, 1002))  # fmt: skip

    # 0.005 USD for 1,000 requests: in each of three steps 4 objects and the price of a listing, and 6 objects once.
    assert many.expected - few.expected == pytest.approx(1000 * (3 * (4 + 1) + 6) * 0.005 / 1000)


def test_functions_are_priced_with_the_memory_that_the_template_gives_them():
    template = yaml_template.load((ROOT / "template.yaml").read_text())
    usual = template["Globals"]["Function"]["MemorySize"]

    def memory_mb(function):
        return template["Resources"][f"{function}Function"]["Properties"].get("MemorySize", usual)

    assert {memory_mb(name) for name in ("AdmitCell", "LaunchFleet", "StopFleet")} == {price_book.MAX_MB}
    assert memory_mb("PollFleet") == price_book.POLL_MB
    assert memory_mb("AnalyseCell") == price_book.ANALYSE_MB


def test_a_poll_costs_what_lambda_and_step_functions_bill_for_a_second_of_it_and_its_listings():
    book, nothing = published_prices(), Amount.exactly(0)
    none, hundred = (orchestration_cost(book, poll_turns=Amount.exactly(turns), steps=1, instances=1, each_s=nothing)
                     for turns in (0, 100))  # fmt: skip

    # arm64: 0.0000133334 USD for a GB and a second, and 0.2 USD for a million calls (here 6.9: the unit has one each).
    lambda_usd = 1_769 / 1_024 * 0.0000133334 + 1_769 / 256 * 0.0000002
    listings_usd = (4 + 7 / 1_000) * 0.000005
    assert hundred.expected - none.expected == pytest.approx(100 * (lambda_usd + 3 * 0.000025 + listings_usd), rel=1e-3)


def test_initialising_functions_is_billed_where_none_is_left_of_the_cell_before():
    book, nothing = published_prices(), Amount.exactly(0)
    cost = orchestration_cost(book, poll_turns=nothing, steps=1, instances=1, each_s=nothing)

    # Three functions with 1 GB, one with 1,769 MB and one with 2 GB: 26.9 units, for 3 seconds and for 10.
    assert cost.expected - cost.low == pytest.approx(26.91 * 3 * 0.0000035334, rel=1e-3)
    assert cost.high - cost.low == pytest.approx(26.91 * 10 * 0.0000035334, rel=1e-3)


def test_an_instance_is_billed_for_a_minute_at_least():
    book = published_prices()

    assert instances_cost(book, "c5.large", 1, Amount.exactly(1)) == instances_cost(
        book, "c5.large", 1, Amount.exactly(60)
    )


@pytest.mark.parametrize(
    ("volume", "usd"),
    [
        ({"volume_type": "gp3", "size_gib": 200}, 200 * 0.08),
        # 17,000 IOPS above 3,000 at 0.005, 875 MiB/s above 125 at 0.04
        ({"volume_type": "gp3", "size_gib": 40, "iops": 20000, "throughput_mibps": 1000}, 40 * 0.08 + 85 + 35),
        ({"volume_type": "gp2", "size_gib": 100}, 10.0),
        ({"volume_type": "io1", "size_gib": 100, "iops": 1000}, 12.5 + 65),
        ({"volume_type": "io2", "size_gib": 100, "iops": 16000}, 12.5 + 1040),
        ({"volume_type": "st1", "size_gib": 1000}, 45.0),
        # AWS's example: 0.60 for 250 GiB at 200 MiB/s
        (
            {
                "volume_type": "st1",
                "size_gib": 250,
                "snapshot_id": "snap-0123456789",
                "volume_initialization_rate": 200,
            },
            250 * 0.045 + 0.60,
        ),
        ({"volume_type": "sc1", "size_gib": 1000}, 15.0),
    ],
)
def test_a_month_of_a_volume(volume, usd):
    cost = volumes_cost(published_prices(), EbsStorage(type="ebs", **volume), 1, Amount.exactly(MONTH_S))

    assert cost.expected == pytest.approx(usd)


def test_volumes_as_raid0_are_billed_and_count_each():
    volume = {"type": "ebs", "volumeType": "gp3", "sizeGiB": 100, "iops": 4000, "throughputMiBps": 1000}
    workload = {"type": "fio", "rw": "randwrite", "bs": "4k", "size": "1G", "time_based": 1, "runtime": 3600}
    fleet = {"instanceType": "m6i.12xlarge", "count": 3}
    all_cells = {"workload": [workload], "fleet": [fleet]}

    def expected_usd(**changes):
        return plan(matrix(storage=[volume | changes], **all_cells)).cells[0].cost.expected

    one_more = expected_usd(sizeGiB=101) - expected_usd()
    four_more = expected_usd(sizeGiB=101, raid0=4) - expected_usd(raid0=4)

    assert four_more == pytest.approx(4 * one_more, rel=0.01)
    storage = EbsStorage.model_validate(volume | {"raid0": 4})
    assert (storage.effective_iops, storage.bandwidth_bytes_per_s) == (16_000, 4_000 * 2**20)


@pytest.mark.parametrize(
    ("iops", "mib_per_s"), [(1_000, 250), (2_000, 500), (4_000, 500), (32_000, 500), (48_000, 750), (64_000, 1_000)]
)
def test_io1_moves_500_mib_per_s_until_its_iops_are_small_ones(iops, mib_per_s):
    storage = EbsStorage.model_validate({"type": "ebs", "volumeType": "io1", "sizeGiB": 2_000, "iops": iops})

    assert storage.bandwidth_bytes_per_s == mib_per_s * 2**20


def test_io2_is_billed_in_tiers():
    assert [iops for _, iops in io2_tiers(100)] == [100]
    assert [iops for _, iops in io2_tiers(100_000)] == [32_000, 32_000, 36_000]


def test_a_day_of_fsx():
    storage = FsxOpenZfsStorage(
        type="fsx-openzfs", storage_capacity_gib=1024, throughput_capacity_mbps=4096, iops=20000
    )
    nothing = Amount.exactly(0)
    usage = Usage(Amount.exactly(86_400), nothing, nothing, nothing)

    # 1,024 GiB at 0.09, 4,096 MB/s at 0.26, 20,000 - 3 * 1,024 = 16,928 IOPS at 0.006 a month
    month = 1024 * 0.09 + 4096 * 0.26 + 16928 * 0.006
    assert file_system_cost(published_prices(), storage, usage).expected == pytest.approx(month * 24 / 730)


def test_efs_bills_what_its_throughput_mode_says():
    gib = Amount.exactly(2**30)
    usage = Usage(Amount.exactly(3600), gib.times(10), gib.times(5), Amount.exactly(0))
    elastic = EfsStorage(type="efs")
    provisioned = EfsStorage(type="efs", throughput_mode="provisioned", provisioned_throughput_mibps=1024)
    bursting = EfsStorage(type="efs", throughput_mode="bursting")
    book = published_prices()

    assert file_system_cost(book, elastic, usage).expected == pytest.approx(10 * 0.03 + 5 * 0.06)
    assert file_system_cost(book, provisioned, usage).expected == pytest.approx(1024 * 6.0 / 730)
    assert file_system_cost(book, bursting, usage).expected == 0


def test_an_unknown_instance_type_is_estimated_widely_and_warned_of():
    document = plan(matrix(fleet=[{"instanceType": "m99zz.4xlarge", "count": 1}])).to_document()

    warned = [warning for warning in document["warnings"] if warning["path"] == "prices"]
    assert "m99zz.4xlarge" in warned[0]["value"]
    assert "a guess from family letter and size" in warned[0]["message"]
    assert document["totals"]["cost_usd"]["high"] >= 2 * document["totals"]["cost_usd"]["expected"] > 0


@pytest.mark.parametrize(
    ("kind", "usd"),
    [
        # The families of 2025 and 2026, with and without disks, as AWS's price list has them.
        ("i8g.4xlarge", 1.3728), ("i7ie.xlarge", 0.5198), ("c8gd.16xlarge", 3.13536), ("m8i.large", 0.10584),
        ("m9g.large", 0.09783),
        # Not in proportion to their size: a bare machine, GPUs, a c4.large beside larger c4.
        ("i8g.metal-24xl", 9.06048), ("g5.16xlarge", 4.096), ("x8i.96xlarge", 48.74), ("c4.large", 0.1),
        # A family without a large.
        ("d3.2xlarge", 0.999),
    ],
)  # fmt: skip
def test_a_type_of_the_price_list_is_not_guessed(kind, usd):
    book = published_prices()

    price = book.instance_hour(kind)

    assert price.usd == pytest.approx(usd, rel=0.01)
    assert (price.confirmed, price.spread, book.guessed, book.warnings()) == (True, (1.0, 1.0), set(), [])


def test_a_bare_machine_and_a_family_that_the_price_list_lacks_are_guessed():
    book = published_prices()

    assert [book.instance_hour(kind).confirmed for kind in ("c8g.metal-96xl", "g5.96xlarge", "z9x.large")] == 3 * [
        False
    ]
    assert book.guessed == {"c8g.metal-96xl", "g5.96xlarge", "z9x.large"}


def test_the_plan_says_between_which_months_the_prices_of_its_book_were_read():
    book = published_prices()
    months = {price.read for price in (*book.prices.values(), *book.instances.values())}

    assert f"the price list of {min(months)} to {max(months)}" in book.sources()


def test_unconfirmed_prices_and_other_regions_widen_the_range_and_are_assumptions():
    multi_az = {
        "type": "fsx-openzfs",
        "deploymentType": "MULTI_AZ_1",
        "storageCapacityGiB": 64,
        "throughputCapacityMBps": 160,
    }
    document = plan(matrix(storage=[multi_az]), region="eu-central-1").to_document()

    assert {"fsx_multi_az_gib_month", "public_ipv4_hour"} <= set(document["doubtful_prices"])
    assert "prices" not in [warning["path"] for warning in document["warnings"]]
    widened = [line for line in document["assumptions"] if "widen" in line]
    assert ["eu-central-1" in widened[0], "fsx_multi_az_gib_month" in widened[1]] == [True, True]
    here, there = (plan(matrix(), region=region).cost for region in ("us-east-1", "eu-central-1"))
    assert there.low < here.low < here.high < there.high
    assert there.expected == here.expected


@pytest.mark.parametrize(
    ("storage", "placement", "gib_away"),
    [
        # 1,000 files of 1 MiB of each of four instances.
        (FSX, [1, 1], 2_000 / 1_024),
        (FSX, [3, 1], 1_000 / 1_024),
        (FSX, None, 0.0),
        (FSX, "same-az", 0.0),
        (FSX | {"deploymentType": "MULTI_AZ_1", "throughputCapacityMBps": 5120}, [1, 1], 0.0),
        (EFS, [1, 1], 0.0),
        (FSX, "spread", 2_000 / 1_024),  # of three zones, the first has two
    ],
)
def test_bytes_that_pass_between_zones_are_in_the_plan(storage, placement, gib_away):
    work = {"type": "transfer", "tool": "cp", "files": 1000, "fileSize": "1MiB"}
    costs = [
        plan(matrix(storage=[storage], workload=[work], fleet=[FLEET | {"count": 4} | where], repetitions=1)).cells[0]
        for where in ({} if placement is None else {"placement": placement}, {"placement": "same-az"})
    ]

    placed, together = (one.metered_cost.expected for one in costs)

    assert placed - together == pytest.approx(0.02 * gib_away, abs=1e-9)
    low, high = (getattr(costs[0].metered_cost, end) - getattr(costs[1].metered_cost, end) for end in ("low", "high"))
    if placement != "spread":  # then the number of zones is not known either
        assert (low, high) == pytest.approx((0.01 * gib_away, 0.04 * gib_away), abs=1e-9)
    assert costs[0].cost.expected - costs[1].cost.expected == pytest.approx(placed - together, abs=1e-9)


NAT = "nat_gateway_gib"


@pytest.mark.parametrize(
    ("kind", "gib"),
    # Four instances write 1 GiB each once, and read it twice. S3 Files takes what is written at its mount target.
    [("s3", 12.0), ("s3-express", 12.0), ("mountpoint", 12.0), ("s3-files", 8.0)],
)
def test_bytes_that_a_nat_gateway_forwards_are_in_the_plan_and_its_reserve(kind, gib):
    work = {"type": "read", "requestSize": "1MiB", "requests": 1024, "data": "own"}
    checked = matrix(storage=[{"type": kind}], workload=[work], fleet=[FLEET | {"count": 4}], repetitions=2)
    service = checked.cells[0].storage.gateway_service

    without, through = plan(checked), plan(checked, tolls={service: [NAT]})

    [before], [after] = without.cells, through.cells
    more = through.cost - without.cost
    assert more.expected == pytest.approx(0.045 * gib)
    assert more.expected == pytest.approx(after.metered_cost.expected - before.metered_cost.expected)
    assert after.reserve_usd - before.reserve_usd == pytest.approx(more.high)
    assert plan(checked, tolls={"another": [NAT]}).cost == without.cost


@pytest.mark.parametrize(
    ("placement", "shares"),
    [
        ("same-az", (0.0, 0.0, 0.0)),  # the first subnet has the gateway endpoint
        ("spread", (0.0, 1 / 4, 1.0)),  # where EC2 has no capacity in two zones, all are in the third
        ([1, 3], (3 / 4, 3 / 4, 3 / 4)),
        ([2, 1, 1], (1 / 4, 1 / 4, 1 / 4)),
        ([3, 1e-9, 1], (0.0, 0.0, 0.0)),
    ],
)
def test_bytes_pay_a_nat_gateway_only_in_the_subnets_that_have_it(placement, shares):
    work = {"type": "read", "requestSize": "1MiB", "requests": 1024, "data": "own"}
    fleet = FLEET | {"count": 4, "placement": placement}
    checked = matrix(storage=[{"type": "s3"}], workload=[work], fleet=[fleet], repetitions=2)

    direct, through, through_all = (
        plan(checked, tolls={"s3": names}).cost for names in ([None] * 3, [None, NAT, None], [NAT] * 3)
    )

    for end, share in zip(("low", "expected", "high"), shares, strict=True):
        asked = getattr(through_all, end) - getattr(direct, end)
        assert asked > 0
        assert getattr(through, end) - getattr(direct, end) == pytest.approx(share * asked)


def test_several_file_systems_cost_and_carry_so_many_times_one_and_each_has_its_cache_filled():
    work = BUILD | {"populate": "fetch", "expectedSeconds": 60}
    one, two = (
        plan(matrix(storage=[FSX | several], workload=[work], fleet=[FLEET | {"count": 4}], repetitions=1))
        for several in ({}, {"fileSystems": 2})
    )
    [of_one], [of_two] = one.file_systems, two.file_systems

    assert of_two.hour_usd == pytest.approx(2 * of_one.hour_usd)
    # Instances that fill caches included: all but the cell's own instances is there twice.
    assert of_two.cost.expected == pytest.approx(2 * of_one.cost.expected)
    assert of_two.reserve_usd == pytest.approx(2 * of_one.reserve_usd)
    assert two.cells[0].cost.expected == pytest.approx(one.cells[0].cost.expected)
    assert two.cells[0].expected_s == one.cells[0].expected_s
    first, second = (matrix(storage=[FSX | several]).matrix.storage[0] for several in ({}, {"fileSystems": 2}))
    for each in ("bandwidth_bytes_per_s", "effective_iops", "cache_bytes"):
        assert getattr(second, each) == 2 * getattr(first, each)


@pytest.mark.parametrize(
    ("kind", "usd"),
    [
        # Of no known family: a large by the letter of its class, times how much larger the size is.
        ("m99zz.4xlarge", 0.1 * 8), ("t99.nano", 0.08 / 16), ("c99.micro", 0.09 / 8), ("i99.small", 0.16 / 4),
        ("z99.medium", 0.19 / 2), ("d99.large", 0.16), ("h99.large", 0.15), ("x99.large", 0.17), ("p99.large", 0.5),
        # A bare machine: two large for each xlarge that its name counts, else a whole host of 48.
        ("r99.metal-96xl", 0.13 * 192), ("c99.metal", 0.09 * 48),
        # The price list has 0.10584 for an m8i.large: a bare machine of that family is not a guess from a letter.
        ("m8i.metal-10xl", 0.10584 * 20),
    ],
)  # fmt: skip
def test_a_guess_is_in_proportion_to_the_size_and_half_or_double_may_be_true(kind, usd):
    price = published_prices().instance_hour(kind)

    assert price.usd == pytest.approx(usd, rel=1e-6)
    hour = price.of(Amount.exactly(1.0))
    assert (hour.low, hour.expected, hour.high) == pytest.approx((usd / 2, usd, 2 * usd))


def test_a_size_of_a_known_family_has_its_price_in_proportion():
    # The price list has 0.10584 for an m8i.large; six times a 4xlarge is a 24xlarge, 48 large.
    assert published_prices().instance_hour("m8i.24xlarge").usd == pytest.approx(48 * 0.10584)


def test_another_region_and_a_missing_confirmation_widen_a_price_each_by_its_own_share():
    sure = published_prices()
    unsure = PriceBook({"x": Price(2.0, "GiB", "a guess", "2026-11", confirmed=False)}, {})

    def spread(book, name):
        price = book.price(name)
        return price.spread

    assert spread(sure.for_region("us-east-1"), "ebs_gp3_gib_month") == (1.0, 1.0)
    assert spread(sure.for_region("eu-west-1"), "ebs_gp3_gib_month") == (0.9, 1.4)
    assert spread(unsure, "x") == (0.75, 1.5)
    assert spread(unsure.for_region("eu-west-1"), "x") == pytest.approx((0.75 * 0.9, 1.5 * 1.4))


def test_what_a_cell_takes_beside_its_polls_is_30_transitions_8_calls_an_analysis_and_six_objects():
    nothing = Amount.exactly(0)
    cost = orchestration_cost(published_prices(), poll_turns=nothing, steps=3, instances=1, each_s=nothing)

    # A call of a second is billed in quarters of a GB: 8 with 1 GB, 10 with 2 GB, here without initialising functions.
    # An instance puts 4 objects in each step and 6 once. It is alone, so it lists nobody who is ready.
    calls_usd = (8 * 4 + 10 * 8) * (0.0000133334 / 4 + 0.0000002)
    assert cost.low == pytest.approx(30 * 0.000025 + calls_usd + (3 * 4 + 6) * 0.000005, rel=1e-4)


def test_an_instance_beats_each_half_minute_and_looks_at_its_gate_each_second_of_half_its_time():
    nothing, hour = Amount.exactly(0), Amount.exactly(3600)
    idle, busy = (orchestration_cost(published_prices(), poll_turns=nothing, steps=0, instances=10, each_s=each_s)
                  for each_s in (nothing, hour))  # fmt: skip

    # 0.005 USD for 1,000 puts, 0.0004 for 1,000 gets. It may look at the gate never, half the time or all the time.
    beats_usd, looks_usd = 10 * 120 * 0.005 / 1000, 10 * 3600 * 0.0004 / 1000
    assert busy.low - idle.low == pytest.approx(beats_usd)
    assert busy.expected - idle.expected == pytest.approx(beats_usd + looks_usd / 2)
    assert busy.high - idle.high == pytest.approx(beats_usd + looks_usd)


def test_hours_of_machines_root_volumes_and_work_volumes_are_rates_and_prices_alike():
    book = published_prices()
    work = {"volumeType": "gp2", "sizeGiB": 50}
    ebs = EbsStorage(type="ebs", volume_type="gp3", size_gib=200)

    rates = machine_rates(book, "c5.2xlarge", volume_hours(book, ebs, work)).to_document()
    cost = instances_cost(book, "c5.2xlarge", 3, Amount(3600.0, 7200.0, 36000.0), work_volume=work)

    # 20 GiB of gp3, 200 of gp3 and 50 of gp2 for one of 730 hours.
    assert rates == {"instance_hour": 0.345, "root_volume_hour": 0.00219178, "data_volume_hour": 0.02191781,
                     "work_volume_hour": 0.00684932}  # fmt: skip
    hour_usd = 3 * (0.345 + (20 * 0.08 + 50 * 0.1) / 730)
    assert (cost.low, cost.expected, cost.high) == pytest.approx((hour_usd, 2 * hour_usd, 10 * hour_usd))


def test_an_instance_on_spot_pays_its_address_and_volumes_as_any_other():
    book, each_s = published_prices(), Amount(3600.0, 7200.0, 36000.0)
    spot = instances_cost(book, "c5.2xlarge", 3, each_s, is_spot=True)

    # On-demand is 0.34. Nobody asked EC2, so a tenth, half or all of it is assumed.
    beside = 0.005 + 20 * 0.08 / 730
    assert (spot.low, spot.expected, spot.high) == pytest.approx(
        (3 * (0.034 + beside), 6 * (0.17 + beside), 30 * (0.34 + beside))
    )
