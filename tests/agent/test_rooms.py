"""The agent's smaller rooms: job, tools, mounts, counters."""

from __future__ import annotations

import json
import logging
import math
import os
import resource
import subprocess
import sys
import threading
from pathlib import Path
from types import SimpleNamespace

import pytest

from agent import job_check, mounts, samples, session
from agent.errors import JobInvalid, MountFailed, ToolFailed, ToolMissing
from agent.job import Step
from agent.machine import counters, disks, host, workspace
from agent.machine.workspace import Workspaces
from agent.mounts import directory, ebs, nfs
from agent.programs import processes, tools
from agent.workloads.trial import Outcome

LOG = logging.getLogger("test")


def parse(document, instance_id="i-1"):
    return job_check.parse(json.dumps(document).encode(), instance_id)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"schema": 2}, "no schema that this agent knows: it speaks 1"),
        ({"steps": [{"point": "p99", "repetition": 1}]}, "KeyError: 'p99'"),
        ({"steps": [{"point": "p01"}]}, "KeyError: 'repetition'"),
        *(
            ({"mount": {"kind": "directory", "path": "/x", "folder": name}}, "mount.folder")
            for name in ("../a", "a/b", ".a")
        ),
    ],
)
def test_a_job_that_could_do_harm_or_is_none_is_refused(make_job, changes, message):
    with pytest.raises(JobInvalid, match=message):
        parse({**make_job(), **changes})


def test_a_job_that_is_not_json_is_refused():
    with pytest.raises(JobInvalid, match="not JSON"):
        job_check.parse(b"<xml/>", "i-1")


def test_the_instance_finds_its_own_folder_in_a_lent_directory(make_job):
    parsed = parse(make_job(mount={"kind": "directory", "path": "/lent/{instance_id}"}), "i-7")

    assert parsed.mount["path"] == "/lent/i-7"
    assert not parsed.may_administer


def test_another_program_called_parallel_is_not_gnu_parallel(fake_tool, bin_folder, monkeypatch):
    fake_tool("parallel", "echo 'parallel from moreutils'")
    monkeypatch.setenv("PATH", str(bin_folder))

    with pytest.raises(ToolMissing, match="GNU parallel is not installed"):
        tools.require(["parallel"], may_install=False, log=LOG)


APT_GET = ["apt-get", "-o", "Acquire::Retries=5"]
WAIT = ["-o", "DPkg::Lock::Timeout=600"]


@pytest.mark.parametrize(
    ("manager", "expected"),
    [
        (
            "dnf",
            [
                ["dnf", "install", "-y", "-q", *of]
                for of in (["fio", "nfs-utils"], ["fio-engine-libaio"], ["spal-release"], ["parallel"])
            ],
        ),
        (
            "apt-get",
            [[*APT_GET, "update", "-q"], [*APT_GET, *WAIT, "install", "-y", "-q", "fio", "nfs-common", "parallel"]],
        ),
        ("none", []),
    ],
)
def test_what_is_missing_is_installed_with_the_packages_of_the_distribution(
    fake_tool, bin_folder, monkeypatch, manager, expected
):
    fake_tool(manager, "exit 0")
    monkeypatch.setenv("PATH", str(bin_folder))

    assert tools.install_commands(["fio", "parallel", "mount.nfs"]) == expected


def test_a_tool_that_the_package_manager_brings_is_there_afterwards(fake_tool, bin_folder, monkeypatch):
    monkeypatch.setenv("PATH", str(bin_folder))
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    fio = bin_folder / "fio"
    fake_tool("dnf", f"echo '#!/bin/sh' > '{fio}'; /bin/chmod +x '{fio}'")

    tools.require(["fio"], may_install=True, log=LOG)

    assert tools.find("fio") == str(fio)


SYS_BLOCK = {
    "nvme0n1": ("vol0aaaaaaaaaaaaaaaa", "Amazon Elastic Block Store"),
    "nvme1n1": ("vol0123456789abcdef0", "Amazon Elastic Block Store"),
    "nvme2n1": ("AWS6A6D0C6F1E7B2", "Amazon EC2 NVMe Instance Storage"),
}


@pytest.fixture
def machine(tmp_path):
    """A sysfs and a /dev as on a Nitro instance."""
    for name, (serial, model) in SYS_BLOCK.items():
        device = tmp_path / "sys/block" / name / "device"
        device.mkdir(parents=True)
        (device / "serial").write_text(f"{serial}\n")
        (device / "model").write_text(f"{model}          \n")
    (tmp_path / "sys/block/loop0").mkdir()
    (tmp_path / "dev").mkdir()
    return tmp_path


