"""The rules of each workload, and the points that its sweeps make."""

import pytest
from support.matrices import (
    DD,
    EBS,
    EFS,
    FILE_SERVER,
    METADATA,
    OBJECTS,
    READ,
    S3,
    TOUCH,
    TRANSFER,
    matrix,
)

from contract.sizes import Sizes
from matrix.input import workloads
from matrix.input.workloads import TransferWorkload
from matrix.input.workloads.contract import Clients
from matrix.plan.planning import plan
from matrix.storages.models import MODELS
from matrix.terms.metrics import METRICS, describe_measure


def test_metadata_makes_a_point_of_each_phase_of_every_combination_in_mdtests_order():
    workload = matrix(workload=[METADATA | {"phases": ["rename", "stat"]}]).matrix.workload[0]

    points = workload.points()

    assert [(point["threads"], point["phase"]) for point in points] == [
        (threads, phase) for threads in (1, 4) for phase in ("create", "stat", "rename", "delete")
    ]
    assert (workload.number_of_points, workload.points_in_a_row) == (8, 4)


def test_files_may_be_empty_or_have_a_size_with_a_unit():
    sweep = {"type": "metadata", "files": 4, "fileSize": [0, "4KiB", 3901]}

    points = matrix(workload=[sweep]).matrix.workload[0].points()

    assert {point["file_bytes"] for point in points} == {0, 4096, 3901}


def test_a_phase_takes_the_time_of_a_create_or_of_a_look_and_a_listing_less():
    efs = matrix(storage=[EFS]).matrix.storage[0]
    workload = matrix(workload=[METADATA | {"threads": 4, "directories": ["own", "fleet"]}]).matrix.workload[0]

    seconds = {
        (point["directories"], point["phase"]): workload.footprint(point, efs, Clients(10)).seconds
        for point in workload.points()
    }

    # 1,024 files by 4 workers: 12 ms for a create, 1 ms for a read of a block; 50,000 writes/s for all ten.
    assert seconds["own", "create"] == seconds["own", "rename"] == seconds["own", "delete"] == 1024 / 4 * 0.012
    assert seconds["own", "stat"] == seconds["own", "open-read"] == max(1024 / 4 * 0.001, 1024 * 10 / 50_000)
    # One worker lists the files of ten instances, 128 in a reply: faster than the engine's 100,000/s.
    assert seconds["fleet", "list"] == 10_240 / 100_000


def test_reading_back_takes_the_time_and_the_bytes_of_a_read():
    efs = matrix(storage=[EFS]).matrix.storage[0]
    plain, verified = (
        matrix(workload=[DD | {"tool": "engine", "verify": verify}]).matrix.workload[0] for verify in (False, True)
    )

    once, twice = (workload.footprint(workload.points()[0], efs, Clients(1)) for workload in (plain, verified))

    assert (once.read_bytes, twice.read_bytes) == (0, 64 * 2**20)
    assert twice.seconds == 2 * once.seconds


def test_tools_that_copy_one_file_at_a_time_have_one_point_for_all_threads():
    workload = matrix(workload=[TRANSFER | {"files": 10, "fileSize": "2kB", "threads": [4, 8]}]).matrix.workload[0]

    shape = {"files": 10, "file_bytes": 2000}
    assert workload.points() == [
        {"tool": "cp", **shape, "threads": 1},
        {"tool": "cp+parallel", **shape, "threads": 4},
        {"tool": "cp+parallel", **shape, "threads": 8},
    ]


@pytest.mark.parametrize(
    ("tool", "threads", "published_s"),
    [("rsync", 1, 435), ("cp", 1, 329), ("fpsync", 32, 210), ("cp+parallel", 32, 73), ("fpart+cpio+parallel", 32, 42)],
)
def test_the_estimate_of_a_transfer_is_of_the_size_of_what_was_published(tool, threads, published_s):
    storage = matrix(
        storage=[EFS | {"throughputMode": "provisioned", "provisionedThroughputMiBps": 256}]
    ).matrix.storage[0]
    [params] = TransferWorkload.model_validate({"type": "transfer", "tool": tool, "threads": threads}).points()

    footprint = matrix(workload=[TRANSFER]).matrix.workload[0].footprint(params, storage, Clients(1))

    # Tools of the tutorial on its instance; a tool's own slowness (fpsync) is not in what the storage lets through.
    assert published_s / 6 < footprint.seconds < 2 * published_s
    assert footprint.written_bytes == footprint.stored_bytes == 5e9


def test_a_fleet_shares_the_bandwidth_that_its_transfers_take():
    storage = matrix(storage=[EFS | {"throughputMode": "bursting"}]).matrix.storage[0]  # 100 MiB/s
    workload = matrix(workload=[TRANSFER | {"tool": "fpart+cpio+parallel", "threads": 256}]).matrix.workload[0]
    [params] = workload.points()

    assert workload.footprint(params, storage, Clients(10)).seconds == pytest.approx(10 * 5e9 / (100 * 2**20))


