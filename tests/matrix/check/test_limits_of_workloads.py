"""The rules of each workload, and the points that its sweeps make."""

import shutil
import subprocess

import pytest
from support.matrices import (
    BUILD,
    DD,
    EBS,
    EFS,
    EXPORT,
    FIO,
    FSX,
    METADATA,
    OBJECTS,
    READ,
    S3,
    S3_FILES,
    THROUGHPUT,
    TOUCH,
    TRANSFER,
    YOCTO,
    matrix,
    problems_of,
)

from matrix.input import workloads
from matrix.input.workloads import TransferWorkload
from matrix.input.workloads.fio_values import FORMS
from matrix.plan.planning import plan
from matrix.terms.metrics import METRICS, measure_words
from matrix.terms.sentences import warning_text
from storages.models import MODELS


@pytest.mark.parametrize(
    ("workload", "field"),
    [
        (TOUCH | {"files": 0}, "files"),
        (TOUCH | {"files": 1000, "threads": 3}, "files"),
        (TOUCH | {"threads": [4, 4]}, "threads"),
        (TOUCH | {"threads": 1025}, "threads"),
        (TOUCH | {"directories": "each"}, "directories"),
        (TOUCH | {"tool": "rm"}, "tool"),
        (TOUCH | {"sync": "always"}, "sync"),
        (TOUCH | {"tool": ["engine", "parallel"], "sync": "each"}, "sync"),
        (TOUCH | {"name": "a/b"}, "name"),
        (TOUCH | {"ratePerSecondPerInstance": 0}, "ratePerSecondPerInstance"),
        (TOUCH | {"ratePerSecondPerInstance": [100, 100]}, "ratePerSecondPerInstance"),
        (TOUCH | {"tool": "touch", "ratePerSecondPerInstance": 100}, "ratePerSecondPerInstance"),
        (TOUCH | {"sync": "end", "ratePerSecondPerInstance": 100}, "sync"),
        (TOUCH | {"p99AtMostMs": 10}, "p99AtMostMs"),
        (READ | {"p99AtMostMs": 10}, "p99AtMostMs"),
        (METADATA | {"files": 1000, "threads": 3}, "files"),
        (METADATA | {"phases": ["create"]}, "phases[0]"),  # always measured
        (METADATA | {"phases": ["stat", "stat"]}, "phases"),
        (METADATA | {"directories": "shared"}, "directories"),
        (METADATA | {"stonewall": "last"}, "stonewall"),
        (METADATA | {"atMostSeconds": 0}, "atMostSeconds"),
        (METADATA | {"fileBytes": 3901, "sync": ["each", "end"]}, "sync"),
        (DD | {"totalSize": "64MiB", "threads": 3}, "totalSize"),  # 64 / 3
        (DD | {"totalSize": "1MB"}, "totalSize"),  # 10^6 is no multiple of 2^20
        (DD | {"blockSize": "2GiB", "totalSize": "2GiB"}, "blockSize"),
        (DD | {"totalSize": "64 mib"}, "totalSize"),
        (DD | {"totalSize": "-1MiB"}, "totalSize"),
        (DD | {"totalSize": 1.5}, "totalSize"),
        (DD | {"totalSize": True}, "totalSize"),
        (DD | {"sync": "never"}, "sync"),
        (DD | {"tool": ["engine", "dd"], "verify": True}, "verify"),
        (DD | {"verify": "yes", "tool": "engine"}, "verify"),
        (DD | {"tool": "engine", "verify": True, "blockSize": 32}, "blockSize"),
        (FIO | {"runtime": 0}, "runtime"),
        (FIO | {"runtime": 0.5}, "runtime"),
        (FIO | {"runtime": "10s"}, "runtime"),
        (FIO | {"time_based": True}, "time_based"),
        (FIO | {"rw": "randwrit"}, "rw"),
        (FIO | {"numjobs": 0}, "numjobs"),
        (FIO | {"bs": ["4k", "4k"]}, "bs"),
        (FIO | {"bs": []}, "bs"),
        (FIO | {"directory": "x"}, "directory"),
        (FIO | {"size": None}, "size"),
        (BUILD | {"build": "  "}, "build"),
        (BUILD | {"build": "a\0b"}, "build"),
        (BUILD | {"cachePath": "../cache"}, "cachePath"),
        (BUILD | {"cachePath": "/cache"}, "cachePath"),
        (BUILD | {"cachePath": "a;b"}, "cachePath"),
        (BUILD | {"jobs": 0}, "jobs"),
        (TRANSFER | {"tool": "mv"}, "tool"),
        (TRANSFER | {"tool": ["cp", "cp"]}, "tool"),
        (TRANSFER | {"files": 0}, "files"),
        (TRANSFER | {"fileSize": "1 mb"}, "fileSize"),
        (TRANSFER | {"threads": [4, 4]}, "threads"),
        (TRANSFER | {"files": 11_000}, "files"),  # of 1 MB; the root volume takes 10 GiB = 10,737 MB
        (TRANSFER | {"files": [5_000, 6_000]}, "files"),  # both are made once and kept
        (YOCTO | {"image": "-c"}, "image"),
        (YOCTO | {"image": "a b"}, "image"),
        (YOCTO | {"release": "--upload-pack=x"}, "release"),
        (YOCTO | {"container": "--privileged"}, "container"),
        (YOCTO | {"cachePath": "a/../../b"}, "cachePath"),
        (YOCTO | {"buildDiskGiB": 20}, "buildDiskGiB"),
        ({"type": "delete", "files": 10, "directories": 3}, "files"),
        ({"type": "delete", "tool": "rm"}, "tool"),
        (YOCTO | {"expectedSeconds": {}}, "expectedSeconds"),
        (THROUGHPUT | {"tool": "dd", "source": "random"}, "source"),
        (THROUGHPUT | {"tool": "dd", "source": "zero", "size": "10MiB", "blockSize": "3MiB"}, "blockSize"),
        (YOCTO | {"expectedSeconds": {"ebs": 100}}, "expectedSeconds"),
        (YOCTO | {"expectedSeconds": {"0": 100}}, "expectedSeconds"),
        (BUILD | {"expectedSeconds": {"1": 0}}, "expectedSeconds.1"),
        (THROUGHPUT | {"size": 0}, "size"),
        (THROUGHPUT | {"size": ["1GiB", "1024MiB"]}, "size"),
        (THROUGHPUT | {"blockSize": "65MiB"}, "blockSize"),
        (THROUGHPUT | {"blockSize": "2MiB", "size": "1MiB"}, "blockSize"),
        (THROUGHPUT | {"source": "tape"}, "source"),
    ],
)
def test_a_bad_workload_is_a_problem_of_its_field(workload, field):
    assert list(problems_of(workload=[workload])) == [f"workload[0].{field}"]