def test_disks_are_read_from_sysfs(machine):
    assert disks.all_disks(machine) == [
        disks.Disk("nvme0n1", "vol0aaaaaaaaaaaaaaaa", "Amazon Elastic Block Store"),
        disks.Disk("nvme1n1", "vol0123456789abcdef0", "Amazon Elastic Block Store"),
        disks.Disk("nvme2n1", "AWS6A6D0C6F1E7B2", "Amazon EC2 NVMe Instance Storage"),
    ]


@pytest.mark.parametrize("name", ["sdf", "xvdf"])
def test_a_volume_is_found_by_the_link_that_udev_made(machine, name):
    (machine / "dev" / name).touch()

    assert disks.find("/dev/sdf", machine) == machine / "dev" / name


def test_a_volume_is_found_by_the_name_that_its_controller_tells(machine, monkeypatch):
    told = {"nvme0n1": "xvda", "nvme1n1": "sdf"}
    monkeypatch.setattr(disks, "requested_name", lambda device: told.get(device.name))

    assert disks.find("/dev/sdf", machine) == machine / "dev/nvme1n1"
    assert disks.find("/dev/sdg", machine) is None


def test_the_vendor_part_of_a_controller_holds_the_asked_name():
    identification = bytearray(4096)
    identification[3072:3104] = b"/dev/sdf".ljust(32)

    assert disks.parse_vendor_name(bytes(identification)) == "sdf"
    assert disks.parse_vendor_name(bytes(4096)) is None


def test_a_volume_that_does_not_appear_is_a_failed_mount(machine):
    with pytest.raises(MountFailed, match="the volume at /dev/sdf did not appear within 0 s; the disks are"):
        ebs.wait_for_disk("/dev/sdf", LOG, timeout_s=0, root=machine)


@pytest.fixture
def recorded(fake_tool, bin_folder, tmp_path, monkeypatch):
    """Fake mount programs that write down how they were called."""
    calls = tmp_path / "calls"
    for name in ("mount", "umount", "mkfs.xfs"):
        fake_tool(name, f'echo "{name} $*" >> "{calls}"')
    monkeypatch.setenv("PATH", str(bin_folder))
    monkeypatch.setattr(mounts, "MOUNT_POINT", tmp_path / "mnt")
    return calls


def test_a_step_begins_after_the_storage_was_refreshed_and_carries_what_could_not_be(monkeypatch, tmp_path):
    order = []
    trial = SimpleNamespace(armed=SimpleNamespace(kill=lambda: None))
    outcome = Outcome({"duration_s": 1.0}, {}, {"name": "engine"})
    conditions = samples.Conditions(None, 1.0, 2.0, (1.0, 2.0), 1, "not dropped", {})
    monkeypatch.setattr(session.mounts, "refresh", lambda *_: order.append("refresh") or ["not fresh"])
    monkeypatch.setattr(session.workloads, "prepare", lambda *_: order.append("prepare") or trial)
    monkeypatch.setattr(session.caches, "drop", lambda *_: order.append("drop") or session.caches.DROPPED)
    monkeypatch.setattr(session.mounts, "drop_caches", lambda *_: order.append("drop of client") or ["locks stay"])
    monkeypatch.setattr(session.tools, "load", lambda names: order.append(f"load {'parallel' in names}"))
    monkeypatch.setattr(session.Session, "_measure", lambda *_: order.append("measure") or (outcome, conditions))
    job = SimpleNamespace(
        mount={"kind": "instance-store"}, may_administer=False, workload={"type": "touch"}, emulation=None
    )
    workspaces = Workspaces(tmp_path, "r", "c", "i-1")

    step = Step(0, "p01", 1, {"tool": "parallel"})
    monkeypatch.setattr(session.samples, "document", lambda _, taken: {"samples": taken})
    documents = {}
    board = SimpleNamespace(put=documents.__setitem__)
    at_work = session.Session(None, "u", board, LOG)
    at_work._take_sample(SimpleNamespace(job=job), step, workspaces, None)
    at_work._end_upload()
    workspaces.close()

    # What was dropped with the caches is loaded again before the time: reading GNU parallel is not time of the storage.
    assert order == ["refresh", "prepare", "drop", "drop of client", "load True", "measure"]
    [taken] = documents["samples.json"]["samples"]
    assert taken["warnings"] == ["not fresh", "locks stay"]