def test_the_points_of_read_say_how_much_data_there_is():
    sweep = READ | {"access": ["sequential", "random"], "threads": [1, 4]}
    points = matrix(workload=[sweep]).matrix.workload[0].points()

    assert [(one["access"], one["threads"]) for one in points] == [
        ("sequential", 1), ("sequential", 4), ("random", 1), ("random", 4)
    ]  # fmt: skip
    assert {one["data_bytes"] for one in points} == {128 * 65536}
    assert points[0] == {
        **{"access": "sequential", "requests": 128, "request_bytes": 65536},
        **{"threads": 1, "caching": "direct", "data_bytes": 8388608},
    }
    larger = matrix(workload=[READ | {"dataSize": "1GiB"}]).matrix.workload[0]
    assert larger.points()[0]["data_bytes"] == 2**30


def test_reads_are_expected_to_take_what_bandwidth_or_iops_allow():
    storage = matrix(storage=[EBS]).matrix.storage[0]  # 125 MiB/s, 3,000 IOPS
    workload = matrix(workload=[READ | {"requests": 2**14, "access": ["sequential", "random"]}]).matrix.workload[0]

    sequential, random = (workload.footprint(point, storage, Clients(1)).spread(1) for point in workload.points())

    gib = 2**30  # 2^14 requests of 64 KiB; the data is one file for both points
    writing_s = gib / 2 / (125 * 2**20)
    assert sequential.seconds == pytest.approx(8.192 + writing_s)
    # 2,000 requests a second are 125 MiB/s, in whatever order.
    assert random.seconds == pytest.approx(2**14 / 2_000 + writing_s)
    assert (sequential.read_bytes, random.read_bytes) == (gib, gib)
    assert sequential.stored_bytes == random.stored_bytes == gib


def test_rates_are_points_that_take_the_time_in_which_their_operations_are_due():
    touch, read = (
        matrix(storage=[storage], workload=[workload | {"ratePerSecondPerInstance": [50, 100]}]).matrix.workload[0]
        for storage, workload in ((EFS, TOUCH | {"files": 1000}), (FILE_SERVER, READ | {"requests": 1024, "batch": 4}))
    )
    storage = matrix(storage=[EFS]).matrix.storage[0]

    assert touch.number_of_points == len(touch.points())
    assert {point["rate_per_s_per_instance"] for point in touch.points()} == {50, 100}
    slow = next(point for point in touch.points() if point["rate_per_s_per_instance"] == 50)
    assert touch.footprint(slow, storage, Clients(1)).seconds == pytest.approx(1000 / 50)
    slow = read.points()[0]
    assert read.footprint(slow, storage, Clients(1)).seconds == pytest.approx(1024 / 4 / 50, rel=0.1)


def test_every_metric_is_one_that_some_workload_yields_and_the_other_way_round():
    models = workloads.MODELS.values()
    # fio's latency without its submission comes with files and tables of others only: ours have the whole one.
    of_others = {name for name in METRICS if "_completion_lat_" in name}

    assert len(of_others) == 12
    assert {"duration_s"}.union(*(model.yields for model in models)) == set(METRICS) - of_others
    assert all(model.primary_metric in {"duration_s", *model.yields} for model in models)


def test_a_create_that_is_stored_takes_a_volume_longer_and_a_file_system_no_longer():
    workload = matrix(workload=[TOUCH | {"threads": 1, "sync": ["none", "each"]}]).matrix.workload[0]
    ebs, efs = (matrix(storage=[storage]).matrix.storage[0] for storage in (EBS, EFS))

    seconds = {
        storage.type: [workload.footprint(params, storage, Clients(1)).seconds for params in workload.points()]
        for storage in (ebs, efs)
    }

    # Of gp3 a create takes 0.1 ms and a sync 1 ms: 1,024 of both are 1.126 s.
    assert seconds["ebs"] == [pytest.approx(0.1024), pytest.approx(1.1264)]
    assert seconds["efs"][0] == seconds["efs"][1]


def test_jobs_share_a_device_unless_each_has_a_part_of_its_own_and_only_what_is_read_is_written_before():
    storage = MODELS["ebs"].model_validate(EBS)
    options = {"type": "fio", "device": True, "bs": "1M", "size": "1G", "numjobs": 4, "direct": 1}

    def footprint(**changes):
        workload = workloads.MODELS["fio"].model_validate(options | changes)
        return workload.footprint(workload.points()[0], storage, Clients(1))

    assert footprint(rw="randwrite").stored_bytes == 2**30
    assert footprint(rw="randwrite", offset_increment="2G", offset="1G").stored_bytes == 8 * 2**30
    assert footprint(rw="randread").made_bytes == 2**30
    assert footprint(rw="randwrite").written_bytes == 4 * 2**30


