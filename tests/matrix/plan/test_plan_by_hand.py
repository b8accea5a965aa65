"""What a plan takes and costs, worked out by hand from the matrix and the price book."""

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest
from support.matrices import BUILD, EBS, EFS, FILE_SERVER, FIO, FLEET, FSX, READ, TOUCH, matrix

from matrix.input.pace import EARLY_POLLS, PREPARE_S, WORK_FACTOR
from matrix.plan.placing import cross_zone_share
from matrix.plan.planning import RUN_OVERHEAD_S, SHUTDOWN_S, Planner, plan, populate
from matrix.price.book import Cost, instances_cost, orchestration_cost, published_prices
from matrix.terms.charges import NOTHING, Amount

BOOK = published_prices()


def planner(checked):
    return Planner(checked, BOOK, seed=0, earlier={}, tolls={})


def test_instance_hours_are_those_of_all_instances_of_all_cells():
    made = plan(matrix(fleet=[FLEET | {"count": [1, 4]}]))

    seconds = sum(cell.fleet["count"] * cell.expected_s for cell in made.cells)
    assert made.instance_hours == pytest.approx(seconds / 3600)
    assert made.to_document()["totals"]["instance_hours"] == round(seconds / 3600, 2)
    assert made.instances == 5


@pytest.mark.parametrize(("count", "repetitions"), [(1, 3), (4, 3), (4, 1)])
def test_polls_are_paid_for_the_time_of_an_instance_and_early_looks_where_a_fleet_meets_again(count, repetitions):
    touch = TOUCH | {"threads": 1}
    checked = matrix(workload=[touch], fleet=[FLEET | {"count": count}], repetitions=repetitions)
    [cell] = plan(checked).cells

    work = planner(checked).work_of(checked.cells[0]).time
    each_s = Amount(work.least_s + SHUTDOWN_S, cell.expected_s + SHUTDOWN_S, cell.deadline_s + SHUTDOWN_S)
    turns = [seconds / cell.poll_s for seconds in each_s]
    if count > 1 and repetitions > 1:
        turns = [turns[0], turns[1] + 1, turns[2] + EARLY_POLLS]
    orchestration = orchestration_cost(
        BOOK, poll_turns=Amount(*turns), steps=repetitions, instances=count, each_s=each_s
    )
    for end in ("low", "expected", "high"):
        assert getattr(cell.metered_cost, end) == pytest.approx(getattr(orchestration, end), rel=1e-9)


def test_filling_a_cache_takes_half_of_boot_and_work_at_least():
    work = BUILD | {"populate": "fetch", "expectedSeconds": 600}
    checked = matrix(storage=[EFS], workload=[work])
    made = plan(checked)
    [cell], [file_system] = made.cells, made.file_systems

    filling, seconds, cost = populate(BOOK, [(cell, checked.cells[0])])

    each_s = Amount((PREPARE_S + 600) / 2, PREPARE_S + 600, 900 + WORK_FACTOR * 600)
    expected = instances_cost(BOOK, FLEET["instanceType"], 1, each_s, work_volume=cell.work_volume)
    assert (filling["cell"], seconds) == (cell.id, each_s)
    assert (cost.low, cost.expected, cost.high) == pytest.approx((expected.low, expected.expected, expected.high))
    around_s = checked.matrix.storage[0].traits.create_and_delete_s
    assert file_system.expected_s == pytest.approx(around_s + each_s.expected + cell.expected_s)
    assert populate(BOOK, [(cell, matrix(workload=[work]).cells[0])]) == (None, NOTHING, Cost())


