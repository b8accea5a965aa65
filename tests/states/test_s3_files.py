"""S3 Files, function by function, against the stand-in of the local cloud."""

import json
from unittest.mock import Mock

import boto3
import pytest
from support.refusals import refusing
from support.storages import STORAGES

from aws.stack.clients import client
from aws.storages.s3_files import cloud as s3_files
from local.corrections import s3_files as stand_in
from local.corrections.folders import Folders
from matrix.terms.errors import FileSystemFailed

TOKEN = "t" * 60
TAGS = [
    {"Key": "storage-matrix:stack", "Value": "storage-matrix"},
    {"Key": "storage-matrix:run", "Value": "run"},
    {"Key": "storage-matrix:deadline", "Value": "2026-11-26T00:00:00Z"},
]
OWNER = ("run", "files", 0)
FILES = STORAGES["s3-files"]


@pytest.fixture
def folder(stack, tmp_path):
    """Where the folders of file systems are; they are there at once."""
    stand_in.install(Folders(tmp_path / "folders"), delay_s=0.0)
    return tmp_path / "folders"


def made(storage=FILES):
    """Create a file system with its mount targets."""
    resource_id = s3_files.create(TOKEN, storage, TAGS, *OWNER)
    assert [s3_files.is_ready(resource_id, storage) for _ in range(2)] == [False, True]
    return resource_id


def versions(prefix=""):
    listed = boto3.client("s3").list_object_versions(Bucket="files", Prefix=prefix)
    return [*listed.get("Versions", []), *listed.get("DeleteMarkers", [])]


def test_its_hot_storage_is_encrypted_by_the_key_of_the_stack(folder, monkeypatch):
    monkeypatch.setenv("KMS_KEY_ARN", "arn:aws:kms:us-east-1:123456789012:key/1")

    described = boto3.client("s3files").get_file_system(fileSystemId=s3_files.create(TOKEN, FILES, TAGS, *OWNER))

    assert described["kmsKeyId"] == "arn:aws:kms:us-east-1:123456789012:key/1"


def test_it_is_ready_once_every_subnet_has_a_mount_target_in_the_stacks_group(folder, stack):
    resource_id = made()

    targets = boto3.client("s3files").list_mount_targets(fileSystemId=resource_id)["mountTargets"]
    assert {target["subnetId"] for target in targets} == set(stack["SUBNET_IDS"].split(","))
    interfaces = boto3.client("ec2").describe_network_interfaces(
        NetworkInterfaceIds=[target["networkInterfaceId"] for target in targets]
    )["NetworkInterfaces"]
    groups = {group["GroupId"] for interface in interfaces for group in interface["Groups"]}
    assert groups == {stack["FILE_SYSTEM_SECURITY_GROUP_ID"]}


def test_its_rules_are_set_before_the_first_mount_target_lets_anybody_in(folder, monkeypatch):
    storage = FILES | {"importTrigger": "onFileAccess", "importBelow": 1, "expireAfterDays": 2}
    resource_id = s3_files.create(TOKEN, storage, TAGS, *OWNER)
    seen = []
    monkeypatch.setattr(client("s3files"), "create_mount_target", lambda **_: seen.append(rules(resource_id)))

    s3_files.is_ready(resource_id, storage)

    assert seen[0]["importDataRules"] == [{"prefix": "", "trigger": "ON_FILE_ACCESS", "sizeLessThan": 1}]
    assert seen[0]["expirationDataRules"] == [{"daysAfterLastAccess": 2}]


def rules(resource_id):
    return boto3.client("s3files").get_synchronization_configuration(fileSystemId=resource_id)


@pytest.mark.parametrize("status", ["misconfigured", "error", "deleting"])
def test_a_state_that_leads_nowhere_fails_with_the_services_own_words(folder, monkeypatch, status):
    said = {"status": status, "statusMessage": "S3 Files may not assume the role"}
    monkeypatch.setattr(client("s3files"), "get_file_system", lambda **_: said)

    with pytest.raises(FileSystemFailed, match=f"fs-1 is {status}: S3 Files may not assume the role"):
        s3_files.is_ready("fs-1", FILES)


def test_a_mount_target_that_failed_is_named_by_its_subnet(folder, monkeypatch):
    resource_id = made()
    target = {"subnetId": "subnet-1", "status": "error", "statusMessage": "no addresses are left"}
    monkeypatch.setattr("aws.storages.s3_files._mount_targets", lambda _: [target])

    with pytest.raises(FileSystemFailed, match="its mount target in subnet-1: no addresses are left"):
        s3_files.is_ready(resource_id, FILES)


def test_a_mount_target_that_is_refused_for_now_is_made_at_the_next_look(folder, monkeypatch):
    resource_id = s3_files.create(TOKEN, FILES, TAGS, *OWNER)
    with monkeypatch.context() as patched:
        patched.setattr(client("s3files"), "create_mount_target", refusing("ConflictException", service="s3files"))
        assert s3_files.is_ready(resource_id, FILES) is False

    assert [s3_files.is_ready(resource_id, FILES) for _ in range(2)] == [False, True]


@pytest.mark.parametrize(("is_direct", "options"), [(True, "rw"), (False, "rw,nodirects3read")])
def test_direct_reads_are_an_option_of_the_mount(folder, is_direct, options):
    mount = s3_files.mount("fs-1", FILES | {"directReads": is_direct})

    assert mount == {"kind": "s3-files", "source": "fs-1:/", "options": options}


def delete(resource_id):
    """Delete it as the states do; return how many steps that took."""
    for step in range(1, 9):
        if s3_files.delete(resource_id):
            return step
    raise AssertionError("still there")


