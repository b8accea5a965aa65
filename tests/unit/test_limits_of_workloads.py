"""The rules of each workload, and the points that its sweeps make."""

import pytest
from matrices import BUILD, DD, EBS, FIO, FSX, TOUCH, matrix, problems_of


@pytest.mark.parametrize(
    ("workload", "field"),
    [
        (TOUCH | {"files": 0}, "files"),
        (TOUCH | {"files": 1000, "threads": 3}, "files"),
        (TOUCH | {"threads": [4, 4]}, "threads"),
        (TOUCH | {"threads": 1025}, "threads"),
        (TOUCH | {"directories": "each"}, "directories"),
        (TOUCH | {"tool": "rm"}, "tool"),
        (TOUCH | {"name": "a/b"}, "name"),
        (DD | {"totalSize": "64MiB", "threads": 3}, "totalSize"),  # 64 / 3
        (DD | {"totalSize": "1MB"}, "totalSize"),  # 10^6 is no multiple of 2^20
        (DD | {"blockSize": "2GiB", "totalSize": "2GiB"}, "blockSize"),
        (DD | {"totalSize": "64 mib"}, "totalSize"),
        (DD | {"totalSize": "-1MiB"}, "totalSize"),
        (DD | {"totalSize": 1.5}, "totalSize"),
        (DD | {"totalSize": True}, "totalSize"),
        (DD | {"sync": "never"}, "sync"),
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


def test_touch_makes_a_point_of_every_combination():
    workload = matrix(workload=[TOUCH | {"directories": ["shared", "own"]}]).workload[0]

    assert workload.points() == [
        {"files": 1024, "threads": 1, "directories": "shared", "tool": "engine"},
        {"files": 1024, "threads": 1, "directories": "own", "tool": "engine"},
        {"files": 1024, "threads": 4, "directories": "shared", "tool": "engine"},
        {"files": 1024, "threads": 4, "directories": "own", "tool": "engine"},
    ]


def test_the_points_of_dd_are_in_bytes():
    workload = matrix(workload=[DD | {"totalSize": "2GiB", "sync": ["end", "block"], "threads": 4}]).workload[0]

    assert workload.points()[1] == {
        "total_bytes": 2147483648,
        "block_bytes": 1048576,
        "sync": "block",
        "threads": 4,
        "tool": "dd",
        "source": "random",
    }


def test_every_option_of_fio_may_be_a_sweep():
    workload = matrix(workload=[FIO | {"iodepth": [1, 16]}]).workload[0]

    options = [point["options"] for point in workload.points()]
    assert [(one["bs"], one["iodepth"]) for one in options] == [("4k", 1), ("4k", 16), ("8k", 1), ("8k", 16)]
    assert options[0]["runtime"] == 10


def test_a_build_passes_its_commands_on_unchanged():
    command = "make -j$JOBS && echo 'done; really' > $BUILD_DIR/x"
    workload = matrix(workload=[BUILD | {"build": command, "jobs": [1, 2]}]).workload[0]

    assert workload.points() == [
        {"build": command, "prepare": None, "populate": None, "jobs": jobs, "cache_path": "cache"} for jobs in (1, 2)
    ]
