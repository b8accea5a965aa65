"""A fleet of two emulated machines for each storage, through the whole state machine: the road that EC2 takes.

Some minutes on two cores, so it runs where STORAGE_MATRIX_VM_TESTS is set: `all` by `make vm`, `smallest` on GitHub.
"""

import json
import os

import pytest
from support import runs

from local.instances.vm.image import ImageUnavailableError, image

WANTED = os.environ.get("STORAGE_MATRIX_VM_TESTS", "")
# Emulation takes what the machine has: a busy one needs five times as long as an idle one. CI has 25 minutes for all.
PATIENCE_S = 600 if WANTED == "smallest" else 3600
ALL = pytest.mark.skipif(WANTED == "smallest", reason="CI runs the smallest fleets of emulated machines only: make vm")


@pytest.fixture
def cloud(tmp_path, monkeypatch):
    """A local cloud whose instances are VMs."""
    if not WANTED:
        pytest.skip("minutes of emulated machines: make vm")
    try:
        image()
    except ImageUnavailableError as err:
        pytest.skip(str(err))
    monkeypatch.setattr(runs, "PATIENCE_S", PATIENCE_S)
    # Polls that come too often take from the machines what they need of the processor.
    with runs.start_cloud(tmp_path, "--instances", "vm", "--time-scale", "20") as cloud:
        yield cloud


def mounts_of(run: runs.Run, cell: str) -> list[tuple[str, str, str]]:
    """File system type, source and options as each instance of a cell saw them."""
    s3, bucket = run.cloud.client("s3"), run.cloud.output("BucketName")
    prefix = f"runs/{run.name}/cells/{cell}/instances/"
    keys = [one["Key"] for one in s3.list_objects_v2(Bucket=bucket, Prefix=prefix)["Contents"]]
    documents = [
        json.loads(s3.get_object(Bucket=bucket, Key=key)["Body"].read()) for key in keys if key.endswith("samples.json")
    ]
    return [(one["mount"]["fstype"], one["mount"]["source"], one["mount"]["options"]) for one in documents]


def measured(cloud, *storages: str) -> dict[str, list[tuple[str, str, str]]]:
    """Run the storages of that name of events/local-vm.json; the mounts of their instances, by file system."""
    document = json.loads((runs.ROOT / "events" / "local-vm.json").read_text())
    document["storage"] = [one for one in document["storage"] if one["name"] in storages]

    run = cloud.run("vm", document | {"maxConcurrentFileSystems": 1})

    assert run.status == "SUCCEEDED"
    assert run.summary()["environment"] == "local-vm"
    assert run.left_behind() == {}
    return {cell["file_system"]: mounts_of(run, cell["id"]) for cell in run.summary()["cells"]}


def test_a_volume_and_efs_are_mounted_by_real_machines(cloud):
    mounts = measured(cloud, "volume", "efs")

    assert [(kind, source) for kind, source, _ in mounts["volume"]] == [("xfs", "/dev/vda")] * 2
    assert [(kind, source.split(".")[1]) for kind, source, _ in mounts["efs"]] == [("nfs4", "efs")] * 2
    assert all({"vers=4.1", "read_ahead_kb=15360"} <= set(options.split(",")) for _, _, options in mounts["efs"])


@ALL
def test_raid0_and_fsx_are_mounted_by_real_machines(cloud):
    mounts = measured(cloud, "raid0", "fsx")

    assert [(kind, source) for kind, source, _ in mounts["raid0"]] == [("xfs", "/dev/md0")] * 2
    assert [(kind, source.split(".")[1]) for kind, source, _ in mounts["fsx"]] == [("nfs4", "fsx")] * 2


@ALL
def test_fio_writes_the_raw_volumes_of_its_own_machine_striped_and_single(cloud):
    document = json.loads((runs.ROOT / "events" / "local-vm.json").read_text())
    document["storage"] = [storage for storage in document["storage"] if storage["type"] == "ebs"]
    fio = {"type": "fio", "device": True, "rw": "randwrite", "bs": "64k", "size": "16M", "numjobs": 2, "iodepth": 4}
    document["workload"] = [fio | {"ioengine": "libaio", "direct": 1, "time_based": 1, "runtime": 2}]
    document["fleet"] = [{"instanceType": "t3.medium", "count": 1}]

    run = cloud.run("vm", document | {"maxConcurrentFileSystems": 1})

    assert run.status == "SUCCEEDED"
    mounts = {cell["file_system"]: mounts_of(run, cell["id"]) for cell in run.summary()["cells"]}
    assert mounts == {"raid0": [("raw", "/dev/md0", "")], "volume": [("raw", "/dev/vda", "")]}
    # The kernel's own counters of the device saw what fio says that it wrote.
    warnings = [warning for cell in run.summary()["cells"] for warning in cell["warnings"]]
    assert not [warning for warning in warnings if "went through the disk" in warning or "plays the device" in warning]
    assert run.left_behind() == {}


@ALL
def test_the_disks_of_an_instance_type_are_striped_and_nfs_is_mounted_as_asked(cloud):
    document = json.loads((runs.ROOT / "events" / "local-vm-disks.json").read_text())

    run = cloud.run("vm", document | {"maxConcurrentFileSystems": 1})

    assert run.status == "SUCCEEDED"
    mounts = {cell["file_system"]: mounts_of(run, cell["id"]) for cell in run.summary()["cells"]}
    assert [(kind, source) for kind, source, _ in mounts.pop("instance-store")] == [("xfs", "/dev/md0")] * 2
    [nfs] = mounts.values()
    assert all({"vers=4.2", "nconnect=4"} <= set(options.split(",")) for _, _, options in nfs)


@ALL
def test_without_the_port_of_nfs_in_a_group_the_mount_fails_by_name_and_the_run_ends_clean(cloud):
    ec2 = cloud.client("ec2")
    groups = ec2.describe_security_groups()["SecurityGroups"]
    [files] = [group for group in groups if "FileSystemSecurityGroup" in group["GroupName"]]
    [nfs] = [rule for rule in files["IpPermissions"] if rule["FromPort"] == 2049]
    ec2.revoke_security_group_ingress(GroupId=files["GroupId"], IpPermissions=[nfs])
    document = json.loads((runs.ROOT / "events" / "local-vm.json").read_text())
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
