"""A disk that is full ends the runs of the cloud, named, and leaves what was kept."""

from contextlib import suppress

import pytest
from support.disks import fill, small_disk
from support.running_cloud import wait_until

from local.keeping.disk_space import DISK_FULL, LOOKS, POLL_EVERY_S, DiskSpace
from local.keeping.runs import KeptExecution, KeptRuns, execution_of
from local.programs import memory

MIB = 1 << 20
SEEN_WITHIN_S = 20


@pytest.fixture
def disk(tmp_path):
    """A disk of 4 MiB of this test alone."""
    with small_disk(tmp_path / "disk", "4m", nr_inodes=100) as folder:
        yield folder


def execution(status: str, **end) -> KeptExecution:
    return KeptExecution("r", status, 1.0, None, **({"error": "", "cause": "", "arn": "arn"} | end))


def test_a_disk_without_names_for_files_is_full_too(disk):
    with suppress(OSError):
        for n in range(200):
            (disk / str(n)).touch()

    assert "no more files can be made" in DiskSpace([disk], pytest.fail).shortage()


def test_runs_are_stopped_once_a_disk_stays_full_also_where_stopping_failed_at_first(disk):
    reasons = []

    def stop(reason):
        reasons.append(reason)
        if len(reasons) == 1:
            raise OSError(28, "No space left on device")

    room = DiskSpace([disk], stop)
    room.start()
    fill(disk / "ballast")
    wait_until(lambda: len(reasons) > 1, "a second stop", SEEN_WITHIN_S)
    room.close()

    assert str(disk) in reasons[0]


def test_a_moment_without_room_stops_nothing(disk, monkeypatch):
    looks = iter([True] * (LOOKS - 1) + [False] + [True] * (LOOKS - 1) + [False] * 100)
    seen = []
    monkeypatch.setattr(
        "local.keeping.disk_space._shortage", lambda _: seen.append(1) or ("full" if next(looks) else "")
    )
    monkeypatch.setattr("local.keeping.disk_space.POLL_EVERY_S", POLL_EVERY_S / 100)
    reasons = []

    room = DiskSpace([disk], reasons.append)
    room.start()
    wait_until(lambda: len(seen) > 2 * LOOKS, "all looks", SEEN_WITHIN_S)
    room.close()

    assert reasons == []


def test_the_end_of_a_run_is_kept_on_a_full_disk(disk):
    runs = KeptRuns(disk)
    runs.keep_execution(execution("RUNNING"))
    fill(disk / "ballast")

    runs.keep_execution(execution("ABORTED", error=DISK_FULL, cause="the disk is full; " * 9))

    ended = execution_of(disk / "r")
    assert (ended.status, ended.error) == ("ABORTED", DISK_FULL)
    assert sorted(path.name for path in (disk / "r").iterdir()) == ["execution.json"]


def test_an_object_that_did_not_fit_leaves_the_one_before_and_no_part_of_itself(disk):
    runs = KeptRuns(disk)
    runs.keep_object("runs/r/summary.json", lambda: b"{}")
    fill(disk / "ballast")

    with pytest.raises(OSError, match="No space"):
        runs.keep_object("runs/r/summary.json", lambda: b"x" * MIB)

    assert [path.read_bytes() for path in (disk / "r").iterdir()] == [b"{}"]


@pytest.mark.parametrize(
    ("membership", "limits"),
    [
        ("0::/box/inner\n", {"box/memory.max": "1073741824", "box/inner/memory.max": "max"}),
        ("4:memory:/box\n0::/\n", {"memory/box/memory.limit_in_bytes": "1073741824"}),
        ("0::/on-the-host-only\n", {"memory.max": "1073741824"}),
    ],
)
def test_the_limit_of_a_container_counts_as_the_memory_that_there_is(tmp_path, monkeypatch, membership, limits):
    monkeypatch.setattr(memory, "GROUPS", tmp_path)
    for name, limit in limits.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(f"{limit}\n")

    assert list(memory._limits(membership)) == [1 << 30]
    assert memory.available_mib() > 0
