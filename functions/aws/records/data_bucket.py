"""The data bucket: a prefix for each S3 file system, with an object that names its owner."""

import json
from collections.abc import Iterator

from aws.stack.clients import client
from aws.stack.environment import environment
from matrix.terms.keys import PREFIX_TAGS


def all_tagged() -> Iterator[tuple[str, list[dict[str, str]], float]]:
    """Yield every prefix: its id, its tags (none where the object that holds them is lost), and since when it is."""
    bucket, s3 = environment().data_bucket, client("s3")
    for page in s3.get_paginator("list_objects_v2").paginate(Bucket=bucket, Delimiter="/"):
        for folder in page.get("CommonPrefixes", []):
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
