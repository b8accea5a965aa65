"""FSx for Lustre on an instance: its mount, its stripes, its locks, and what its client counts."""

from __future__ import annotations

import logging
from pathlib import Path

import pytest

from agent import mounts
from agent.errors import MountFailed
from agent.machine import counters

LOG = logging.getLogger("test")
MOUNT = {"kind": "lustre", "source": "fs-1.fsx@tcp:/abcd1234", "options": "noatime,flock"}
PROGRAMS = ("modprobe", "mount", "umount", "lfs", "lctl")
OSC = """snapshot_time             1732540000.123456789 secs.nsecs
req_waittime              29 samples [usecs] 112 9030 40210 91230012
read_bytes                3 samples [bytes] 4096 1048576 2101248 1099528404992
write_bytes               2 samples [bytes] 1048576 1048576 2097152 2199023255552
ost_write                 2 samples [usecs] 900 1300 2200 2500000
"""
LLITE = """snapshot_time             1732540000.123456789 secs.nsecs
read_bytes                900 samples [bytes] 1 4096 3686400
open                      12 samples [usecs] 90 410 2020 400100
close                     12 samples [usecs] 60 210 1020 100100
mkdir                     2 samples [usecs] 300 310 610 186100
rename                    1 samples [usecs] 210 210 210 44100
unlink                    5 samples [usecs] 100 140 600 72000
"""


@pytest.fixture
def recorded(fake_tool, bin_folder, tmp_path, monkeypatch):
    """The client's programs write down how they are called; lfs says that files have four stripes of 1 MiB."""
    record = tmp_path / "calls"
    for name in PROGRAMS:
        answer = 'case "$*" in *getstripe*-c*) echo 4;; *getstripe*-S*) echo 1048576;; esac' if name == "lfs" else ""
        fake_tool(name, f'echo "{name} $*" >> {record}\n{answer}\nexit 0')
    monkeypatch.setenv("PATH", str(bin_folder))
    monkeypatch.setattr(mounts, "MOUNT_POINT", tmp_path / "mnt")
    return record


def test_lustre_is_loaded_and_mounted_and_unmounted(recorded, tmp_path):
    with mounts.attached(MOUNT, LOG) as mounted:
        assert mounted.options.endswith("stripe_count=4,stripe_size=1048576")

    calls = [call for call in recorded.read_text().splitlines() if "getstripe" not in call]
    assert calls == [
        "modprobe lustre",
        f"mount -t lustre -o noatime,flock fs-1.fsx@tcp:/abcd1234 {tmp_path}/mnt",
        f"umount {tmp_path}/mnt",
    ]


@pytest.mark.parametrize("folder", [None, "storage-matrix-r"])
def test_stripes_are_set_on_the_folder_that_is_the_runs_and_on_no_other(recorded, tmp_path, folder):
    with mounts.attached({**MOUNT, "stripes": ["-c", "-1", "-S", "4M"], "folder": folder}, LOG):
        [call] = [call for call in recorded.read_text().splitlines() if "setstripe" in call]

    own = f"{tmp_path}/mnt/{folder}" if folder else f"{tmp_path}/mnt"
    assert call == f"lfs setstripe -c -1 -S 4M {own}"


def test_stripes_that_lustre_refuses_fail_the_mount_with_its_words(recorded, fake_tool, tmp_path):
    fake_tool("lfs", "echo 'error on ioctl for 9999 stripes' >&2; exit 1")

    with (
        pytest.raises(MountFailed, match=r"lfs setstripe -c 9999 .* failed: error on ioctl for 9999 stripes"),
        mounts.attached({**MOUNT, "stripes": ["-c", "9999"]}, LOG),
    ):
        pass
    assert recorded.read_text().splitlines()[-1] == f"umount {tmp_path}/mnt"


def test_a_kernel_without_the_client_is_named_with_those_that_have_it_and_nothing_is_tried_again(recorded, fake_tool):
    fake_tool("modprobe", "echo 'modprobe: FATAL: Module lustre not found' >&2; exit 1")

    with pytest.raises(
        MountFailed, match=r"has no Lustre client: .*Module lustre not found.*6\.1\.79-99\.167 or later"
    ):
        mounts.attached(MOUNT, LOG).__enter__()
    assert not recorded.exists()


def test_a_mount_that_no_attempt_mends_is_given_up_at_once(recorded, fake_tool):
    fake_tool("mount", "echo 'mount: unknown filesystem type lustre' >&2; exit 1")

    with pytest.raises(MountFailed, match="cannot be mounted: mount: unknown filesystem type"):
        mounts.attached(MOUNT, LOG).__enter__()


def test_locks_are_given_up_before_a_step(recorded):
    assert mounts.drop_caches(MOUNT, LOG) == []
    assert recorded.read_text() == "lctl set_param -n ldlm.namespaces.*.lru_size=clear\n"
    assert mounts.drop_caches({"kind": "nfs"}, LOG) == []


def test_locks_that_stay_are_warned_about(recorded, fake_tool):
    fake_tool("lctl", "echo 'error: set_param: setting: Permission denied' >&2; exit 13")

    [warning] = mounts.drop_caches(MOUNT, LOG)

    assert warning.startswith("the Lustre client may have kept data of the step before: error: set_param")


def test_the_packages_of_the_client_are_those_of_amazon_linux():
    from agent.programs import tools

    assert {tools.TOOLS[name].amazon for name in mounts.tools(MOUNT)} == {"lustre-client"}


def test_what_servers_were_asked_for_and_what_programs_did_to_files_are_added_up():
    counted = counters.parse_lustre([OSC, OSC], [LLITE])

    assert counted == {
        "lustre_read_bytes": 2 * 2_101_248, "lustre_read_operations": 6,
        "lustre_write_bytes": 2 * 2_097_152, "lustre_write_operations": 4,
        "lustre_creates": 12, "lustre_unlinks": 5, "lustre_directories": 3, "lustre_rmdirs": 0,
    }  # fmt: skip


def test_a_client_that_tells_one_part_only_tells_nothing():
    assert counters.parse_lustre([OSC], []) == counters.parse_lustre([], [LLITE]) == {}


def test_the_statistics_of_one_file_system_are_told_from_those_of_another(tmp_path):
    for root, part, name, text in [
        ("debug", "osc", "abcd1234-OST0000-osc-ffff8", OSC),
        ("debug", "osc", "other-OST0000-osc-ffff8", OSC),
        ("proc", "llite", "abcd1234-ffff8", LLITE),
    ]:
        folder = tmp_path / root / part / name
        folder.mkdir(parents=True)
        (folder / "stats").write_text(text)

    counted = counters.of_lustre("abcd1234", (tmp_path / "proc", tmp_path / "debug"))

    assert (counted["lustre_read_bytes"], counted["lustre_creates"]) == (2_101_248, 12)


MOUNTED = """device proc mounted on /proc with fstype proc
device 10.0.0.9@tcp:/abcd1234 mounted on /mnt/storage-matrix with fstype lustre
device fs:/ mounted on /mnt/nfs with fstype nfs4 statvers=1.1
"""


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("/mnt/storage-matrix", "abcd1234"),
        ("/mnt/storage-matrix/storage-matrix-r", "abcd1234"),
        ("/mnt/nfs", ""),
        ("/mnt/storage-matrixes", ""),
    ],
)
def test_a_lustre_mount_is_known_by_its_name_also_from_a_folder_on_it(path, name):
    assert counters.lustre_at(MOUNTED, Path(path)) == name
