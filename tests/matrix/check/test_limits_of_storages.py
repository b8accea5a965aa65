"""The limits of each storage, each broken alone; figures from the guides and the services' API models."""

import pytest
from support.matrices import (
    COMMAND,
    DD,
    EBS,
    EFS,
    FILE_SERVER,
    FLEET,
    FSX,
    INSTANCE_STORE,
    METADATA,
    READ,
    TOUCH,
    matrix,
    problems_of,
)  # fmt: skip

from matrix.input import limits
from matrix.plan.planning import plan
from matrix.price.book import file_system_cost, published_prices
from matrix.terms.charges import Amount, Usage
from storages.models import MODELS, is_shared

GP3 = {"type": "ebs", "volumeType": "gp3", "sizeGiB": 100}
IO2 = {"type": "ebs", "volumeType": "io2", "sizeGiB": 100, "iops": 3000}


@pytest.mark.parametrize(
    ("storage", "field", "words"),
    [
        (GP3 | {"sizeGiB": 10, "iops": 20000}, "iops", "at least 40 GiB"),  # 20,000 / 500
        (GP3 | {"sizeGiB": 7, "iops": 3501}, "iops", "at least 8 GiB"),  # 7 * 500 = 3,500
        (GP3 | {"iops": 2999}, "iops", "3,000 to 80,000"),
        (GP3 | {"sizeGiB": 200, "iops": 80001}, "iops", "3,000 to 80,000"),
        (GP3 | {"throughputMiBps": 124}, "throughputMiBps", "125 to 2,000"),
        (GP3 | {"throughputMiBps": 751}, "throughputMiBps", "3,004 IOPS"),  # 751 / 0.25
        (GP3 | {"iops": 8100, "throughputMiBps": 2001}, "throughputMiBps", "125 to 2,000"),
        (GP3 | {"sizeGiB": 0}, "sizeGiB", "1 to 65,536"),
        (GP3 | {"sizeGiB": 65537}, "sizeGiB", "1 to 65,536"),
        ({"type": "ebs", "volumeType": "gp2", "sizeGiB": 100, "iops": 300}, "iops", "cannot be provisioned"),
        ({"type": "ebs", "volumeType": "gp2", "sizeGiB": 16385}, "sizeGiB", "1 to 16,384"),
        ({"type": "ebs", "volumeType": "st1", "sizeGiB": 124}, "sizeGiB", "125 to 16,384"),
        ({"type": "ebs", "volumeType": "io1", "sizeGiB": 100}, "iops", "needs its IOPS"),
        ({"type": "ebs", "volumeType": "io1", "sizeGiB": 100, "iops": 5001}, "iops", "at least 101 GiB"),  # 50 / GiB
        (IO2 | {"iops": None}, "iops", "needs its IOPS"),
        (IO2 | {"sizeGiB": 10, "iops": 10001}, "iops", "at least 11 GiB"),  # 1,000 / GiB
        (IO2 | {"sizeGiB": 1000, "iops": 256001}, "iops", "100 to 256,000"),
        (IO2 | {"throughputMiBps": 500}, "throughputMiBps", "cannot be provisioned"),
        (EFS | {"performanceMode": "maxIO"}, "performanceMode", "elastic throughput (the default"),
        (EFS | {"performanceMode": "maxIO", "throughputMode": "elastic"}, "performanceMode", "elastic throughput"),
        (
            EFS | {"performanceMode": "maxIO", "throughputMode": "bursting", "deployment": "oneZone"},
            "deployment",
            "cannot be maxIO",
        ),
        (EFS | {"throughputMode": "provisioned"}, "provisionedThroughputMiBps", "needs its throughput"),
        (EFS | {"provisionedThroughputMiBps": 100}, "provisionedThroughputMiBps", "has no provisioned"),
        (
            EFS | {"throughputMode": "provisioned", "provisionedThroughputMiBps": 3415},
            "provisionedThroughputMiBps",
            "1 to 3,414",
        ),
        (FSX | {"throughputCapacityMBps": 300}, "throughputCapacityMBps", "64, 128, 256, 512"),
        (FSX | {"deploymentType": "MULTI_AZ_1"}, "throughputCapacityMBps", "160, 320, 640"),  # 4,096 is SINGLE_AZ_1's
        (FSX | {"storageCapacityGiB": 10}, "storageCapacityGiB", "64 to 524,288"),
        (FSX | {"iops": 3071}, "iops", "3,072 IOPS"),  # 3 * 1,024
        (FSX | {"iops": 400_001}, "iops", "400,000"),
        (GP3 | {"snapshotId": "snap-0123456789abcdef0", "raid0": 2}, "snapshotId", "does not hold a stripe"),
        (GP3 | {"snapshotId": "vol-0123456789abcdef0"}, "snapshotId", "does not look like a snapshot"),
        (EFS | {"iam": True}, "iam", "over TLS only"),
        (FSX | {"recordSizeKiB": 100}, "recordSizeKiB", "4, 8, 16"),
    ],
)
def test_a_limit_is_a_problem_of_its_field(storage, field, words):
    found = problems_of(storage=[storage])

    assert list(found) == [f"storage[0].{field}"]
    assert words in found[f"storage[0].{field}"].rule
    assert found[f"storage[0].{field}"].value == storage.get(field)