def test_it_is_gone_only_when_no_version_of_its_objects_is_left(folder):
    resource_id, s3 = made(), boto3.client("s3")
    for body in (b"1", b"2"):
        s3.put_object(Bucket="files", Key=f"{TOKEN}/file", Body=body)
    s3.delete_object(Bucket="files", Key=f"{TOKEN}/file")
    s3.put_object(Bucket="files", Key="other/file", Body=b"of another file system")

    assert s3_files.deleted({resource_id: 0.0}) == set()
    delete(resource_id)

    assert [version["Key"] for version in versions()] == ["other/file"]
    assert s3_files.deleted({resource_id: 0.0}) == {resource_id}
    assert s3_files.find(TOKEN) is None


def test_objects_of_a_file_system_that_is_gone_are_found_and_deleted_later(folder, monkeypatch):
    """The function may end between the end of the file system and that of its objects."""
    resource_id = made()
    boto3.client("s3").put_object(Bucket="files", Key=f"{TOKEN}/file", Body=b"exported at last")
    with monkeypatch.context() as patched:
        patched.setattr("aws.storages.s3_files._delete_versions", Mock(side_effect=TimeoutError))
        with pytest.raises(TimeoutError):
            delete(resource_id)

    assert boto3.client("s3files").list_file_systems()["fileSystems"] == []
    assert s3_files.find(TOKEN) == resource_id
    assert [(left.id, left.tags) for left in s3_files.existing()] == [(resource_id, TAGS)]
    assert s3_files.delete(resource_id) is True
    assert versions() == []


def test_data_that_wait_for_their_export_are_lost_and_that_is_said(folder, monkeypatch):
    resource_id, log = made(), Mock()
    monkeypatch.setattr("aws.storages.s3_files.Logger", lambda: log)
    (folder / resource_id / "file").write_text("not exported")

    delete(resource_id)

    [said] = log.warning.call_args_list
    assert said.args == ("deleted with data that wait for their export",)
    assert said.kwargs["file_system"] == resource_id
    assert s3_files.deleted({resource_id: 0.0}) == {resource_id}


def test_one_that_the_stack_has_not_made_is_neither_deleted_nor_marked(folder):
    files = boto3.client("s3files")
    theirs = files.create_file_system(bucket="arn:aws:s3:::files", prefix="x/", roleArn="arn:aws:iam::1:role/r")

    with pytest.raises(FileSystemFailed, match="made by no run of this stack"):
        s3_files.delete(theirs["fileSystemId"])

    assert files.get_file_system(fileSystemId=theirs["fileSystemId"])["status"] == "available"
    assert versions() == []


@pytest.fixture
def theirs(folder, stack):
    """Somebody's file system with mount targets for the stack's instances, and its id."""
    files, s3 = boto3.client("s3files"), boto3.client("s3")
    s3.create_bucket(Bucket="theirs")
    s3.put_bucket_versioning(Bucket="theirs", VersioningConfiguration={"Status": "Enabled"})
    made = files.create_file_system(bucket="arn:aws:s3:::theirs", roleArn="arn:aws:iam::123456789012:role/r")
    for subnet in stack["SUBNET_IDS"].split(","):
        files.create_mount_target(
            fileSystemId=made["fileSystemId"],
            subnetId=subnet,
            securityGroups=[stack["FILE_SYSTEM_SECURITY_GROUP_ID"]],
        )
    policy = json.dumps({"Statement": [{"Effect": "Allow", "Principal": {"AWS": stack["INSTANCE_ROLE_ARN"]}}]})
    files.put_file_system_policy(fileSystemId=made["fileSystemId"], policy=policy)
    return made["fileSystemId"]


def refusals(resource_id, **fields):
    return list(s3_files.refusals(FILES | {"fileSystemId": resource_id} | fields))


def test_one_that_exists_as_described_and_in_reach_is_not_refused(theirs):
    assert refusals(theirs) == []


def test_one_that_is_not_there_is_refused_with_the_region(folder):
    [refused] = refusals("fs-0123456789abcdef0")

    assert refused.rule == "S3 Files has no such file system in us-east-1"


def test_one_that_is_misconfigured_is_refused_with_the_services_own_words(theirs, monkeypatch):
    said = {"status": "misconfigured", "statusMessage": "Versioning of the bucket is suspended"}
    monkeypatch.setattr(client("s3files"), "get_file_system", lambda **_: said)

    [refused] = refusals(theirs)

    assert refused.rule == "is misconfigured: Versioning of the bucket is suspended"


def test_one_with_other_rules_is_refused_with_what_to_write(theirs):
    refused = refusals(theirs, importBelow=1, expireAfterDays=7)

    assert [(each.field, each.value, each.fix) for each in refused] == [
        ("importBelow", 1, "write 128KiB"), ("expireAfterDays", 7, "write 30"),
    ]  # fmt: skip


def test_one_whose_policy_does_not_name_the_instances_is_doubted_with_the_statement(theirs, stack):
    boto3.client("s3files").put_file_system_policy(fileSystemId=theirs, policy="{}")

    [doubt] = refusals(theirs)

    assert doubt.is_doubt
    assert stack["INSTANCE_ROLE_ARN"] in doubt.fix
    assert "s3files:ClientRootAccess" in doubt.fix


def test_one_without_a_mount_target_in_a_zone_is_refused_with_the_command(theirs):
    files = boto3.client("s3files")
    [target, *_] = files.list_mount_targets(fileSystemId=theirs)["mountTargets"]
    files.delete_mount_target(mountTargetId=target["mountTargetId"])

    [refused] = refusals(theirs)

    assert refused.fix.startswith(f"aws s3files create-mount-target --file-system-id {theirs} --subnet-id subnet-")


def test_one_of_a_run_is_refused(folder):
    [refused] = refusals(made())

    assert refused.rule == "was made by the run run, and is deleted with it"
