"""S3 Files, which moto does not know: life cycles, tokens, folders, what its guide refuses."""

import os
import time

import pytest
from botocore.exceptions import ClientError
from support.running_cloud import wait_until

ROLE = "arn:aws:iam::123456789012:role/files"


@pytest.fixture
def files(cloud):
    return cloud.client("s3files")


def bucket_of(cloud, name: str, *, versioned: bool = True) -> str:
    s3 = cloud.client("s3")
    s3.create_bucket(Bucket=name)
    if versioned:
        s3.put_bucket_versioning(Bucket=name, VersioningConfiguration={"Status": "Enabled"})
    return f"arn:aws:s3:::{name}"


def status(files, name: str) -> str:
    return files.get_file_system(fileSystemId=name)["status"]


def test_data_that_wait_for_their_export_are_only_lost_on_demand(cloud, files):
    created = files.create_file_system(bucket=bucket_of(cloud, "of-waiting-data"), roleArn=ROLE)
    name, folder = created["fileSystemId"], cloud.workdir / "storage" / "file-systems" / created["fileSystemId"]
    wait_until(lambda: status(files, name) == "available", "available")
    (folder / "file").write_text("data")

    with pytest.raises(files.exceptions.ConflictException, match="not yet exported"):
        files.delete_file_system(fileSystemId=name)
    files.delete_file_system(fileSystemId=name, forceDelete=True)

    assert status(files, name) == "deleting"


@pytest.mark.parametrize(("bucket", "why"), [("of-nobody", "does not exist"), ("without-versions", "Versioning")])
def test_a_bucket_that_cannot_be_a_file_system_is_refused(cloud, files, bucket, why):
    bucket_of(cloud, "without-versions", versioned=False)

    with pytest.raises(ClientError, match=why):
        files.create_file_system(bucket=f"arn:aws:s3:::{bucket}", roleArn=ROLE)


def test_a_synchronization_configuration_is_only_replaced_by_who_has_read_it(cloud, files):
    name = files.create_file_system(bucket=bucket_of(cloud, "of-rules"), roleArn=ROLE)["fileSystemId"]
    rules = files.get_synchronization_configuration(fileSystemId=name)
    assert rules["importDataRules"] == [{"prefix": "", "trigger": "ON_DIRECTORY_FIRST_ACCESS", "sizeLessThan": 131_072}]
    wanted = {"importDataRules": rules["importDataRules"], "expirationDataRules": [{"daysAfterLastAccess": 1}]}

    files.put_synchronization_configuration(
        fileSystemId=name, latestVersionNumber=rules["latestVersionNumber"], **wanted
    )
    with pytest.raises(files.exceptions.ConflictException):
        files.put_synchronization_configuration(
            fileSystemId=name, latestVersionNumber=rules["latestVersionNumber"], **wanted
        )

    found = files.get_synchronization_configuration(fileSystemId=name)
    assert {key: found[key] for key in wanted} == wanted


def test_a_file_that_has_not_changed_for_a_while_is_an_object_with_what_is_in_it(cloud, files):
    created = files.create_file_system(bucket=bucket_of(cloud, "of-exports"), prefix="a/", roleArn=ROLE)
    name, folder = created["fileSystemId"], cloud.workdir / "storage" / "file-systems" / created["fileSystemId"]
    wait_until(lambda: status(files, name) == "available", "available")
    (folder / "below").mkdir()
    (folder / "below" / "old").write_text("data")
    (folder / "below" / "new").write_text("data")
    long_ago = time.time() - 3600
    os.utime(folder / "below" / "old", (long_ago, long_ago))
    s3 = cloud.client("s3")

    def listed(prefix: str) -> list[str]:
        return [e["Key"] for e in s3.list_objects_v2(Bucket="of-exports", Prefix=prefix).get("Contents", [])]

    assert listed("b/") == []
    assert listed("a/below/") == ["a/below/old"]
    assert s3.get_object(Bucket="of-exports", Key="a/below/old")["Body"].read() == b"data"

    wait_until(lambda: listed("a/below/") == ["a/below/new", "a/below/old"], "the export")
    assert len(s3.list_object_versions(Bucket="of-exports")["Versions"]) == 2  # each was put once
    (folder / "below" / "old").write_text("other")
    os.utime(folder / "below" / "old", (long_ago + 1, long_ago + 1))
    listed("a/")
    assert s3.get_object(Bucket="of-exports", Key="a/below/old")["Body"].read() == b"other"

    os.utime(folder / "below" / "new", (long_ago, long_ago))
    files.delete_file_system(fileSystemId=name)  # nothing waits any more
