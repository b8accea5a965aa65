"""Prefixes of the stack's data bucket: each is one file system of a storage of objects.

Prefixes have no tags, so a separate object records the owner of each. It is written first and deleted last: a prefix
without it has no owner.
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from aws.stack.clients import client, listed
from aws.stack.environment import environment
from aws.storages.base import Existing
from matrix.terms.errors import FileSystemFailed
from matrix.terms.keys import PREFIX_TAGS
from matrix.terms.quantities import count_of

OBJECTS_AT_ONCE = 1_000


@dataclass
class Prefixes:
    """Prefixes of one type of storage, whose names begin with its mark; `others` are the marks of all other types."""

    mark: str = ""
    others: tuple[str, ...] = ()
    DELETION_PROOF: ClassVar[str] = "S3 ListObjectsV2: no object"

    def make(self, token: str, tags: list[dict[str, str]]) -> str:
        """Record the prefix's owner; return its id. A repeated call changes nothing."""
        bucket = environment().data_bucket
        client("s3").put_object(Bucket=bucket, Key=f"{self.mark}{token}/{PREFIX_TAGS}", Body=json.dumps(tags).encode())
        return f"{bucket}/{self.mark}{token}"

    def find(self, token: str) -> str | None:
        """Return the id of the prefix that was created with this token, None if there is none (any more)."""
        bucket, prefix = environment().data_bucket, f"{self.mark}{token}"
        response = client("s3").list_objects_v2(Bucket=bucket, Prefix=f"{prefix}/", MaxKeys=1)
        return f"{bucket}/{prefix}" if response.get("KeyCount") else None

    def existing(self) -> Iterator[Existing]:
        """Yield the prefixes with a record of their owner."""
        for prefix, tags, since in all_tagged():
            name = prefix.rpartition("/")[2]
            if name.startswith(self.mark) and not (self.others and name.startswith(self.others)):
                yield Existing(prefix, tags, since)

    def deleted(self, created_at: Mapping[str, float]) -> set[str]:
        """Return the prefixes without an object."""
        return set(created_at) - {prefix.id for prefix in self.existing()}

    def delete(self, resource_id: str) -> bool:
        """Delete everything below the prefix; return whether it is deleted. Raises FileSystemFailed if S3 refuses."""
        bucket, _, prefix = resource_id.partition("/")
        s3 = client("s3")
        below = {"Bucket": bucket, "Prefix": f"{prefix}/", "MaxKeys": OBJECTS_AT_ONCE}
        while objects := s3.list_objects_v2(**below).get("Contents"):
            delete_objects(bucket, objects, f"of {resource_id}")
        return True


def delete_objects(bucket: str, objects: Iterable[Mapping[str, Any]], where: str) -> None:
    """Delete objects, or versions, as S3 has listed them. Raises FileSystemFailed for those that S3 refuses."""
    named = [{name: each[name] for name in ("Key", "VersionId") if name in each} for each in objects]
    if refused := client("s3").delete_objects(Bucket=bucket, Delete={"Objects": named, "Quiet": True}).get("Errors"):
        raise FileSystemFailed(f"S3 keeps {count_of(len(refused), 'object')} {where}, such as {refused[0]}")


# Names of prefixes are tokens, in hexadecimal digits; a mark has another letter.
OF_MOUNTS = Prefixes("mount-")


def all_tagged() -> Iterator[tuple[str, list[dict[str, str]], float]]:
    """Yield every prefix: its id, its tags (none where the object that holds them is lost), and since when it is."""
    bucket = environment().data_bucket
    for folder in listed("s3", "list_objects_v2", "CommonPrefixes", Bucket=bucket, Delimiter="/"):
        token = folder["Prefix"].rstrip("/")
        tags, since = _tags_of(bucket, token)
        yield f"{bucket}/{token}", tags, since


def _tags_of(bucket: str, token: str) -> tuple[list[dict[str, str]], float]:
    s3 = client("s3")
    try:
        response = s3.get_object(Bucket=bucket, Key=f"{token}/{PREFIX_TAGS}")
    except s3.exceptions.NoSuchKey:
        return [], 0.0
    return json.loads(response["Body"].read()), response["LastModified"].timestamp()
