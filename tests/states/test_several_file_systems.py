"""A storage that is several file systems, one in each zone: made, mounted, filled, watched and deleted as one."""

import boto3
import pytest
from botocore.exceptions import ClientError
from moto.fsx.models import FileSystem

import create_file_system
import delete_file_system
import launch_fleet
import plan_matrix
import populate_cache
from aws.ec2 import images
from aws.records import bucket, plans, table
from aws.stack import clock
from aws.stack.clients import client
from aws.storages import clouds
from aws.teardown import receipts
from matrix.terms.keys import Board

RUN = "sharded"
ARN = "arn:aws:states:us-east-1:123456789012:execution:s-run:r"
FSX = {"type": "fsx-openzfs", "name": "two", "storageCapacityGiB": 64, "throughputCapacityMBps": 64, "fileSystems": 2}
BUILD = {"type": "build", "name": "b", "build": "true", "populate": "true", "expectedSeconds": 1}
EVENT = {"run": RUN, "file_system": "two"}


@pytest.fixture
def planned(stack, context, monkeypatch):
    """A run of two cells on one storage of two file systems, with a cache; returns the stack's subnets."""
    monkeypatch.setattr(images, "newest", lambda _parameter: "ami-12345678")
    describe, facts = FileSystem.to_dict, {"CreationTime": clock.now(), "Lifecycle": "AVAILABLE"}
    monkeypatch.setattr(FileSystem, "to_dict", lambda self: describe(self) | facts)  # which moto does not tell
    fleet = [{"instanceType": "m6i.large", "count": 4}]
    document = {"name": "m", "storage": [FSX], "workload": [BUILD], "fleet": fleet}
    plan_matrix.handler({"run": RUN, "execution_arn": ARN, "matrix": document}, context)
    return stack["SUBNET_IDS"].split(",")


@pytest.fixture
def one_zone_refuses(planned, monkeypatch):
    """FSx, where the second zone has no more of what is asked for."""
    create = client("fsx").create_file_system

    def refuse_in_the_second(**request):
        if request["SubnetIds"] == [planned[1]]:
            error = {"Error": {"Code": "ServiceLimitExceeded", "Message": "no more"}}
            raise ClientError(error, "CreateFileSystem")
        return create(**request)

    monkeypatch.setattr(client("fsx"), "create_file_system", refuse_in_the_second)


def in_fsx():
    """The file systems that FSx has, by subnet."""
    return {one["SubnetIds"][0]: one for one in boto3.client("fsx").describe_file_systems()["FileSystems"]}


def tags_of(file_system):
    """Its tags by name."""
    return {tag["Key"]: tag["Value"] for tag in file_system["Tags"]}


def subnets_of_instances():
    """Where the instances are, one by one."""
    reservations = boto3.client("ec2").describe_instances()["Reservations"]
    return sorted(one["SubnetId"] for reservation in reservations for one in reservation["Instances"])


def test_each_zone_has_its_own_with_a_token_of_its_own_and_all_the_tags_of_the_run(planned, context):
    made = create_file_system.handler(EVENT, context)

    by_subnet = in_fsx()
    first, second = (by_subnet[subnet] for subnet in planned[:2])
    assert made["resource_ids"] == [first["FileSystemId"], second["FileSystemId"]]
    assert {row["id"]: row["file_system"] for row in table.resources(RUN)} == dict.fromkeys(made["resource_ids"], "two")
    of_first, of_second = map(tags_of, (first, second))
    assert of_first.pop("storage-matrix:token") != of_second.pop("storage-matrix:token")
    assert of_first == of_second
    assert {"storage-matrix:run", "storage-matrix:deadline", "storage-matrix:stack"} <= of_first.keys()


def test_a_single_file_system_has_the_token_that_it_always_had(stack):
    assert clouds.tokens(RUN, "two", {"type": "fsx-openzfs"}) == [clouds.token(RUN, "two")]


def test_where_only_the_first_could_be_made_it_is_deleted_and_nothing_is_left(one_zone_refuses, planned, context):
    with pytest.raises(ClientError, match="no more"):
        create_file_system.handler(EVENT, context)
    assert in_fsx().keys() == {planned[0]}

    # Its row is there before the second is asked for, and deletion finds it by its token.
    assert [row["kind"] for row in table.resources(RUN)] == ["fsx-openzfs"]
    state = delete_file_system.handler(EVENT, context)["state"]
    while state == "deleting":
        state = delete_file_system.handler(EVENT, context)["state"]

    assert in_fsx() == {}
    receipt = receipts.make(RUN, sweep={"at": 0.0, "remaining": 0})
    assert (receipt["totals"]["resources"], receipt["is_complete"]) == (1, True)


def test_the_deletion_of_the_second_does_not_wait_for_that_of_the_first(planned, context, monkeypatch):
    made = create_file_system.handler(EVENT, context)
    asked = []
    monkeypatch.setattr("aws.storages.fsx_openzfs.cloud.delete", lambda resource_id: bool(asked.append(resource_id)))

    assert delete_file_system.handler(EVENT, context)["state"] == "deleting"
    assert asked == made["resource_ids"]


def test_instances_are_dealt_out_evenly_and_each_mounts_the_one_in_its_own_subnet(planned, context):
    made = create_file_system.handler(EVENT, context)
    [cell] = plans.plan_of(RUN)["cells"]

    launch_fleet.handler({"run": RUN, "cell": cell["id"], "resource_ids": made["resource_ids"]}, context)

    assert subnets_of_instances() == sorted(planned[:2] * 2)
    mount = bucket.get(Board.of_cell(RUN, cell["id"]).job)["mount"]
    by_subnet = in_fsx()
    assert (mount["kind"], list(mount["by_subnet"])) == ("nfs", planned[:2])
    assert {subnet: one["source"] for subnet, one in mount["by_subnet"].items()} == {
        subnet: f"{by_subnet[subnet]['DNSName']}:/fsx" for subnet in planned[:2]
    }


def test_the_cache_of_each_is_filled_by_an_instance_in_its_zone(planned, context):
    made = create_file_system.handler(EVENT, context)

    populate_cache.handler(EVENT | {"resource_ids": made["resource_ids"]}, context)

    assert subnets_of_instances() == sorted(planned[:2])
    job = bucket.get(Board.of_cache(RUN, "two").job)
    assert (job["kind"], job["instances"], job["barrier"]) == ("populate", 1, None)  # none waits for another
    assert list(job["mount"]["by_subnet"]) == planned[:2]
