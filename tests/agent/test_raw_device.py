"""fio on a device without a file system: only this run's own, empty, unused volumes are written."""

from __future__ import annotations

import logging
import os
import subprocess
from pathlib import Path
from types import SimpleNamespace

import pytest
from support.agent_cloud import needs
from support.disks import loop_device

from agent import mounts, session
from agent.board.blackboard import Blackboard
from agent.errors import DeviceRefused, MountFailed
from agent.job import Step
from agent.machine import counters, disks
from agent.machine.workspace import Workspace, Workspaces
from agent.mounts import ebs, ebs_device
from agent.workloads import fio, raw_device

LOG = logging.getLogger("test")
VOLUMES = ["vol-0123456789abcdef0", "vol-0123456789abcdef1"]
DISKS = {"nvme0n1": "vol0aaaaaaaaaaaaaaaa", "nvme1n1": "vol0123456789abcdef1", "nvme2n1": "vol0123456789abcdef0"}


@pytest.fixture
def machine(tmp_path):
    """A machine with a root disk and two volumes, whose names are in another order than their ids."""
    for number, (name, serial) in enumerate(DISKS.items()):
        block = tmp_path / "sys/block" / name
        (block / "device").mkdir(parents=True)
        (block / "holders").mkdir()
        (block / "device/serial").write_text(f"{serial}\n")
        (block / "device/model").write_text("Amazon Elastic Block Store\n")
        (block / "dev").write_text(f"259:{number}\n")
        (tmp_path / "dev").mkdir(exist_ok=True)
        (tmp_path / "dev" / name).touch()
    (tmp_path / "proc/self").mkdir(parents=True)
    (tmp_path / "proc/self/mountinfo").write_text("22 1 259:0 / / rw - xfs /dev/nvme0n1 rw\n")
    (tmp_path / "proc/swaps").write_text("Filename Type Size Used Priority\n")
    return tmp_path


def test_a_disk_is_found_by_the_id_of_its_volume_and_by_nothing_else(machine):
    assert ebs_device.of_volumes(VOLUMES, machine) == [machine / "dev/nvme2n1", machine / "dev/nvme1n1"]
    assert ebs_device.of_volumes([*VOLUMES, "vol-0ffffffffffffffff"], machine) is None
    assert ebs_device.of_volumes([], machine) is None


def test_an_empty_serial_number_is_not_a_volume(machine):
    (machine / "sys/block/nvme1n1/device/serial").write_text("\n")

    assert ebs_device.of_volumes([""], machine) is None


def _partition(machine):
    (machine / "sys/block/nvme1n1/nvme1n1p1").mkdir()
    (machine / "sys/block/nvme1n1/nvme1n1p1/partition").write_text("1\n")


def _holder(machine):
    (machine / "sys/block/nvme1n1/holders/md0").mkdir()


def _mounted(machine):
    (machine / "proc/self/mountinfo").write_text("40 22 259:1 / /data rw - xfs /dev/nvme1n1 rw\n")


def _swap(machine):
    (machine / "proc/swaps").write_text(f"Filename Type\n{machine}/dev/nvme1n1 partition 100 0 -2\n")


@pytest.mark.parametrize(
    ("use", "words"),
    [(_partition, "partitions: nvme1n1p1"), (_holder, "part of md0"), (_mounted, "mounted at /data"),
     (_swap, "swapped to")],
)  # fmt: skip
def test_a_disk_that_is_used_is_refused(machine, use, words):
    use(machine)

    with pytest.raises(DeviceRefused, match=words):
        ebs_device.refuse_used(machine / "dev/nvme1n1", machine)


def test_the_disk_of_the_root_file_system_is_refused(machine):
    with pytest.raises(DeviceRefused, match="nvme0n1 is mounted at /"):
        ebs_device.refuse_used(machine / "dev/nvme0n1", machine)


def test_an_array_consists_of_the_runs_volumes_and_of_nothing_else(machine):
    slaves = machine / "sys/block/md0/slaves"
    for name in ("nvme1n1", "nvme2n1"):
        (slaves / name).mkdir(parents=True)
    members = [machine / "dev/nvme2n1", machine / "dev/nvme1n1"]

    ebs_device.refuse_others(Path("/dev/md0"), members, machine)
    (slaves / "nvme0n1").mkdir()
    with pytest.raises(DeviceRefused, match="md0 consists of nvme0n1, nvme1n1, nvme2n1, not of this run's volumes"):
        ebs_device.refuse_others(Path("/dev/md0"), members, machine)


