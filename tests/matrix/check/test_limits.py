"""Each limit and rule of a matrix, broken alone, and what lies just within them."""

import json

import pytest
from support.matrices import (
    BUILD,
    COMMAND,
    DD,
    EBS,
    EFS,
    FILE_SERVER,
    FIO,
    FLEET,
    FSX,
    INSTANCE_STORE,
    METADATA,
    OBJECTS,
    READ,
    S3,
    TOUCH,
    TRANSFER,
    YOCTO,
    matrix,
    problems_of,
)
from support.refused_matrices import (
    ANY_BYTE,
    BY_COMMAND,
    EXISTING,
    LOCALLY,
    LOGGED,
    LOOKS,
    LUSTRE,
    LUSTRE_TIERED,
    MOUNTPOINT,
    NEW_FILES,
    NFS,
    ONTAP_MULTI,
    ONTAP_TWO,
    PERSISTENT,
    READER,
    REFUSED,
    VOLUME,
    WARNED,
    changed,
)


def short(value):
    return json.dumps(value, default=str)[:100]


@pytest.mark.parametrize(("changes", "path", "code"), REFUSED, ids=short)
def test_a_broken_rule_is_the_only_problem_with_its_path_and_code(changes, path, code):
    assert {found: problem.code for found, problem in problems_of(**changes).items()} == {path: code}


@pytest.mark.parametrize(("changes", "path", "code"), WARNED, ids=short)
def test_a_doubt_is_a_warning_with_its_path_and_code(changes, path, code):
    assert [(one.path, one.code) for one in matrix(**changes).warnings].count((path, code)) == 1


def test_a_problem_shows_the_value_as_it_was_written():
    values = {
        path: problem.value
        for path, problem in problems_of(
            storage=[EBS | {"sizeGiB": 10, "iops": 20000}],
            workload=[DD | {"dataSize": "1MB"}, {"type": "touch"}],
        ).items()
    }

    assert values == {"storage[0].iops": 20000, "workload[0].dataSize": "1MB", "workload[1].files": None}