@pytest.mark.parametrize(
    ("placement", "count", "zones", "share"),
    [
        ("same-az", 12, 0, (0, 0, 0)),
        ("spread", 12, 0, (1 / 2, 2 / 3, 5 / 6)),
        ("spread", 12, 3, (2 / 3, 2 / 3, 2 / 3)),
        ("spread", 2, 0, (1 / 2, 1 / 2, 1 / 2)),
        ([1, 3], 12, 0, (3 / 4, 3 / 4, 3 / 4)),
        # Instances are whole: the first zone gets two of three.
        ([1, 1], 3, 2, (1 / 3, 1 / 3, 1 / 3)),
        ([1, 1], 1, 0, (0, 0, 0)),
        ([1, 1, 1, 1], 4, 0, (3 / 4, 3 / 4, 3 / 4)),
        (None, 12, 3, (0, 0, 0)),
    ],
)
def test_the_share_of_a_fleet_away_from_its_storage_follows_from_the_zones(placement, count, zones, share):
    storage = SimpleNamespace(document={"type": "efs", "deployment": "oneZone"}, is_free_between_zones=False)

    assert cross_zone_share(placement, storage, count, zones) == pytest.approx(share)
    free = SimpleNamespace(document=storage.document, is_free_between_zones=True)
    assert cross_zone_share(placement, free, count) == (0, 0, 0)
    regional = SimpleNamespace(document={"type": "efs"}, is_free_between_zones=False)
    assert cross_zone_share(placement, regional, count) == (0, 0, 0)


SC1 = {"type": "ebs", "volumeType": "sc1", "sizeGiB": 1024}
GP2 = {"type": "ebs", "volumeType": "gp2", "sizeGiB": 100}
BLOCKS = {
    "type": "fio",
    "rw": "randwrite",
    "bs": "4k",
    "size": "1g",
    "io_size": "32g",
    "direct": 1,
    "fallocate": "none",
}
BURSTING = {"type": "efs", "throughputMode": "bursting"}
LARGE_EBS, LARGE_FSX = EBS | {"sizeGiB": 2048}, FSX | {"storageCapacityGiB": 2048}
AT_ONCE = {"type": "dd", "dataSize": "600GiB", "blockSize": "1MiB", "sync": "end", "threads": 1}


@pytest.mark.parametrize(
    ("storage", "work", "repetitions", "count", "seconds"),
    [
        # 80 MiB/s until 1 TiB of credits is gone, at 80 - 12: 15,420 s; the rest of 1,800 GiB at 12.
        (SC1, AT_ONCE, 3, 1, 15_420 + (1_800 * 1_024 - 80 * 15_420) / 12),
        (SC1, AT_ONCE, 3, 4, 15_420 + (1_800 * 1_024 - 80 * 15_420) / 12),  # each has a volume of its own
        (SC1, AT_ONCE, 1, 1, 600 * 1_024 / 80),
        # Four instances share 100 MiB/s and 2.1 TiB; 800 GiB stay and sustain 39.06 MiB/s: 36,136 s of 4,000 GiB.
        (BURSTING, AT_ONCE | {"dataSize": "200GiB"}, 5, 4, 36_136 + (4_000 * 1_024 - 100 * 36_136) / 39.06),
        # A given time stays, and `runtime` without `time_based` ends a job that its bytes have not ended yet.
        (SC1, FIO | {"rw": "write", "bs": "1m", "runtime": 40_000}, 1, 1, 40_000),
        (GP2, BLOCKS | {"runtime": 5_000}, 2, 1, 10_000),
        # 5.4 million credits pay for 2,700 of 3,000 IOPS for 2,000 s; the rest of 2**23 blocks goes at 300.
        (GP2, BLOCKS, 1, 1, (2**23 - 5.4e6) / 300),
        (GP2 | {"raid0": 2}, BLOCKS, 2, 4, (2 * 2**23 - 2 * 5.4e6) / 600),
        (GP2 | {"sizeGiB": 1_000}, BLOCKS, 1, 1, 2**23 / 3_000),
        # Credits end too if the rate lies between the baseline and the burst: 1,500 IOPS are 1,200 from credits.
        (GP2, BLOCKS | {"rate_iops": 1_500}, 1, 1, (2**23 - 5.4e6) / 300),
        # A step below the baseline leaves the credits to the other one.
        (GP2, BLOCKS | {"rate_iops": [200, 3_000]}, 1, 1, 2**23 / 200 + (2**23 - 5.4e6) / 300),
        # A MiB is 4 operations; 128 MiB/s are 512 IOPS.
        (GP2 | {"sizeGiB": 50}, AT_ONCE | {"dataSize": "40GiB"}, 60, 1, (60 * 163_840 - 5.4e6) / 150),
        # Two equal steps share the balance.
        (
            GP2,
            READ | {"requests": 2_000_000, "requestSize": 4096, "threads": [16, 32]},
            2,
            1,
            (8e6 - 5.4e6) / 300,
        ),
    ],
)
def test_work_that_outlasts_the_credits_goes_on_at_the_baseline(storage, work, repetitions, count, seconds):
    checked = matrix(storage=[storage], workload=[work], fleet=[FLEET | {"count": count}], repetitions=repetitions)

    assert planner(checked).work_of(checked.cells[0]).time.seconds == pytest.approx(seconds, rel=0.01)


