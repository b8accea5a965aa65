"""Today's prices: what is asked for, what is read out of an answer, and what is believed."""

import json

import pytest
from support.matrices import EBS, EFS, FSX, matrix

from matrix.plan.planning import plan
from matrix.price.book import published_prices
from matrix.price.pricing_api import price_in, queries
from matrix.terms.charges import Query


def product(usd, usage="EUW1-EBS:VolumeUsage.gp3", begin="0"):
    """A product as GetProducts answers it."""
    dimension = {"pricePerUnit": {"USD": str(usd)}, "beginRange": begin, "unit": "x"}
    terms = {"OnDemand": {"a": {"priceDimensions": {"a.b": dimension}}}}
    return json.dumps({"product": {"attributes": {"usagetype": usage}}, "terms": terms})


def test_what_a_matrix_uses_is_asked_for_once():
    fleet = [{"instanceType": ["m6i.large", "c5.xlarge"], "count": [1, 10]}]

    names = [query.name for query in queries(matrix(storage=[EBS, EFS, FSX], fleet=fleet).matrix)]

    assert names == [
        "m6i.large", "c5.xlarge", "ebs_gp3_gib_month", "ebs_gp3_iops_month", "ebs_gp3_mibps_month",
        "efs_regional_gib_month", "efs_elastic_read_gib", "efs_elastic_write_gib",
        "fsx_single_az_gib_month", "fsx_single_az_mbps_month", "fsx_single_az_iops_month",
    ]  # fmt: skip


def test_every_query_is_of_a_price_of_the_book():
    book = published_prices()
    kinds = [{"type": "ebs", "volumeType": kind, "sizeGiB": 125} for kind in ("gp2", "gp3", "st1", "sc1")]
    kinds += [{"type": "ebs", "volumeType": kind, "sizeGiB": 125, "iops": 1000} for kind in ("io1", "io2")]
    one_zone = EFS | {"deployment": "oneZone", "throughputMode": "provisioned", "provisionedThroughputMiBps": 10}
    multi = FSX | {"deploymentType": "MULTI_AZ_1", "throughputCapacityMBps": 160}
    second = FSX | {"deploymentType": "SINGLE_AZ_2", "throughputCapacityMBps": 160}

    names = {query.name for query in queries(matrix(storage=[*kinds, EFS, one_zone, FSX, multi, second]).matrix)}

    assert names - {"m6i.large"} <= set(book.prices)


def test_the_price_of_the_one_product_that_fits_is_read_in_the_books_unit():
    throughput = Query("ebs_gp3_mibps_month", "AmazonEC2", (), "VolumeP-Throughput.gp3", 1 / 1024)
    answer = [product(40.96, "USW2-EBS:VolumeP-Throughput.gp3"), product(0.005, "USW2-EBS:VolumeP-IOPS.gp3")]

    assert price_in(answer, throughput) == pytest.approx(0.04)


def test_free_tiers_later_tiers_and_other_storage_classes_are_no_price():
    kept = Query("efs_regional_gib_month", "AmazonEFS", (), "TimedStorage-ByteHrs")

    answer = [
        product(0.3, "EUW1-TimedStorage-ByteHrs"), product(0.0, "EUW1-TimedStorage-ByteHrs"),
        product(0.2, "EUW1-TimedStorage-ByteHrs", begin="1000"), product(0.025, "EUW1-IATimedStorage-ByteHrs"),
    ]  # fmt: skip
    assert price_in(answer, kept) == 0.3


def test_each_way_of_elastic_bytes_and_each_generation_of_fsx_has_a_price_of_its_own():
    second = FSX | {"deploymentType": "SINGLE_AZ_2", "throughputCapacityMBps": 160}

    asked = {query.name: query for query in queries(matrix(storage=[EFS, second]).matrix)}

    read = asked["efs_elastic_read_gib"]
    assert dict(read.attributes) == {"accessType": "Read"}
    # Reads of the class for files that nobody reads have the same accessType.
    answer = [product(0.04, "APN1-ETDataAccess-Bytes"), product(0.012, "APN1-IADataAccess-Bytes")]
    assert price_in(answer, read) == 0.04
    assert dict(asked["fsx_single_az_2_mbps_month"].attributes)["deploymentOption"] == "Single-AZ_2"
    assert "fsx_single_az_mbps_month" not in asked


