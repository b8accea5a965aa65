"""What every file system that runs create must do, whatever its type (`aws.storages.base.FileSystem`)."""

import pytest
from states.conftest import until
from support.function_events import RUN
from support.storages import STORAGES

from aws.stack import tags as tags_of
from aws.storages import clouds

MOUNTS = {"efs": "efs", "efs-one-zone": "nfs", "fsx-lustre": "lustre", "mountpoint-express": "mountpoint",
          "s3-express": "s3", "fsx-ontap": "nfs", "fsx-openzfs": "nfs"}  # fmt: skip


@pytest.fixture(params=STORAGES)
def storage(request, stack):
    """The name of each storage that a run creates; a file server is an instance, and has tests of its own."""
    if request.param.startswith("fsx"):
        request.getfixturevalue("fsx")
    return request.param


def tags(name):
    mapping = {tags_of.STACK: "storage-matrix", tags_of.RUN: RUN, tags_of.DEADLINE: "2030-01-01T00:00:00Z",
               tags_of.FILE_SYSTEM: name}  # fmt: skip
    return [{"Key": key, "Value": value} for key, value in mapping.items()]


def make(storage, name):
    """Create the storage; the id and its token."""
    token = clouds.token(RUN, name)
    return module(storage).create(token, STORAGES[storage], tags(name), RUN, name, 0), token


def module(storage):
    return clouds.FILE_SYSTEMS[STORAGES[storage]["type"]]


def listed(storage):
    """Tags of each file system of the storage's kind, by its id."""
    return {each.id: each.tags for each in module(storage).existing()}


def test_creating_it_twice_makes_one_that_its_token_finds_with_the_tags_of_its_run(storage):
    cloud = module(storage)
    resource_id, token = make(storage, "one")

    assert make(storage, "one") == (resource_id, token)
    assert cloud.find(token) == resource_id
    assert cloud.find(clouds.token(RUN, "never")) is None
    [(found, has)] = listed(storage).items()
    assert found == resource_id
    assert tags_of.as_mapping(has).items() >= tags_of.as_mapping(tags("one")).items()


def test_it_becomes_ready_and_tells_how_it_is_mounted(storage):
    resource_id, _ = make(storage, "one")

    until(lambda: module(storage).is_ready(resource_id, STORAGES[storage]), "a file system that is ready")

    mount = module(storage).mount(resource_id, STORAGES[storage])
    assert mount["kind"] == MOUNTS.get(storage, storage)


def test_a_disk_of_the_instance_is_preconditioned_as_the_matrix_says():
    given = {"type": "instance-store", "precondition": 2}

    assert clouds.STORAGES["instance-store"].mount("", given)["precondition"] == 2
    assert "precondition" not in clouds.STORAGES["instance-store"].mount("", {"type": "instance-store"})


def test_its_deletion_ends_with_nothing_left_and_leaves_its_neighbour_alone(storage):
    cloud = module(storage)
    (resource_id, token), (neighbour, other_token) = make(storage, "one"), make(storage, "other")
    until(lambda: cloud.is_ready(resource_id, STORAGES[storage]), "a file system that is ready")
    assert cloud.deleted({resource_id: 0.0, neighbour: 0.0}) == set()

    until(lambda: cloud.delete(resource_id), "the end of it")

    assert cloud.delete(resource_id) is True
    assert cloud.find(token) is None
    assert cloud.find(other_token) == neighbour
    assert set(cloud.deleted({resource_id: 0.0, neighbour: 0.0})) == {resource_id}
    assert listed(storage).keys() == {neighbour}


def test_it_is_deleted_before_it_was_ever_looked_at(storage):
    resource_id, token = make(storage, "one")

    until(lambda: module(storage).delete(resource_id), "the end of it")

    assert module(storage).find(token) is None
    assert listed(storage) == {}
