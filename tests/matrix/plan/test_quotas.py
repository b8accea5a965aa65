"""What a plan needs of an account's quotas at once."""

import re

import pytest
from support.matrices import EBS, EFS, FILE_SERVER, FLEET, FSX, READ, matrix

from matrix.plan import quotas
from matrix.plan.planning import plan

VCPUS = {"m6i.large": 2, "g5.xlarge": 4}


def all_needs(at_once=4, **changes):
    """Amounts by the quota's code."""
    found = quotas.needs(plan(matrix(**changes)).to_document(), VCPUS, at_once)
    return {need.quota.code: need.amount for need in found}


def needs(at_once=4, **changes):
    """Amounts by the quota's code, but for volumes."""
    of_volumes = {quota.code for quota in (*quotas.EBS_STORAGE.values(), *quotas.EBS_IOPS.values())}
    return {code: amount for code, amount in all_needs(at_once, **changes).items() if code not in of_volumes}


@pytest.mark.parametrize(
    ("instance_type", "code"),
    [
        ("m6i.large", "L-1216C47A"), ("c5.xlarge", "L-1216C47A"), ("i4i.large", "L-1216C47A"),
        ("g5.xlarge", "L-DB2E81BA"), ("vt1.3xlarge", "L-DB2E81BA"), ("inf2.xlarge", "L-1945791B"),
        ("trn1.2xlarge", "L-2C3B7624"), ("p4d.24xlarge", "L-417A185B"), ("x2idn.16xlarge", "L-7295265B"),
        ("gr6.4xlarge", "L-DB2E81BA"), ("p5.48xlarge", "L-417A185B"),
        ("hpc7g.4xlarge", "L-F7808C92"), ("u-6tb1.56xlarge", "L-43DA4232"), ("dl1.24xlarge", "L-6E869C2A"),
    ],
)  # fmt: skip
def test_an_instance_type_counts_against_the_quota_of_its_class(instance_type, code):
    assert quotas.class_of(instance_type).code == code


@pytest.mark.parametrize(
    ("instance_type", "code"),
    [
        ("m6i.large", "L-34B43A08"), ("g5.xlarge", "L-3819A6DF"), ("x2idn.16xlarge", "L-E3A00192"),
        ("gr6.4xlarge", "L-3819A6DF"), ("p4d.24xlarge", "L-7212CCBC"), ("p5en.48xlarge", "L-C4BD4855"),
        ("p6-b200.48xlarge", "L-C4BD4855"),
    ],
)  # fmt: skip
def test_spot_instances_count_against_a_quota_of_their_own(instance_type, code):
    assert quotas.class_of(instance_type, is_spot=True).code == code
    assert needs(fleet=[{"instanceType": "m6i.large", "count": 3, "spot": True}]) == {"L-34B43A08": 6}


def test_the_published_fleet_of_200_needs_more_io2_than_an_account_has_by_default():
    io2 = {"type": "ebs", "volumeType": "io2", "sizeGiB": 200, "iops": 3_000}

    found = all_needs(storage=[io2], fleet=[{"instanceType": "m6i.large", "count": [1, 200]}])

    assert found["L-8D977E7E"] == 600_000  # of 100,000 IOPS
    assert found["L-09BD8365"] == 200 * 200 / 1_024  # of 20 TiB
    assert found["L-7A658B76"] == 200 * 20 / 1_024  # root volumes


def test_volumes_count_with_their_stripe_beside_those_of_other_file_systems_and_with_the_servers():
    fleet = [{"instanceType": "m6i.large", "count": 4}]
    striped = {"type": "ebs", "volumeType": "gp3", "sizeGiB": 512, "raid0": 2}
    st1 = {"type": "ebs", "volumeType": "st1", "sizeGiB": 1_024}
    root_tib = 20 / 1_024

    both = {"L-7A658B76": 4 * (1 + 2 * root_tib), "L-82ACEF56": 4, "L-1216C47A": 16}
    assert all_needs(storage=[striped, st1], fleet=fleet) == both
    served = all_needs(storage=[FILE_SERVER | {"sizeGiB": 256}], workload=[READ], fleet=fleet)
    assert served["L-7A658B76"] == 5 * root_tib + 0.25