def test_a_time_based_fio_needs_its_runtime_and_any_fio_a_size_and_a_pattern():
    assert set(problems_of(workload=[{"type": "fio", "time_based": 1}])) == {
        "workload[0].runtime",
        "workload[0].size",
        "workload[0].rw",
    }


def test_what_does_not_fit_on_the_storage_is_a_problem():
    # 16 jobs of 1 GiB on a volume of 10 GiB; on a shared file system each of 1,000 instances has its own 100 MiB.
    fio = FIO | {"numjobs": 16}
    dd = DD | {"totalSize": "100MiB"}
    fsx = {"type": "fsx-openzfs", "storageCapacityGiB": 64, "throughputCapacityMBps": 64}
    fleet = [{"instanceType": "m6i.large", "count": 1000}]

    assert list(problems_of(storage=[EBS | {"sizeGiB": 10}], workload=[fio])) == ["workload[0].size"]
    assert list(problems_of(storage=[fsx], workload=[dd], fleet=fleet)) == ["workload[0].totalSize"]
    assert problems_of(storage=[FSX], workload=[dd], fleet=fleet) == {}


def test_one_file_system_is_populated_by_one_workload_only():
    one, other = (BUILD | {"build": f"make {what}", "populate": f"fetch {what}"} for what in ("a", "b"))

    assert list(problems_of(storage=[{"type": "efs"}], workload=[one, other])) == ["workload"]
    assert problems_of(storage=[EBS], workload=[one, other]) == {}  # each instance populates its own volume
    # What is included is read apart from the axes, and is the same workload on the same file system for all that.
    added = {"storage": EFS, "workload": one, "fleet": {"instanceType": "m6i.large", "count": 7}}
    assert problems_of(storage=[EFS], workload=[one], include=[added]) == {}
    [refused] = problems_of(storage=[EFS], workload=[one], include=[added | {"workload": other}]).values()
    assert "two workloads populate" in refused.rule


def test_touch_makes_a_point_of_every_combination():
    workload = matrix(workload=[TOUCH | {"directories": ["shared", "own"]}]).matrix.workload[0]

    assert workload.points() == [
        {"files": 1024, "threads": 1, "directories": "shared", "tool": "engine", "sync": "none"},
        {"files": 1024, "threads": 1, "directories": "own", "tool": "engine", "sync": "none"},
        {"files": 1024, "threads": 4, "directories": "shared", "tool": "engine", "sync": "none"},
        {"files": 1024, "threads": 4, "directories": "own", "tool": "engine", "sync": "none"},
    ]


def test_metadata_makes_a_point_of_each_phase_of_every_combination_in_mdtests_order():
    workload = matrix(workload=[METADATA | {"phases": ["rename", "stat"]}]).matrix.workload[0]

    points = workload.points()

    assert [(point["threads"], point["phase"]) for point in points] == [
        (threads, phase) for threads in (1, 4) for phase in ("create", "stat", "rename", "delete")
    ]
    assert (workload.number_of_points, workload.points_in_a_row) == (8, 4)


def test_a_phase_takes_the_time_of_a_create_or_of_a_look_and_a_listing_less():
    efs = matrix(storage=[EFS]).matrix.storage[0]
    workload = matrix(workload=[METADATA | {"threads": 4, "directories": ["own", "fleet"]}]).matrix.workload[0]

    seconds = {
        (point["directories"], point["phase"]): workload.footprint(point, efs, 10).seconds
        for point in workload.points()
    }

    # 1,024 files by 4 workers: 12 ms for a create, 1 ms for a read of a block; 50,000 writes/s for all ten.
    assert seconds["own", "create"] == seconds["own", "rename"] == seconds["own", "delete"] == 1024 / 4 * 0.012
    assert seconds["own", "stat"] == seconds["own", "open-read"] == max(1024 / 4 * 0.001, 1024 * 10 / 50_000)
    # One worker lists the files of ten instances, 128 in a reply: faster than the engine's 100,000/s.
    assert seconds["fleet", "list"] == 10_240 / 100_000