def test_an_fsx_throughput_that_does_not_exist_names_the_nearest():
    found = problems_of(storage=[FSX | {"throughputCapacityMBps": 300}])

    assert found["storage[0].throughputCapacityMBps"].fix == "write 256"  # 44 away; 512 is 212 away


@pytest.mark.parametrize(
    "storage",
    [
        GP3 | {"sizeGiB": 1, "iops": 3000},
        GP3 | {"sizeGiB": 40, "iops": 20000},
        GP3 | {"sizeGiB": 160, "iops": 80000, "throughputMiBps": 2000},
        GP3 | {"throughputMiBps": 750},
        {"type": "ebs", "volumeType": "sc1", "sizeGiB": 125},
        EFS | {"performanceMode": "maxIO", "throughputMode": "bursting"},
        EFS | {"performanceMode": "maxIO", "throughputMode": "provisioned", "provisionedThroughputMiBps": 1024},
        EFS | {"deployment": "oneZone", "throughputMode": "bursting"},
        FSX | {"storageCapacityGiB": 256},
        FSX | {"storageCapacityGiB": 282},
        {
            "type": "fsx-openzfs",
            "deploymentType": "MULTI_AZ_1",
            "storageCapacityGiB": 64,
            "throughputCapacityMBps": 160,
        },
    ],
)
def test_what_aws_offers_is_accepted(storage):
    workload = {"type": "touch", "files": 1}

    assert problems_of(storage=[storage], workload=[workload]) == {}


@pytest.mark.parametrize(
    ("storage", "path"),
    [
        (
            FSX | {"deploymentType": "SINGLE_AZ_HA_1", "throughputCapacityMBps": 64},
            "storage[0].throughputCapacityMBps",
        ),
        (FSX | {"iops": 200_000}, "storage[0].iops"),
        (GP3 | {"snapshotId": "snap-0123456789abcdef0"}, "storage[0].snapshotId"),
        (
            EFS | {"throughputMode": "provisioned", "provisionedThroughputMiBps": 2000},
            "storage[0].provisionedThroughputMiBps",
        ),
    ],
)
def test_a_limit_that_sources_disagree_about_is_a_warning(storage, path):
    warnings = plan(matrix(storage=[storage])).to_document()["warnings"]

    assert path in [warning["path"] for warning in warnings]


def test_zeros_on_a_compressing_file_system_are_warned_of():
    workload = {"type": "dd", "totalSize": "1GiB", "source": "zero"}

    warnings = plan(matrix(storage=[EBS, FSX | {"compression": "LZ4"}], workload=[workload])).to_document()["warnings"]

    messages = [warning["message"] for warning in warnings if warning["path"] == "workload[0].source"]
    assert len(messages) == 1
    assert "compressible data measures the compressor" in messages[0]


