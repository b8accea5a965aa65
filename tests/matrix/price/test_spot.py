"""Spot prices: read from a history, believed within reason, used in plan, rates and bills."""

from dataclasses import replace
from datetime import datetime

import pytest
from support.matrices import FLEET, matrix

from matrix.answer.costs import Bill
from matrix.plan.assumptions import spot_types
from matrix.plan.planning import plan
from matrix.price.book import SpotPrice, published_prices
from matrix.price.pricing_api import spot_prices

SPOT = [FLEET | {"spot": True}]
TYPE = FLEET["instanceType"]
ON_DEMAND = published_prices().instance_hour(TYPE).usd
KNOWN = SpotPrice(lowest=ON_DEMAND * 0.3, now=ON_DEMAND * 0.4, highest=ON_DEMAND * 0.6, zones=3)


def change(zone, day, usd, kind=TYPE):
    """A change of the price, as EC2 tells it."""
    at = datetime(2026, 11, day)
    return {"InstanceType": kind, "AvailabilityZone": f"us-east-1{zone}", "Timestamp": at, "SpotPrice": str(usd)}


def test_the_newest_price_of_each_zone_is_in_force():
    history = [change("a", 20, 0.04), change("a", 14, 0.09), change("b", 15, 0.06), change("b", 14, 0.01)]

    price = spot_prices([*history, change("a", 14, 7.0, "other")])[TYPE]

    assert (price.lowest, price.now, price.highest, price.zones) == (0.01, pytest.approx(0.05), 0.09, 2)


def test_only_types_wanted_as_spot_are_asked_for():
    fleets = [FLEET, FLEET | {"instanceType": ["c6i.large", "m6g.large"], "spot": True}]

    assert spot_types(matrix(fleet=fleets).matrix) == ["c6i.large", "m6g.large"]


def test_the_price_of_today_is_in_the_plan_its_rates_and_its_words():
    assumed = plan(matrix(fleet=SPOT))
    asked = plan(matrix(fleet=SPOT), prices=published_prices().with_spot({TYPE: KNOWN}))
    plain = plan(matrix(fleet=[FLEET]))

    [cell], [dear] = asked.cells, plain.cells
    assert dear.rates.instance_hour - cell.rates.instance_hour == pytest.approx(ON_DEMAND * 0.6)
    assert assumed.cells[0].rates.instance_hour < dear.rates.instance_hour
    assert cell.cost.expected < assumed.cells[0].cost.expected < dear.cost.expected
    assert cell.cost.high == pytest.approx(dear.cost.high)
    said = " ".join(asked.assumptions)
    assert f"Spot of {TYPE}: {KNOWN.now:.4f} USD an hour now, mean of 3 zones" in said
    assert "is assumed" not in said


@pytest.mark.parametrize("share", [0.0001, 0.049, 1.11, 3.0])
def test_a_price_that_no_spot_price_can_be_is_not_believed(share):
    usd = ON_DEMAND * share

    document = plan(matrix(fleet=SPOT), prices=published_prices().with_spot({TYPE: SpotPrice(usd, usd, usd, 3)}))

    assert any("on-demand is assumed" in line for line in document.assumptions)


def test_a_spot_cell_without_a_plan_is_not_billed_as_on_demand():
    def usd(**ways):
        cell = {
            "id": "c",
            "file_system": "f",
            "storage": {"type": "ebs", "volumeType": "gp3", "sizeGiB": 20, "iops": 3000},
        }
        return Bill(None, None, published_prices())._rates(
            cell | {"fleet": {"instanceType": TYPE, "count": 1, **ways}}
        )[0]

    assert usd() - usd(spot=True) == pytest.approx(ON_DEMAND / 2)


def test_a_spot_price_above_on_demand_is_the_worst_case():
    dear = SpotPrice(lowest=ON_DEMAND * 0.3, now=ON_DEMAND * 0.9, highest=ON_DEMAND * 1.4, zones=3)

    hour = published_prices().with_spot({TYPE: dear}).spot_hour(TYPE)

    assert (hour.low, hour.expected, hour.high) == pytest.approx((ON_DEMAND * 0.3, ON_DEMAND * 0.9, ON_DEMAND * 1.4))


@pytest.mark.parametrize("share", [0.0501, 1.0999])
def test_a_price_from_a_twentieth_of_on_demand_to_a_tenth_above_it_is_believed(share):
    price = SpotPrice(share * ON_DEMAND, share * ON_DEMAND, share * ON_DEMAND, 1)

    assert published_prices().with_spot({TYPE: price}).spot == {TYPE: price}
    assert published_prices().with_spot({TYPE: replace(price, lowest=0.0)}).spot == {}


def test_where_no_spot_price_is_known_a_tenth_half_or_all_of_on_demand_is_assumed():
    hour = published_prices().spot_hour(TYPE)

    assert (hour.low, hour.expected, hour.high) == pytest.approx((ON_DEMAND / 10, ON_DEMAND / 2, ON_DEMAND))