@pytest.mark.parametrize(
    ("storage", "instance_type", "seconds"),
    [
        # 1 TiB at 625 MB/s. Network: 93.75 MB/s always, 1,250 for 5 minutes, which last 653 s at 625.
        (LARGE_FSX, "c5.large", 653 + (2**40 - 625e6 * 653) / 93.75e6),
        (LARGE_FSX, "m5.8xlarge", 2**40 / 625e6),  # 10 Gbit/s always
        # EBS: 396.25 MB/s for 30 minutes and 25 MB/s always.
        (
            LARGE_EBS | {"iops": 16_000, "throughputMiBps": 1_000},
            "c5a.large",
            1_800 + (2**40 - 396.25e6 * 1_800) / 25e6,
        ),
        # 125 MiB/s of the volume use up the credits of 1,250 MB/s only after 40 hours.
        (LARGE_EBS, "m6i.large", 2**40 / (125 * 2**20)),
    ],
)
def test_work_that_outlasts_the_credits_of_the_instance_goes_on_at_its_baseline(storage, instance_type, seconds):
    fleet, work = {"instanceType": instance_type, "count": 1}, AT_ONCE | {"dataSize": "1TiB", "tool": "engine"}
    once: dict[str, Any] = {"storage": [storage], "workload": [work], "fleet": [fleet], "repetitions": 1}
    real, emulated = (matrix(**once, emulate=emulate) for emulate in (False, True))

    assert planner(real).work_of(real.cells[0]).time.seconds == pytest.approx(seconds, rel=0.01)
    assert planner(emulated).work_of(emulated.cells[0]).time.seconds <= seconds


RANDOM = {"type": "fio", "direct": 1, "size": "1G", "time_based": 1, "runtime": 60, "ioengine": "libaio"}


@pytest.mark.parametrize(
    ("storage", "instances", "job", "read_gib", "written_gib"),
    [
        # 250,000 requests a second of a Regional file system, each of 32 KiB, and twice the GiB laid out by each.
        (EFS, 20, {"rw": "randread", "bs": "4k", "iodepth": 16}, 250_000 * 60 * 32 / 2**20, 2 * 20),
        (EFS, 20, {"rw": "randread", "bs": "1m"}, 20 * 500 / 2**10 * 60, 2 * 20),  # 500 MiB/s of a client
        (EFS, 20, {"rw": "randwrite", "bs": "1m"}, 0, 5 * 60),  # GiB/s of the region
        # 50,000 writes hold the reads up to 50,000 / 0.3 * 0.7. Files that are written are made in each step.
        (EFS, 20, {"rw": "randrw", "rwmixread": 70, "bs": "32k"}, 350_000 / 3 * 60 / 2**15, 5e4 * 60 / 2**15 + 2 * 20),
        (EFS, 20, {"rw": "randread", "bs": "1m", "rate_iops": 10}, 20 * 10 * 60 / 2**10, 2 * 20),
    ],
)
def test_timed_work_is_billed_at_most_for_what_client_and_region_let_it_do(
    storage, instances, job, read_gib, written_gib
):
    fleet = {"instanceType": "m7i.large", "count": instances}
    checked = matrix(storage=[storage], workload=[RANDOM | job], fleet=[fleet], repetitions=1)

    use = planner(checked).work_of(checked.cells[0]).use

    assert (use.read_bytes.high + use.read_padding.high) / 2**30 == pytest.approx(read_gib)
    assert (use.written_bytes.high + use.written_padding.high) / 2**30 == pytest.approx(written_gib)