@pytest.mark.parametrize(("refill", "count"), [({}, 1), ({"refill_buffers": [0, 1]}, 1), ({"refill_buffers": 1}, 0)])
def test_fio_that_repeats_its_blocks_on_a_compressing_file_system_is_warned_of(refill, count):
    fio = {"type": "fio", "rw": "randwrite", "bs": "4k", "size": "1G", "time_based": 1, "runtime": 10}

    warnings = plan(matrix(storage=[FSX | {"compression": "ZSTD"}], workload=[fio | refill])).to_document()["warnings"]

    assert [warning["path"] for warning in warnings].count("workload[0].refill_buffers") == count


@pytest.mark.parametrize(
    ("deployment", "placement", "refused"),
    [
        ("oneZone", "spread", ["fleet.placement"]),
        ("oneZone", [1, 1], ["fleet.placement"]),
        ("oneZone", "same-az", []),
        ("regional", "spread", []),
    ],
)
def test_a_one_zone_file_system_is_not_mounted_from_zones_that_do_not_know_its_name(deployment, placement, refused):
    fleet = [{"instanceType": "m6i.large", "count": 4, "placement": placement}]

    assert list(problems_of(storage=[EFS | {"deployment": deployment}], fleet=fleet)) == refused


def test_many_instances_at_once_are_warned_of():
    fleet = [{"instanceType": "c5.large", "count": 1000}]

    warnings = plan(matrix(storage=[EBS, EFS, FSX], fleet=fleet)).to_document()["warnings"]

    assert "maxConcurrentFileSystems" in [warning["path"] for warning in warnings]  # 3 * 1,000 > 2,000


@pytest.mark.parametrize(
    ("kind", "instead"), [("m6i.4xlarge", "m6id.4xlarge"), ("t3.medium", "m6id.4xlarge"), ("d3.xlarge", "m6id.4xlarge")]
)
def test_an_instance_type_without_nvme_instance_store_is_refused_where_a_cell_needs_it(kind, instead):
    fleet = {"instanceType": [kind, "i4i.large"]}

    found = problems_of(storage=[EBS, INSTANCE_STORE], fleet=[fleet])

    assert list(found) == ["fleet[0].instanceType"]
    assert (found["fleet[0].instanceType"].value, instead in found["fleet[0].instanceType"].fix) == (kind, True)
    excluded = {"storage": INSTANCE_STORE, "fleet": {"instanceType": kind}}
    assert problems_of(storage=[EBS, INSTANCE_STORE], fleet=[fleet], exclude=[excluded]) == {}


def test_the_disks_of_the_instance_type_are_the_room_that_there_is():
    # i4i.large: one disk of 468 GB, 436 GiB; i4i.32xlarge: eight of 3,750 GB.
    big = [DD | {"totalSize": "440GiB"}]

    small = problems_of(storage=[INSTANCE_STORE], workload=big, fleet=[{"instanceType": "i4i.large", "count": 9}])
    assert "440GiB do not fit on instance-store (436 GiB)" in small["workload[0].totalSize"].rule
    assert problems_of(storage=[INSTANCE_STORE], workload=big, fleet=[{"instanceType": "i4i.32xlarge"}]) == {}


def test_writing_an_instance_store_all_over_takes_its_time_and_is_in_its_name():
    fleet = [{"instanceType": "m6id.large", "count": 1}]

    fresh, worn = (plan(matrix(storage=[INSTANCE_STORE | change], fleet=fleet)) for change in ({}, {"precondition": 2}))

    assert worn.cells[0].expected_s - fresh.cells[0].expected_s == pytest.approx(1_600)
    # Three times the time that it should take, so that a slow disk is no failure.
    assert worn.cells[0].ready_within_s - fresh.cells[0].ready_within_s == pytest.approx(4_800)
    assert worn.file_systems[0].id == "instance-store-written-2x"
    assert [("flash" in warning["message"]) for warning in fresh.warnings[:1]] == [True]
    assert not any("flash" in warning["message"] for warning in worn.warnings)


