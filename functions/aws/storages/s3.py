"""S3: a prefix of the stack's data bucket for each file system.

A user's bucket is only read, by a role with no other permission there: no deletion here uses its name.
"""

from collections.abc import Iterator

from botocore.exceptions import ClientError

from aws.stack.clients import client
from aws.stack.environment import environment
from aws.storages.base import FileSystem, Refusal
from aws.storages.prefixes import OF_MOUNTS, Prefixes
from matrix.terms.documents.job import Mount
from matrix.terms.documents.parts import Part

# GetBucketLocation's answers for buckets in the two oldest regions (S3 API reference).
REGIONS = {None: "us-east-1", "EU": "eu-west-1"}


class S3(Prefixes, FileSystem):
    def create(self, token: str, _storage: Part, tags: list[dict[str, str]], *_: object) -> str:
        """Record the prefix's owner; return its id. A repeated call changes nothing."""
        return self.make(token, tags)

    def refusals(self, storage: Part, *_: object) -> Iterator[Refusal]:
        """Yield why instances cannot read existing objects: no bucket, no access, another region, no objects."""
        bucket, region = storage["bucket"], environment().region
        try:
            answer = client("s3").get_bucket_location(Bucket=bucket)["LocationConstraint"]
        except ClientError as error:
            yield _refusal(error, storage)
            return
        theirs = REGIONS.get(answer, answer)
        if theirs != region:
            rule = f"is in {theirs}, and the stack in {region}: each byte would be billed between them"
            yield Refusal("bucket", bucket, rule, f"deploy a stack in {theirs}")
            return
        yield from refusals_of_objects(storage)

    def mount(self, resource_id: str, storage: Part) -> Mount:
        """Return how an instance accesses it: its role allows only objects below its own name."""
        bucket, _, token = resource_id.partition("/")
        return place(bucket, token if storage.get("bucket") else f"{token}/{{userid}}", storage)


def refusals_of_objects(storage: Part) -> Iterator[Refusal]:
    """Yield reasons why nothing can be read below the prefix of a bucket of any kind."""
    bucket, prefix = storage["bucket"], storage["prefix"]
    try:
        listed = client("s3").list_objects_v2(Bucket=bucket, Prefix=f"{prefix}/", MaxKeys=1)
    except ClientError as error:
        yield _refusal(error, storage)
        return
    if not listed.get("KeyCount"):
        yield Refusal("prefix", prefix, f"has no object in {bucket}", "write one that has")


def _refusal(error: ClientError, storage: Part) -> Refusal:
    """Return the meaning of an S3 error for an existing bucket; raises the error if it has none."""
    bucket, prefix, code = storage["bucket"], storage["prefix"], error.response["Error"]["Code"]
    if code == "NoSuchBucket":
        return Refusal("bucket", bucket, "does not exist", "write one of yours")
    if code == "AccessDenied":
        fix = f"sam deploy --parameter-overrides ExistingBucket={bucket} ExistingPrefix={prefix}; see also its policy"
        return Refusal("bucket", bucket, f"the stack may not read {prefix}/ of it", fix)
    raise error


def place(bucket: str, prefix: str, storage: Part) -> Mount:
    """Return a place in a bucket of any kind, in the form for an instance's job."""
    region = environment().region
    return {"kind": "s3", "bucket": bucket, "prefix": prefix, "region": region, "client": storage["client"]}


cloud = S3(others=(OF_MOUNTS.mark,))