def test_changes_in_memory_are_warned_about_beside_stored_ones_for_metadata_too():
    both = {"storage": [EBS, EFS]}

    def warned(**changes):
        return [warning.path for warning in matrix(**both, workload=[METADATA | changes]).warnings]

    assert "workload[0].sync" in warned()
    assert "workload[0].sync" not in warned(sync="each")


def test_reading_back_takes_the_time_and_the_bytes_of_a_read():
    efs = matrix(storage=[EFS]).matrix.storage[0]
    plain, verified = (
        matrix(workload=[DD | {"tool": "engine", "verify": verify}]).matrix.workload[0] for verify in (False, True)
    )

    once, twice = (workload.footprint(workload.points()[0], efs, 1) for workload in (plain, verified))

    assert (once.read_bytes, twice.read_bytes) == (0, 64 * 2**20)
    assert twice.seconds == 2 * once.seconds


def test_the_points_of_dd_are_in_bytes():
    workload = matrix(workload=[DD | {"totalSize": "2GiB", "sync": ["end", "block"], "threads": 4}]).matrix.workload[0]

    assert workload.points()[1] == {
        "total_bytes": 2147483648,
        "block_bytes": 1048576,
        "sync": "block",
        "threads": 4,
        "tool": "dd",
        "source": "random",
    }


@pytest.mark.parametrize(
    ("option", "value", "path"),
    [
        ("bs", {"a": 1}, "bs"),
        ("bs", None, "bs"),
        ("bs", [], "bs"),
        ("bs", "4k;x", "bs"),
        ("bs", ["4k", ["8k"]], "bs[1]"),
        ("bs", "banana", "bs"),
        ("bs", "4kk", "bs"),
        ("bs", ["4k", "-4k"], "bs"),
        ("bs", 0, "bs"),
        ("bs", ",", "bs"),
        ("bs", "3.5k", "bs"),
        ("bsrange", "4k", "bsrange"),
        ("size", "10Q", "size"),
        ("size", "-1G", "size"),
        ("size", "101%", "size"),
        ("filesize", "4k,8k", "filesize"),
        ("bssplit", "4k:banana", "bssplit"),
        ("rate", "banana", "rate"),
        ("rate_iops", ["100", "-1"], "rate_iops"),
        ("offset", "-3", "offset"),
        ("thinktime", "abc", "thinktime"),
        ("direct", 2, "direct"),
        ("iodepth_batch", -1, "iodepth_batch"),
        ("random_distribution", "zipff:1.2", "random_distribution"),
        ("steadystate", "iops", "steadystate"),
        ("fallocate", "maybe", "fallocate"),
        ("numjobs", {}, "numjobs"),
        ("numjobs", "4", "numjobs"),
        ("ramp_time", "soon", "ramp_time"),
        ("ramp_time", -1, "ramp_time"),
        ("rwmixread", 101, "rwmixread"),
        ("rwmixread", [50, 1000], "rwmixread"),
        ("rw", "randtrim", "rw"),  # fio trims no file: "trim not supported"
        ("verify", "crc32c", "verify"),
        ("gtod_reduce", 1, "gtod_reduce"),
        ("clat_percentiles", [0, 1], "clat_percentiles"),
        ("unified_rw_reporting", 1, "unified_rw_reporting"),
    ],
)
def test_a_bad_option_of_fio_has_one_problem_that_names_it(option, value, path):
    assert list(problems_of(workload=[FIO | {option: value}])) == [f"workload[0].{path}"]


@pytest.mark.parametrize(
    ("option", "value"),
    [("bs", 4096), ("bs", "4KiB"), ("bs", "4k,8k"), ("bs", ",8k"), ("bsrange", "4k-64k"), ("size", "80%"),
     ("io_size", "2g"), ("filesize", "4k-64k"), ("rate", "10m,5m"), ("rate_iops", 500), ("thinktime", "10ms"),
     ("offset", "10%"), ("direct", [0, 1]), ("sync", "dsync"), ("fsync", 0)],
)  # fmt: skip
def test_values_that_fio_reads_as_they_are_meant_are_taken(option, value):
    assert problems_of(workload=[FIO | {option: value}]) == {}


def test_each_form_of_a_value_is_one_that_fio_takes(tmp_path):
    """All examples as jobs of one file, which fio reads and does not run."""
    assert [name for name, form in FORMS.items() if not form.is_of(form.example)] == []
    fio = shutil.which("fio")
    if fio is None:
        pytest.skip("fio is not installed")
    (tmp_path / "jobs.fio").write_text(
        "\n".join(f"[{name}]\nrw=randwrite\nsize=1m\n{name}={form.example}" for name, form in FORMS.items())
    )

    read = subprocess.run([fio, "--parse-only", "jobs.fio"], cwd=tmp_path, capture_output=True, text=True)

    assert (read.returncode, read.stderr) == (0, "")


def test_every_option_of_fio_may_be_a_sweep():
    workload = matrix(workload=[FIO | {"iodepth": [1, 16]}]).matrix.workload[0]

    options = [point["options"] for point in workload.points()]
    assert [(one["bs"], one["iodepth"]) for one in options] == [("4k", 1), ("4k", 16), ("8k", 1), ("8k", 16)]
    assert options[0]["runtime"] == 10


