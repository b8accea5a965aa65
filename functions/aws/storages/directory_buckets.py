"""Directory buckets that a stack creates: one for each file system, in the zone of its subnet.

Bucket calls go to the region's endpoint with the role's keys. Calls on objects go to the zone's endpoint, with keys of
a session that botocore opens (CreateSession) and renews: they are valid for five minutes, and for one bucket.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from aws.stack import network
from aws.stack.clients import client, listed
from aws.stack.environment import environment
from aws.storages.base import Existing
from aws.storages.prefixes import delete_objects
from matrix.storages.directory_buckets import ENDING, ZONES

# Names have at most 63 characters, of which the longest zone, as in --apne1-az4--x-s3, takes 17, and a mark 4.
TOKEN_DIGITS = 40
OBJECTS_AT_ONCE = 1_000


@dataclass
class DirectoryBuckets:
    """Buckets of one type of storage, whose names begin with its mark; `others` are the marks of all other types."""

    mark: str
    others: tuple[str, ...] = ()
    DELETION_PROOF: ClassVar[str] = "S3 ListDirectoryBuckets: not in the list"

    def make(self, token: str, tags: list[dict[str, str]], zone: int) -> str:
        """Create the bucket with its tags in a zone of the stack, or find the one that this token created before.

        Return its name.
        """
        zone_id = network.zone_id(network.subnets()[zone])
        bucket, s3 = f"{self._base(token)}--{zone_id}{ENDING}", client("s3")
        configuration = {
            "Location": {"Type": "AvailabilityZone", "Name": zone_id},
            "Bucket": {"Type": "Directory", "DataRedundancy": "SingleAvailabilityZone"},
            "Tags": tags,
        }
        try:
            s3.create_bucket(Bucket=bucket, CreateBucketConfiguration=configuration)
        except s3.exceptions.BucketAlreadyOwnedByYou:
            return bucket  # created by an attempt whose response was lost
        return bucket

    def _base(self, token: str) -> str:
        return f"{self.mark}{token[:TOKEN_DIGITS]}"

    def find(self, token: str) -> str | None:
        """Return the bucket that was created with this token, None if there is none (any more)."""
        beginning = f"{self._base(token)}--"
        return next((bucket["Name"] for bucket in self._ours() if bucket["Name"].startswith(beginning)), None)

    def _ours(self) -> Iterator[dict[str, Any]]:
        """Yield the directory buckets of the account and region whose names could belong to a stack.

        A region without S3 Express One Zone has no endpoint, and no run could create a bucket there.
        """
        if environment().region not in ZONES:
            return
        for bucket in listed("s3", "list_directory_buckets", "Buckets"):
            name = bucket["Name"]
            if name.startswith(self.mark) and not (self.others and name.startswith(self.others)):
                yield bucket

    def existing(self) -> Iterator[Existing]:
        """Yield the buckets with their tags, which the list of buckets does not contain."""
        for bucket in self._ours():
            arn, control = bucket["BucketArn"], client("s3control")
            try:
                tags = control.list_tags_for_resource(AccountId=arn.split(":")[4], ResourceArn=arn)["Tags"]
            except control.exceptions.ClientError as error:
                if error.response["Error"]["Code"] not in ("NoSuchBucket", "NoSuchResource"):
                    raise
                continue  # deleted since it was listed
            yield Existing(bucket["Name"], tags, bucket["CreationDate"].timestamp())

    def deleted(self, created_at: Mapping[str, float]) -> set[str]:
        """Return the buckets that are not listed any more."""
        return set(created_at) - {bucket["Name"] for bucket in self._ours()}

    def delete(self, bucket: str) -> bool:
        """Abort unfinished uploads, delete all objects, then the bucket; return whether it is deleted.

        Raises FileSystemFailed for objects that S3 refuses to delete.
        """
        s3 = client("s3")
        try:
            for upload in listed("s3", "list_multipart_uploads", "Uploads", Bucket=bucket):
                _abort(bucket, upload)
            while objects := s3.list_objects_v2(Bucket=bucket, MaxKeys=OBJECTS_AT_ONCE).get("Contents"):
                delete_objects(bucket, objects, f"of {bucket}")
            s3.delete_bucket(Bucket=bucket)
        except s3.exceptions.NoSuchBucket:
            return True  # deleted by an attempt whose response was lost
        return True


def _abort(bucket: str, upload: dict[str, Any]) -> None:
    s3 = client("s3")
    try:
        s3.abort_multipart_upload(Bucket=bucket, Key=upload["Key"], UploadId=upload["UploadId"])
    except s3.exceptions.NoSuchUpload:
        return  # ended since it was listed


# The template's permissions are for names that begin with sm-. After it come digits of a token, in hexadecimal; a mark
# has another letter.
OF_MOUNTS = DirectoryBuckets("sm-m")
