"""Reads that a page cache answered: samples of which it is known how many bytes programs and mounts read."""

from typing import Any

import pytest

from matrix.answer.page_cache import read_bytes
from matrix.samples.file import SampleFile, by_point
from matrix.storages.models import metrics_of

MIB = 2**20


def instance(*samples: dict[str, Any], number: int = 0, kind: str = "nfs") -> SampleFile:
    """What one instance has uploaded of points p01 …, a second each."""
    every = [
        {"point": "p01", "repetition": 1, "step": step, "metrics": {"mb_per_s": 1.0}, "started_at": step,
         "ended_at": step + 1, **each}
        for step, each in enumerate(samples)
    ]  # fmt: skip
    return SampleFile.model_validate(
        {"run": "r", "cell": "c", "instance": {"id": f"i-{number}", "type": "m6i.large"}, "mount": {"kind": kind},
         "samples": every}
    )  # fmt: skip


def read(asked_mib: float, mounted_mib: float, counter: str = "nfs_read_bytes", **more: Any) -> dict[str, Any]:
    """A sample whose program asked for so much, of which its mount read so much."""
    return {"work": {"read_bytes": asked_mib * MIB}, "counters": {counter: mounted_mib * MIB}} | more


def of_point(*files: SampleFile, params: dict[str, Any] | None = None) -> tuple[float, float] | None:
    """MiB that programs asked for at p01, and that their mounts read."""
    found = read_bytes(params or {}, by_point(files).get("p01", []))
    return (found["asked"] / MIB, found["mounted"] / MIB) if found else None


def test_a_page_cache_that_answered_nine_of_ten_reads_is_seen():
    assert of_point(instance(read(100, 10))) == (100, 10)


def test_small_records_in_large_pages_are_sixteen_times_what_was_asked_for():
    assert of_point(instance(read(4, 64, "disk_read_bytes"), kind="ebs")) == (4, 64)


def test_bytes_are_of_all_samples_with_both_counts_and_of_no_other_points():
    samples = [
        read(10, 1), read(10, 4), read(10, 990, point="p02"), read(10, 500, counters={}), read(10, 500, work={}),
    ]  # fmt: skip

    assert of_point(*(instance(*samples, number=number) for number in (0, 1))) == (40, 10)


@pytest.mark.parametrize(
    ("kind", "params", "mib"),
    [
        # A folder of this machine shares its disk with every other program.
        ("directory", {}, 100),
        # fio's ramp is in the kernel's counters and not in its own.
        ("nfs", {"options": {"ramp_time": 10}}, 100),
        # A few access times are not reads.
        ("nfs", {}, 0.5),
    ],
)
def test_what_is_not_comparable_is_not_compared(kind, params, mib):
    assert of_point(instance(read(mib, 300), kind=kind), params=params) is None


def test_reads_of_s3_files_are_a_fifth_of_a_write_as_it_allows_five_times_as_many():
    used = {f"nfs_{way}_operations_per_s": rate for way, rate in (("read", 40.0), ("other", 10.0), ("write", 7.0))}

    assert metrics_of("s3-files").operations_of({}, used) == 7 + 50 / 5
    assert metrics_of("s3-files").operations_of({}, {}) is None