def test_cells_of_one_file_system_follow_each_other_so_the_largest_counts():
    assert needs(fleet=[{"instanceType": "m6i.large", "count": [1, 10, 3]}]) == {"L-1216C47A": 20}


def test_what_fills_a_cache_or_bakes_an_image_counts_as_on_demand_and_never_beside_a_cell():
    build = {"type": "build", "name": "b", "populate": "true", "build": "true"}
    spot = [{"instanceType": "g5.xlarge", "count": 3, "spot": True}]
    filled = {"storage": [EFS], "workload": [build]}

    assert needs(**filled, fleet=spot) == {"L-DB2E81BA": 4, "L-3819A6DF": 12, "L-848C634D": 1}
    assert needs(**filled)["L-1216C47A"] == 2
    baked = plan(matrix(fleet=spot, image={"bake": True})).to_document()
    builder = baked["images"][0]["builder"]
    found = quotas.needs(baked, VCPUS | {builder: 8}, 4)
    assert {need.quota.code: need.amount for need in found if need.quota.unit == "vCPUs"} == {
        "L-1216C47A": 8, "L-3819A6DF": 12,
    }  # fmt: skip


def test_file_systems_meet_as_many_as_are_measured_at_once():
    storages = [EBS | {"name": name} for name in ("a", "b", "c")]
    fleet = [{"instanceType": "m6i.large", "count": 10}]

    assert needs(at_once=2, storage=storages, fleet=fleet) == {"L-1216C47A": 40}
    assert needs(at_once=4, storage=storages, fleet=fleet) == {"L-1216C47A": 60}


def test_file_systems_count_with_their_number_throughput_and_storage():
    storages = [EFS | {"name": "a"}, EFS | {"name": "b"}, FSX | {"name": "c"}, FSX | {"name": "d"}]

    fsx = {"L-4EDE4065": 8192, "L-88479C21": 2048, "L-E24B4DE4": 40_000}
    assert needs(storage=storages) == {"L-1216C47A": 8, "L-848C634D": 2, **fsx}
    as_one = needs(storage=[FSX | {"fileSystems": 2}], fleet=[FLEET | {"count": 2}])
    assert as_one == {"L-1216C47A": 4, **fsx}


def test_iops_of_zfs_are_counted_that_come_with_its_storage_or_are_provisioned():
    given = {key: value for key, value in FSX.items() if key != "iops"}

    assert needs(storage=[given])["L-E24B4DE4"] == 3 * 1_024
    # Each within what one may have, and together beyond the default of an account: 400,000.
    large = FSX | {"storageCapacityGiB": 10_240, "iops": 160_000, "fileSystems": 3}
    assert needs(storage=[large], fleet=[FLEET | {"count": 3}])["L-E24B4DE4"] == 480_000


def test_a_file_server_counts_beside_the_fleet_that_reads_from_it():
    def served(kind):
        return needs(storage=[FILE_SERVER | {"instanceType": kind}], workload=[READ])

    assert served("m6i.large") == {"L-1216C47A": 4}
    assert served("g5.xlarge") == {"L-1216C47A": 2, "L-DB2E81BA": 4}


def test_a_plan_above_a_quota_is_refused_with_quota_value_need_and_a_way_out():
    need, *_ = quotas.needs(plan(matrix(fleet=[{"instanceType": "m6i.large", "count": 10}])).to_document(), VCPUS, 4)

    assert quotas.refusal(need, value=20, in_use=0) is None
    refusal = quotas.refusal(need, value=32, in_use=16)
    assert re.search(r"L-1216C47A.* is 32 vCPUs.* needs 20 beside 16 in use\..*--desired-value 36; or lower", refusal)
