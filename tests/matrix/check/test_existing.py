"""A storage that exists: what may be asked of it, how long it takes and what it costs."""

import pytest

from matrix.check.read import check_matrix
from matrix.plan.planning import plan
from matrix.plan.quotas import needs
from matrix.terms.problems import InvalidMatrix

EXISTING = {"type": "efs", "fileSystemId": "fs-0123456789abcdef0"}


def matrix(*storages, **changes):
    return {
        "name": "existing",
        "storage": list(storages or [EXISTING]),
        "workload": [{"type": "touch", "files": 64, "threads": [1]}],
        "fleet": [{"instanceType": "m6i.large", "count": [2]}],
        **changes,
    }


def problems(document):
    with pytest.raises(InvalidMatrix) as refusal:
        check_matrix(document)
    return {problem.path: problem.rule for problem in refusal.value.problems}


def test_the_plan_says_what_will_be_done_with_it():
    [warning] = [each for each in check_matrix(matrix()).warnings if each.path == "storage[0].fileSystemId"]

    assert (
        "in a folder of its own and removes that folder; the file system itself is not changed, tagged or deleted"
        in warning.rule
    )


def test_it_takes_no_time_to_make_and_costs_its_traffic_alone():
    described = {"throughputMode": "provisioned", "provisionedThroughputMiBps": 512}
    made, there = (plan(check_matrix(matrix(each))) for each in ({"type": "efs", **described}, EXISTING | described))

    assert made.file_systems[0].expected_s - there.file_systems[0].expected_s == 210
    # 512 MiB/s are 3,072 USD a month; what the run stores meanwhile is all that is left.
    assert there.file_systems[0].hour_usd < 0.001 < made.file_systems[0].hour_usd


def test_an_fsx_that_exists_costs_nothing():
    fsx = {"type": "fsx-openzfs", "storageCapacityGiB": 1024, "throughputCapacityMBps": 4096}
    there = plan(check_matrix(matrix(fsx | {"fileSystemId": "fs-0123456789abcdef0"})))

    assert there.file_systems[0].cost.high == 0


def test_it_takes_nothing_of_the_quota_for_file_systems():
    document = plan(check_matrix(matrix())).to_document()

    assert "EFS" not in str([need.quota for need in needs(document, {"m6i.large": 2}, 1)])


def test_it_has_an_id_of_efs():
    assert "storage[0].fileSystemId" in problems(matrix(EXISTING | {"fileSystemId": "home"}))


def test_a_workload_that_leaves_a_cache_is_refused():
    yocto = {"type": "yocto", "image": "core-image-minimal"}

    found = problems(matrix(workload=[yocto]))

    assert "which nobody would remove from fs-0123456789abcdef0" in found["workload[0].type"]


def test_two_storages_on_the_same_one_are_measured_one_after_another():
    twice = [EXISTING, EXISTING | {"tls": True}]

    assert "disturb each other" in problems(matrix(*twice, maxConcurrentFileSystems=2))["storage[1].fileSystemId"]
    check_matrix(matrix(*twice, maxConcurrentFileSystems=1))


VOLUME = {"type": "ebs", "volumeType": "gp3", "sizeGiB": 8, "volumeId": "vol-0123456789abcdef0"}
READS = {"type": "command", "name": "reads", "command": "cat $CACHE_DIR/*", "workDirectory": "local"}
ALONE = {"fleet": [{"instanceType": "m6i.large", "count": 1}]}


def test_a_volume_that_exists_is_only_read_unless_it_may_be_written():
    written = problems(matrix(VOLUME, **ALONE))
    check_matrix(matrix(VOLUME | {"mayWrite": True}, **ALONE))
    check_matrix(matrix(VOLUME, **ALONE, workload=[READS]))

    assert "is mounted read-only" in written["workload[0].type"]


def test_a_command_that_works_on_the_storage_writes_and_one_that_fills_a_cache_leaves_it_there():
    on_it = problems(matrix(VOLUME, **ALONE, workload=[READS | {"workDirectory": "storage"}]))
    filling = problems(matrix(VOLUME, **ALONE, workload=[READS | {"populate": "touch $CACHE_DIR/a"}]))

    assert "is mounted read-only" in on_it["workload[0].type"]
    assert "keeps a cache on its storage" in filling["workload[0].type"]


def test_a_volume_that_exists_has_one_instance_at_a_time():
    many = problems(matrix(VOLUME, workload=[READS]))
    twice = problems(matrix(VOLUME, VOLUME | {"name": "again"}, **ALONE, workload=[READS], maxConcurrentFileSystems=2))

    assert "can be had by 1 instance at a time" in many["fleet[0].count"]
    assert "their cells would disturb each other" in twice["storage[1].volumeId"]


def test_a_volume_that_exists_is_no_stripe_no_copy_and_no_empty_disk():
    mixed = problems(matrix(VOLUME | {"raid0": 2, "snapshotId": "snap-0123456789abcdef0"}, **ALONE, workload=[READS]))
    nowhere = problems(matrix({"type": "ebs", "volumeType": "gp3", "sizeGiB": 8, "mayWrite": True}))
    fio = {"type": "fio", "rw": "randread", "size": "1G", "device": True}

    assert {"storage[0].raid0", "storage[0].snapshotId"} <= mixed.keys()
    assert "is about a volume that exists" in nowhere["storage[0].mayWrite"]
    assert "holds data already" in str(problems(matrix(VOLUME | {"mayWrite": True}, **ALONE, workload=[fio])))


def test_a_volume_that_exists_costs_the_run_nothing():
    there, made = (
        plan(check_matrix(matrix(each, **ALONE, workload=[READS])))
        for each in (VOLUME, {name: value for name, value in VOLUME.items() if name != "volumeId"})
    )

    assert there.cells[0].cost.expected < made.cells[0].cost.expected
