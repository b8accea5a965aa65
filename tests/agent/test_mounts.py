"""What each mount runs on an instance, in which order, before and between steps and at the end; and how it fails."""

from __future__ import annotations

import logging
import tempfile
from pathlib import Path

import pytest

from agent import mounts
from agent.errors import MountFailed
from agent.machine import disks
from agent.mounts import ebs_device
from agent.programs import containers

LOG = logging.getLogger("test")
VOLUME = "vol-0123456789abcdef0"
EBS = {"kind": "ebs", "devices": ["/dev/sdf"], "fstype": "xfs"}
STORE = {"kind": "instance-store", "fstype": "xfs"}
EXISTING = {"kind": "ebs-existing", "volumes": [VOLUME], "is_read_only": True}
NFS = {"kind": "nfs", "source": "fs-1:/", "options": "nfsvers=4.1,hard"}
S3_FILES = {"kind": "s3-files", "source": "fs-1:/", "options": "rw"}
LUSTRE = {"kind": "lustre", "source": "fs-1.fsx@tcp:/abcd1234", "options": "noatime,flock"}
MOUNTPOINT = {"kind": "mountpoint", "bucket": "b", "prefix": "p/AROA:i-1", "region": "eu-west-1"}
STRIPE = "mdadm --create /dev/md0 --run --level=0 --raid-devices=2"
LUSTRE_UP = ["modprobe lustre", "mount -t lustre -o noatime,flock fs-1.fsx@tcp:/abcd1234 MNT"]
S3_UP = "mount-s3 --region eu-west-1 --prefix p/AROA:i-1/"
# FUSE lets nobody in but who mounted it, and Mountpoint has no chown: a container's user is named at the mount.
S3_USER = "--allow-other --uid={} --gid={}".format(*containers.owner())
RECORDED = (
    "mount", "umount", "mkfs.xfs", "mdadm", "fstrim", "modprobe", "lctl", "mount-s3", "blockdev",
)  # fmt: skip
# Mount; what is run to attach it; what before the next step.
CASES = {
    "an empty volume": (EBS, ["mkfs.xfs -q -K DISK/sdf", "mount -t xfs -o noatime DISK/sdf MNT"], []),
    "a used volume": (EBS, ["mount -t xfs -o noatime DISK/sdf MNT"], []),
    "two volumes": (
        {**EBS, "devices": ["/dev/sdf", "/dev/sdg"]},
        [f"{STRIPE} DISK/sdf DISK/sdg", "mkfs.xfs -q -K /dev/md0", "mount -t xfs -o noatime /dev/md0 MNT"], [],
    ),
    "a disk of the instance": (
        STORE, ["mkfs.xfs -q -K /dev/nvme1n1", "mount -t xfs -o noatime /dev/nvme1n1 MNT"], ["fstrim -v MNT"],
    ),
    "two disks of the instance": (
        STORE,
        [f"{STRIPE} /dev/nvme1n1 /dev/nvme2n1", "mkfs.xfs -q -K /dev/md0", "mount -t xfs -o noatime /dev/md0 MNT"],
        ["fstrim -v MNT"],
    ),
    "a volume that exists": (
        EXISTING, [f"blockdev --setro /dev/{VOLUME}", f"mount -t xfs -o noatime,ro /dev/{VOLUME} MNT"], [],
    ),
    "a volume that exists and may be written": (
        {**EXISTING, "is_read_only": False}, [f"mount -t xfs -o noatime /dev/{VOLUME} MNT"], [],
    ),
    "nfs": (NFS, ["mount -t nfs -o nfsvers=4.1,hard fs-1:/ MNT"], []),
    "efs over tls": ({**NFS, "kind": "efs", "options": "tls,iam"}, ["mount -t efs -o tls,iam fs-1:/ MNT"], []),
    # Its proxy keeps what it read ahead.
    "s3 files": (
        S3_FILES, ["mount -t s3files -o rw fs-1:/ MNT"], ["umount MNT", "mount -t s3files -o rw fs-1:/ MNT"],
    ),
    "s3 files without read-ahead": (
        {**S3_FILES, "options": "nodirects3read"}, ["mount -t s3files -o nodirects3read fs-1:/ MNT"], [],
    ),
    "lustre": (LUSTRE, LUSTRE_UP, []),
    "lustre with stripes": (
        {**LUSTRE, "stripes": ["-c", "-1"]}, [*LUSTRE_UP, "lfs setstripe -c -1 MNT"], [],
    ),
    "lustre with stripes on the run's own folder": (
        {**LUSTRE, "stripes": ["-c", "-1"], "folder": "storage-matrix-r"},
        [*LUSTRE_UP, "lfs setstripe -c -1 MNT/storage-matrix-r"], [],
    ),
    "mountpoint": (MOUNTPOINT, [f"{S3_UP} b MNT"], []),
    "mountpoint with options": (
        {**MOUNTPOINT, "options": "allow-delete,allow-overwrite"},
        [f"{S3_UP} --allow-delete --allow-overwrite b MNT"], [],
    ),
    "mountpoint for containers": ({**MOUNTPOINT, "is_for_containers": True}, [f"{S3_UP} {S3_USER} b MNT"], []),
}  # fmt: skip


