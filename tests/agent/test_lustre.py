"""FSx for Lustre on an instance: its mount, its stripes, its locks, and what its client counts."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent.machine import counters

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
