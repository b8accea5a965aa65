"""S3 Express One Zone, function by function, against the stand-in of the local cloud."""

from dataclasses import replace

import boto3
import pytest
from botocore.exceptions import ClientError
from botocore.utils import S3ExpressIdentityCache
from support.storages import STORAGES

from aws.stack.clients import client
from aws.storages import directory_buckets as buckets
from aws.storages.s3_express import cloud as s3_express
from local.corrections import directory_buckets as stand_in

TOKEN = "a" * 60
ZONE = "use1-az6"  # of us-east-1a, the first subnet
BUCKET = f"sm-{'a' * 40}--{ZONE}--x-s3"
TAGS = [
    {"Key": "storage-matrix:stack", "Value": "storage-matrix"},
    {"Key": "storage-matrix:run", "Value": "run"},
    {"Key": "storage-matrix:deadline", "Value": "2026-11-26T00:00:00Z"},
]
OWNER = ("run", "express", 0)
EXPRESS = STORAGES["s3-express"]


def made():
    return s3_express.create(TOKEN, EXPRESS, TAGS, *OWNER)


def code_of(call, **parameters):
    """The code by which S3 refuses a call."""
    with pytest.raises(ClientError) as refused:
        call(**parameters)
    return refused.value.response["Error"]["Code"]


def configuration(**changed):
    return {
        "Location": {"Type": "AvailabilityZone", "Name": ZONE},
        "Bucket": {"Type": "Directory", "DataRedundancy": "SingleAvailabilityZone"},
        **changed,
    }


def test_in_a_region_without_directory_buckets_there_is_no_address_to_ask(stack, monkeypatch):
    monkeypatch.setenv("AWS_REGION", "eu-central-1")
    # The name of its endpoint does not resolve there: boto/boto3 issue 4684.
    monkeypatch.setattr(buckets, "listed", lambda *_: pytest.fail("asked S3"))

    assert list(s3_express.existing()) == []
    assert s3_express.find(TOKEN) is None


def test_each_zone_of_the_stack_has_a_bucket_of_its_own(stack):
    assert s3_express.create(TOKEN, EXPRESS, TAGS, "run", "express", 1) == BUCKET.replace("az6", "az1")


def test_names_are_as_long_as_s3_allows_in_the_zone_with_the_longest_id():
    assert len(BUCKET.replace(ZONE, "apne1-az4")) <= 63


def test_it_is_deleted_with_its_objects_and_unfinished_uploads(stack):
    bucket, s3 = made(), client("s3")
    for number in range(3):
        s3.put_object(Bucket=bucket, Key=f"instance/{number}", Body=b"data")
    s3.create_multipart_upload(Bucket=bucket, Key="instance/unfinished")
    assert code_of(s3.delete_bucket, Bucket=bucket) == "BucketNotEmpty"

    assert s3_express.delete(bucket)

    assert s3_express.deleted({bucket: 0.0}) == {bucket}
    assert list(s3_express.existing()) == []
    assert s3_express.delete(bucket)


def test_an_upload_alone_keeps_a_bucket(stack):
    bucket, s3 = made(), client("s3")
    s3.create_multipart_upload(Bucket=bucket, Key="instance/unfinished")

    assert code_of(s3.delete_bucket, Bucket=bucket) == "BucketNotEmpty"


def test_general_purpose_buckets_and_directory_buckets_are_in_lists_of_their_own(stack):
    made()

    assert BUCKET not in {bucket["Name"] for bucket in client("s3").list_buckets()["Buckets"]}
    assert [bucket["Name"] for bucket in client("s3").list_directory_buckets()["Buckets"]] == [BUCKET]


def test_an_instance_is_told_a_place_below_its_own_name(stack):
    assert s3_express.mount(BUCKET, EXPRESS) == {
        **{"kind": "s3", "bucket": BUCKET, "prefix": "{userid}", "region": "us-east-1", "client": "boto3"},
    }


# ---- The stand-in answers as the models and the user guide say ----


@pytest.mark.parametrize(
    ("name", "changed"),
    [
        (BUCKET, {"Location": {"Type": "AvailabilityZone", "Name": "use1-az4"}}),
        (BUCKET, {"Location": {"Type": "LocalZone", "Name": ZONE}}),
        (BUCKET, {"Bucket": {"Type": "Directory", "DataRedundancy": "SingleLocalZone"}}),
        ("sm--use9-az9--x-s3", {"Location": {"Type": "AvailabilityZone", "Name": "use9-az9"}}),
    ],
)
def test_the_stand_in_refuses_a_bucket_whose_name_and_configuration_do_not_fit(stack, name, changed):
    call = client("s3").create_bucket

    assert code_of(call, Bucket=name, CreateBucketConfiguration=configuration(**changed)) in (
        "InvalidBucketName",
        "InvalidRequest",
    )
    assert list(s3_express.existing()) == []


def test_objects_are_reached_by_the_keys_of_a_session_only(stack, monkeypatch):
    bucket = made()
    monkeypatch.setenv("AWS_S3_DISABLE_EXPRESS_SESSION_AUTH", "true")

    assert code_of(boto3.client("s3").get_object, Bucket=bucket, Key="a") == "AccessDenied"


def test_a_session_holds_for_one_bucket_five_minutes_and_in_its_mode(stack, monkeypatch):
    bucket = made()
    other = s3_express.create("b" * 60, EXPRESS, TAGS, *OWNER)
    opened = boto3.client("s3").create_session(Bucket=bucket, SessionMode="ReadOnly")["Credentials"]
    client("s3").put_object(Bucket=bucket, Key="a", Body=b"x")
    reader = by_session(opened, monkeypatch)

    assert reader.get_object(Bucket=bucket, Key="a")["Body"].read() == b"x"
    assert code_of(reader.put_object, Bucket=bucket, Key="a", Body=b"y") == "AccessDenied"
    assert code_of(reader.get_object, Bucket=other, Key="a") == "AccessDenied"
    monkeypatch.setitem(stand_in._sessions, opened["AccessKeyId"], aged(opened["AccessKeyId"]))
    assert code_of(reader.get_object, Bucket=bucket, Key="a") == "ExpiredToken"


def by_session(opened, monkeypatch):
    """A client that signs by the keys of this session, whatever the bucket."""
    keys = {
        "access_key": opened["AccessKeyId"],
        "secret_key": opened["SecretAccessKey"],
        "token": opened["SessionToken"],
        "expiry_time": opened["Expiration"].isoformat(),
    }
    monkeypatch.setattr(S3ExpressIdentityCache, "build_refresh_callback", lambda *_, **__: lambda: keys)
    return boto3.client("s3")


def aged(access_key):
    """The session as it is five minutes and a second later."""
    session = stand_in.session_of(access_key)
    return replace(session, expires_at=session.expires_at - stand_in.SESSION_S - 1)


def test_a_session_of_a_bucket_that_is_not_there_is_refused(stack):
    assert code_of(boto3.client("s3").create_session, Bucket=BUCKET) == "NoSuchBucket"


@pytest.mark.parametrize("listing", [{"Prefix": "inst"}, {"Delimiter": "-"}, {"StartAfter": "a"}])
def test_listings_that_directory_buckets_lack_are_refused(stack, listing):
    bucket = made()

    assert code_of(client("s3").list_objects_v2, Bucket=bucket, **listing) == "InvalidArgument"
    assert client("s3").list_objects_v2(Bucket=bucket, Prefix="inst/")["KeyCount"] == 0
