"""A storage that exists: what may be asked of it, how long it takes and what it costs."""

from matrix.check.read import check_matrix
from matrix.plan.planning import plan
from matrix.plan.quotas import needs

EXISTING = {"type": "efs", "fileSystemId": "fs-0123456789abcdef0"}


def matrix(*storages, **changes):
    return {
        "name": "existing",
        "storage": list(storages or [EXISTING]),
        "workload": [{"type": "touch", "files": 64, "threads": [1]}],
        "fleet": [{"instanceType": "m6i.large", "count": [2]}],
        **changes,
    }


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


VOLUME = {"type": "ebs", "volumeType": "gp3", "sizeGiB": 8, "volumeId": "vol-0123456789abcdef0"}
READS = {"type": "command", "name": "reads", "command": "cat $CACHE_DIR/*", "workDirectory": "local"}
ALONE = {"fleet": [{"instanceType": "m6i.large", "count": 1}]}


def test_a_volume_that_exists_costs_the_run_nothing():
    there, made = (
        plan(check_matrix(matrix(each, **ALONE, workload=[READS])))
        for each in (VOLUME, {name: value for name, value in VOLUME.items() if name != "volumeId"})
    )

    assert there.cells[0].cost.expected < made.cells[0].cost.expected