@pytest.fixture
def attaching(monkeypatch):
    """`ebs_device` on disks that are there and unused; what is asked of mdadm and what a disk holds is a test's."""
    stripes: list[list[Path]] = []
    monkeypatch.setattr(ebs_device, "of_volumes", lambda volumes: [Path(f"/dev/{volume}") for volume in volumes])
    monkeypatch.setattr(ebs_device, "refuse_used", lambda _: None)
    monkeypatch.setattr(ebs_device, "refuse_others", lambda *_: None)
    monkeypatch.setattr(ebs, "has_file_system", lambda disk: disk.name == "full")
    monkeypatch.setattr(ebs, "stripe", lambda members, _: stripes.append(members) or ebs.ARRAY)
    return stripes


def mount(*volumes, devices=("/dev/sdf",)):
    return {"kind": "ebs-device", "devices": list(devices), "volumes": list(volumes)}


def test_one_volume_is_the_device_and_several_are_striped_without_a_file_system(attaching):
    assert ebs_device.attach(mount("a"), LOG) == Path("/dev/a")
    assert attaching == []
    assert ebs_device.attach(mount("a", "b", devices=("/dev/sdf", "/dev/sdg")), LOG) == ebs.ARRAY
    assert attaching == [[Path("/dev/a"), Path("/dev/b")]]
    assert ebs_device.tools(mount("a")) == {"blkid"}
    assert ebs_device.describe(mount("a"), Path("/dev/a")).describe() == {
        "kind": "ebs-device", "path": "/dev/a", "source": "/dev/a", "fstype": "raw", "options": "", "took_s": None,
    }  # fmt: skip


def test_a_volume_that_holds_something_is_refused_before_any_is_striped(attaching):
    with pytest.raises(DeviceRefused, match="full holds something already"):
        ebs_device.attach(mount("a", "full", devices=("/dev/sdf", "/dev/sdg")), LOG)
    assert attaching == []


def test_fewer_or_more_volumes_than_were_asked_for_are_refused(attaching):
    for volumes in ((), ("a", "b")):
        with pytest.raises(DeviceRefused, match="1 volumes are wanted"):
            ebs_device.attach(mount(*volumes), LOG)


def test_a_volume_that_does_not_appear_is_named_with_the_disks_that_did(monkeypatch):
    monkeypatch.setattr(disks, "all_disks", lambda *_: [disks.Disk("nvme0n1", "vol0bbbb", "")])

    with pytest.raises(
        MountFailed, match=r"the disks of vol-0aaaa did not appear within 0 s; the disks are \['nvme0n1 \(vol0"
    ):
        ebs_device.wait_for_volumes(["vol-0aaaa"], LOG, timeout_s=0)


class _Board:
    """A blackboard whose volumes are said at the second look."""

    def __init__(self, *answers):
        self.answers = list(answers)

    def volumes(self, instance_id):
        assert instance_id == "i-1"
        return self.answers.pop(0) if self.answers else None


def _session(board):
    return session.Session(SimpleNamespace(instance_id="i-1"), "AROA:i-1", board, LOG)


def test_an_agent_waits_until_it_is_told_which_volumes_are_its_own(monkeypatch):
    monkeypatch.setattr(session, "PAUSE_S", 0)
    kept = {"kind": "ebs", "devices": ["/dev/sdf"]}

    own = _session(_Board(None, ["vol-1"]))._own({**kept, "kind": "ebs-device"})

    assert own == {"kind": "ebs-device", "devices": ["/dev/sdf"], "volumes": ["vol-1"]}
    assert _session(_Board())._own(kept) == kept


def test_the_volumes_of_an_instance_are_those_that_launch_fleet_has_said_and_none_of_others():
    objects: dict[str, bytes] = {}
    board = Blackboard(SimpleNamespace(get=objects.get), "runs/r/cells/c/", "AROA:i-1")

    assert board.volumes("i-1") is None
    objects["runs/r/cells/c/volumes.json"] = b'{"volumes": {"i-1": ["vol-1", "vol-2"], "i-2": ["vol-3"]}}'
    assert (board.volumes("i-1"), board.volumes("i-3")) == (["vol-1", "vol-2"], [])


def test_an_agent_that_is_told_of_no_volumes_writes_on_none(monkeypatch):
    monkeypatch.setattr(session, "VOLUMES_S", 0)
    with pytest.raises(DeviceRefused, match="it is unknown which volumes"):
        _session(_Board())._own({"kind": "ebs-device", "devices": ["/dev/sdf"]})


def _step(**params):
    return Step(0, "p01", 1, params)


def _job(**of_mount):
    return SimpleNamespace(mount=of_mount)