def test_an_instance_store_costs_nothing_beside_its_instance():
    fleet = [{"instanceType": "m6id.large"}]

    with_it, with_ebs = plan(matrix(storage=[INSTANCE_STORE, EBS], fleet=fleet, order="as-written")).cells

    assert with_it.rates.data_volume_hour == 0 < with_ebs.rates.data_volume_hour


def test_s3_is_for_reads_and_says_what_else_was_asked_of_it():
    s3 = {"type": "s3", "client": "crt"}

    found = problems_of(storage=[EBS, s3], workload=[READ, TOUCH])

    assert list(found) == ["workload"]
    assert found["workload"].rule == "cannot be done on s3-crt: it is only read from"
    assert problems_of(storage=[s3], workload=[READ]) == {}
    exclude = [{"storage": {"type": "s3"}, "workload": {"type": "touch"}}]
    assert problems_of(storage=[EBS, s3], workload=[READ, TOUCH], exclude=exclude) == {}


BY_COMMAND = {"type": "s3", "client": "command"}
READER = COMMAND | {"objectSize": "1GiB", "objects": 4, "jobs": [1, 4], "primaryMetric": "mb_per_s"}


def test_a_command_reads_s3_where_it_is_the_client_and_nothing_else_does():
    assert problems_of(storage=[BY_COMMAND], workload=[READER]) == {}
    assert problems_of(storage=[BY_COMMAND], workload=[COMMAND]) == {}

    assert "only for workload command" in problems_of(storage=[BY_COMMAND], workload=[READ])["workload"].rule
    assert 'client "command"' in problems_of(storage=[{"type": "s3"}], workload=[COMMAND])["workload"].fix


@pytest.mark.parametrize(
    ("storage", "changes", "field", "rule"),
    [
        (EBS, {}, "objectSize", "holds no objects"),
        (BY_COMMAND, {"populate": "true"}, "populate", "fills a folder"),
        (BY_COMMAND, {"objectSize": 5000}, "objectSize", "multiple of 4KiB"),
        (BY_COMMAND, {"objectSize": "1TiB"}, "objectSize", "more than 1TiB"),
        (BY_COMMAND, {"objectSize": None, "primaryMetric": "duration_s"}, "objects", "of no size"),
        (BY_COMMAND, {"objectSize": None, "objects": 1}, "primaryMetric", "is none of duration_s"),
    ],
)
def test_objects_are_what_a_bucket_holds_and_what_can_be_made(storage, changes, field, rule):
    workload = {name: value for name, value in (READER | changes).items() if value is not None}

    found = problems_of(storage=[storage], workload=[workload])

    assert list(found) == [f"workload[0].{field}"]
    assert rule in found[f"workload[0].{field}"].rule


THEIRS = BY_COMMAND | {"bucket": "theirs", "prefix": "letters/2026"}


def test_a_directory_bucket_is_known_by_its_name_and_refused_before_aws_is_asked():
    found = problems_of(storage=[THEIRS | {"bucket": "tables--use1-az4--x-s3"}], workload=[COMMAND])

    assert "directory bucket of S3 Express One Zone" in found["storage[0].bucket"].rule
    assert problems_of(storage=[THEIRS | {"bucket": "tables--use1-az4"}], workload=[COMMAND]) == {}


def test_objects_that_exist_are_read_by_commands_and_the_plan_says_what_is_done_to_them():
    [warning] = matrix(storage=[THEIRS], workload=[COMMAND]).warnings

    assert warning.path == "storage[0].bucket"
    assert warning.rule.startswith("exists: it is only read")


@pytest.mark.parametrize(
    ("storage", "workload", "path", "rule"),
    [
        (BY_COMMAND | {"bucket": "theirs"}, COMMAND, "storage[0].prefix", "only what lies below one"),
        (BY_COMMAND | {"prefix": "x"}, COMMAND, "storage[0].bucket", "the stack's own bucket"),
        (THEIRS | {"client": "crt"}, READ, "storage[0].client", "nothing is written to a bucket of yours"),
        (THEIRS | {"prefix": "a/*"}, COMMAND, "storage[0].prefix", ""),
        (THEIRS | {"bucket": "Theirs"}, COMMAND, "storage[0].bucket", ""),
        (THEIRS, READER, "workload[0].objectSize", "nothing is written"),
    ],
)
def test_what_exists_is_named_whole_and_nothing_is_written_to_it(storage, workload, path, rule):
    found = problems_of(storage=[storage], workload=[workload])

    assert rule in found[path].rule


