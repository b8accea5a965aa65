"""FSx for NetApp ONTAP in the functions: file system, SVM and volume, made in this order and deleted in reverse."""

import time

import pytest
from judge import prose
from states.conftest import until
from support.function_events import RUN, plan_run, problems_of_run
from support.storages import STORAGES, requests_of

import check_file_system
import create_file_system
import delete_file_system
import reap
from aws.records import table
from aws.stack import tags
from aws.storages import clouds, fsx_ontap
from aws.storages.fsx_ontap import cloud as ontap
from matrix.terms.errors import FileSystemFailed

STORAGE = STORAGES["fsx-ontap"]
TAGS = [
    {"Key": tags.STACK, "Value": "storage-matrix"}, {"Key": tags.RUN, "Value": RUN},
    {"Key": tags.DEADLINE, "Value": "2030-01-01T00:00:00Z"},
]  # fmt: skip


@pytest.fixture(autouse=True)
def service(fsx):
    return fsx


def made(storage=STORAGE):
    name = ontap.create("token", storage, TAGS, RUN, "ontap", 0)
    until(lambda: ontap.is_ready(name, storage), "the volume")
    return name


def test_each_part_is_made_once_with_the_tags_of_its_run(service):
    name = made()
    assert ontap.create("token", STORAGE, TAGS, RUN, "ontap", 0) == name
    assert ontap.is_ready(name, STORAGE)

    [file_system] = service.describe_file_systems()["FileSystems"]
    [svm] = service.describe_storage_virtual_machines()["StorageVirtualMachines"]
    volumes = service.describe_volumes()["Volumes"]
    [volume] = [each for each in volumes if "JunctionPath" in each["OntapConfiguration"]]

    assert len(volumes) == 2, "the root volume of the SVM, and ours"
    for each in (file_system, svm, volume):
        assert {tag["Key"]: tag["Value"] for tag in each["Tags"]}.items() >= tags.as_mapping(TAGS).items()
    settings = volume["OntapConfiguration"]
    assert settings["SizeInBytes"] == 819 * 2**30
    assert (settings["StorageEfficiencyEnabled"], settings["TieringPolicy"], settings["SnapshotPolicy"]) == (
        False, {"Name": "NONE"}, "none",
    )  # fmt: skip
    assert file_system["OntapConfiguration"]["AutomaticBackupRetentionDays"] == 0
    assert clouds.tokens(RUN, "ontap", STORAGE)


def test_fsx_itself_takes_what_two_pairs_and_two_zones_ask_for(service, stack):
    requests = requests_of("fsx", "CreateFileSystem")
    two = STORAGE | {"haPairs": 2, "storageCapacityGiB": 2048, "volumeStyle": "FLEXGROUP", "iops": 10_000}
    made(two)
    multi = STORAGE | {"deploymentType": "MULTI_AZ_2", "throughputMBpsPerHaPair": 384}
    name = ontap.create("other", multi, TAGS, RUN, "multi", 0)

    refused = [prose.refusals_of_request("fsx", "CreateFileSystem", request) for request in requests]
    assert [list(each) for each in refused] == [[], []]
    described = {each["FileSystemId"]: each for each in service.describe_file_systems()["FileSystems"]}
    assert described[name]["SubnetIds"] == stack["SUBNET_IDS"].split(",")[:2]
    assert described[name]["OntapConfiguration"]["PreferredSubnetId"] == stack["SUBNET_IDS"].split(",")[0]


def test_it_is_deleted_in_reverse_and_nothing_is_left(service):
    name = made()
    left = []

    def is_gone():
        gone = ontap.delete(name)
        ours = [each for each in service.describe_volumes()["Volumes"] if "JunctionPath" in each["OntapConfiguration"]]
        left.append((len(ours), len(service.describe_storage_virtual_machines()["StorageVirtualMachines"])))
        return gone

    until(is_gone, "the end of it")

    assert left == sorted(left, reverse=True), "never an SVM before its volume"
    assert service.describe_file_systems()["FileSystems"] == []
    assert service.describe_volumes()["Volumes"] == []


def shown_as(monkeypatch, kind, **more):
    """Let FSx describe SVMs or volumes with other values."""
    describe = getattr(fsx_ontap, f"_{kind}")
    monkeypatch.setattr(fsx_ontap, f"_{kind}", lambda name: [{**each, **more} for each in describe(name)])


@pytest.mark.parametrize("kind", ["svms", "volumes"])
@pytest.mark.parametrize("state", ["FAILED", "MISCONFIGURED", "DELETING"])
def test_a_part_that_fails_ends_the_wait_with_fsxs_reason(service, monkeypatch, kind, state):
    name = made()
    shown_as(monkeypatch, kind, Lifecycle=state, LifecycleTransitionReason={"Message": "no room"})

    with pytest.raises(FileSystemFailed, match=f"is {state}: no room"):
        ontap.is_ready(name, STORAGE)


