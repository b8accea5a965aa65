"""FSx for Lustre in a matrix: its fields, its speeds, what it costs, and the bottleneck of its metadata."""

import pytest
from support.matrices import matrix

from matrix.plan.planning import plan
from matrix.storages.fsx_lustre import FsxLustreStorage, included_iops

METRICS = FsxLustreStorage.traits.metrics
SCRATCH = {"type": "fsx-lustre", "storageCapacityGiB": 1200}
PERSISTENT = {
    "type": "fsx-lustre", "deploymentType": "PERSISTENT_2", "storageCapacityGiB": 2400, "throughputMBpsPerTiB": 250,
}  # fmt: skip
TIERING = {
    "type": "fsx-lustre", "deploymentType": "PERSISTENT_2", "storageType": "INTELLIGENT_TIERING",
    "throughputCapacityMBps": 8000, "readCacheGiB": 512, "metadataIops": 6000,
}  # fmt: skip


def storage(**fields):
    return FsxLustreStorage.model_validate(fields)


def test_speeds_are_those_of_its_capacity_in_the_tib_of_aws():
    # "a 2.4-TiB file system": 2.4 times 250 MB/s always, 500 from credits; network 640 and 1,300 (FSx guide).
    persistent = storage(**PERSISTENT)

    assert persistent.bandwidth_bytes_per_s == pytest.approx(600e6)
    assert [(burst.of, burst.sustained / 1e6, burst.most / 1e6) for burst in persistent.bursts] == [
        ("FSx disk throughput", pytest.approx(600), pytest.approx(1_200)),
        ("FSx network", pytest.approx(1_536), pytest.approx(3_120)),
    ]
    assert storage(**PERSISTENT | {"throughputMBpsPerTiB": 1000}).bursts == []


@pytest.mark.parametrize(
    ("gib", "iops"),
    [(1200, 1500), (2400, 3000), (4800, 6000), (9600, 6000), (12_000, 12_000), (45_600, 12_000), (48_000, 24_000),
     (72_000, 36_000)],
)  # fmt: skip
def test_metadata_iops_come_with_the_capacity(gib, iops):
    assert included_iops(gib) == iops


def test_reads_of_scratch_disks_weigh_half_of_what_is_written():
    use = {"lustre_read_bytes_per_s": 200.0, "lustre_write_bytes_per_s": 50.0, "bytes_per_s": 1.0}

    assert METRICS.bytes_of({"deploymentType": "SCRATCH_2"}, use) == 150.0
    assert METRICS.bytes_of({"deploymentType": "PERSISTENT_2", "throughputMBpsPerTiB": 125}, use) == 250.0
    assert METRICS.bytes_of({"deploymentType": "SCRATCH_2"}, {"bytes_per_s": 7.0}) == 7.0


def test_metadata_count_as_creates_by_what_a_provisioned_iops_carries():
    use = {
        "lustre_creates_per_s": 100.0, "lustre_unlinks_per_s": 10.0, "lustre_directories_per_s": 1.0,
        "lustre_rmdirs_per_s": 1.0,
    }  # fmt: skip

    assert METRICS.operations_of({"deploymentType": "PERSISTENT_2"}, use) == 100 + 20 + 20 + 10
    assert METRICS.operations_of({"deploymentType": "SCRATCH_2"}, use) is None
    assert METRICS.operations_of({"deploymentType": "PERSISTENT_2"}, {}) is None


def test_documents_of_ssd_are_as_they_were_before_there_was_another_class():
    assert storage(**SCRATCH).document == {**SCRATCH, "deploymentType": "SCRATCH_2", "compression": "NONE"}
    assert storage(**SCRATCH | {"storageType": "SSD"}).fingerprint == storage(**SCRATCH).fingerprint
    assert storage(**TIERING).document == {**TIERING, "compression": "NONE"}


def test_speeds_of_intelligent_tiering_are_those_of_each_4000_mbps():
    # "Every 4000": network 12,500, no bursts, 76.8 GB of memory, SSD cache 4,000 MB/s (FSx guide).
    tiered = storage(**TIERING)

    assert tiered.bandwidth_bytes_per_s == 8_000e6
    assert tiered.cache_bytes == pytest.approx(153.6e9 + 512 * 2**30)
    assert tiered.effective_iops == 12_000
    assert (tiered.bursts, tiered.capacity_gib("m6i.large")) == ([], None)
    assert METRICS.bytes_of(TIERING, {"lustre_read_bytes_per_s": 200.0, "lustre_write_bytes_per_s": 50.0}) == 250.0


def cost_of(document):
    return plan(matrix(storage=[document])).to_document()["file_systems"][0]["cost_usd"]["expected"]


def test_intelligent_tiering_is_charged_for_throughput_cache_and_all_metadata_iops():
    each_hour = {"mbps": 8_000 * 0.52 / 730, "cache": 512 * 0.145 / 730, "iops": 6_000 * 0.055 / 730}
    base = cost_of(TIERING | {"readCacheGiB": 0})
    cached, more = cost_of(TIERING) - base, cost_of(TIERING | {"readCacheGiB": 0, "metadataIops": 12_000}) - base

    assert base > each_hour["mbps"] / 4  # creating and deleting it alone takes 15 minutes
    assert cached / more == pytest.approx(each_hour["cache"] / each_hour["iops"], rel=0.02)


def test_the_plan_says_what_of_intelligent_tiering_is_left_out():
    assumptions = plan(matrix(storage=[TIERING])).assumptions

    assert any("its requests are not in the estimate" in assumption for assumption in assumptions)


def test_metadata_iops_that_come_with_the_capacity_cost_nothing_more():
    each, more = (
        plan(matrix(storage=[PERSISTENT | {"metadataIops": iops}])).to_document()["file_systems"][0]["cost_usd"][
            "expected"
        ]
        for iops in (3_000, 6_000)
    )
    plain = plan(matrix(storage=[PERSISTENT])).to_document()["file_systems"][0]["cost_usd"]["expected"]

    assert plain == each < more
