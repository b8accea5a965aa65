"""S3: a prefix of the stack's data bucket for each file system.

One of somebody's own bucket is only read, by a role that can nothing else there: not even its name comes near what is
deleted here.

Prefixes have no tags, so what one belongs to stands in an object of its own, written first and deleted last: a prefix
without it is nobody's.
"""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from botocore.exceptions import ClientError

from aws.records.data_bucket import TAGS, all_tagged
from aws.stack.clients import client
from aws.stack.environment import environment
from matrix.terms.documents.job import Mount
from matrix.terms.documents.parts import Part
from matrix.terms.errors import FileSystemFailed
from storages.contracts.cloud import Copy, Existing, Refusal

CREATION_LIMIT_S = 0
SEEN_GONE = "S3 ListObjectsV2: no object"
PURPOSE = ""
OBJECTS_AT_ONCE = 1_000
# What GetBucketLocation says of buckets in the two oldest regions (S3 API reference).
REGIONS = {None: "us-east-1", "EU": "eu-west-1"}


def create(token: str, _storage: Part, tags: list[dict[str, str]], _run: str, _name: str, _zone: int) -> str:
    """Write down whose the prefix is; return its id. Writing it again changes nothing."""
    bucket = environment().data_bucket
    client("s3").put_object(Bucket=bucket, Key=f"{token}/{TAGS}", Body=json.dumps(tags).encode())
    return f"{bucket}/{token}"


def find(token: str) -> str | None:
    """Return the id of the prefix that this token made, None when there is none (any more)."""
    bucket = environment().data_bucket
    response = client("s3").list_objects_v2(Bucket=bucket, Prefix=f"{token}/", MaxKeys=1)
    return f"{bucket}/{token}" if response.get("KeyCount") else None


def is_ready(_resource_id: str, _storage: Part) -> bool:
    """Return True: there is nothing to wait for."""
    return True


def refusals(storage: Part) -> Iterator[Refusal]:
    """Yield why instances cannot read what exists: its bucket is missing, elsewhere or closed, or there is nothing."""
    bucket, prefix, region = storage["bucket"], storage["prefix"], environment().region
    s3 = client("s3")
    try:
        answer = s3.get_bucket_location(Bucket=bucket)["LocationConstraint"]
        theirs = REGIONS.get(answer, answer)
        if theirs != region:
            rule = f"is in {theirs}, and the stack in {region}: each byte would be billed between them"
            yield Refusal("bucket", bucket, rule, f"deploy a stack in {theirs}")
            return
        listed = s3.list_objects_v2(Bucket=bucket, Prefix=f"{prefix}/", MaxKeys=1)
    except ClientError as error:
        code = error.response["Error"]["Code"]
        if code == "NoSuchBucket":
            yield Refusal("bucket", bucket, "does not exist", "write one of yours")
        elif code == "AccessDenied":
            fix = (
                f"sam deploy --parameter-overrides ExistingBucket={bucket} ExistingPrefix={prefix}; see also its policy"
            )
            yield Refusal("bucket", bucket, f"the stack may not read {prefix}/ of it", fix)
        else:
            raise
        return
    if not listed.get("KeyCount"):
        yield Refusal("prefix", prefix, f"has no object in {bucket}", "write one that has")


def is_lent(storage: Part) -> bool:
    """Return whether the local cloud lends a folder for it: only in place of a mount, for it has an S3 of its own."""
    return storage["client"] == "mountpoint"


def mount(resource_id: str, storage: Part) -> Mount:
    """Return how an instance gets at it: only to what lies below its own name, as its role says."""
    bucket, _, token = resource_id.partition("/")
    place: Mount = {
        "kind": "mountpoint" if storage["client"] == "mountpoint" else "s3",
        "bucket": bucket,
        "prefix": token if storage.get("bucket") else f"{token}/{{userid}}",
        "region": environment().region,
    }
    if place["kind"] == "s3":
        place["client"] = storage["client"]
    return place


def existing() -> Iterator[Existing]:
    """Yield the prefixes that say whose they are."""
    for prefix, tags, since in all_tagged():
        yield Existing(prefix, tags, since)


def gone(created_at: Mapping[str, float]) -> set[str]:
    """Return the prefixes without an object."""
    return set(created_at) - {prefix.id for prefix in existing()}


def delete(resource_id: str) -> bool:
    """Delete everything below the prefix. Say whether it is gone; raises FileSystemFailed for what S3 refuses."""
    bucket, _, token = resource_id.partition("/")
    s3 = client("s3")
    while objects := s3.list_objects_v2(Bucket=bucket, Prefix=f"{token}/", MaxKeys=OBJECTS_AT_ONCE).get("Contents"):
        keys = [{"Key": entry["Key"]} for entry in objects]
        refused = s3.delete_objects(Bucket=bucket, Delete={"Objects": keys, "Quiet": True}).get("Errors")
        if refused:
            raise FileSystemFailed(f"S3 keeps {len(refused)} objects of {resource_id}, such as {refused[0]}")
    return True


COPIES = COPIES_SEEN_GONE = ""


def copies(_resource_ids: Sequence[str]) -> Iterable[Copy]:
    """Return none: its prefix is emptied with all that is below it."""
    return ()


def in_use() -> Mapping[str, Callable[[], float]]:
    """Return nothing: no quota of its own counts it."""
    return {}