@pytest.mark.parametrize(
    "changes",
    [
        # What AWS offers.
        *[
            changed(storage=storage, workload={"type": "touch", "files": 1})
            for storage in (
                EBS | {"sizeGiB": 1, "iops": 3000},
                EBS | {"sizeGiB": 40, "iops": 20000},
                EBS | {"sizeGiB": 160, "iops": 80000, "throughputMiBps": 2000},
                EBS | {"throughputMiBps": 750},
                {"type": "ebs", "volumeType": "sc1", "sizeGiB": 125},
                EFS | {"performanceMode": "maxIO", "throughputMode": "provisioned", "provisionedThroughputMiBps": 1024},
                EFS | {"deployment": "oneZone", "throughputMode": "bursting"},
                FSX | {"storageCapacityGiB": 282},
                FSX
                | {
                    "deploymentType": "MULTI_AZ_1",
                    "storageCapacityGiB": 64,
                    "throughputCapacityMBps": 160,
                    "iops": None,
                },
                PERSISTENT,
                LUSTRE_TIERED | {"readCacheGiB": 0, "metadataIops": 12_000},
                *(LUSTRE | {"storageCapacityGiB": n} for n in (2400, 9600)),
                ONTAP_MULTI | {"throughputMBpsPerHaPair": 384},
                ONTAP_TWO | {"iops": 102_400},
                ONTAP_TWO | {"storageCapacityGiB": 8_000, "throughputMBpsPerHaPair": 6_144, "iops": 400_000},
                *(NFS | {"source": source} for source in ("10.0.3.7:/", "s.fs-0.amazonaws.com:/v", "files:/a/b_c/d.e")),
            )
        ],
        # Variables that somebody sets, and what bash does not expand.
        *[
            changed(workload=COMMAND | {"command": command})
            for command in (
                'cd "$WORK_DIR" && make -j $JOBS && echo ${CACHE_DIR%/*} $HOME $AWS_REGION',
                'n=3; for i in $(seq $n); do read -r a b < x; echo "$i $a ${b}"; done',
                "awk '{print $NF, $name}' x; perl -e 'print $y'",
                "cat > x <<'EOF'\n$LATER\nEOF",
                "echo ${X:-1} ${Y-2} \\$Z; : ${W:=1}; echo $W",
                ". ./env.sh; echo $SET_THERE",
                "export A=1 B; echo $A $B; printf -v C x; echo $C; declare -a D; echo ${#D[@]}",
            )
        ],
        # What fio reads as it is meant.
        *[
            changed(workload=FIO | {option: value})
            for option, value in {
                "bs": 4096,
                "bsrange": "4k-64k",
                "io_size": "2g",
                "filesize": "4k-64k",
                "rate": "10m,5m",
                "rate_iops": 500,
                "thinktime": "10ms",
                "direct": [0, 1],
                "sync": "dsync",
                "fsync": 0,
            }.items()
        ],
        changed(workload=FIO | {"device": True, "size": "80%", "offset": "10%"}),
        *[changed(workload=FIO | {"bs": size}) for size in ("4KiB", "4k,8k", ",8k")],
        # What Mountpoint can do.
        *[
            changed(storage=MOUNTPOINT, workload=workload)
            for workload in (
                NEW_FILES | {"runtime": 30, "direct": 1, "fsync_on_close": 1, "end_fsync": 1, "loops": 1, "numjobs": 4},
                NEW_FILES | {"ioengine": "libaio", "iodepth": 1},
                FIO | {"rw": ["read", "randread"], "ioengine": "libaio", "iodepth": 16, "loops": 3, "offset": "1m"},
                *(DD, READ, LOOKS | {"sync": "each"}, TOUCH | {"sync": ["none", "each"]}, COMMAND, {"type": "delete"}),
            )
        ],
        changed(storage=[EFS, {"type": "s3-files"}], workload=NEW_FILES | {"rw": "randwrite", "fdatasync": 1}),
        changed(storage=MOUNTPOINT | {"storageClass": "EXPRESS_ONEZONE"}, workload=[METADATA, NEW_FILES]),
        # Storages that are not files systems.
        changed(storage=S3, workload=[READ, OBJECTS]),
        changed(storage=BY_COMMAND, workload=[COMMAND, READER | {"name": "reader"}]),
        changed(storage=[S3, EBS], workload=[READ, TOUCH], exclude=[{"storage": S3, "workload": {"type": "touch"}}]),
        changed(storage={"type": "s3-express"}, workload=[READ, OBJECTS]),
        changed(storage={"type": "s3", "client": "crt"}, workload=READ, image={"os": "al2023"}),
        # 1,000 answers of 64 KiB are 62.5 MiB; 20 * 200 readers.
        changed(
            storage=FILE_SERVER, workload=READ | {"requestSize": 8192, "requests": 12_800, "threads": 20}, count=200
        ),
        changed(storage=FILE_SERVER, workload=READ | {"requests": 10_000, "batch": 1_000}),
        # What a problem says to write.
        changed(storage=FILE_SERVER, workload=READ | {"batch": 16, "threads": 3, "requests": 96}),
        changed(workload=READ | ANY_BYTE),
        # Fleets and their storages.
        changed(storage=EFS | {"deployment": "oneZone"}, count=4, placement="same-az"),
        changed(storage=EFS, count=4, placement="spread"),
        changed(storage=EFS, workload=READ | {"data": ["own", "neighbour"]}, count=2),
        changed(storage=FSX | {"fileSystems": 2}, count=4, placement=[2, 2]),
        changed(storage=INSTANCE_STORE, workload=DD | {"dataSize": "440GiB"}, instanceType="i4i.32xlarge"),
        changed(storage=[EBS, INSTANCE_STORE], exclude=[{"storage": INSTANCE_STORE}]),
        # The sources are stored once on a shared file system, however many read them.
        changed(storage=FSX, workload=YOCTO, instanceType="m6i.4xlarge", count=200),
        changed(
            storage=EFS,
            workload=YOCTO | {"container": "storage-matrix/build"},
            image={"dockerfile": "FROM ubuntu:22.04"},
        ),
        # Each instance fills its own volume; what is included is the same workload on the same file system.
        changed(workload=[BUILD | {"build": f"make {x}", "populate": f"fetch {x}"} for x in "ab"]),
        changed(
            storage=EFS,
            workload=BUILD | {"populate": "x"},
            include=[{"storage": EFS, "workload": BUILD | {"populate": "x"}, "fleet": FLEET | {"count": 7}}],
        ),
        # What exists.
        changed(storage=[EXISTING, EXISTING | {"tls": True}], maxConcurrentFileSystems=1),
        changed(storage=VOLUME, workload=LOCALLY),
        changed(storage=VOLUME, workload=BUILD | {"buildDirectory": "local"}),
        changed(workload=[FIO, TOUCH], exclude=[{"workload": {"rw": "randwrite", "bs": ["4k", "8k"]}}]),
        changed(storage=VOLUME | {"mayWrite": True}),
        # Objectives, names, emulation, tags.
        changed(workload=READ, objective={"metric": "requests_per_s", "atLeast": 1000}),
        changed(
            workload=TOUCH | {"ratePerSecondPerInstance": [100, 200], "p99AtMostMs": 5},
            objective={"metric": "highest_rate_per_s", "atLeast": 100},
        ),
        changed(storage=BY_COMMAND, workload=READER, objective={"metric": "mb_per_s", "atLeast": 5}),
        changed(storage=[EBS | {"name": "a"}, EBS | {"name": "b"}]),
        changed(emulate=True, workload=[DD | {"tool": "engine"}, TOUCH, METADATA]),
        {
            "tags": {
                "Kostenstelle: Köln": "Größe 3",
                "empty": "",
                "日本": "_.:/=+-@",
                "name": "ours is Name",
                "k" * 128: "v" * 256,
            }
        },
        {"tags": {f"k{i}": "v" for i in range(43)}},
    ],
    ids=short,
)
def test_what_is_within_all_limits_has_no_problem(changes):
    assert problems_of(**changes) == {}


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        (
            changed(storage=FSX | {"compression": "ZSTD"}, workload=FIO | {"refill_buffers": 1}),
            "data-is-incompressible",
        ),
        *[
            (changed(storage=storages, workload=TOUCH | {"sync": sync}), "creates-are-alike")
            for storages, sync in (([EBS, EFS], "each"), ([EFS, FSX], "none"), ([EBS], "none"))
        ],
        (changed(storage=[EBS, EFS], workload=METADATA | {"sync": "each"}), "creates-are-alike"),
        # SINGLE_AZ_1 of 4,096 MB/s caches 358.4 GB: 668 GiB are twice of that.
        (
            changed(storage=FSX, workload=READ | {"access": "random", "dataSize": "64GiB"}, count=11),
            "data-exceeds-the-servers-cache",
        ),
        (changed(storage=FSX, workload=FIO | {"rw": "randwrite"}), "data-exceeds-the-servers-cache"),
        # Read once, or other bytes in each repetition.
        *[
            (changed(storage=FSX, workload=work | big, repetitions=times), "data-exceeds-the-servers-cache")
            for work, big, times in (
                (READ, {"dataSize": "700GiB", "access": "random"}, 3),
                (READ, {"dataSize": "700GiB", "access": "sequential"}, 1),
                (FIO, {"size": "700G", "io_size": "8G", "rw": "randread", "direct": 1, "randrepeat": 0}, 3),
                ({"type": "fio", "rw": "read", "bs": "1m", "direct": 1}, {"size": "700G"}, 3),
            )
        ],
        *[
            (changed(workload=FIO | {"size": "100G"} | options), "fio-measures-the-storage")
            for options in (
                {"rw": "randread", "ioengine": "libaio", "iodepth": 16, "direct": 1},
                {"rw": "write", "fdatasync": 1},
                {"rw": "write", "end_fsync": 1},
                {"rw": "write", "sync": "dsync"},
                {"rw": "read", "time_based": 0},
            )
        ],
        *[
            (changed(workload={"type": "fio", "rw": "write", "bs": "1m"} | options), "fio-takes-a-second")
            for options in (
                {"size": "1G"},
                {"size": "64M", "time_based": 1, "runtime": 10},
                {"size": "64M", "loops": 100},
                {"size": "64M", "numjobs": 4},
                {"size": "64M", "io_size": "1G"},
            )
        ],
        *[
            (changes, "percentiles-have-operations")
            for changes in (
                changed(workload=TOUCH | {"files": 368, "ratePerSecondPerInstance": 100}),
                changed(workload=TOUCH | {"files": 3_688}, objective={"metric": "create_lat_p999_us", "atMost": 9}),
                changed(workload=TOUCH | {"files": 368}, objective={"metric": "files_per_s", "atLeast": 9}),
                changed(workload=LOGGED | {"runtime": 60}, objective={"metric": "sync_lat_p999_us", "atMost": 10_000}),
            )
        ],
        (changed(storage=[EBS, EFS], count=[1, 3]), "a-difference-can-be-tested"),
        (changed(storage=[EBS, EFS], repetitions=1, launches=3), "a-difference-can-be-tested"),
        (changed(storage=EFS), "a-difference-can-be-tested"),
        (changed(storage=EBS, workload=TRANSFER), "source-is-as-fast-as-the-storage"),
        # 1,024 MiB/s of ten instances are 102 each.
        (
            changed(
                storage=EFS | {"throughputMode": "provisioned", "provisionedThroughputMiBps": 1_024},
                workload=TRANSFER,
                count=10,
            ),
            "source-is-as-fast-as-the-storage",
        ),
        *[
            (changed(storage=storage, workload=COMMAND), "charged-bytes-are-known")
            for storage in (EBS, EFS | {"throughputMode": "bursting"})
        ],
        (
            changed(storage=FSX | {"throughputCapacityMBps": 128}, workload=COMMAND, count=12),
            "storage-is-not-overloaded",
        ),
        (
            changed(storage=FSX | {"throughputCapacityMBps": 128}, workload=DD, count=50),
            "storage-is-not-overloaded",
        ),
        *[
            (changed(storage=storage, workload=COMMAND, count=400), "storage-is-not-overloaded")
            for storage in (
                EBS,
                EFS,
                {"type": "s3-files"},
                MOUNTPOINT,
                NFS,
                EXISTING | {"throughputMode": "bursting"},
                FSX | {"storageCapacityGiB": 4_096},
            )
        ],
        *[(changed(storage=ONTAP_TWO | {"iops": iops}), "iops-are-offered") for iops in (12_288, 100_000)],
    ],
    ids=short,
)
def test_what_is_within_a_bound_is_not_warned_of(changes, code):
    assert code not in [one.code for one in matrix(**changes).warnings]


def test_only_fleets_that_two_storages_have_can_be_compared():
    alone = {"storage": {"type": "efs"}, "fleet": {"count": 10}}
    read = matrix(storage=[EBS, EFS], fleet=[FLEET | {"count": [1, 10]}], exclude=[alone])

    assert "a-difference-can-be-tested" in [one.code for one in read.warnings]


def test_a_time_based_fio_needs_its_runtime_and_any_fio_on_files_a_size():
    found = problems_of(workload=[{"type": "fio", "time_based": 1}])

    assert set(found) == {"workload[0].runtime", "workload[0].size"}


def test_an_overload_is_reported_for_the_smallest_fleet_that_has_one():
    small = FSX | {"throughputCapacityMBps": 128}
    [warning] = [
        one
        for one in matrix(storage=[small], workload=[COMMAND], fleet=[FLEET | {"count": [12, 13, 50]}]).warnings
        if one.code == "storage-is-not-overloaded"
    ]

    assert "13 instances" in warning.rule
    assert '"count": 12' in warning.fix