@pytest.mark.parametrize(
    ("known", "is_unbounded"), [({}, True), ({"expectedReadGiB": 2, "expectedWriteGiB": 0.5}, False)]
)
def test_a_command_moves_what_its_matrix_says_or_what_aws_allows_until_its_deadline(known, is_unbounded):
    command = {"type": "command", "name": "own", "command": "true", "expectedSeconds": 100}
    made = plan(matrix(storage=[EFS, EBS], workload=[command | known], repetitions=3))
    [cell] = [cell for cell in made.cells if cell.storage["type"] == "efs"]

    # One client: 500 MiB/s each way, by requests of 4 KiB that count as 32: 128,000 reads, 50,000 writes a second.
    read, written = (500 / 2**10 + requests * 28 / 2**20 for requests in (128_000, 50_000))
    expected, high = (3 * (2 * 0.03 + 0.5 * 0.06), 6 * (2 * 0.03 + 0.5 * 0.06))
    if is_unbounded:
        expected, high = 3 * 1e9 / 2**30 * 0.09, cell.deadline_s * (read * 0.03 + written * 0.06)
    assert sum(use["cost_usd"]["expected"] for use in cell.by_use) == pytest.approx(expected, rel=0.001)
    assert sum(use["cost_usd"]["high"] for use in cell.by_use) == pytest.approx(high, rel=0.001)
    told = [warning["message"] for warning in made.warnings if warning["path"] == "workload[0]"]
    assert [f"{high:,.2f} USD" in message for message in told] == [True] * is_unbounded


MANY_THREADS = {"threads": 64, "tool": "engine", "dataSize": "1TiB"}


@pytest.mark.parametrize(
    ("storage", "instance_type", "work", "bytes_per_s"),
    [
        # 100 Gbit/s of the network card, or 16 connections; one thread, or one connection, has 5 Gbit/s.
        ({"type": "fsx-lustre", "deploymentType": "PERSISTENT_2", "storageCapacityGiB": 24_000,
          "throughputMBpsPerTiB": 1000}, "p5.48xlarge", {}, 12.5e9),
        (LARGE_FSX | {"throughputCapacityMBps": 10_240, "nconnect": 16, "deploymentType": "SINGLE_AZ_2"},
         "p5.48xlarge", {}, 10e9),
        (LARGE_FSX, "p5.48xlarge", {}, 625e6),
        (LARGE_FSX | {"nconnect": 16}, "p5.48xlarge", {"threads": 1}, 625e6),
        # 500 MiB/s of a client of EFS; through efs-utils more than the 1 GiB/s that a region writes.
        ({"type": "efs", "throughputMode": "elastic"}, "p5.48xlarge", {}, 500 * 2**20),
        ({"type": "efs", "throughputMode": "elastic", "tls": True}, "p5.48xlarge", {}, 2**30),
        # EBS: 10 Gbit/s, less than the 4,000 MiB/s of the stripe.
        (LARGE_EBS | {"iops": 16_000, "throughputMiBps": 1_000, "raid0": 4}, "m6i.8xlarge", {}, 1.25e9),
        ({"type": "s3"}, "p5.48xlarge", {"type": "read"}, 64 * 90e6),
        (LARGE_EBS | {"iops": 16_000, "throughputMiBps": 1_000, "raid0": 4}, "m99i.8xlarge", {}, 625e6),
    ],
)  # fmt: skip
def test_an_instance_is_planned_as_fast_as_its_type_its_connections_and_its_threads(
    storage, instance_type, work, bytes_per_s
):
    fleet = {"instanceType": instance_type, "count": 1}
    reads: dict[str, Any] = {"type": "read", "requests": 2**17, "requestSize": "8MiB", "threads": 64}
    workload = reads if work.get("type") == "read" else AT_ONCE | MANY_THREADS | work
    checked = matrix(storage=[storage], workload=[workload], fleet=[fleet], repetitions=1)

    work = planner(checked).work_of(checked.cells[0])
    moved = work.use.read_bytes.expected + work.use.written_bytes.expected
    assert moved / work.time.seconds == pytest.approx(bytes_per_s, rel=0.02)


