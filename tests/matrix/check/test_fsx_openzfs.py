"""FSx for OpenZFS on SSD: its file server's disk IOPS and their bursts (FSx guide, data access from disk)."""

import pytest
from support.matrices import FSX, matrix

from matrix.fields import limits
from matrix.plan.planning import plan
from matrix.storages.fsx_openzfs import FsxOpenZfsStorage
from matrix.storages.models import metrics_of
from matrix.terms.problems import InvalidMatrix

# By kind of server and MB/s: disk IOPS always, and in a burst.
FIRST = {
    64: (2_500, 40_000), 128: (5_000, 40_000), 256: (10_000, 40_000), 512: (20_000, 40_000), 1_024: (40_000, 40_000),
    2_048: (80_000, 80_000), 3_072: (120_000, 120_000), 4_096: (160_000, 160_000),
}  # fmt: skip
SECOND = {
    160: (6_250, 100_000), 320: (12_500, 100_000), 640: (25_000, 100_000), 1_280: (50_000, 100_000),
    2_560: (100_000, 100_000), 3_840: (150_000, 150_000), 5_120: (200_000, 200_000), 7_680: (300_000, 300_000),
    10_240: (400_000, 400_000),
}  # fmt: skip


def storage(kind, mbps, iops=None, gib=1_024, **more):
    return FsxOpenZfsStorage.model_validate(
        FSX | {"deploymentType": kind, "throughputCapacityMBps": mbps, "iops": iops, "storageCapacityGiB": gib} | more
    )


@pytest.mark.parametrize(
    ("kind", "mbps", "always", "most"),
    [
        (kind, mbps, *iops)
        for kind, offered in limits.FSX_THROUGHPUT_MBPS.items()
        for mbps, iops in (FIRST if len(offered) == len(FIRST) else SECOND).items()
    ],
)
def test_the_server_bounds_the_iops_of_its_disks_and_what_is_above_its_baseline_is_a_burst(kind, mbps, always, most):
    ample = storage(kind, mbps, iops=400_000)

    assert ample.effective_iops == always
    bursts = [(burst.sustained, burst.most) for burst in ample.bursts if burst.counts == "IOPS"]
    assert bursts == ([(always, most)] if most > always else [])


def test_disks_with_fewer_iops_than_the_server_bound_it_in_a_burst_too():
    few, between = storage("SINGLE_AZ_1", 64, iops=2_000, gib=64), storage("SINGLE_AZ_1", 64, iops=10_000)
    two = storage("SINGLE_AZ_1", 64, iops=10_000, fileSystems=2)

    assert (few.effective_iops, between.effective_iops, two.effective_iops) == (2_000, 2_500, 5_000)
    assert [burst.most for each in (few, between, two) for burst in each.bursts if burst.counts == "IOPS"] == [
        10_000,
        20_000,
    ]


def test_iops_that_come_with_the_ssd_end_at_the_servers_most():
    assert storage("SINGLE_AZ_1", 64, gib=524_288).document.get("iops") is None
    [burst] = [burst for burst in storage("SINGLE_AZ_1", 64, gib=524_288).bursts if burst.counts == "IOPS"]

    assert (burst.sustained, burst.most) == (2_500, 40_000)


def test_multi_az_writes_7500_of_its_10240_mb_and_reads_all():
    document = storage("MULTI_AZ_1", 10_240).document

    assert storage("MULTI_AZ_1", 10_240).bandwidth_bytes_per_s == 7_500e6
    assert storage("SINGLE_AZ_2", 10_240).bandwidth_bytes_per_s == 10_240e6
    read = {"nfs_read_bytes_per_s": 10_240e6, "nfs_write_bytes_per_s": 0.0}
    assert metrics_of("fsx-openzfs").bytes_of(document, read) == pytest.approx(7_500e6)


@pytest.mark.parametrize(
    ("mbps", "iops", "fix"),
    [
        (64, 40_001, "throughputCapacityMBps 2048"),
        (512, 150_000, "throughputCapacityMBps 4096"),
        (64, 40_000, ""),
        (4_096, 160_000, ""),
    ],
)
def test_iops_that_the_server_never_reaches_are_warned_of_with_a_server_that_does(mbps, iops, fix):
    found = matrix(storage=[FSX | {"throughputCapacityMBps": mbps, "iops": iops}]).warnings

    assert [fix in each.fix for each in found if each.code == "iops-are-offered"] == ([True] if fix else [])


@pytest.mark.parametrize(
    ("region", "iops", "is_refused"),
    [("eu-west-3", 51_201, True), ("eu-west-3", 51_200, False), ("eu-west-1", 100_000, False)],
)
def test_sixteen_regions_have_50_iops_for_each_gib(region, iops, is_refused):
    checked = matrix(storage=[FSX | {"iops": iops}])

    if not is_refused:
        assert plan(checked, region=region).cells
        return
    with pytest.raises(InvalidMatrix) as refused:
        plan(checked, region=region)
    [problem] = refused.value.problems
    assert (problem.path, problem.code) == ("storage[0].iops", "storage-fits-the-region")
    assert "51200" in problem.fix
    assert "1025" in problem.fix
    assert len(limits.FSX_FEW_IOPS_REGIONS) == 16
