"""Folders in which agents emulate Mountpoint mounts: they are removed with the prefix or the directory bucket.

No service creates them, so no emulated service removes them. A prefix ends when the object with its owner is deleted,
which is always the last one.
"""

from typing import Any

from moto.s3.models import S3Backend

from local.corrections.directory_buckets import NAME
from local.corrections.folders import Folders

# That object, below each prefix: matrix.terms.keys, which the local cloud does not import. A test holds the two equal.
PREFIX_TAGS = "_tags.json"


def install(folders: Folders) -> None:
    """Make moto remove the folder of a deleted prefix or bucket."""
    deleted_object, deleted_bucket = S3Backend.delete_object, S3Backend.delete_bucket

    def delete_object(self: Any, bucket_name: str, key_name: str, *rest: Any, **named: Any) -> Any:
        answer = deleted_object(self, bucket_name, key_name, *rest, **named)
        prefix, _, name = key_name.rpartition("/")
        if prefix and name == PREFIX_TAGS:
            folders.delete(f"{bucket_name}/{prefix}")
        return answer

    def delete_bucket(self: Any, bucket_name: str) -> Any:
        answer = deleted_bucket(self, bucket_name)
        if NAME.fullmatch(bucket_name):
            folders.delete(bucket_name)
        return answer

    S3Backend.delete_object, S3Backend.delete_bucket = delete_object, delete_bucket
