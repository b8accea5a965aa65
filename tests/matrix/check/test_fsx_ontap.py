"""FSx for NetApp ONTAP: what FSx offers, what a plan says, counts and charges."""

import pytest

from matrix.check.read import check_matrix
from matrix.plan import account
from matrix.plan.planning import plan
from matrix.price.book import published_prices
from matrix.storages.fsx_ontap import FsxOntapStorage

ONTAP = {"type": "fsx-ontap", "storageCapacityGiB": 1024, "throughputMBpsPerHaPair": 1536}
MULTI = ONTAP | {"deploymentType": "MULTI_AZ_2"}
TWO = ONTAP | {"haPairs": 2, "storageCapacityGiB": 2048, "volumeStyle": "FLEXGROUP"}


def matrix(storage):
    return {
        "name": "ontap",
        "storage": [storage],
        "workload": [{"type": "touch", "files": 64, "threads": [1]}],
        "fleet": [{"instanceType": "m6i.large", "count": 1}],
    }


def test_a_flexvol_on_several_pairs_is_warned_of_and_has_the_speed_of_one():
    flexvol, flexgroup = (
        FsxOntapStorage.model_validate(TWO | {"volumeStyle": each}) for each in ("FLEXVOL", "FLEXGROUP")
    )
    warnings = [each.path for each in check_matrix(matrix(TWO | {"volumeStyle": "FLEXVOL"})).warnings]

    assert "storage[0].volumeStyle" in warnings
    assert (flexvol.bandwidth_bytes_per_s, flexgroup.bandwidth_bytes_per_s) == (1.536e9, 3.072e9)
    assert (flexvol.effective_iops, flexgroup.effective_iops) == (3_072, 6_144)


@pytest.mark.parametrize(
    ("mbps", "reached"), [(384, 12_500), (768, 25_000), (1_536, 50_000), (3_072, 100_000), (6_144, 200_000)]
)
def test_iops_end_at_what_the_server_of_a_pair_reaches(mbps, reached):
    multi = MULTI | {"storageCapacityGiB": 100_000, "throughputMBpsPerHaPair": mbps}

    assert FsxOntapStorage.model_validate(multi).effective_iops == reached
    assert FsxOntapStorage.model_validate(multi | {"storageCapacityGiB": 1_024}).effective_iops == 3_072


def test_iops_of_several_pairs_are_those_of_each_that_stores_the_volume():
    two = TWO | {"storageCapacityGiB": 8_000, "iops": 300_000}

    assert FsxOntapStorage.model_validate(two).effective_iops == 100_000
    assert FsxOntapStorage.model_validate(two | {"throughputMBpsPerHaPair": 6_144}).effective_iops == 300_000
    assert FsxOntapStorage.model_validate(two | {"volumeStyle": "FLEXVOL"}).effective_iops == 50_000


def test_a_volume_leaves_a_fifth_of_the_ssd_free_and_5_percent_for_snapshots():
    assert FsxOntapStorage.model_validate(ONTAP).capacity_gib("m6i.large") == pytest.approx(1_024 * 0.8 * 0.95)


def test_its_cost_is_that_of_all_pairs_and_of_more_zones_more():
    one, two, multi = (plan(check_matrix(matrix(each))).file_systems[0] for each in (ONTAP, TWO, MULTI))

    # By the book: (1,024 × 0.125 + 1,536 × 1.6) USD in 730 hours.
    assert one.hour_usd == pytest.approx((1_024 * 0.125 + 1_536 * 1.6) / 730, rel=0.01)
    assert two.hour_usd == pytest.approx(2 * one.hour_usd)
    assert multi.hour_usd > one.hour_usd
    assert one.expected_s >= 3_600


def test_provisioned_iops_are_charged_beyond_those_that_come_with_it():
    plain, more = (plan(check_matrix(matrix(each))).file_systems[0] for each in (ONTAP, ONTAP | {"iops": 13_072}))

    assert more.hour_usd - plain.hour_usd == pytest.approx(10_000 * 0.017 / 730, rel=0.01)


def test_all_pairs_count_for_the_quotas_of_the_account():
    beyond = {
        need.quota.name: need.amount
        for need in account.account_needs(
            plan(check_matrix(matrix(TWO | {"throughputMBpsPerHaPair": 6_144}))).to_document(), 1
        )
        if need.is_beyond
    }

    assert beyond == {"ONTAP throughput capacity": 12_288}


def test_the_price_list_is_asked_for_the_second_generation_of_its_deployment_type():
    asked = {
        kind: list(FsxOntapStorage.model_validate(storage).price_queries)
        for kind, storage in (("single", ONTAP), ("multi", MULTI))
    }

    assert {dict(query.attributes)["deploymentOption"] for query in asked["single"]} == {"Single-AZ_2N-2"}
    assert {dict(query.attributes)["deploymentOption"] for query in asked["multi"]} == {"Multi-AZ-2"}
    assert [query.name for query in asked["multi"]] == [
        "fsx_ontap_multi_gib_month",
        "fsx_ontap_multi_mbps_month",
        "fsx_ontap_multi_iops_month",
    ]
    assert all(dict(query.attributes)["fileSystemType"] == "ONTAP" for each in asked.values() for query in each)


def test_fresh_prices_of_it_are_not_doubted():
    names = [query.name for query in FsxOntapStorage.model_validate(ONTAP).price_queries]
    fresh = {name: published_prices().price(name).usd for name in names}
    book = published_prices().refreshed("us-east-1", fresh, "2026-11-26")

    booked, asked = (
        plan(check_matrix(matrix(ONTAP)), region="us-east-1", prices=prices).doubtful_prices
        for prices in (published_prices().for_region("us-east-1"), book)
    )
    assert "fsx_ontap_single_mbps_month" in " ".join(booked)
    assert "fsx_ontap" not in " ".join(asked)