def test_the_objects_of_a_command_are_planned_as_what_is_kept_and_asked_for():
    read = matrix(storage=[BY_COMMAND], workload=[READER | {"expectedSeconds": 10}]).matrix
    [storage], [workload] = read.storage, read.workload

    for point in workload.points():
        footprint = workload.footprint(point, storage, 1)

        assert footprint.stored_bytes == footprint.read_bytes == 4 * 2**30
        assert footprint.written_bytes == 2 * 2**30  # the first of two points writes what both read
        assert footprint.read_requests == pytest.approx(4 * 2**30 / (5 * 2**20))
        assert footprint.seconds == pytest.approx(10 + 2 * 2**30 / 625e6)


@pytest.mark.parametrize(
    ("client", "os", "refused"),
    [("crt", "ubuntu-22.04", ["image.os"]), ("crt", "al2023", [])],
)
def test_a_client_that_an_image_cannot_have_is_refused_before_it_costs_anything(client, os, refused):
    found = problems_of(storage=[{"type": "s3", "client": client}], workload=[READ], image={"os": os})

    assert list(found) == refused


def test_s3_costs_what_is_kept_and_each_request():
    workload = READ | {"access": "random", "records": 2**20, "pageBytes": 8192, "threads": 4}
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


@pytest.mark.parametrize(
    ("changes", "field"), [({"instanceType": "large"}, "instanceType"), ({"sizeGiB": 0}, "sizeGiB")]
)
def test_a_file_server_needs_an_instance_type_and_a_volume(changes, field):
    assert problems_of(storage=[FILE_SERVER], workload=[READ]) == {}
    assert list(problems_of(storage=[FILE_SERVER | changes], workload=[READ])) == [f"storage[0].{field}"]
    assert problems_of(storage=[FILE_SERVER], workload=[TOUCH])["workload"].rule.endswith("it is only read from")


def test_a_file_server_has_no_more_readers_than_it_has_connections_for():
    def problems(threads, count):
        workload = READ | {"access": "random", "records": 12_800, "threads": threads}
        fleet = [{"instanceType": "m6i.large", "count": count}]
        return problems_of(storage=[FILE_SERVER], workload=[workload], fleet=fleet)

    assert problems(threads=20, count=200) == {}
    found = problems(threads=32, count=200)
    assert list(found) == ["workload[0].threads"]
    assert found["workload[0].threads"].rule == (
        "200 instances of 32 threads are 6,400 readers of one file server; at most 4,000"
    )


def test_an_answer_of_a_file_server_has_room_in_memory():
    def problems(storage, batch):
        workload = READ | {"access": "random", "records": 10_000, "recordsPerRequest": batch, "dataSize": "1GiB"}
        return problems_of(storage=[storage], workload=[workload])

    assert problems(FILE_SERVER, 1_000) == {}  # of 64 KiB are 62.5 MiB
    assert problems(EBS, 2_000) == {}  # there the pages of a batch come one after the other
    found = problems(FILE_SERVER, 2_000)
    assert list(found) == ["workload[0].recordsPerRequest"]
    assert "at most 64MiB" in found["workload[0].recordsPerRequest"].rule
    in_requests = READ | {"records": 16_384, "pageBytes": "64KiB", "pagesPerRequest": 2_048}
    refused = problems_of(storage=[FILE_SERVER], workload=[in_requests])
    assert list(refused) == ["workload[0].pagesPerRequest"]


def test_the_plan_says_that_a_file_server_is_an_instance_more():
    assert any("one instance more" in line for line in plan(matrix(storage=[FILE_SERVER], workload=[READ])).assumptions)
    assert not any("one instance more" in line for line in plan(matrix()).assumptions)