@pytest.mark.parametrize("answer", [[], [product(0.08), product(0.09)]])
def test_no_product_or_two_prices_leave_the_books_price(answer):
    assert price_in(answer, Query("ebs_gp3_gib_month", "AmazonEC2", ())) is None


def test_fresh_prices_of_a_region_are_neither_widened_nor_warned_of():
    fresh = {name: book.usd * 1.1 for name, book in published_prices().prices.items()}
    fresh |= {"m6i.large": 0.107, "public_ipv4_hour": 0.005}

    planned = plan(matrix(), region="eu-west-1", prices=published_prices().refreshed("eu-west-1", fresh, "2026-11-21"))

    assert planned.cells[0].rates.instance_hour == pytest.approx(0.112)
    assert not any("prices are those of us-east-1" in one["message"] for one in planned.warnings)
    assert any("from the Pricing API (2026-11-21)" in line for line in planned.assumptions)


def test_without_fresh_prices_the_plan_says_that_they_are_the_books():
    planned = plan(matrix(), region="eu-west-1")

    assert any(line.startswith("all prices are from the price list of 2026-") for line in planned.assumptions)
    assert any("prices are those of us-east-1" in line for line in planned.assumptions)


def test_a_price_that_is_off_by_a_unit_is_not_believed():
    book = published_prices().refreshed("us-east-1", {"ebs_gp3_mibps_month": 40.96}, "2026-11-21")

    assert book.price("ebs_gp3_mibps_month").usd == 0.04
    assert any("too far from the book" in str(one["message"]) for one in book.warnings())


def test_prices_between_a_quarter_of_the_books_and_four_times_it_are_believed():
    booked = published_prices().price("ebs_gp3_gib_month").usd
    believed = []
    for share in (0.249, 0.25, 4.0, 4.01):
        book = published_prices().refreshed("eu-west-1", {"ebs_gp3_gib_month": share * booked}, "2026-11-21")
        believed.append(book.price("ebs_gp3_gib_month").usd == pytest.approx(share * booked))
        assert ("ebs_gp3_gib_month" in book.of_api.refused) is not believed[-1]

    assert believed == [False, True, True, False]


def test_fresh_prices_of_one_region_are_not_those_of_another():
    fresh = published_prices().refreshed("eu-west-1", {"ebs_gp3_gib_month": 0.09}, "2026-11-21")

    assert fresh.price("ebs_gp3_gib_month").usd == 0.09
    assert fresh.for_region("us-east-1").price("ebs_gp3_gib_month").usd == 0.08


def test_how_many_prices_are_fresh_is_said():
    fresh = published_prices().refreshed("us-east-1", {"ebs_gp3_gib_month": 0.09}, "2026-11-21")
    for name in ("ebs_gp3_gib_month", "public_ipv4_hour", "s3_put"):
        fresh.price(name)

    assert fresh.sources().startswith(
        "1 of 3 prices are from the Pricing API (2026-11-21), the others from the price list of"
    )


def test_a_price_that_is_not_on_demand_or_has_no_dollars_is_none():
    bare = json.dumps({"product": {"attributes": {"usagetype": "X-EBS:VolumeUsage.gp3"}}, "terms": {}})
    elsewhere = json.loads(product(0.5))
    elsewhere["terms"]["OnDemand"]["a"]["priceDimensions"]["a.b"]["pricePerUnit"] = {"CNY": "0.5"}
    query = Query("ebs_gp3_gib_month", "AmazonEC2", (), "EBS:VolumeUsage.gp3")

    assert price_in([bare, json.dumps(elsewhere), product(0.08, begin="")], query) == 0.08