def test_a_run_ends_after_all_deadlines_creation_and_what_is_around_them():
    checked = matrix(storage=[FSX], fleet=[FLEET | {"count": [1, 2]}])
    made = plan(checked)
    storage = checked.matrix.storage[0]

    cells_s = sum(cell.deadline_s for cell in made.cells)
    assert made.deadline_s == pytest.approx(
        storage.traits.create_and_delete_most_s + 900 + cells_s + RUN_OVERHEAD_S, abs=1
    )
    around_s = storage.traits.create_and_delete_s
    assert made.file_systems[0].expected_s == pytest.approx(around_s + sum(cell.expected_s for cell in made.cells))


def test_file_systems_at_once_take_as_long_as_the_longest_and_one_after_another_all_of_them():
    def expected_s(at_once):
        return plan(matrix(storage=[EBS, EFS], maxConcurrentFileSystems=at_once))

    alone, together = expected_s(1), expected_s(2)
    each = [file_system.expected_s for file_system in alone.file_systems]
    assert alone.expected_s == pytest.approx(sum(each) + RUN_OVERHEAD_S / 30)
    assert together.expected_s == pytest.approx(max(each) + RUN_OVERHEAD_S / 30)


def test_a_file_server_has_no_part_in_how_its_clients_weigh_their_bandwidth():
    fleet = FLEET | {"instanceType": "m8g.large", "bandwidthWeighting": "ebs-1"}

    def weightings(storage):
        checked = matrix(storage=[storage], workload=[READ], fleet=[fleet])
        return [volumes.weighting for volumes in planner(checked).attached_volumes()]

    assert weightings(EBS) == ["ebs-1"]
    assert weightings(FILE_SERVER) == [None]


def test_hours_of_a_deadline_are_rounded_up_to_a_second_and_seconds_to_a_tenth():
    made = plan(matrix(deadlineHours=1.23456))

    assert made.deadline_s == 4445  # 4,444.416
    made.file_systems[0] = replace(made.file_systems[0], expected_s=123.456)
    assert made.to_document()["file_systems"][0]["expected_s"] == 123.5


def test_only_a_plan_of_emulated_storages_says_that_they_are():
    assert plan(matrix(emulate=True)).to_document()["emulated"] is True
    assert "emulated" not in plan(matrix()).to_document()


@pytest.mark.parametrize(
    ("workload", "made_bytes"),
    [
        ({"type": "read", "requests": 128, "requestSize": "64KiB", "dataSize": "1GiB", "threads": [1, 2]}, 2**30),
        ({"type": "objects", "operation": "get", "requests": 100, "objects": 64, "objectSize": "1MiB"}, 64 * 2**20),
        ({"type": "command", "name": "c", "command": "true", "objectSize": "1MiB", "objects": 8}, 8 * 2**20),
    ],
)
def test_data_that_stay_for_all_repetitions_are_planned_once(workload, made_bytes):
    storage = {"type": "s3", **({"client": "command"} if workload["type"] == "command" else {})}

    def written(repetitions):
        checked = matrix(storage=[storage], workload=[workload], fleet=[FLEET], repetitions=repetitions)
        [cell] = checked.cells
        return planner(checked).work_of(cell).use.written_bytes.expected / cell.fleet.count

    assert written(3) == written(1) == pytest.approx(made_bytes)


@pytest.mark.parametrize("kind", ["efs", "s3-files"])
@pytest.mark.parametrize("pattern", ["randread", "randwrite"])
def test_requests_below_32_kib_cost_as_much_as_requests_of_32_kib(kind, pattern):
    """EFS guide, metered sizes: data operations are metered in steps of 1 KiB after the first 32 KiB."""

    def moved_gib(block):
        work = {"type": "fio", "rw": pattern, "bs": block, "size": "64m", "number_ios": 2_000, "direct": 1}
        # All blocks read files of the same size, so what lays them out is the same.
        document = matrix(storage=[{"type": kind}], workload=[work], fleet=[{"instanceType": "m6i.large", "count": 4}])
        [cell] = plan(document).cells
        return {use["unit"]: use["amount"] for use in cell.by_use if use["unit"].startswith("GiB")}

    # An export of more bytes has more parts, each with its metadata.
    assert moved_gib("4k") == pytest.approx(moved_gib("32k"), rel=1e-3)
    assert moved_gib("64k") != pytest.approx(moved_gib("32k"), rel=1e-3)
