"""The contract of all workloads: a matrix is planned, an agent does the job in a folder, and its samples are a result.

What is special of a workload is in its own file; `yocto` needs more than a folder and is there as well.
"""

from __future__ import annotations

import shutil

import pytest
from support.agent_cloud import BUCKET, REGION
from support.matrices import EFS, S3, TPS

from contract import histogram
from matrix.input.workloads import MODELS

KIB, MIB = 1 << 10, 1 << 20
IN_S3 = {"kind": "s3", "bucket": BUCKET, "prefix": "0123abcd/{userid}", "region": REGION, "client": "boto3"}
FIO = {"size": "4M", "ioengine": "psync", "time_based": 1, "runtime": 1, "bs": "4k", "numjobs": 2}
READ = {"type": "read", "requestSize": "64KiB", "requests": 32, "threads": 4, "caching": ["direct", "cached"]}
OBJECTS = {"type": "objects", "requests": 12, "objects": 5, "objectSize": "4KiB", "threads": 2, "prefixes": 3}

# Workload; what each sample has done; amounts that a rate reaches in the sample's duration; a latency and its count.
CASES = {
    "touch": (
        {"type": "touch", "files": 32, "threads": 4, "directories": ["own", "shared"], "tool": ["touch", "parallel"]},
        {"files": 32}, {"files_per_s": 32}, {},
    ),
    "touch, engine": (
        {"type": "touch", "files": 102, "threads": 3, "directories": ["own", "shared"]},
        {"files": 102}, {"files_per_s": 102}, {"create_lat": 102},
    ),
    "dd": (
        {"type": "dd", "dataSize": "8MiB", "threads": 2, "tool": ["dd", "parallel"], "sync": ["end", "block"],
         "source": ["zero", "random"]},
        {"bytes": 8 * MIB}, {"mb_per_s": 8.388608, "mib_per_s": 8}, {},
    ),
    "dd, engine": (
        {"type": "dd", "dataSize": "8MiB", "threads": 2, "tool": "engine", "sync": "block", "verify": True},
        {"bytes": 8 * MIB}, {"mb_per_s": 8.388608}, {"write_lat": 8},
    ),
    "fio": ({"type": "fio", "rw": ["randwrite", "randrw"], **FIO}, {}, {}, {}),
    "read": (
        READ,
        {"read_bytes": 2 * MIB, "requests": 32}, {"requests_per_s": 32, "mb_per_s": 2 * MIB / 1e6, "mib_per_s": 2},
        {"read_lat": 32},
    ),
    "read, random": (
        {**READ, "access": "random", "requestSize": 4096, "requests": 512},
        {"read_bytes": 2 * MIB, "requests": 512}, {"requests_per_s": 512}, {"read_lat": 512},
    ),
    "build": ({"type": "build", "build": "echo $JOBS", "jobs": 3}, {"builds": 1}, {}, {}),
    "command": (
        {"type": "command", "name": "c", "command": "echo tps = 7", "metrics": {"tps": TPS}}, {"runs": 1}, {}, {},
    ),
    "transfer": (
        {"type": "transfer", "tool": ["rsync", "cp", "cp+parallel", "fpart+cpio+parallel"], "files": 40,
         "fileSize": 3_000, "threads": 4},
        {"bytes": 120_000}, {"mb_per_s": 0.12, "files_per_s": 40}, {},
    ),
    "metadata": (
        {"type": "metadata", "files": 24, "threads": 3, "fileSize": 10, "directories": ["own", "fleet"]},
        {"files": 24}, {"files_per_s": 24}, {},
    ),
    "delete": (
        {"type": "delete", "files": 60, "fileSize": 10, "directories": 3, "tool": "parallel"},
        {"files": 60}, {"files_per_s": 60}, {},
    ),
    "delete, engine": (
        {"type": "delete", "files": 60, "fileSize": 10, "directories": 3},
        {"files": 60}, {"files_per_s": 60}, {"delete_lat": 60},
    ),
    "objects": (OBJECTS, {"requests": 12}, {"requests_per_s": 12}, {}),
}  # fmt: skip
# The metric of a tool's ceiling in memory; the others have none.
CEILINGS = {
    "touch": "files_per_s", "metadata": "files_per_s", "delete, engine": "files_per_s", "dd": "mb_per_s",
    "read": "mb_per_s", "transfer": "mb_per_s", "fio": "iops",
}  # fmt: skip
# Programs of each case that a machine may lack.
PROGRAMS = {
    "touch": ["parallel"], "dd": ["parallel"], "fio": ["fio"], "delete": ["parallel"],
    "transfer": ["rsync", "parallel", "fpart", "cpio"],
}  # fmt: skip


def test_each_workload_has_a_case():
    assert {case.partition(",")[0] for case in CASES} == set(MODELS) - {"yocto"}


@pytest.mark.parametrize("case", CASES)
def test_what_is_planned_is_measured_and_is_a_result(instance, measured, storage, case):
    if missing := [program for program in PROGRAMS.get(case, []) if not shutil.which(program)]:
        pytest.skip(f"{missing} not installed")
    workload, work, amounts, latencies = CASES[case]
    is_s3 = case == "objects"

    samples, result = measured(workload, *([S3, IN_S3] if is_s3 else [EFS]))

    assert {point["id"] for point in result["points"]} == {sample["point"] for sample in samples}
    for sample in samples:
        metrics = sample["metrics"]
        assert sample["started_at"] <= sample["work_started_at"] <= sample["work_ended_at"] <= sample["ended_at"]
        worked_s = sample["work_ended_at"] - sample["work_started_at"]
        assert worked_s == pytest.approx(metrics["duration_s"], abs=0.001)
        assert work.items() <= sample["work"].items()
        assert {name: metrics[name] * metrics["duration_s"] for name in amounts} == pytest.approx(amounts)
        assert sample["caches"].startswith("not dropped")
        assert sample["tool"]["version"] or case in ("build", "command")
        kept = instance.histograms(sample)
        assert latencies.items() <= {name: each["samples"] for name, each in kept.items()}.items()
        for name, each in kept.items():
            bins = {int(value): count for value, count in each["bins"].items()}
            assert sum(bins.values()) == each["samples"]
            told = {percent: metrics.get(f"{name}_p{percent}_us") for percent in (50, 90, 99)}
            assert told[50]
            # The middle of a bin may be above the largest value in it.
            largest = metrics[f"{name}_max_us"]
            assert all(
                us in (None, min(histogram.percentile(bins, percent) / 1000, largest)) for percent, us in told.items()
            )
    ceilings = {each["metric"] for each in instance.document("samples.json")["calibration"] if each.get("value")}
    assert CEILINGS.get(case, CEILINGS.get(case.partition(",")[0])) in (ceilings or {None})
    assert {path.name for path in storage.iterdir()} <= {"cache"}