def test_files_are_never_written_over_a_device_nor_a_device_beside_files(tmp_path):
    workspace = Workspace(tmp_path, tmp_path / "step", tmp_path, tmp_path, tmp_path)

    assert raw_device.of_step(_job(kind="ebs"), _step(), workspace) is None
    assert raw_device.of_step(_job(kind="directory"), _step(device=True), workspace) == tmp_path / "device"
    with pytest.raises(DeviceRefused, match=r"p01 is about a device, but .* is files"):
        raw_device.of_step(_job(kind="ebs"), _step(device=True), workspace)


def test_what_is_read_from_a_device_is_written_before_by_one_job_unless_each_has_its_part():
    options = {"rw": "randread", "bs": "4k", "size": "1G", "numjobs": 4, "runtime": 10, "time_based": 1}

    assert raw_device.filling(options) == {"rw": "write", "bs": "1M", "direct": 1, "size": "1G"}
    assert raw_device.filling({**options, "offset_increment": "1G"})["numjobs"] == 4


@needs("fio")
def test_where_a_folder_plays_the_storage_a_file_that_all_jobs_write_plays_the_device(sampled, instance, storage):
    options = {"rw": "randwrite", "bs": "4k", "size": "4m", "numjobs": 2, "ioengine": "psync", "time_based": 1}
    [sample] = sampled("fio", [{"device": True, "options": {**options, "runtime": 1}}])

    assert instance.raw(sample, "fio.json")["jobs"][0]["job options"]["filename"].endswith("/device")
    assert sample["metrics"]["iops"] > 0
    assert "a file in a folder plays the device: this is not a raw disk" in sample["warnings"]
    assert list(storage.iterdir()) == []


@needs("fio")
def test_a_device_from_a_snapshot_is_read_as_it_is_and_never_written(tmp_path, monkeypatch):
    with loop_device(tmp_path / "volume.img", 64 << 20) as device:
        subprocess.run(["mkfs.ext4", "-q", "-F", str(device)], check=True)
        held = device.read_bytes()
        monkeypatch.setattr(ebs_device, "of_volumes", lambda _: [device])
        job = _job(**mount("vol-1"), is_filled=True)
        options = {"rw": "read", "bs": "4k", "size": "32m", "rate": "16m"}

        with mounts.attached(job.mount, LOG) as mounted:
            workspaces = Workspaces(mounted.path, "run", "cell", "i-1")
            try:
                workspace = workspaces.fresh(0)
                trial = fio.prepare(job, _step(device=True, options=options), workspace)
                outcome = trial.read(trial.run())
                with pytest.raises(DeviceRefused, match="has the data of a snapshot"):
                    fio.prepare(job, _step(device=True, options=options | {"rw": "randrw"}), workspace)
            finally:
                workspaces.close()

        assert outcome.reached == {"read": 32 << 20}
        assert device.read_bytes() == held


@needs("fio")
def test_real_fio_writes_a_real_device_through_the_agent_and_is_refused_once_that_is_used(tmp_path, monkeypatch):
    with loop_device(tmp_path / "volume.img", 64 << 20) as device:
        monkeypatch.setattr(ebs_device, "of_volumes", lambda _: [device])
        job = _job(**mount("vol-1"))
        options = {"rw": "randwrite", "bs": "64k", "size": "16m", "numjobs": 2, "iodepth": 4, "ioengine": "libaio"}
        options |= {"direct": 1, "time_based": 1, "runtime": 1, "norandommap": 1}

        with mounts.attached(job.mount, LOG) as mounted:
            workspaces = Workspaces(mounted.path, "run", "cell", "i-1")
            try:
                workspace = workspaces.fresh(0)
                before = counters.of_storage(workspaces.mount)
                trial = fio.prepare(job, _step(device=True, options=options), workspace)
                outcome = trial.read(trial.run())
                counted = counters.difference(before, counters.of_storage(workspaces.mount))
            finally:
                workspaces.close()

        assert mounted.path == workspace.device == device
        # Each of its jobs wrote the device itself, which the kernel has counted.
        assert outcome.metrics["mb_per_s"] > 0
        assert counted["disk_write_bytes"] >= outcome.reached["write"]
        assert device.open("rb").read(16 << 20).strip(b"\0")
        with pytest.raises(DeviceRefused, match=r"p01 is about files, but .* is a device"):
            fio.prepare(job, _step(options=options), workspace)
        # What holds a file system, be it another's, is never written.
        subprocess.run(["mkfs.ext4", "-q", "-F", str(device)], check=True)
        with pytest.raises(DeviceRefused, match="holds something already"):
            ebs_device.attach(job.mount, LOG)
        busy = os.open(device, os.O_RDONLY | os.O_EXCL)
        try:
            with pytest.raises(DeviceRefused, match="cannot be had alone"):
                ebs_device.refuse_used(device)
        finally:
            os.close(busy)