def test_a_build_passes_its_commands_on_unchanged():
    command = "make -j$JOBS && echo 'done; really' > $BUILD_DIR/x"
    workload = matrix(workload=[BUILD | {"build": command, "jobs": [1, 2]}]).matrix.workload[0]

    assert workload.points() == [
        {"build": command, "prepare": None, "populate": None, "jobs": jobs, "cache_path": "cache"} for jobs in (1, 2)
    ]


def test_tools_that_copy_one_file_at_a_time_have_one_point_for_all_threads():
    workload = matrix(workload=[TRANSFER | {"files": 10, "fileSize": "2kB", "threads": [4, 8]}]).matrix.workload[0]

    shape = {"files": 10, "file_bytes": 2000}
    assert workload.points() == [
        {"tool": "cp", **shape, "threads": 1},
        {"tool": "cp+parallel", **shape, "threads": 4},
        {"tool": "cp+parallel", **shape, "threads": 8},
    ]


def test_threads_of_a_transfer_that_are_not_given_are_left_to_the_instance():
    workload = matrix(workload=[TRANSFER]).matrix.workload[0]

    points = {one["tool"]: (one["threads"], one["files"], one["file_bytes"]) for one in workload.points()}
    assert points == {"cp": (1, 5000, 1_000_000), "cp+parallel": (None, 5000, 1_000_000)}


@pytest.mark.parametrize(
    ("tool", "threads", "published_s"),
    [("rsync", 1, 435), ("cp", 1, 329), ("fpsync", 32, 210), ("cp+parallel", 32, 73), ("fpart+cpio+parallel", 32, 42)],
)
def test_the_estimate_of_a_transfer_is_of_the_size_of_what_was_published(tool, threads, published_s):
    storage = matrix(
        storage=[EFS | {"throughputMode": "provisioned", "provisionedThroughputMiBps": 256}]
    ).matrix.storage[0]
    [params] = TransferWorkload.model_validate({"type": "transfer", "tool": tool, "threads": threads}).points()

    footprint = matrix(workload=[TRANSFER]).matrix.workload[0].footprint(params, storage, 1)

    # Tools of the tutorial on its instance; a tool's own slowness (fpsync) is not in what the storage lets through.
    assert published_s / 6 < footprint.seconds < 2 * published_s
    assert footprint.written_bytes == footprint.stored_bytes == 5e9


def test_a_fleet_shares_the_bandwidth_that_its_transfers_take():
    storage = matrix(storage=[EFS | {"throughputMode": "bursting"}]).matrix.storage[0]  # 100 MiB/s
    workload = matrix(workload=[TRANSFER | {"tool": "fpart+cpio+parallel", "threads": 256}]).matrix.workload[0]
    [params] = workload.points()

    assert workload.footprint(params, storage, 10).seconds == pytest.approx(10 * 5e9 / (100 * 2**20))


def transfer_warnings(storage, count=1):
    fleet = [{"instanceType": "m6i.large", "count": count}]
    found = plan(matrix(storage=storage, workload=[TRANSFER], fleet=fleet)).warnings
    return [one["message"] for one in found if one["path"] == "workload[0].type"]


def test_a_transfer_to_what_is_faster_than_the_root_volume_is_warned_about():
    fast = EBS | {"iops": 4_000, "throughputMiBps": 1_000, "name": "fast"}

    [message] = transfer_warnings([fast, EBS | {"name": "as-fast"}])  # gp3 has 125 MiB/s, as the volume of the files

    # 5 Gbit/s, which is what the estimates take an instance to have, are 596 MiB/s.
    assert "read from their volume at 125 MiB/s, but of each instance fast takes up to 596:" in message
    assert "as-fast" not in message
    assert "results near 131 MB/s" in message


def test_a_fleet_that_shares_a_file_system_may_be_slower_than_its_root_volumes():
    shared = [{"type": "efs", "throughputMode": "provisioned", "provisionedThroughputMiBps": 1_024}]

    assert "takes up to 256" in transfer_warnings(shared, count=4)[0]
    assert transfer_warnings(shared, count=10) == []


def test_a_container_of_the_images_dockerfile_needs_one():
    built = YOCTO | {"container": "storage-matrix/build"}

    assert problems_of(workload=[built])["image.dockerfile"].rule.startswith("is missing")
    assert "image.dockerfile" not in problems_of(workload=[built], image={"dockerfile": "FROM ubuntu:22.04"})


def test_a_yocto_build_needs_room_where_it_is_built():
    small = {"type": "ebs", "volumeType": "gp3", "sizeGiB": 80}

    # 80 GB of build and 15 GB of sources on a volume; on a shared file system the sources only, however many read them.
    assert "do not fit" in problems_of(storage=[small], workload=[YOCTO])["workload[0].image"].rule
    assert problems_of(storage=[FSX], workload=[YOCTO], fleet=[{"instanceType": "m6i.4xlarge", "count": 200}]) == {}


def test_the_points_of_read_say_how_much_data_there_is():
    sweep = READ | {"access": ["sequential", "random"], "threads": [1, 4]}
    points = matrix(workload=[sweep]).matrix.workload[0].points()

    assert [(one["access"], one["threads"]) for one in points] == [
        ("sequential", 1), ("sequential", 4), ("random", 1), ("random", 4)
    ]  # fmt: skip
    assert {one["data_bytes"] for one in points} == {1024 * 8192}
    assert points[0] == {
        **{"access": "sequential", "records": 1024, "record_bytes": 8192, "page_bytes": 65536},
        **{"records_per_request": 1, "threads": 1, "caching": "direct", "data_bytes": 8388608},
    }
    larger = matrix(workload=[READ | {"dataSize": "1GiB"}]).matrix.workload[0]
    assert larger.points()[0]["data_bytes"] == 2**30


