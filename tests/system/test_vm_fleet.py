"""A fleet of two emulated machines for each storage, through the whole state machine: the road that EC2 takes.

Some minutes on two cores, so it runs where STORAGE_MATRIX_VM_TESTS is set: `all` by `make vm`, `smallest` on GitHub.
"""

import hashlib
import json
import os
import subprocess
import time
from pathlib import Path

import pytest
from cloud.vm.image import DEFAULT_SUITE, SUITE_VARIABLE, SUITES, ImageUnavailableError, image
from support import runs
from support.owned import owned_volume
from support.running_cloud import wait_until

FLEET, DISKS = (runs.ROOT / "tests/cloud/vm" / name for name in ("fleet.json", "disks.json"))
WANTED = os.environ.get("STORAGE_MATRIX_VM_TESTS", "")
# Emulation takes what the machine has: a busy one needs ten times as long as an idle one. So a run may take long while
# its machines go on: here each of them says something at least every ten seconds, at a load of 15 every minute.
SILENCE_S, PATIENCE_S = 300, 3600
# CI runs the oldest release: what is older than both images of AWS breaks first.
ON_EACH_RELEASE = pytest.mark.parametrize("suite", SUITES[:1] if WANTED == "smallest" else SUITES)
# Amazon Linux 2023 has Python 3.9 and Linux 6.1; Ubuntu 22.04 has 3.10 and 5.15 or newer.
PYTHON_AND_KERNEL = {"bullseye": ("3.9.", "5.10."), "bookworm": ("3.11.", "6.1."), "trixie": ("3.13.", "6.12.")}
ALL = pytest.mark.skipif(WANTED == "smallest", reason="CI runs the smallest fleets of emulated machines only: make vm")


@pytest.fixture
def suite():
    """The release of Debian that the machines run."""
    return os.environ.get(SUITE_VARIABLE) or DEFAULT_SUITE


@pytest.fixture
def cloud(tmp_path, monkeypatch, suite):
    """A local cloud whose instances are VMs."""
    if not WANTED:
        pytest.skip("minutes of emulated machines: make vm")
    monkeypatch.setenv(SUITE_VARIABLE, suite)
    try:
        image()
    except ImageUnavailableError as error:
        # Who asks for all of them must not read "7 skipped" as a pass.
        (pytest.fail if WANTED == "all" else pytest.skip)(str(error))
    monkeypatch.setattr(runs.Run, "wait", wait_while_machines_speak)
    # Polls that come too often take from the machines what they need of the processor.
    with runs.start_cloud(tmp_path, "--instances", "vm", "--time-scale", "20") as cloud:
        yield cloud


def wait_while_machines_speak(run: runs.Run) -> None:
    """Wait until a run has ended; fail once no console of a machine has grown for a while."""
    written, silent_since = 0, time.monotonic()

    def has_ended() -> bool:
        nonlocal written, silent_since
        consoles = list((run.cloud.folder / "logs").glob("i-*.log"))
        now_written = sum(console.stat().st_size for console in consoles)
        if now_written != written:
            written, silent_since = now_written, time.monotonic()
        last = {console.name: console.read_text(errors="replace")[-300:] for console in consoles[-2:]}
        assert time.monotonic() < silent_since + SILENCE_S, f"no machine said anything for {SILENCE_S} s: {last}"
        return run.status != "RUNNING"

    wait_until(has_ended, f"{run.name} to end", PATIENCE_S)


def samples_of(run: runs.Run, cell: str) -> list[dict]:
    """What each instance of a cell wrote."""
    s3, bucket = run.cloud.client("s3"), run.cloud.output("BucketName")
    prefix = f"runs/{run.name}/cells/{cell}/instances/"
    keys = [one["Key"] for one in s3.list_objects_v2(Bucket=bucket, Prefix=prefix)["Contents"]]
    return [
        json.loads(s3.get_object(Bucket=bucket, Key=key)["Body"].read()) for key in keys if key.endswith("samples.json")
    ]


def mounts_of(run: runs.Run, cell: str) -> list[tuple[str, str, str]]:
    """File system type, source and options as each instance of a cell saw them."""
    mounts = [written["mount"] for written in samples_of(run, cell)]
    return [(mount["fstype"], mount["source"], mount["options"]) for mount in mounts]