def test_every_block_of_a_disk_is_written_with_its_own_bytes(recorded, fake_tool, tmp_path, monkeypatch):
    fake_tool("blkid", "exit 2")
    disk = tmp_path / "disk"
    disk.write_bytes(bytes((5 << 20) + 8192))  # its last block is a short one
    monkeypatch.setattr(disks, "instance_stores", lambda: [disk])

    try:
        with mounts.attached({"kind": "instance-store", "fstype": "xfs", "precondition": 2}, LOG):
            pass
    except MountFailed as err:
        if "Invalid argument" in str(err):
            pytest.skip("this file system has no O_DIRECT")
        raise

    content = disk.read_bytes()
    pages = [content[place : place + 4096] for place in range(0, len(content), 4096)]
    assert len(content) == (5 << 20) + 8192
    assert bytes(4096) not in pages
    blocks = [content[place : place + (1 << 20)] for place in range(0, len(content), 1 << 20)]
    assert len(set(blocks)) == 6
    assert recorded.read_text().splitlines()[0] == f"mkfs.xfs -q -K {disk}"


def test_a_disk_that_cannot_be_written_all_over_fails_the_mount(recorded, tmp_path, monkeypatch):
    monkeypatch.setattr(disks, "instance_stores", lambda: [tmp_path / "gone"])

    with (
        pytest.raises(MountFailed, match=r"could not be written all over: .*gone"),
        mounts.attached({"kind": "instance-store", "fstype": "xfs", "precondition": 1}, LOG),
    ):
        pass


def test_an_older_mount_helper_without_s3_files_is_missing_by_the_version_that_is_needed(
    fake_tool, bin_folder, monkeypatch
):
    fake_tool("mount.efs", "exit 0")
    monkeypatch.setenv("PATH", str(bin_folder))

    with pytest.raises(ToolMissing, match=r"amazon-efs-utils 3\.0 or later.*not installed"):
        tools.require(mounts.tools({"kind": "s3-files"}), may_install=False, log=LOG)


def test_the_mount_helper_is_a_package_of_amazon_linux_and_is_built_on_ubuntu(fake_tool, bin_folder, monkeypatch):
    monkeypatch.setenv("PATH", str(bin_folder))
    fake_tool("apt-get", "exit 0")

    update, install, build = tools.install_commands(["mount.efs", "mdadm"])
    assert (update[-2], install[-1], build[:2]) == ("update", "mdadm", ["bash", "-euc"])
    assert "./build-deb.sh" in build[2]

    fake_tool("dnf", "exit 0")
    assert tools.install_commands(["mount.efs"]) == [["dnf", "install", "-y", "-q", "amazon-efs-utils"]]


def test_read_ahead_is_set_where_the_job_says_so_and_told_with_the_options(recorded, tmp_path, monkeypatch):
    setting = tmp_path / "read_ahead_kb"
    setting.write_text("128\n")
    monkeypatch.setattr(nfs, "read_ahead_file", lambda path: setting)
    mount = {"kind": "nfs", "source": "fs:/", "options": "hard"}

    with mounts.attached(mount, LOG) as mounted:
        assert mounted.options.endswith(",read_ahead_kb=128")
    with mounts.attached(mount | {"read_ahead_kib": 15_360}, LOG) as mounted:
        assert mounted.options.endswith(",read_ahead_kb=15360")

    assert "fs:/" in recorded.read_text()


def test_read_ahead_belongs_to_the_device_below_a_path(tmp_path):
    device = tmp_path.stat().st_dev

    assert nfs.read_ahead_file(tmp_path).parent.name == f"{os.major(device)}:{os.minor(device)}"


@pytest.mark.usefixtures("recorded")
def test_nfs_is_tried_again_until_its_name_is_known(fake_tool, tmp_path):
    seen = tmp_path / "seen"
    fake_tool("mount", f'test -e "{seen}" || {{ : > "{seen}"; echo "Name or service not known" >&2; exit 32; }}')

    path = nfs.attach({"source": "fs:/", "options": "hard"}, LOG, timeout_s=10, pause_s=0.01)

    assert path == tmp_path / "mnt"


def test_a_lent_folder_is_waited_for_as_the_name_of_a_file_system_is(tmp_path, monkeypatch):
    lent = tmp_path / "lent"
    monkeypatch.setattr(mounts.time, "sleep", lambda _pause_s: lent.mkdir())

    assert directory.attach({"path": str(lent)}, LOG) == lent
    with pytest.raises(MountFailed, match=r"within 0 s; .*, lastly: it is not there"):
        directory.attach({"path": str(tmp_path / "never")}, LOG, timeout_s=0)