@pytest.mark.parametrize(
    ("changes", "path"),
    [
        ({"recordBytes": 32, "pageBytes": 4096}, "recordBytes"),
        ({"pageBytes": "128MiB", "records": 2**20}, "pageBytes"),
        ({"pageBytes": 12288}, "pageBytes"),
        ({"recordBytes": 1000, "pageBytes": 10000, "records": 1000}, "pageBytes"),
        ({"records": 1023}, "records"),
        ({"access": "random", "recordsPerRequest": 100, "threads": 3}, "records"),
        ({"recordsPerRequest": 8}, "recordsPerRequest"),
        ({"access": "random", "pagesPerRequest": 8}, "pagesPerRequest"),
        ({"pagesPerRequest": 3}, "records"),  # 3 requests of 3 * 8 records do not make 1,024
        ({"offsets": "bytes", "caching": "cached", "pageBytes": 8192}, "offsets"),  # sequential
        ({"access": "random", "offsets": "bytes", "pageBytes": 8192}, "offsets"),  # direct
        ({"access": "random", "offsets": "bytes", "caching": "cached"}, "pageBytes"),
        (
            {
                "access": "random",
                "offsets": "bytes",
                "caching": "cached",
                "pageBytes": 8192,
                "threads": 8,
                "dataSize": "32KiB",
            },
            "dataSize",
        ),
        ({"dataSize": "4MiB"}, "dataSize"),
        ({"dataSize": 8388608 + 8192}, "dataSize"),
        ({"access": ["random", "random"]}, "access"),
    ],
)
def test_reads_that_cannot_be_done_are_refused_with_a_way_out(changes, path):
    found = problems_of(workload=[READ | changes])

    assert f"workload[0].{path}" in found, found
    assert found[f"workload[0].{path}"].fix


def test_what_a_problem_of_read_says_to_write_is_good():
    page = problems_of(workload=[READ | {"recordBytes": 1000, "pageBytes": 10000, "records": 1000}])
    records = problems_of(workload=[READ | {"access": "random", "recordsPerRequest": 100, "threads": 3}])

    assert page["workload[0].pageBytes"].fix == 'write "12KiB", or caching "cached"'
    assert records["workload[0].records"].fix == "write 900"
    good = {"access": "random", "recordsPerRequest": 100, "threads": 3, "records": 900, "dataSize": "64MiB"}
    assert problems_of(workload=[READ | good]) == {}


def test_data_to_read_must_fit_on_the_storage():
    read = READ | {"dataSize": "20GiB"}

    assert list(problems_of(storage=[EBS | {"sizeGiB": 10}], workload=[read])) == ["workload[0].dataSize"]


def test_reads_are_expected_to_take_what_bandwidth_or_iops_allow():
    storage = matrix(storage=[EBS]).matrix.storage[0]  # 125 MiB/s, 3,000 IOPS
    workload = matrix(workload=[READ | {"records": 2**17, "access": ["sequential", "random"]}]).matrix.workload[0]

    sequential, random = (workload.footprint(point, storage, 1) for point in workload.points())

    gib = 2**30  # 2^17 records of 8 KiB; the data is one file for both points
    writing_s = gib / 2 / (125 * 2**20)
    assert sequential.seconds == pytest.approx(8.192 + writing_s)
    # Each random record brings its page of 64 KiB: 2^17 reads, at 2,000 a second for 125 MiB/s.
    assert random.seconds == pytest.approx(2**17 / 2_000 + writing_s)
    assert (sequential.read_bytes, random.read_bytes) == (gib, 8 * gib)
    assert sequential.stored_bytes == random.stored_bytes == gib


def test_an_objective_may_be_a_rate_of_reads():
    objective = {"metric": "records_per_s", "atLeast": 1000}

    assert problems_of(workload=[READ], objective=objective) == {}
    assert list(problems_of(workload=[FIO], objective=objective)) == ["objective.metric"]


def test_an_objective_that_no_workload_of_the_matrix_can_reach_is_refused_before_it_is_paid_for():
    objective = {"metric": "burst_mb_per_s", "atLeast": 100}

    assert problems_of(workload=[{"type": "instance-throughput"}], objective=objective) == {}
    assert list(problems_of(workload=[FIO], objective=objective)) == ["objective.metric"]


def test_a_highest_rate_is_an_objective_only_of_rates_that_have_a_limit():
    objective = {"metric": "highest_rate_per_s", "atLeast": 100}
    rates = {"ratePerSecondPerInstance": [100, 200]}

    assert problems_of(workload=[TOUCH | rates | {"p99AtMostMs": 5}], objective=objective) == {}
    assert list(problems_of(workload=[TOUCH | rates], objective=objective)) == ["objective.metric"]
    assert list(problems_of(workload=[FIO], objective=objective)) == ["objective.metric"]