def ran(cloud, *storages: str) -> runs.Run:
    """Run the storages of that name of tests/cloud/vm/fleet.json, one after another."""
    document = json.loads(FLEET.read_text())
    document["storage"] = [one for one in document["storage"] if one["name"] in storages]

    run = cloud.run("vm", document | {"maxConcurrentFileSystems": 1})

    assert run.status == "SUCCEEDED"
    assert run.summary()["environment"] == "local-vm"
    assert run.left_behind() == {}
    return run


def all_mounts(run: runs.Run) -> dict[str, list[tuple[str, str, str]]]:
    """The mounts of the instances, by file system."""
    return {cell["file_system"]: mounts_of(run, cell["id"]) for cell in run.summary()["cells"]}


@ON_EACH_RELEASE
def test_a_volume_and_efs_are_mounted_by_real_machines_that_meet(cloud, suite):
    run = ran(cloud, "volume", "efs")

    for cell in run.summary()["cells"]:
        written = samples_of(run, cell["id"])
        starts = {one["samples"][0]["scheduled_at"] for one in written}
        assert len(written) == 2
        assert len(starts) == 1
        assert None not in starts
        python, kernel = PYTHON_AND_KERNEL[suite]
        assert all(one["host"]["python"].startswith(python) for one in written)
        assert all(one["host"]["kernel"].startswith(kernel) for one in written)
    mounts = all_mounts(run)
    assert [(kind, source) for kind, source, _ in mounts["volume"]] == [("xfs", "/dev/vda")] * 2
    assert [(kind, source.split(".")[1]) for kind, source, _ in mounts["efs"]] == [("nfs4", "efs")] * 2
    assert all({"vers=4.1", "read_ahead_kb=15360"} <= set(options.split(",")) for _, _, options in mounts["efs"])


@ALL
def test_raid0_and_fsx_are_mounted_by_real_machines(cloud):
    mounts = all_mounts(ran(cloud, "raid0", "fsx"))

    assert [(kind, source) for kind, source, _ in mounts["raid0"]] == [("xfs", "/dev/md0")] * 2
    assert [(kind, source.split(".")[1]) for kind, source, _ in mounts["fsx"]] == [("nfs4", "fsx")] * 2


@ALL
def test_fio_writes_the_raw_volumes_of_its_own_machine_striped_and_single(cloud):
    document = json.loads(FLEET.read_text())
    document["storage"] = [storage for storage in document["storage"] if storage["type"] == "ebs"]
    fio = {"type": "fio", "device": True, "rw": "randwrite", "bs": "64k", "size": "16M", "numjobs": 2, "iodepth": 4}
    document["workload"] = [fio | {"ioengine": "libaio", "direct": 1, "time_based": 1, "runtime": 2}]
    document["fleet"] = [{"instanceType": "t3.medium", "count": 1}]

    run = cloud.run("vm", document | {"maxConcurrentFileSystems": 1})

    assert run.status == "SUCCEEDED"
    mounts = all_mounts(run)
    assert mounts == {"raid0": [("raw", "/dev/md0", "")], "volume": [("raw", "/dev/vda", "")]}
    # The kernel's own counters of the device saw what fio says that it wrote.
    warnings = [warning.get("text", "") for cell in run.summary()["cells"] for warning in cell["warnings"]]
    assert not [warning for warning in warnings if "went through the disk" in warning or "plays the device" in warning]
    assert run.left_behind() == {}


@ALL
def test_the_disks_of_an_instance_type_are_striped_and_nfs_is_mounted_as_asked(cloud):
    document = json.loads(DISKS.read_text())

    run = cloud.run("vm", document | {"maxConcurrentFileSystems": 1})

    assert run.status == "SUCCEEDED"
    mounts = all_mounts(run)
    assert [(kind, source) for kind, source, _ in mounts.pop("instance-store")] == [("xfs", "/dev/md0")] * 2
    [nfs] = mounts.values()
    assert all({"vers=4.2", "nconnect=4"} <= set(options.split(",")) for _, _, options in nfs)


READ = 'test "$(cat "$CACHE_DIR/todo")" = nothing; test ! -w "$CACHE_DIR"'
READS = {"type": "command", "name": "reads", "command": READ, "workDirectory": "local", "expectedSeconds": 5}
# Servers of a user: what they export how, how it is mounted, and as what a cell on it ends.
SERVERS = {
    "read": ({"access": "RO"}, {"options": "nfsvers=4.1,hard,ro"}, ""),
    "closed": ({"access": "RO"}, {}, "StorageReadOnly"),
    "squashed": ({"squash": "Root_Squash"}, {}, "RootSquashed"),
    "open-to-all": ({"squash": "Root_Squash"}, {}, ""),
}


