"""FSx for OpenZFS on Intelligent-Tiering: its fields, its table, its charges, and the zones that it needs."""

import pytest
from support.matrices import FSX, matrix

from matrix.fields import limits
from matrix.plan import placing
from matrix.plan.planning import plan
from matrix.storages.fsx_openzfs import FsxOpenZfsStorage
from matrix.storages.models import metrics_of

TIERING = {
    "type": "fsx-openzfs", "deploymentType": "MULTI_AZ_1", "storageType": "INTELLIGENT_TIERING",
    "throughputCapacityMBps": 320, "readCacheGiB": 512,
}  # fmt: skip


@pytest.mark.parametrize("mbps", limits.FSX_THROUGHPUT_MBPS["MULTI_AZ_1"])
def test_every_throughput_is_in_the_table_of_the_guide(mbps):
    storage = FsxOpenZfsStorage.model_validate(TIERING | {"throughputCapacityMBps": mbps, "readCacheGiB": 0})
    iops = {160: 6_250, 320: 12_500, 640: 25_000, 1_280: 50_000, 2_560: 100_000, 3_840: 150_000, 5_120: 200_000,
            7_680: 300_000, 10_240: 400_000}  # fmt: skip

    assert storage.effective_iops == iops[mbps]
    assert storage.bandwidth_bytes_per_s == (3_200e6 if mbps > 3_840 else mbps * 0.75e6)
    bursts = {burst.of: (burst.sustained, burst.most) for burst in storage.bursts}
    assert ("FSx disk IOPS" in bursts, "FSx network" in bursts) == (mbps < 2_560, mbps < 2_560)
    assert "FSx disk throughput" not in bursts
    assert storage.cache_bytes > 0


def test_its_read_cache_answers_as_its_memory_does():
    storage = FsxOpenZfsStorage.model_validate(TIERING)

    assert storage.cache_bytes == 11.2e9 + 512 * 2**30
    assert storage.capacity_gib("m6i.large") is None


def test_reads_may_be_a_third_more_than_what_is_written():
    use = {"nfs_read_bytes_per_s": 320e6, "nfs_write_bytes_per_s": 0.0}

    assert metrics_of("fsx-openzfs").bytes_of(TIERING, use) == 240e6
    assert metrics_of("fsx-openzfs").bytes_of(FSX, use) == 320e6


def test_it_is_charged_for_its_cache():
    plain, cached = (
        plan(matrix(storage=[TIERING | {"readCacheGiB": gib}])).to_document()["file_systems"][0]["cost_usd"]["expected"]
        for gib in (0, 512)
    )

    assert plain < cached


@pytest.mark.parametrize("zones", [1, 2, 3])
@pytest.mark.parametrize("storage", [TIERING, FSX | {"deploymentType": "MULTI_AZ_1", "throughputCapacityMBps": 320}])
def test_two_zones_are_needed_and_one_is_refused_before_anything_is_made(zones, storage):
    found = list(
        placing.problems(
            matrix(storage=[storage]).matrix, zones, reaches_multi_az=True, region="eu-west-1", first_zone_id=str
        )
    )

    assert [problem.path for problem in found] == (["storage[0].deploymentType"] if zones == 1 else [])
    assert all("SubnetIds" in problem.fix for problem in found)