def test_a_directory_that_no_service_makes_is_made_by_who_mounts_it(tmp_path):
    place = tmp_path / "files.example.com:" / "export"

    assert directory.attach({"path": str(place), "is_made_by_agent": True}, LOG, timeout_s=0) == place
    assert place.is_dir()


@pytest.mark.usefixtures("recorded")
def test_nfs_behind_a_closed_port_is_told_with_a_way_out_and_no_mount_is_left_trying(fake_tool, tmp_path):
    fake_tool("mount", f'echo $$ >> "{tmp_path}/tries"; exec /bin/sleep 30')

    with pytest.raises(MountFailed, match=r"lastly: 'mount .*' did not end within 1 s; .*port 2049") as failed:
        nfs.attach({"source": "fs:/", "options": "hard"}, LOG, timeout_s=0.5, pause_s=0.01)

    assert failed.value.name == "MountFailed"
    assert not any(Path(f"/proc/{pid}").exists() for pid in (tmp_path / "tries").read_text().split())


def test_programs_that_mount_speak_the_language_that_their_words_are_read_in(monkeypatch):
    monkeypatch.setenv("LC_ALL", "de_DE.UTF-8")

    assert mounts.command_result(["sh", "-c", "echo $LC_ALL"]).stdout == "C\n"


def test_a_command_that_does_not_end_says_after_how_long_in_figures_that_people_read():
    with pytest.raises(mounts.Unended, match=r"'sleep 5' did not end within 0\.2 s$"):
        mounts.command_result(["sleep", "5"], timeout_s=0.1512)


def test_a_server_that_has_gone_is_let_go_of_lazily_and_hides_no_error(fake_tool, bin_folder, tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(bin_folder))
    fake_tool("umount", f'echo "$@" >> "{tmp_path}/tries"; [ "$1" = -l ] || exec /bin/sleep 30')
    monkeypatch.setattr(mounts.command_result, "__defaults__", (0.3,))

    mounts.unmount(tmp_path, LOG)

    assert (tmp_path / "tries").read_text().splitlines() == [f"{tmp_path}", f"-l {tmp_path}"]


def test_the_entry_of_the_longest_mount_point_describes_a_folder(tmp_path):
    folder = tmp_path / "a b" / "inner"
    folder.mkdir(parents=True)
    table = tmp_path / "mounts"
    spot = str(tmp_path / "a b").replace(" ", "\\040")
    table.write_text(f"/dev/root / ext4 rw 0 0\nfs:/ {spot} nfs4 rw,vers=4.1 0 0\nx {tmp_path}/a xfs rw 0 0\n")

    mounted = mounts.describe("nfs", folder, table)

    assert (mounted.source, mounted.fstype, mounted.options) == ("fs:/", "nfs4", "rw,vers=4.1")


def test_counters_are_read_from_the_kernels_files():
    stat = "cpu  100 10 50 1000 20 3 7 40 0 0\ncpu0 1 2 3\n"
    net = "head\nhead\n    lo: 5 0 0 0 0 0 0 0 5 0\n  ens5: 1000 1 0 0 0 0 0 0 2000 2 0\n"
    card = "NIC statistics:\n     tx_timeout: 0\n     bw_in_allowance_exceeded: 17\n     pps_allowance_exceeded: 0\n"

    assert counters.parse_stat(stat, 100) == {"cpu_s": 1.7, "iowait_s": 0.2, "steal_s": 0.4}
    assert counters.parse_net_dev(net) == {
        "network_received_bytes": 1000, "network_received_packets": 1,
        "network_sent_bytes": 2000, "network_sent_packets": 2,
    }  # fmt: skip
    assert counters.parse_ethtool(card) == {"bw_in_allowance_exceeded": 17, "pps_allowance_exceeded": 0}
    assert counters.difference({"a": 1.5, "gone": 1}, {"a": 2.0, "new": 3}) == {"a": 0.5}
    assert counters.difference({"iowait_s": 2.0}, {"iowait_s": 1.99}) == {"iowait_s": 0.0}


def test_the_disk_below_a_path_is_told_by_its_device_number():
    text = (
        " 259       0 nvme0n1 1 0 2 3 4 0 5 6 0 7 8 0 0 0 0 0 0\n"
        " 259       3 nvme1n1 10 1 80 3 40 2 160 6 0 1500 8 0 0 0 0 0 0\n"
    )

    assert counters.parse_diskstats(text, 259, 3) == {
        "disk_read_operations": 10,
        "disk_write_operations": 40,
        "disk_read_bytes": 40_960,
        "disk_write_bytes": 81_920,
        "disk_busy_s": 1.5,
    }
    assert counters.parse_diskstats(text, 0, 42) == {}