@ALL
def test_a_volume_and_servers_of_a_user_are_read_closed_and_a_squashed_root_is_named(cloud, tmp_path):
    folder = cloud.folder / "storage" / "file-systems"
    for name in SERVERS:
        (folder / name).mkdir(parents=True)
        (folder / name / "todo").write_text("nothing\n")
    (folder / "open-to-all").chmod(0o777)
    (folder / "servers.json").write_text(json.dumps({name: export for name, (export, *_) in SERVERS.items()}))
    fleet = {"instanceType": "t3.medium", "count": 1}
    include = [
        {
            "storage": {"type": "nfs", "name": name, "source": f"{name}:/export", **options},
            "workload": READS if options else {"type": "touch", "files": 8, "threads": 1},
            "fleet": fleet,
        }
        for name, (_, options, _) in SERVERS.items()
    ]
    with owned_volume(cloud) as volume:
        disk = folder / f"{volume.id}.img"
        make_xfs(disk, tmp_path / "files")
        content = hashlib.sha256(disk.read_bytes()).digest()
        of_volume = {"type": "ebs", "name": "volume", "volumeType": "gp3", "sizeGiB": 8, "volumeId": volume.id}
        whole = {"storage": [of_volume], "workload": [READS], "fleet": [fleet], "include": include, "repetitions": 1}

        run = cloud.run("theirs", {"name": "theirs", "maxConcurrentFileSystems": 5, **whole})

        assert run.describe()["status"] == "FAILED", run.describe()  # some cells
        assert hashlib.sha256(disk.read_bytes()).digest() == content
    ended = {cell["storage"]["name"]: (cell["error"] or {}).get("message", "") for cell in run.summary()["cells"]}
    wanted = {"volume": "", **{name: error for name, (*_, error) in SERVERS.items()}}
    assert {
        name: error in ended[name] if error else not ended[name] for name, error in wanted.items()
    } == dict.fromkeys(wanted, True), ended
    assert [path.name for name in SERVERS for path in (folder / name).iterdir()] == ["todo"] * len(SERVERS)
    theirs = {str(folder / name) for name in (*SERVERS, "servers.json", disk.name)}
    assert {kind: set(left) - theirs for kind, left in run.left_behind().items()} in ({}, {"folders": set()})


def make_xfs(disk: Path, folder: Path) -> None:
    """Make an XFS with a file on it, in a sparse file."""
    folder.mkdir()
    todo, listed = folder / "todo", folder / "listed"
    todo.write_text("nothing\n")
    listed.write_text(f"/\n0 0\nd--755 0 0\ntodo ---644 0 0 {todo}\n$\n")
    with disk.open("wb") as image:
        image.truncate(512 << 20)
    subprocess.run(["mkfs.xfs", "-q", "-p", str(listed), str(disk)], check=True)


@ALL
def test_without_the_port_of_nfs_in_a_group_the_mount_fails_by_name_and_the_run_ends_clean(cloud):
    ec2 = cloud.client("ec2")
    groups = ec2.describe_security_groups()["SecurityGroups"]
    [files] = [group for group in groups if "FileSystemSecurityGroup" in group["GroupName"]]
    [nfs] = [rule for rule in files["IpPermissions"] if rule["FromPort"] == 2049]
    ec2.revoke_security_group_ingress(GroupId=files["GroupId"], IpPermissions=[nfs])
    document = json.loads(FLEET.read_text())
    document["storage"] = [storage for storage in document["storage"] if storage["name"] == "efs"]
    document["fleet"] = [{"instanceType": "t3.medium", "count": 1}]

    run = cloud.run("vm", document)

    cell = run.cell()
    assert cell["state"] == "failed"
    assert "MountFailed: fs-" in cell["error"]["message"]
    assert "port 2049 in the security groups" in cell["error"]["message"]
    assert run.left_behind() == {}
    [log] = (cloud.folder / "logs").glob("i-*.log")
    assert "security groups drop: " in log.read_text(errors="replace")
    assert "DPT=2049" in log.read_text(errors="replace")
