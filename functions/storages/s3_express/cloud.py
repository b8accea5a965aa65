"""S3 Express One Zone: a directory bucket for each file system, in the zone of its subnet.

Bucket calls go to the region's endpoint with the role's keys. Calls on objects go to the zone's, with keys of a session
that botocore opens (CreateSession) and renews: they hold for five minutes, and for one bucket.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from aws.stack import network
from aws.stack.clients import client
from aws.stack.environment import environment
from matrix.terms.documents.job import Mount
from matrix.terms.documents.parts import Part
from matrix.terms.errors import FileSystemFailed
from storages.contracts.cloud import Copy, Existing, Refusal
from storages.s3.cloud import place
from storages.s3_express.model import ZONES

CREATION_LIMIT_S = 0
SEEN_GONE = "S3 ListDirectoryBuckets: not in the list"
PURPOSE = ""
# Names have at most 63 characters, of which the longest zone, as in --apne1-az4--x-s3, takes 17.
MARK, TOKEN_DIGITS, ENDING = "sm-", 40, "--x-s3"
OBJECTS_AT_ONCE = 1_000


def create(token: str, _storage: Part, tags: list[dict[str, str]], _run: str, _name: str, zone: int) -> str:
    """Create the directory bucket with its tags, or find the one that this token made before; return its name."""
    zone_id = network.zone_id(network.subnets()[zone])
    bucket, s3 = f"{_base(token)}--{zone_id}{ENDING}", client("s3")
    configuration = {
        "Location": {"Type": "AvailabilityZone", "Name": zone_id},
        "Bucket": {"Type": "Directory", "DataRedundancy": "SingleAvailabilityZone"},
        "Tags": tags,
    }
    try:
        s3.create_bucket(Bucket=bucket, CreateBucketConfiguration=configuration)
    except s3.exceptions.BucketAlreadyOwnedByYou:
        return bucket  # made by an attempt whose answer was lost
    return bucket


def _base(token: str) -> str:
    return f"{MARK}{token[:TOKEN_DIGITS]}"


def find(token: str) -> str | None:
    """Return the bucket that this token made, None when there is none (any more)."""
    beginning = f"{_base(token)}--"
    return next((bucket["Name"] for bucket in _ours() if bucket["Name"].startswith(beginning)), None)


def _ours() -> Iterator[dict[str, Any]]:
    """Yield the directory buckets of the account and region whose names could be of a stack.

    A region without S3 Express One Zone has no address to ask, and no run could make a bucket there.
    """
    if environment().region not in ZONES:
        return
    for page in client("s3").get_paginator("list_directory_buckets").paginate():
        yield from (bucket for bucket in page.get("Buckets", []) if bucket["Name"].startswith(MARK))


def is_ready(_resource_id: str, _storage: Part) -> bool:
    """Return True: a bucket that is made can be used."""
    return True


def refusals(_storage: Part) -> Iterable[Refusal]:
    """Return none: a matrix can name none that exists."""
    return ()


def is_lent(_storage: Part) -> bool:
    """Return False: the local cloud has directory buckets of its own."""
    return False


def mount(resource_id: str, storage: Part) -> Mount:
    """Return how an instance gets at it: each below its own name. A session holds for the whole bucket."""
    return place(resource_id, "{userid}", storage)


def delete(resource_id: str) -> bool:
    """Abort unfinished uploads, delete all objects, then the bucket; say whether it is gone.

    Raises FileSystemFailed for objects that S3 refuses to delete.
    """
    s3 = client("s3")
    try:
        for page in s3.get_paginator("list_multipart_uploads").paginate(Bucket=resource_id):
            for upload in page.get("Uploads", []):
                _abort(resource_id, upload)
        while objects := s3.list_objects_v2(Bucket=resource_id, MaxKeys=OBJECTS_AT_ONCE).get("Contents"):
            keys = [{"Key": entry["Key"]} for entry in objects]
            refused = s3.delete_objects(Bucket=resource_id, Delete={"Objects": keys, "Quiet": True}).get("Errors")
            if refused:
                raise FileSystemFailed(f"S3 keeps {len(refused)} objects of {resource_id}, such as {refused[0]}")
        s3.delete_bucket(Bucket=resource_id)
    except s3.exceptions.NoSuchBucket:
        return True  # gone by an attempt whose answer was lost
    return True


def _abort(bucket: str, upload: dict[str, Any]) -> None:
    s3 = client("s3")
    try:
        s3.abort_multipart_upload(Bucket=bucket, Key=upload["Key"], UploadId=upload["UploadId"])
    except s3.exceptions.NoSuchUpload:
        return  # ended since it was listed


def existing() -> Iterator[Existing]:
    """Yield the directory buckets of the account and region with their tags, which the list does not say."""
    for bucket in _ours():
        arn, control = bucket["BucketArn"], client("s3control")
        try:
            tags = control.list_tags_for_resource(AccountId=arn.split(":")[4], ResourceArn=arn)["Tags"]
        except control.exceptions.ClientError as error:
            if error.response["Error"]["Code"] not in ("NoSuchBucket", "NoSuchResource"):
                raise
            continue  # gone since it was listed
        yield Existing(bucket["Name"], tags, bucket["CreationDate"].timestamp())


def gone(created_at: Mapping[str, float]) -> set[str]:
    """Return the buckets that are not listed any more."""
    return set(created_at) - {bucket["Name"] for bucket in _ours()}


COPIES = COPIES_SEEN_GONE = ""


def copies(_resource_ids: Sequence[str]) -> Iterable[Copy]:
    """Return none: directory buckets have no versions."""
    return ()


def in_use() -> Mapping[str, Callable[[], float]]:
    """Return nothing: directory buckets of an account are a quota whose code AWS's pages do not say."""
    return {}
