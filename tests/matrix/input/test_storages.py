"""The limits of each storage, each broken alone; figures from the guides and the services' API models."""

import pytest
from support.matrices import (
    COMMAND,
    EBS,
    EFS,
    FILE_SERVER,
    FSX,
    INSTANCE_STORE,
    READ,
    matrix,
)  # fmt: skip

from matrix.fields import limits
from matrix.input.workloads.contract import Clients
from matrix.plan.planning import plan
from matrix.price.book import file_system_cost, published_prices
from matrix.storages.models import MODELS, is_shared
from matrix.terms.charges import NOTHING, Amount, Usage


def test_writing_an_instance_store_all_over_takes_its_time_and_is_in_its_name():
    fleet = [{"instanceType": "m6id.large", "count": 1}]

    fresh, worn = (plan(matrix(storage=[INSTANCE_STORE | change], fleet=fleet)) for change in ({}, {"precondition": 2}))

    assert worn.cells[0].expected_s - fresh.cells[0].expected_s == pytest.approx(1_600)
    # Three times the time that it should take, so that a slow disk is not a failure.
    assert worn.cells[0].ready_within_s - fresh.cells[0].ready_within_s == pytest.approx(4_800)
    assert worn.file_systems[0].id == "instance-store-written-2x"
    assert [("flash" in warning["message"]) for warning in fresh.warnings[:1]] == [True]
    assert not any("flash" in warning["message"] for warning in worn.warnings)


def test_an_instance_store_costs_nothing_beside_its_instance():
    fleet = [{"instanceType": "m6id.large"}]

    with_it, with_ebs = plan(matrix(storage=[INSTANCE_STORE, EBS], fleet=fleet, order="as-written")).cells

    assert with_it.rates.data_volume_hour == 0 < with_ebs.rates.data_volume_hour


BY_COMMAND = {"type": "s3", "client": "command"}
READER = COMMAND | {"objectSize": "1GiB", "objects": 4, "jobs": [1, 4], "primaryMetric": "mb_per_s"}


def test_the_objects_of_a_command_are_planned_as_what_is_kept_and_asked_for():
    read = matrix(storage=[BY_COMMAND], workload=[READER | {"expectedSeconds": 10}]).matrix
    [storage], [workload] = read.storage, read.workload

    for point in workload.points():
        footprint = workload.footprint(point, storage, Clients(1)).spread(1)

        assert footprint.stored_bytes == footprint.read_bytes == 4 * 2**30
        assert footprint.written_bytes == 2 * 2**30  # the first of two points writes what both read
        assert footprint.read_requests == pytest.approx(4 * 2**30 / (5 * 2**20))
        assert footprint.seconds == pytest.approx(10 + 2 * 2**30 / 625e6)


def test_s3_costs_what_is_kept_and_each_request():
    workload = READ | {"access": "random", "requests": 2**20, "requestSize": 8192, "threads": 4}
    planned = plan(matrix(storage=[{"type": "s3"}], workload=[workload], repetitions=1)).to_document()

    [cell] = planned["cells"]
    [file_system] = planned["file_systems"]
    # 8 GiB: 1,024 parts at 0.000005 and 2^20 GETs at 0.0000004 USD; kept for an hour at 0.023 a month and GiB.
    written, gets = Amount.exactly(2**33), Amount.exactly(2**20)
    puts = Amount.exactly(2**33 / 2**23)
    usage = Usage(Amount.exactly(3600), gets, written, written, read_requests=gets, write_requests=puts)
    by_use = file_system_cost(
        published_prices(), matrix(storage=[{"type": "s3"}], workload=[READ]).matrix.storage[0], usage
    )
    assert by_use.expected == pytest.approx(1_024 * 5e-6 + 2**20 * 4e-7 + 8 * 0.023 / 730)
    assert 0.4246 < cell["metered_usd"]["expected"] < 0.5  # with the requests of the agents and the polls
    assert file_system["rates_usd"]["hour"] == pytest.approx(8 * 0.023 / 730, abs=1e-6)
    # 2^20 GETs by 4 threads at 10.5 ms each, and 8 GiB written at 5 Gbit/s.
    assert cell["expected_s"] == pytest.approx(2**20 / 4 * 0.0105 + 2**33 / 625e6 + 122, rel=0.02)