@pytest.fixture
def calls(fake_tool, bin_folder, tmp_path, monkeypatch):
    """Programs that write down how they are called, on a machine whose disks are there; a function that reads it."""
    record = tmp_path / "calls"
    record.touch()
    for name in RECORDED:
        fake_tool(name, f'echo "{name} $*" >> "{record}"')
    fake_tool("blkid", "exit 2")
    answers = 'case "$*" in *getstripe*-c*) echo 4;; *getstripe*-S*) echo 1048576;; *)'
    fake_tool("lfs", f'{answers} echo "lfs $*" >> "{record}";; esac')
    monkeypatch.setenv("PATH", str(bin_folder))
    monkeypatch.setattr(mounts, "MOUNT_POINT", tmp_path / "mnt")
    monkeypatch.setattr(disks, "find", lambda device, _root: Path("DISK") / Path(device).name)
    monkeypatch.setattr(ebs_device, "wait_for_volumes", lambda volumes, _log: [Path(f"/dev/{volumes[0]}")])

    def read():
        made = record.read_text().replace(str(tmp_path / "mnt"), "MNT").splitlines()
        record.write_text("")
        return made

    return read


def has_disks(monkeypatch, count):
    """Let the machine have a root volume and so many disks of its own."""
    own = [disks.Disk(f"nvme{n}n1", f"AWS2AAAD41A4DB42A2A{n}", disks.INSTANCE_STORE_MODEL) for n in range(1, count + 1)]
    root = disks.Disk("nvme0n1", VOLUME.replace("-", ""), disks.EBS_MODEL)
    monkeypatch.setattr(disks, "all_disks", lambda *_: [root, *own])


@pytest.mark.parametrize("case", CASES)
def test_a_mount_runs_what_its_storage_needs_and_lets_go_of_it(calls, fake_tool, monkeypatch, case):
    mount, attached, refreshed = CASES[case]
    has_disks(monkeypatch, 2 if case.startswith("two") else 1)
    if "exists" in case or "used" in case:
        fake_tool("blkid", "echo TYPE=xfs")

    with mounts.attached(mount, LOG) as mounted:
        assert calls() == attached
        assert mounts.refresh(mount, mounted.path, LOG) == []
        assert calls() == refreshed

    assert calls() == ["umount MNT"]


def test_a_storage_is_let_go_of_after_a_measurement_that_failed(calls):
    with pytest.raises(KeyError), mounts.attached(NFS, LOG):
        raise KeyError("a measurement failed")

    assert calls()[-1] == "umount MNT"


def test_the_cache_of_a_mountpoint_is_empty_for_each_step(calls, fake_tool, tmp_path, monkeypatch):
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr(tempfile, "tempdir", None)  # read anew
    # Fails where the folder of its cache is not there.
    record = tmp_path / "calls"
    fake_tool("mount-s3", f'for last in "$@"; do :; done; /bin/ls "${{6#--cache=}}" && echo "$*" >> "{record}"')
    mount = {**MOUNTPOINT, "options": "max-cache-size=64"}

    with mounts.attached(mount, LOG) as mounted:
        assert mounts.refresh(mount, mounted.path, LOG) == []

    first, between, second, end = calls()
    assert all(f" --max-cache-size=64 --cache={tmp_path}/storage-matrix-" in call for call in (first, second))
    assert between == end == "umount MNT"
    assert not list(tmp_path.glob("storage-matrix-*"))


@pytest.mark.parametrize(
    ("mount", "program", "script", "words"),
    [
        (EXISTING, "mount", "echo 'log needs recovery' >&2; exit 32", "mount it once yourself.*log needs recovery"),
        ({**LUSTRE, "stripes": ["-c", "9999"]}, "lfs", "echo 'error on ioctl' >&2; exit 1", "9999 .*error on ioctl"),
        (LUSTRE, "modprobe", "echo 'Module lustre not found' >&2; exit 1", "Module lustre not found.*6.1.79-99.167"),
        (LUSTRE, "mount", "echo 'unknown filesystem type' >&2; exit 1", "cannot be mounted: unknown filesystem type"),
        (MOUNTPOINT, "mount-s3", "echo 'access denied' >&2; exit 1", "ended with 1: access denied"),
        (STORE, "blkid", "exit 2", disks.EBS_MODEL),  # it has no disk of its own
    ],
)  # fmt: skip
def test_a_mount_fails_with_the_words_of_its_program(calls, fake_tool, monkeypatch, mount, program, script, words):
    has_disks(monkeypatch, 0)
    fake_tool("blkid", "echo TYPE=xfs")
    fake_tool(program, script)

    with pytest.raises(MountFailed, match=words), mounts.attached(mount, LOG):
        pass


@pytest.mark.parametrize(
    "mount", [{**STORE, "precondition": 2}, {"kind": "ebs"}, {"kind": "nfs"}, {"kind": "directory"}]
)
def test_disks_that_were_written_all_over_and_other_storages_are_not_trimmed(calls, tmp_path, mount):
    assert mounts.refresh(mount, tmp_path, LOG) == []

    assert calls() == []


@pytest.mark.parametrize(
    ("program", "prepare", "mount"),
    [("fstrim", lambda mount: mounts.refresh(mount, Path("/x"), LOG), STORE),
     ("lctl", lambda mount: mounts.drop_caches(mount, LOG), LUSTRE)],
)  # fmt: skip
def test_what_cannot_be_trimmed_or_dropped_is_warned_about(calls, fake_tool, program, prepare, mount):
    fake_tool(program, "echo 'not permitted' >&2; exit 1")

    [warning] = prepare(mount)

    assert warning.endswith("not permitted")


def test_locks_of_lustre_are_given_up_before_a_step(calls):
    assert mounts.drop_caches(LUSTRE, LOG) == mounts.drop_caches(NFS, LOG) == []

    assert calls() == ["lctl set_param -n ldlm.namespaces.*.lru_size=clear"]


def test_a_lustre_mount_tells_its_stripes(calls):
    with mounts.attached(LUSTRE, LOG) as mounted:
        assert mounted.options.endswith("stripe_count=4,stripe_size=1048576")