def test_rates_are_points_that_take_the_time_in_which_their_operations_are_due():
    touch, read = (
        matrix(workload=[workload | {"ratePerSecondPerInstance": [50, 100]}]).matrix.workload[0]
        for workload in (TOUCH | {"files": 1000}, READ | {"access": "random", "records": 1024, "recordsPerRequest": 4})
    )
    storage = matrix(storage=[EFS]).matrix.storage[0]

    assert touch.number_of_points == len(touch.points())
    assert {point["rate_per_s_per_instance"] for point in touch.points()} == {50, 100}
    slow = next(point for point in touch.points() if point["rate_per_s_per_instance"] == 50)
    assert touch.footprint(slow, storage, 1).seconds == pytest.approx(1000 / 50)
    slow = read.points()[0]
    assert read.footprint(slow, storage, 1).seconds == pytest.approx(1024 / 4 / 50, rel=0.1)


@pytest.mark.parametrize(("files", "is_warned"), [(368, False), (364, True)])
def test_an_open_loop_of_too_few_operations_for_a_p99_is_warned_of(files, is_warned):
    workload = TOUCH | {"files": files, "threads": 4, "ratePerSecondPerInstance": 100}

    warned = [problem.rule for problem in matrix(workload=[workload]).warnings if "carry no P99" in problem.rule]

    assert [rule.partition(" ")[0] for rule in warned] == (["364"] if is_warned else [])


def test_every_metric_is_one_that_some_workload_yields_and_the_other_way_round():
    models = workloads.MODELS.values()
    # fio's latency without its submission comes with files and tables of others only: ours have the whole one.
    of_others = {name for name in METRICS if "_completion_lat_" in name}

    assert len(of_others) == 6
    assert {"duration_s"}.union(*(model.yields for model in models)) == set(METRICS) - of_others
    assert all(model.primary_metric in {"duration_s", *model.yields} for model in models)


def test_an_instance_whose_pace_is_unknown_gets_the_time_of_the_slowest_published():
    workload = matrix(workload=[{"type": "instance-throughput"}]).matrix.workload[0]
    [params] = workload.points()

    assert params == {"total_bytes": 20 * 2**30, "block_bytes": 2**20, "source": "random", "tool": "engine"}
    # t2.micro: 20 GiB in 720 s, on a file system that gives more than that.
    assert workload.footprint(params, matrix(storage=[EFS]).matrix.storage[0], 1).seconds == pytest.approx(
        720, rel=0.01
    )


@pytest.mark.parametrize(
    ("options", "warned"),
    [
        ({"rw": "randwrite", "iodepth": 16},
         ["psync keeps one operation in flight, so iodepth is ignored", "writes end in the instance's page cache"]),
        ({"rw": "randwrite", "direct": 1, "iodepth": [1, 16]}, ["psync keeps one operation in flight"]),
        ({"rw": "randread", "ioengine": "libaio", "iodepth": 16}, ["libaio submits", "what was read once"]),
        ({"rw": "randrw"}, ["writes end", "what was read once"]),
        ({"rw": "randread", "ioengine": "libaio", "iodepth": 16, "direct": 1}, []),
        ({"rw": "write", "fdatasync": 1}, []),
        ({"rw": "write", "end_fsync": 1}, []),
        ({"rw": "write", "sync": "dsync"}, []),
        ({"rw": "read", "time_based": 0, "runtime": 60}, []),
    ],
)  # fmt: skip
def test_a_fio_job_that_measures_memory_instead_of_the_storage_is_warned_about(options, warned):
    job = {"type": "fio", "bs": "4k", "size": "100G", "time_based": 1, "runtime": 10} | options

    messages = [
        warning["message"]
        for warning in plan(matrix(workload=[TOUCH, job])).warnings
        if warning["path"].startswith("workload[1]") and "refill" not in warning["path"]
    ]

    assert len(messages) == len(warned)
    assert all(message.startswith(start) for message, start in zip(messages, warned, strict=True))


@pytest.mark.parametrize(
    ("storages", "sync", "is_warned"),
    [([EBS, EFS], "none", True), ([EBS, EFS], ["none", "each"], True), ([EBS, EFS], "each", False),
     ([EFS, FSX], "none", False), ([EBS], "none", False)],
)  # fmt: skip
def test_creates_in_memory_beside_creates_that_are_stored_are_warned_about(storages, sync, is_warned):
    warnings = plan(matrix(storage=storages, workload=[TOUCH | {"sync": sync}])).warnings

    assert is_warned == any(
        warning["path"] == "workload[0].sync" and "is in the instance's memory" in warning["message"]
        for warning in warnings
    )


def test_a_create_that_is_stored_takes_a_volume_longer_and_a_file_system_no_longer():
    workload = matrix(workload=[TOUCH | {"threads": 1, "sync": ["none", "each"]}]).matrix.workload[0]
    ebs, efs = (matrix(storage=[storage]).matrix.storage[0] for storage in (EBS, EFS))

    seconds = {
        storage.type: [workload.footprint(params, storage, 1).seconds for params in workload.points()]
        for storage in (ebs, efs)
    }

    # Of gp3 a create takes 0.1 ms and a sync 1 ms: 1,024 of both are 1.126 s.
    assert seconds["ebs"] == [pytest.approx(0.1024), pytest.approx(1.1264)]
    assert seconds["efs"][0] == seconds["efs"][1]


def short_fio_warnings(**options):
    """What a plan says of a fio workload that a volume of 125 MiB/s is done with quickly."""
    fio = {"type": "fio", "rw": "write", "bs": "1m"} | options
    return [one for one in plan(matrix(workload=[TOUCH, fio])).warnings if "fio's rates mean nothing" in one["message"]]