def test_the_plan_says_that_a_file_server_is_an_instance_more():
    assert any("one instance more" in line for line in plan(matrix(storage=[FILE_SERVER], workload=[READ])).assumptions)
    assert not any("one instance more" in line for line in plan(matrix()).assumptions)


def test_a_storage_in_a_result_is_known_to_be_shared_or_of_each_instance():
    assert {kind for kind in MODELS if not is_shared({"type": kind})} == {"ebs", "instance-store"}
    assert is_shared({"type": "tape"})


def test_data_for_a_neighbour_is_stored_beside_an_instances_own():
    reads, fleet = READ | {"data": ["own", "neighbour"]}, {"instanceType": "m6i.large", "count": 2}
    workload = matrix(storage=[EFS], workload=[reads], fleet=[fleet]).matrix.workload[0]
    own, neighbours = workload.points()

    assert ("data" in own, neighbours["data"]) == (False, "neighbour")
    assert (
        workload.footprint(own, matrix(storage=[EFS]).matrix.storage[0], Clients(2)).stored_bytes
        == 2 * own["data_bytes"]
    )


def test_what_a_server_caches_is_in_its_memory_and_of_the_second_generation_on_nvme():
    first, second = (
        matrix(storage=[FSX | change]).matrix.storage[0].cache_bytes
        for change in (
            {"throughputCapacityMBps": 64},
            {"deploymentType": "SINGLE_AZ_2", "throughputCapacityMBps": 160},
        )
    )

    assert (first, second) == (3e9, 43e9)


@pytest.mark.parametrize("kind", sorted(limits.FSX_THROUGHPUT_MBPS))
def test_every_throughput_capacity_that_fsx_offers_has_its_cache_and_bursts(kind):
    for mbps in limits.FSX_THROUGHPUT_MBPS[kind]:
        storage = matrix(
            storage=[FSX | {"deploymentType": kind, "throughputCapacityMBps": mbps, "iops": None}]
        ).matrix.storage[0]

        assert storage.cache_bytes > 0


def test_s3_files_bill_a_file_as_10_kib_at_least_and_its_export_as_metadata_too():
    """S3 Files metering: minimum billable file size; "exporting changes to your S3 bucket"."""
    files, hour = 2**20, Amount.exactly(3_600.0)
    small = Usage(
        hour, NOTHING, Amount.exactly(files * 2**10), Amount.exactly(files * 2**10), NOTHING, Amount.exactly(files)
    )
    charges = dict(MODELS["s3-files"].model_validate({"type": "s3-files"}).charges(small))

    # A million files of 1 KiB: in *high* each takes 10 KiB more, and costs 4 KiB beside its own.
    assert charges["s3_files_gib_month"].high * 730 == pytest.approx(1 + 10)
    assert charges["s3_gib_month"].high * 730 == pytest.approx(1)
    read = charges["s3_files_read_gib"]
    assert (read.low, read.expected, read.high) == pytest.approx((0, 1 + 4, 1 + 4))


def test_efs_and_s3_files_meter_a_request_as_32_kib_at_least():
    """EFS guide, metered sizes."""
    counted = {
        "nfs_read_bytes": 4_096e6, "nfs_read_operations": 1e6, "nfs_write_bytes": 0.0, "nfs_other_operations": 1e3,
        "nfs_change_operations": 200, "nfs_open_operations": 300,
    }  # fmt: skip

    for kind in ("efs", "s3-files"):
        storage = MODELS[kind].model_validate({"type": kind})
        read, written = storage.metered_bytes(counted, (None, None))
        # A million requests of 4 KiB: of one size, or 3,906 of a MiB and all others of next to nothing.
        names = 500 * 4_096
        assert read == (32_768e6 + names, 32_768e6 + names, 4_096e6 + (1e6 - 3_906.25) * 32_768 + names)
        assert written == (200 * 4_096, 500 * 4_096, 500 * 4_096)
        # Of a workload that knows its sizes.
        assert storage.metered_bytes(counted, (10.0, None))[0] == Amount.exactly(40_960e6 + names)
