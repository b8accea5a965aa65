"""The data bucket: a prefix for each S3 file system, with an object that says whose it is."""

import json
from collections.abc import Iterator

from aws.stack.clients import client
from aws.stack.environment import environment

# Sorts behind the folders of instances, whose names begin with a role's id (AROA…): deleted in the order of a listing,
# it is the last.
TAGS = "_tags.json"


def all_tagged() -> Iterator[tuple[str, list[dict[str, str]], float]]:
    """Yield every prefix: its id, its tags (none where the object that holds them is lost), and since when it is."""
    bucket, s3 = environment().data_bucket, client("s3")
    for page in s3.get_paginator("list_objects_v2").paginate(Bucket=bucket, Delimiter="/"):
        for one in page.get("CommonPrefixes", []):
            token = one["Prefix"].rstrip("/")
            tags, since = _tags_of(bucket, token)
            yield f"{bucket}/{token}", tags, since


def _tags_of(bucket: str, token: str) -> tuple[list[dict[str, str]], float]:
    s3 = client("s3")
    try:
        found = s3.get_object(Bucket=bucket, Key=f"{token}/{TAGS}")
    except s3.exceptions.NoSuchKey:
        return [], 0.0
    return json.loads(found["Body"].read()), found["LastModified"].timestamp()
