"""Amounts and charges, worked out by hand."""

import pytest

from matrix.terms.charges import (
    HOUR_S,
    MONTH_S,
    NOTHING,
    Amount,
    Usage,
    instance_charges,
    instance_query,
    volume_charge,
)

RANGE = Amount(10.0, 100.0, 1000.0)


def test_amounts_are_ranges_that_are_multiplied_added_and_cut_end_by_end():
    assert RANGE.times(2) == (20.0, 200.0, 2000.0)
    assert RANGE.plus(5) == (15.0, 105.0, 1005.0)
    assert RANGE.at_least(50) == (50.0, 100.0, 1000.0)
    assert RANGE.at_least(500) == (500.0, 500.0, 1000.0)
    assert Amount.exactly(3.0) == (3.0, 3.0, 3.0)
    assert NOTHING == (0.0, 0.0, 0.0)


def test_a_month_has_730_hours():
    used = Usage(Amount(365 * 3600, 730 * 3600, 1460 * 3600), NOTHING, NOTHING, NOTHING)

    assert used.months == pytest.approx((0.5, 1.0, 2.0))
    assert (HOUR_S, MONTH_S) == (3600, 2_628_000)
    assert (used.read_requests, used.is_steady) == (NOTHING, False)


def test_instances_are_billed_for_a_minute_at_least_each_with_address_and_20_gib_of_root_volume():
    charges = list(instance_charges("m6i.large", 3, Amount(10.0, 3600.0, 7200.0)))

    assert [charge.name for charge in charges] == ["m6i.large", "public_ipv4_hour", "ebs_gp3_gib_month"]
    hours, address, root = (charge.amount for charge in charges)
    assert hours == address == pytest.approx((3 / 60, 3.0, 6.0))
    assert root == pytest.approx((20 * 3 / 60 / 730, 20 * 3 / 730, 20 * 6 / 730))


def test_a_work_volume_is_charged_by_its_size_for_each_instance():
    work = {"volumeType": "gp2", "sizeGiB": 40}

    *_, charge = instance_charges("m6i.large", 3, Amount.exactly(3600.0), work)
    alone = volume_charge(work, Amount.exactly(3600.0))

    assert (charge.name, alone.name) == ("ebs_gp2_gib_month", "ebs_gp2_gib_month")
    assert charge.amount == pytest.approx((40 * 3 / 730,) * 3)
    assert alone.amount == pytest.approx((40 / 730,) * 3)


def test_the_price_list_is_asked_for_linux_on_demand_on_shared_hardware():
    query = instance_query("m6i.large")

    assert (query.name, query.service, query.usage, query.scale) == ("m6i.large", "AmazonEC2", "", 1.0)
    asked = dict(query.attributes)
    assert (asked["instanceType"], asked["operatingSystem"], asked["marketoption"]) == (
        "m6i.large",
        "Linux",
        "OnDemand",
    )