def test_a_storage_in_a_result_is_known_to_be_shared_or_of_each_instance():
    assert {kind for kind in MODELS if not is_shared({"type": kind})} == {"ebs", "instance-store"}
    assert is_shared({"type": "tape"})


@pytest.mark.parametrize(
    ("storage", "field", "words"),
    [
        ({"type": "ebs", "volumeType": "gp2", "sizeGiB": 100}, "volumeType",
         "has 300 IOPS always (volume IOPS) and 3,000 for 33m 20s from credits"),
        ({"type": "ebs", "volumeType": "sc1", "sizeGiB": 1024}, "volumeType", "has 12.6 MB/s always"),
        (EFS | {"throughputMode": "bursting"}, "throughputMode", "has 1.05 MB/s always"),
        (FSX | {"throughputCapacityMBps": 64}, "throughputCapacityMBps",
         "has 64.0 MB/s always (FSx disk throughput) and 1,024 from credits (AWS does not say for how long)"),
    ],
)  # fmt: skip
def test_a_storage_that_lives_on_credits_is_warned_about_before_it_costs(storage, field, words):
    [warning] = [one for one in plan(matrix(storage=[storage])).warnings if "credits" in one["message"]]

    assert warning["path"] == f"storage[0].{field}"
    assert words in warning["message"]


@pytest.mark.parametrize(
    "storage", [EBS, {"type": "ebs", "volumeType": "gp2", "sizeGiB": 1000}, EFS, FSX, INSTANCE_STORE]
)
def test_a_storage_that_is_always_as_fast_is_not(storage):
    fleet = [{"instanceType": "m6id.large", "count": 1}]

    assert not any("credits" in one["message"] for one in plan(matrix(storage=[storage], fleet=fleet)).warnings)


FIO_READ = {"type": "fio", "rw": "randread", "bs": "4k", "direct": 1, "size": "64G", "time_based": 1, "runtime": 10}


@pytest.mark.parametrize(
    ("workload", "count", "is_warned"),
    [
        (READ, 1, True),
        # SINGLE_AZ_1 of 4,096 MB/s caches 358.4 GB: 668 GiB are twice of that.
        (READ | {"dataSize": "64GiB"}, 10, True),
        (READ | {"dataSize": "64GiB"}, 11, False),
        (FIO_READ, 10, True),
        (FIO_READ, 11, False),
        (FIO_READ | {"rw": "randwrite"}, 1, False),
    ],
)
def test_reads_that_fit_into_the_cache_of_the_server_are_warned_about(workload, count, is_warned):
    fleet = [{"instanceType": "m6i.large", "count": count}]
    warnings = plan(matrix(storage=[FSX], workload=[workload], fleet=fleet)).warnings

    assert is_warned == any("caches 358 GB" in warning["message"] for warning in warnings)


@pytest.mark.parametrize(
    ("storage", "fleet", "rule"),
    [
        (EFS, {"count": 2}, None),
        (FSX, {"count": [2, 4]}, None),
        (EBS, {"count": 2}, "no file system that instances share"),
        (FILE_SERVER, {"count": 2}, "no file system that instances share"),
        (EFS, {"count": 1}, "1 instances have no neighbour 1 places further"),
        (EFS, {"count": 4, "quorum": 0.5}, "does not know its neighbours"),
    ],
)
def test_a_neighbours_data_is_read_where_there_is_a_neighbour_on_a_file_system_that_both_mount(storage, fleet, rule):
    workload = READ | {"shift": [0, 1]}

    problems = problems_of(storage=[storage], workload=[workload], fleet=[{"instanceType": "m6i.large"} | fleet])

    assert (rule is None) == (problems == {})
    assert rule is None or rule in problems["workload[0].shift"].rule