def test_a_fio_job_that_is_done_in_less_than_a_second_is_warned_about_before_anything_is_created():
    (said,) = short_fio_warnings(size=["1G", "64M"])

    assert said["path"] == "workload[1].size"
    assert said["message"].startswith("may take only 0.5 s on ebs-gp3-200gib-3000iops; below 1 s")
    assert "time_based" in said["message"]


@pytest.mark.parametrize(
    "options",
    [{"size": "1G"}, {"size": "64M", "time_based": 1, "runtime": 10}, {"size": "64M", "loops": 100},
     {"size": "64M", "numjobs": 4}, {"size": "64M", "io_size": "1G"}],
)  # fmt: skip
def test_a_fio_job_that_takes_longer_is_not(options):
    assert short_fio_warnings(**options) == []


DEVICE = FIO | {"device": True}


@pytest.mark.parametrize(
    ("storage", "rule"),
    [
        (EFS, "cannot be done on efs-elastic, which is no empty disk"),
        ({"type": "instance-store"}, "cannot be done on instance-store, which is no empty disk"),
        (EBS | {"snapshotId": "snap-0123456789abcdef0"}, "holds data already"),
    ],
)
def test_a_device_is_written_only_where_it_is_an_empty_disk(storage, rule):
    fleet = [{"instanceType": "m6id.large", "count": 1}]

    refused = problems_of(storage=[storage], workload=[DEVICE], fleet=fleet)

    assert list(refused) == ["workload[0].device"]
    assert rule in refused["workload[0].device"].rule


def test_a_device_has_no_files_to_be_laid_out():
    refused = problems_of(storage=[EBS], workload=[DEVICE | {"nrfiles": 2, "fallocate": "none"}])

    assert set(refused) == {"workload[0].nrfiles", "workload[0].fallocate"}


def test_a_point_on_a_device_is_another_one_than_on_files():
    files, device = (workloads.MODELS["fio"].model_validate(each) for each in (FIO, DEVICE))

    assert device.points() == [{"device": True, **point} for point in files.points()]
    assert (files.slug, device.slug) == ("fio", "fio-device")
    assert "device" not in files.document


def test_jobs_share_a_device_unless_each_has_a_part_of_its_own_and_only_what_is_read_is_written_before():
    storage = MODELS["ebs"].model_validate(EBS)
    options = {"type": "fio", "device": True, "bs": "1M", "size": "1G", "numjobs": 4, "direct": 1}

    def footprint(**changes):
        workload = workloads.MODELS["fio"].model_validate(options | changes)
        return workload.footprint(workload.points()[0], storage, 1)

    assert footprint(rw="randwrite").stored_bytes == 2**30
    assert footprint(rw="randwrite", offset_increment="2G", offset="1G").stored_bytes == 8 * 2**30
    assert footprint(rw="randread").written_bytes == 2**30
    assert footprint(rw="randwrite").written_bytes == 4 * 2**30


# ---------------------------------------------------------------- objects


def problems_of_objects(**changes):
    return problems_of(storage=[S3], workload=[OBJECTS | changes])


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"operation": "copy"}, "operation"),
        ({"mix": {"get": 1, "put": 1}}, "mix"),
        ({"operation": "mix", "mix": {"get": 1}}, "mix"),
        ({"operation": "mix", "mix": {"get": 1, "copy": 1}}, "mix"),
        ({"operation": "put", "keysPerDelete": 10}, "keysPerDelete"),
        ({"operation": "mix", "mix": {"get": 1, "put": 1}, "keysPerDelete": 10}, "keysPerDelete"),
        ({"keysPerDelete": 1001}, "keysPerDelete"),
        ({"keysPerList": 0}, "keysPerList"),
        ({"requests": 3}, "requests"),
        ({"objects": 4, "prefixes": [1, 5]}, "objects"),
        ({"objectSize": "65MiB"}, "objectSize"),
        ({"objectSize": "1GiB", "partSize": "65MiB"}, "partSize"),
        ({"objectSize": "1GiB", "partSize": "4MiB"}, "partSize"),
        ({"objectSize": "8MiB", "partSize": "8MiB"}, "partSize"),
        ({"objectSize": "100GiB", "partSize": "8MiB"}, "partSize"),
        ({"p99AtMostMs": 10}, "p99AtMostMs"),
        ({"threads": [4, 4]}, "threads"),
    ],
)
def test_what_s3_or_the_engine_cannot_do_is_refused_by_its_field(changes, field):
    assert problems_of_objects() == {}

    assert list(problems_of_objects(**changes)) == [f"workload[0].{field}"]


@pytest.mark.parametrize("client", ["crt", "command"])
def test_objects_need_a_client_whose_requests_can_be_counted(client):
    [problem] = problems_of(storage=[S3 | {"client": client}], workload=[OBJECTS]).values()

    assert 'S3 has client "boto3"' in problem.fix


@pytest.mark.parametrize("storage", [EBS, EFS])
def test_a_file_system_takes_no_requests_for_objects(storage):
    [problem] = problems_of(storage=[storage], workload=[OBJECTS]).values()

    assert "it keeps files" in problem.rule


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
    return workload.footprint(point, storage, 1)


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


# ---------------------------------------------------------------- export


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"files": 10, "threads": 3}, "files"),
        ({"files": 2002, "threads": 2}, "files"),
        ({"atMostSeconds": 0}, "atMostSeconds"),
    ],
)
def test_files_whose_export_cannot_be_seen_are_refused(changes, field):
    assert problems_of(storage=[S3_FILES], workload=[EXPORT]) == {}

    assert list(problems_of(storage=[S3_FILES], workload=[EXPORT | changes])) == [f"workload[0].{field}"]