def test_an_nfs_mount_is_told_by_what_it_asked_of_its_server():
    text = """device rootfs mounted on / with fstype rootfs
device fs-1:/ mounted on /mnt/other with fstype nfs4 statvers=1.1
\tbytes:\t9 9 9 9 9 9 9 9
\tper-op statistics
\t        READ: 9 9 9 9 9 9 9 9 9
device fs-2:/ mounted on /mnt/storage with fstype nfs4 statvers=1.1
\topts:\trw,vers=4.1
\tbytes:\t100 200 0 0 4096 8192 1 2
\tRPC iostats version: 1.1  p/v: 100003/4 (nfs)
\txprt:\ttcp 0 0 1 0 0 20 20 0 20 0
\tper-op statistics
\t        NULL: 1 1 0 44 24 0 0 0 0
\t        READ: 2 2 0 400 4500 10 20 30 0
\t       WRITE: 4 5 1 9000 400 100 4000 4100 0
\tOPEN_NOATTR: 3 3 0 400 400 0 30 30 1
\t      REMOVE: 2 2 0 400 400 0 0 0 0
"""

    counted = counters.parse_mountstats(text, "/mnt/storage")
    assert counted == {
        "nfs_read_operations": 2,
        "nfs_write_operations": 4,
        "nfs_other_operations": 6,
        "nfs_change_operations": 2,
        "nfs_open_operations": 3,
        "nfs_read_bytes": 4096,
        "nfs_write_bytes": 8192,
        "nfs_queue_s": pytest.approx(0.11),
        "nfs_round_trip_s": pytest.approx(4.05),
        "nfs_timeouts": 1,
    }
    assert counters.parse_mountstats(text, "/mnt") == {}
    # On a file system that existed before, a run works in a folder of its own.
    assert counters.parse_mountstats(text, "/mnt/storage/storage-matrix/run") == counted


def test_what_a_mount_has_moved_in_all_outlives_each_new_mount_and_leaves_out_disks(monkeypatch):
    readings = [{"nfs_read_bytes": moved, "disk_read_bytes": 1.0} for moved in (5.0, 9.0, 2.0, 12.0, 3.0, 3.0)]
    monkeypatch.setattr(counters, "of_storage", lambda _: readings.pop(0))
    in_all = counters.RequestsInAll()

    moved = [dict(in_all.read(Path("/mnt"))) for _ in range(6)]

    assert moved == [{"nfs_read_bytes": amount} for amount in (5.0, 9.0, 11.0, 21.0, 24.0, 24.0)]


@pytest.mark.parametrize(("hard", "allowed"), [(4_096, 4_096), (100_000, processes.OPEN_FILES)])
def test_programs_may_open_as_many_files_as_a_job_of_1024_threads_needs(hard, allowed):
    began = resource.getrlimit(resource.RLIMIT_NOFILE)
    if began[1] != resource.RLIM_INFINITY and began[1] < hard:
        pytest.skip(f"this machine allows {began[1]} open files")
    raising = "from agent.programs import processes; processes.allow_open_files(); import os; os.system('ulimit -Sn')"

    said = subprocess.run(
        ["bash", "-c", f"ulimit -Sn 1024 && ulimit -Hn {hard} && exec '{sys.executable}' -c \"{raising}\""],
        capture_output=True, text=True, check=True, cwd=Path(__file__).parents[2],
    )  # fmt: skip

    assert int(said.stdout) == allowed


@pytest.mark.parametrize(
    ("program", "said"),
    [
        ("import sys; sys.exit('one\\ntwo')", "one | two"),
        ("def a(): raise ConnectionError('the server has gone')\na()", "ConnectionError: the server has gone"),
    ],
    ids=["words", "traceback"],
)
def test_a_program_that_failed_is_told_by_its_words_or_its_error_and_not_by_where_it_was(tmp_path, program, said):
    out, err = tmp_path / "out", tmp_path / "err"
    with out.open("w") as stdout, err.open("w") as stderr:
        subprocess.run([sys.executable, "-c", program], stdout=stdout, stderr=stderr, check=False)

    assert processes.Ended([], 1, out, err, 0.0, 0.0).tail() == said