def test_data_for_a_neighbour_is_stored_beside_an_instances_own():
    workload = matrix(storage=[EFS], workload=[READ | {"shift": [0, 1]}], fleet=[{"instanceType": "m6i.large",
                      "count": 2}]).matrix.workload[0]  # fmt: skip
    own, neighbours = workload.points()

    assert ("shift" in own, neighbours["shift"]) == (False, 1)
    assert workload.footprint(own, matrix(storage=[EFS]).matrix.storage[0], 2).stored_bytes == 2 * own["data_bytes"]


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


@pytest.mark.parametrize(
    ("storage", "fleet", "refused"),
    [
        ({}, {}, []),
        ({}, {"placement": [2, 2]}, []),
        ({}, {"placement": [1, 1, 1]}, ["fleet[0].placement"]),
        ({}, {"placement": [2, 1]}, ["fleet[0].placement"]),
        ({}, {"placement": "same-az"}, ["fleet[0].placement"]),
        ({}, {"placement": "spread"}, ["fleet[0].placement"]),
        ({"deploymentType": "MULTI_AZ_1", "throughputCapacityMBps": 5120}, {}, ["storage[0].fileSystems"]),
        ({"fileSystems": 1}, {}, ["storage[0].fileSystems"]),
        ({"fileSystems": 7}, {}, ["storage[0].fileSystems"]),
        ({"fileSystemId": "fs-0123456789abcdef0"}, {}, ["storage[0].fileSystems"]),
    ],
)
def test_of_several_file_systems_each_is_in_one_zone_with_an_equal_part_of_the_fleet(storage, fleet, refused):
    two = FSX | {"fileSystems": 2} | storage

    assert list(problems_of(storage=[two], fleet=[FLEET | {"count": 4} | fleet])) == refused


def test_a_fleet_that_leaves_a_file_system_without_an_instance_is_warned_of_and_planned():
    warnings = plan(matrix(storage=[FSX | {"fileSystems": 3}], fleet=[FLEET | {"count": [2, 3]}])).to_document()[
        "warnings"
    ]

    [message] = [warning["message"] for warning in warnings if warning["path"] == "fleet[0].count"]
    assert "1 of them are paid for and not used" in message


@pytest.mark.parametrize(
    ("workload", "path"),
    [
        (METADATA | {"directories": ["own", "fleet"]}, "workload[0].directories"),
        (READ | {"access": "random", "shift": [0, 1]}, "workload[0].shift"),
    ],
)
def test_instances_of_several_file_systems_have_nothing_in_common_to_work_on(workload, path):
    fleet = [FLEET | {"count": 4}]

    assert path in problems_of(storage=[FSX | {"fileSystems": 2}], workload=[workload], fleet=fleet)
    assert problems_of(storage=[FSX], workload=[workload], fleet=fleet) == {}


@pytest.mark.parametrize("storage", [EBS, EFS, {"type": "s3"}], ids=lambda storage: storage["type"])
def test_no_other_storage_can_be_several_file_systems(storage):
    refused = problems_of(storage=[storage | {"fileSystems": 2}], workload=[READ])

    assert refused["storage[0].fileSystems"].rule == "is no field of the matrix format"


@pytest.mark.parametrize(
    ("storage", "is_warned"), [(EFS, True), (EFS | {"throughputMode": "bursting"}, False), (EBS, False)]
)
def test_a_command_whose_bytes_are_charged_is_warned_of_as_no_budget_caps_them(storage, is_warned):
    warnings = plan(matrix(storage=[storage], workload=[COMMAND])).warnings

    words = "10 MB/s each way on each instance, and no budget caps what is beyond"
    assert [each["path"] for each in warnings if words in each["message"]] == (
        ["workload[0].expectedSeconds"] if is_warned else []
    )


def test_the_way_out_of_a_server_cache_is_the_size_of_each_job():
    jobs = FIO_READ | {"numjobs": 4, "size": "1G"}
    [warning] = [
        each["message"]
        for each in plan(matrix(storage=[FSX], workload=[jobs])).warnings
        if "caches 358 GB" in each["message"]
    ]

    assert "1 instance reads 4GiB (4 jobs together)" in warning
    # 668 GiB are twice the cache.
    assert 'write size "167GiB" or more (of each job)' in warning