# ---------------------------------------------------------------- objects


def objects_of(**changes):
    return matrix(storage=[S3], workload=[OBJECTS | changes]).matrix


def test_a_mix_is_as_warp_has_it_unless_it_is_given():
    [workload] = objects_of(operation="mix", requests=20).workload
    [point] = workload.points()
    assert point["mix"] == "get 9, head 6, put 3, delete 2"

    [workload] = objects_of(operation="mix", mix={"get": 2, "put": 1}, requests=10).workload
    assert workload.points()[0]["mix"] == "get 7, put 3"  # 6.67 and 3.33: the largest remainder gets the last one


def footprint_of(operation, **changes):
    checked = objects_of(operation=operation, **changes)
    [workload], [storage] = checked.workload, checked.storage
    [point] = workload.points()
    return workload.footprint(point, storage, Clients(1)).spread(1)


def test_requests_are_counted_in_the_two_classes_that_s3_bills():
    pilot, size = 10, 65_536
    put = footprint_of("put")
    # Three listings of one prefix and a page of what was written; 16 objects are read again.
    assert put.write_requests == 1000 + 3 + 1 + pilot
    assert put.read_requests == 16 + pilot
    assert put.written_bytes == put.stored_bytes == 1000 * size

    parts = footprint_of("put", objectSize="12MiB", partSize="5MiB")
    assert parts.write_requests == 5 * 1000 + 3 + 1 + pilot  # begin, three parts, complete

    got = footprint_of("get", objects=200)
    assert (got.read_requests, got.write_requests) == (1000 + pilot, 200 + 3 + pilot)
    assert got.read_bytes == 1000 * size

    listed = footprint_of("list", objects=200)
    assert (listed.read_requests, listed.write_requests) == (pilot, 1000 + 200 + 3 + pilot)

    # A DELETE costs nothing, what it deletes was put, and listed as gone.
    deleted = footprint_of("delete", keysPerDelete=10)
    assert deleted.write_requests == 10_000 + 3 + 10 + pilot
    assert deleted.stored_bytes == 10_000 * size


@pytest.mark.parametrize(
    "sizes", [{"exponential": {}}, {"lognormal": 2, "seed": 7}, {"weights": {"1KiB": 1, "1MiB": 2}}]
)
def test_bytes_of_objects_of_many_sizes_are_those_that_an_agent_moves(sizes):
    more = {"sizes": sizes, "requests": 10, "objects": 10}
    [workload] = objects_of(operation="put", **more).workload
    # Results have sizes as a text.
    assert type(workload).model_validate(workload.document).sizes == workload.sizes
    [point] = workload.points()
    moved = sum(map(Sizes(point["object_bytes"], point["sizes"]).of, range(10)))

    put, got = footprint_of("put", **more), footprint_of("get", **more)

    assert put.written_bytes == put.stored_bytes == moved != 10 * point["object_bytes"]
    assert got.read_bytes == got.made_bytes == got.stored_bytes == moved


def test_an_open_loop_is_judged_by_the_latency_of_its_operation():
    [workload] = objects_of(operation=["get", "mix"], ratePerSecondPerInstance=[100]).workload
    document = workload.document

    assert [workload.judged_by(point, document) for point in workload.points()] == [
        "get_lat_p99_us",
        "request_lat_p99_us",
    ]
    assert footprint_of("get", ratePerSecondPerInstance=10).seconds >= 100


def test_requests_of_objects_cost_what_s3_bills_for_them():
    by_put = plan(matrix(storage=[S3], workload=[OBJECTS | {"operation": "put", "objectSize": 1}])).to_document()
    by_get = plan(
        matrix(storage=[S3], workload=[OBJECTS | {"operation": "get", "objects": 1, "objectSize": 1}])
    ).to_document()

    [put], [got] = by_put["cells"], by_get["cells"]
    # 3 repetitions of 1,014 PUTs and LISTs at 5 USD a million, and of as many GETs at 0.4.
    difference = 3 * ((1014 - 14) * 5e-6 - (1010 - 26) * 0.4e-6)
    assert put["metered_usd"]["expected"] - got["metered_usd"]["expected"] == pytest.approx(difference, rel=0.05)


def test_a_time_that_is_not_that_of_a_step_is_called_what_it_is():
    assert describe_measure("duration_s", "s") == "duration"
    assert describe_measure("fetch_s", "s") == "time to fill the cache"
    assert describe_measure("tps", "tx/s") == "tps in tx/s"
