"""A fleet of two emulated machines for each storage, through the whole state machine: the road that EC2 takes.

Seven minutes on two cores, so it runs only where STORAGE_MATRIX_VM_TESTS is set: by `make vm`.
"""

import json
import os

import pytest
import runs

from local.vm.image import ImageUnavailableError, image

# Emulation takes what the machine has: a busy one needs five times as long as an idle one.
PATIENCE_S = 3600


@pytest.fixture
def cloud(tmp_path, monkeypatch):
    """A local cloud whose instances are VMs."""
    if not os.environ.get("STORAGE_MATRIX_VM_TESTS"):
        pytest.skip("seven minutes of emulated machines: make vm")
    try:
        image()
    except ImageUnavailableError as err:
        pytest.skip(str(err))
    monkeypatch.setattr(runs, "PATIENCE_S", PATIENCE_S)
    with runs.start_cloud(tmp_path, "--instances", "vm") as cloud:
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


def test_raid0_a_volume_efs_and_fsx_are_mounted_by_real_machines(cloud):
    document = json.loads((runs.ROOT / "events" / "local-vm.json").read_text())

    run = cloud.run("vm", document | {"maxConcurrentFileSystems": 1})

    assert run.status == "SUCCEEDED"
    assert run.summary()["environment"] == "local-vm"
    mounts = {
        cell["file_system"]: [(kind, source) for kind, source, _ in mounts_of(run, cell["id"])]
        for cell in run.summary()["cells"]
    }
    assert mounts.pop("ebs-gp3-2gib-3000iops-raid0x2") == [("xfs", "/dev/md0")] * 2
    assert mounts.pop("ebs-gp3-2gib-3000iops") == [("xfs", "/dev/vda")] * 2
    assert [kind for found in mounts.values() for kind, _ in found] == ["nfs4"] * 4
    assert run.left_behind() == {}


@pytest.mark.skipif(os.environ.get("STORAGE_MATRIX_VM_TESTS") != "all", reason="four more machines: make vm")
def test_the_disks_of_an_instance_type_are_striped_and_nfs_is_mounted_as_asked(cloud):
    document = json.loads((runs.ROOT / "events" / "local-vm-disks.json").read_text())

    run = cloud.run("vm", document | {"maxConcurrentFileSystems": 1})

    assert run.status == "SUCCEEDED"
    mounts = {cell["file_system"]: mounts_of(run, cell["id"]) for cell in run.summary()["cells"]}
    assert [(kind, source) for kind, source, _ in mounts.pop("instance-store")] == [("xfs", "/dev/md0")] * 2
    [nfs] = mounts.values()
    assert all({"vers=4.2", "nconnect=4"} <= set(options.split(",")) for _, _, options in nfs)