def test_a_worker_that_does_not_come_to_the_gate_is_told_by_what_the_program_said(tmp_path, monkeypatch):
    monkeypatch.setattr(processes, "ARM_TIMEOUT_S", 1.0)
    one_of_two = ["/bin/sh", "-c", "echo 'the other one is gone' >&2; echo >&4; read go <&3"]

    with pytest.raises(ToolFailed, match="1 of 2 workers did not start within 1 s: the other one is gone"):
        processes.Armed([processes.Command(one_of_two, tmp_path, runners=2)], tmp_path)


def test_a_program_that_ends_before_its_start_is_told_though_others_stand_at_the_gate(tmp_path):
    standing = processes.Command(["/bin/true"], tmp_path)
    without_a_folder = processes.Command(["/bin/true"], tmp_path / "gone")

    with pytest.raises(ToolFailed, match=r"/bin/true ended before its start: .*cd"):
        processes.Armed([standing, without_a_folder, standing], tmp_path)


def test_the_clock_offset_is_what_chrony_says():
    line = (
        "A9FEA97B,169.254.169.123,4,1763683200.1,0.000012345,-0.000001,0.000020,-1.2,0.1,0.2,0.0003,0.0002,16.1,Normal"
    )

    assert host.parse_tracking(line) == {
        "source": "169.254.169.123", "offset_s": 1.2345e-05, "rms_offset_s": 2e-05, "is_synchronised": True
    }  # fmt: skip
    assert host.parse_tracking("506 Cannot talk to daemon") is None


def test_a_clock_without_a_source_is_not_the_best_of_clocks():
    line = "7F7F0101,,0,0.000000000,0.000000000,0.000000000,0.000000000,0.000,0.000,0.000,1.0,1.0,0.0,Not synchronised"

    [warning] = host.clock_warnings(host.parse_tracking(line), None, is_shared=False)

    assert warning.startswith("chrony has no time source")


@pytest.mark.parametrize(("is_shared", "count"), [(False, 1), (True, 0)])
def test_a_fleet_without_chrony_says_that_nobody_knows_its_clocks_unless_it_has_one_in_common(is_shared, count):
    assert len(host.clock_warnings(None, None, is_shared=is_shared)) == count


def test_the_distribution_is_named_as_it_names_itself(tmp_path):
    release = tmp_path / "os-release"
    release.write_text('NAME="Amazon Linux"\nPRETTY_NAME="Amazon Linux 2023.6.20241212"\n')

    assert host.distribution(release) == "Amazon Linux 2023.6.20241212"
    assert host.distribution(Path("/nowhere")) == "unknown"


@pytest.mark.parametrize("where", ["disk", "nfs"])
def test_bytes_that_the_storage_has_not_seen_are_a_warning_and_more_than_claimed_are_none(where):
    claimed = {"write": 1000.0, "read": 100.0}

    [said] = counters.unseen(claimed, {f"{where}_write_bytes": 900, f"{where}_read_bytes": 100})
    assert said.startswith(f"write: 90% of 1000 bytes went through the {where}: a cache, a compressor or an fsync that")
    assert counters.unseen(claimed, {f"{where}_write_bytes": 5000, f"{where}_read_bytes": 96}) == []
    assert counters.unseen(claimed, {"cpu_s": 1.0}) == []


def test_a_program_that_is_loaded_has_been_run_so_that_it_and_its_libraries_are_in_memory(
    monkeypatch, fake_tool, bin_folder
):
    fake_tool("parallel", f'echo "$@" >> {bin_folder}/runs')
    monkeypatch.setenv("PATH", str(bin_folder))

    tools.load({"parallel", "not-installed"})

    assert (bin_folder / "runs").read_text() == "--version\n"


@pytest.mark.parametrize(("alone_s", "others"), [(math.inf, 0), (0, 40)])
def test_files_are_removed_by_many_hands_only_where_one_takes_long(tmp_path, monkeypatch, alone_s, others):
    monkeypatch.setattr(workspace, "ALONE_S", alone_s)
    unlink, removers = os.unlink, []
    monkeypatch.setattr(os, "unlink", lambda path: (removers.append(threading.current_thread().name), unlink(path)))
    for number in range(41):
        (tmp_path / "folder" / str(number % 3)).mkdir(parents=True, exist_ok=True)
        (tmp_path / "folder" / str(number % 3) / f"file-{number}").touch()

    workspace.remove(tmp_path / "folder")

    assert not (tmp_path / "folder").exists()
    assert len([name for name in removers if name != threading.current_thread().name]) == others