@pytest.mark.parametrize(
    ("storage", "words"),
    [
        (EFS, "its files become no objects"),
        (S3_FILES | {"fileSystemId": "fs-0123456789abcdef0"}, "its bucket is yours"),  # pragma: allowlist secret
        (S3, "only for workload read or objects"),
    ],
)
def test_an_export_needs_a_file_system_of_the_run_that_becomes_objects(storage, words):
    [problem] = problems_of(storage=[storage], workload=[EXPORT]).values()

    assert words in problem.rule


def test_an_export_takes_a_minute_and_costs_a_put_for_each_file_and_its_listings():
    checked = matrix(storage=[S3_FILES], workload=[EXPORT | {"files": 8000, "threads": 8}]).matrix
    [workload], [storage] = checked.workload, checked.storage
    [point] = workload.points()

    footprint = workload.footprint(point, storage, 2)

    waiting_s = 60 + 2 * 8000 / 800
    assert footprint.write_requests == 8000 + 8 * waiting_s
    assert footprint.seconds > waiting_s


def test_a_time_that_is_not_that_of_a_step_is_called_what_it_is():
    assert measure_words("duration_s", "s") == "duration"
    assert measure_words("visible_p90_s", "s") == "time until visible P90"
    assert measure_words("tps", "tx/s") == "tps in tx/s"


def untested(count, repetitions, storages=(EBS, EFS), **changes):
    """The warnings that no difference between storages can be tested, as `matrix plan` writes them."""
    fleet = [{"instanceType": "m6i.large", "count": count}]
    changes = {"storage": list(storages), "fleet": fleet, "repetitions": repetitions, **changes}
    found = plan(matrix(workload=[TOUCH], **changes)).warnings
    return [warning_text(each) for each in found if "can be tested" in each["message"]]


@pytest.mark.parametrize(
    ("count", "repetitions", "launches", "words", "fields"),
    [
        (
            [1],
            3,
            1,
            "fleet: no difference between storages can be tested with at most 1 instance, so",
            'set "count": 3, or "launches": 3',
        ),
        (
            [1, 2],
            2,
            1,
            "with at most 2 instances and 2 repetitions, so",
            'set "count": 3 and "repetitions": 3, or "launches": 3',
        ),
        ([1, 10], 2, 1, "with at most 2 repetitions, so", 'set "repetitions": 3, or "launches": 3'),
        (
            [10],
            5,
            2,
            "launches: no difference between storages can be tested with at most 2 launches, so",
            'set "launches": 3',
        ),
    ],
)
def test_a_matrix_whose_storages_no_test_can_tell_apart_is_warned_of(count, repetitions, launches, words, fields):
    [line] = untested(count, repetitions, launches=launches)

    assert words in line
    assert line.endswith(f" so results say n.s. or not replicated; {fields}")


@pytest.mark.parametrize(
    ("count", "repetitions", "changes"),
    [([1, 3], 3, {}), ([1], 1, {"launches": 3}), ([1], 1, {"storages": (EFS,)})],
)
def test_a_matrix_with_a_testable_comparison_or_with_nothing_to_compare_is_not(count, repetitions, changes):
    assert untested(count, repetitions, **changes) == []


def test_only_fleets_that_two_storages_have_can_be_compared():
    alone = {"storage": {"type": "efs"}, "fleet": {"count": 10}}

    assert len(untested([1, 10], 3, exclude=[alone])) == 1


COMMAND = {"type": "command", "name": "unpack", "command": "tar xf a.tar", "expectedSeconds": 60}


def overloaded(storage, count, workload=COMMAND):
    """The warnings that a fleet's assumed traffic is beyond a storage's limit."""
    fleet = [{"instanceType": "m6i.large", "count": count}]
    found = plan(matrix(storage=[storage], workload=[workload], fleet=fleet)).warnings
    return [warning_text(each) for each in found if "the storage's limit will be measured" in each["message"]]


def test_a_command_whose_fleet_writes_more_than_a_shared_storage_takes_is_warned_of_once():
    small = FSX | {"throughputCapacityMBps": 128}

    [line] = overloaded(small, [12, 13, 50])

    # 13 × 10 MB/s is more than 128, 12 × 10 is not.
    assert line.startswith("storage[0]: fsx-")
    assert " is limited to 128 MB/s (FSx throughput capacity), but 13 instances of unpack write 130 MB/s at" in line
    assert line.endswith('not your command; raise throughputCapacityMBps, or set "count": 12 at most')
    assert overloaded(small, [12]) == []


@pytest.mark.parametrize(
    "storage",
    [
        EBS,  # a volume for each instance
        EFS,  # elastic: AWS names no limit that binds everywhere
        S3_FILES,
        {"type": "mountpoint"},
        {"type": "nfs", "source": "files.example.com:/export"},
        {"type": "efs", "throughputMode": "bursting", "fileSystemId": "fs-0123456789abcdef0"},
        FSX | {"throughputCapacityMBps": 4_096, "storageCapacityGiB": 4_096},
    ],
)
def test_a_storage_of_its_own_or_without_a_known_limit_is_not(storage):
    assert overloaded(storage, [400]) == []


def test_a_workload_whose_bytes_the_matrix_has_is_not():
    assert overloaded(FSX | {"throughputCapacityMBps": 128}, [50], DD) == []