@pytest.mark.parametrize("kind", ["svms", "volumes"])
def test_a_deletion_that_fsx_gives_up_is_told_and_begun_again(service, monkeypatch, kind):
    name = made()
    if kind == "svms":
        until(lambda: not ontap.delete(name) and not fsx_ontap._volumes(name), "the end of the volume")
    with monkeypatch.context() as patch:
        shown_as(patch, kind, Lifecycle="CREATED", LifecycleTransitionReason={"Message": "a peer is left"})
        with pytest.raises(FileSystemFailed, match="tries again: a peer is left"):
            ontap.delete(name)

    assert {each["Lifecycle"] for each in getattr(fsx_ontap, f"_{kind}")(name)} <= {"DELETING"}
    until(lambda: ontap.delete(name), "the end of it")


def test_the_one_event_of_a_run_that_was_stopped_in_the_console_takes_all_steps_of_the_deletion(
    service, context, monkeypatch
):
    """Volumes, SVMs and the file system wait for each other; the next sweep would be 15 minutes away."""
    made()
    pauses, sleep = [], time.sleep
    monkeypatch.setattr(time, "sleep", lambda pause_s: (pauses.append(pause_s), sleep(0.02)))
    monkeypatch.setattr(context, "get_remaining_time_in_millis", lambda: 1_000 * (600 - sum(pauses)))

    swept = reap.handler({"detail": {"name": RUN, "status": "ABORTED"}}, context)

    assert (swept["remaining"], service.describe_file_systems()["FileSystems"]) == ([], [])
    assert len(pauses) >= 2


def test_what_belongs_to_no_run_is_not_deleted(service, stack):
    theirs = service.create_file_system(
        FileSystemType="ONTAP", StorageType="SSD", StorageCapacity=1024, SubnetIds=stack["SUBNET_IDS"].split(",")[:1],
        OntapConfiguration={"DeploymentType": "SINGLE_AZ_2", "ThroughputCapacityPerHAPair": 1536},
    )["FileSystem"]["FileSystemId"]  # fmt: skip

    with pytest.raises(FileSystemFailed, match="left as it is"):
        ontap.delete(theirs)


@pytest.fixture
def owned(service, stack):
    """Somebody's own file system with an SVM and a volume at /vol1."""
    name = service.create_file_system(
        FileSystemType="ONTAP", StorageType="SSD", StorageCapacity=1024, SubnetIds=stack["SUBNET_IDS"].split(",")[:1],
        SecurityGroupIds=[stack["FILE_SYSTEM_SECURITY_GROUP_ID"]],
        OntapConfiguration={"DeploymentType": "SINGLE_AZ_2", "ThroughputCapacityPerHAPair": 1536, "HAPairs": 1},
    )["FileSystem"]["FileSystemId"]  # fmt: skip
    svm = service.create_storage_virtual_machine(FileSystemId=name, Name="theirs")["StorageVirtualMachine"]
    settings = {"StorageVirtualMachineId": svm["StorageVirtualMachineId"], "JunctionPath": "/vol1"}
    more = {"SizeInBytes": 2**40, "StorageEfficiencyEnabled": True}
    service.create_volume(VolumeType="ONTAP", Name="vol1", OntapConfiguration=settings | more)
    return name


def written(owned, **more):
    fields = {"type": "fsx-ontap", "storageCapacityGiB": 1024, "throughputMBpsPerHaPair": 1536}
    return [{**fields, "fileSystemId": owned, "junctionPath": "/vol1", **more}]


def test_a_volume_that_exists_is_used_and_left_as_it_was(owned, service, context):
    before = service.describe_file_systems()["FileSystems"], service.describe_volumes()["Volumes"]
    plan = plan_run(context, storage=written(owned))
    name, storage = plan["file_systems"][0]["id"], plan["file_systems"][0]["storage"]

    of_it = {"run": RUN, "file_system": name}
    started = create_file_system.handler(of_it, context)
    ready = check_file_system.handler(of_it | {"resource_ids": [owned], "started_at": started["started_at"]}, context)
    mount = ontap.mount(owned, storage)
    gone = delete_file_system.handler(of_it, context)

    assert (ready["state"], gone["state"]) == ("ready", "gone")
    assert mount["source"].endswith(":/vol1")
    assert (reap.handler({"run": RUN}, context)["deleted"], table.resources(RUN)) == ([], [])
    assert (service.describe_file_systems()["FileSystems"], service.describe_volumes()["Volumes"]) == before
    assert any("compressed" in each["message"] for each in plan["warnings"])


def test_what_is_described_otherwise_or_nowhere_is_refused_at_once(owned, context):
    changed = written(owned, junctionPath="/vol2", throughputMBpsPerHaPair=3072)

    problems = problems_of_run(context, storage=changed)

    told = {each.path.rpartition(".")[2]: f"{each.rule}; {each.fix}" for each in problems}
    assert told["throughputMBpsPerHaPair"] == f"{owned} has another; write 1536"
    assert told["junctionPath"] == f"no volumes of {owned} are there; write one of /vol1"
