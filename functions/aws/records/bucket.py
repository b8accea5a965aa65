"""The results bucket: documents as JSON, and the listings that show a fleet's progress."""

import json
import random
from collections.abc import Iterator
from contextlib import closing
from typing import Any, TypeVar

from botocore.exceptions import ClientError

from aws.stack.clients import client, listed
from aws.stack.environment import environment
from aws.stack.retrying import NotYet, retried
from contract import retryable
from matrix.terms.documents import reading

T = TypeVar("T")

# A conflict lasts as long as the other request, some 100 ms. Six attempts wait 1.6 s on average, 3.1 s at most.
ATTEMPTS, PAUSE_S = 6, 0.05


def put(key: str, document: Any) -> None:
    """Write a document as JSON. Raises ValueError for numbers that JSON does not have."""
    put_text(key, as_text(document), "application/json")


def as_text(document: Any) -> str:
    """Return a document as `put` writes it."""
    return json.dumps(document, allow_nan=False, separators=(",", ":"))


def put_text(key: str, text: str, content_type: str) -> None:
    """Write a text."""
    client("s3").put_object(Bucket=environment().bucket, Key=key, Body=text.encode(), ContentType=content_type)


def put_if_absent(key: str, document: Any) -> bool:
    """Write a document unless it exists; return whether it was written. Of two callers only one can write.

    False means that the document exists. A conflict (409) only means that another request was in progress: it may have
    been a deletion, or have failed. S3 asks to retry the upload then, which botocore does not do by itself.
    https://docs.aws.amazon.com/AmazonS3/latest/API/API_PutObject.html (If-None-Match)
    """
    body = as_text(document).encode()

    def write() -> bool:
        try:
            client("s3").put_object(
                Bucket=environment().bucket, Key=key, Body=body, ContentType="application/json", IfNoneMatch="*"
            )
        except ClientError as error:
            code = error.response["Error"]["Code"]
            if code == "PreconditionFailed":
                return False
            if code == "ConditionalRequestConflict":
                raise NotYet(str(error)) from error
            raise
        return True

    return retried(f"the conditional write of {key}", write, _pauses_s())


def _pauses_s() -> Iterator[float]:
    for attempt in range(1, ATTEMPTS):
        yield random.uniform(0, PAUSE_S * 2**attempt)  # noqa: S311 (jitter is not a secret)


def get_bytes(key: str, at_most: int | None = None) -> bytes | None:
    """Return an object's bytes, or None if it does not exist.

    `at_most` limits the read of an object that an instance has written: at most one byte more is read, which shows that
    the object is too large.
    """

    def read() -> bytes | None:
        try:
            body = client("s3").get_object(Bucket=environment().bucket, Key=key)["Body"]
        except client("s3").exceptions.NoSuchKey:
            return None
        with closing(body):
            try:
                content: bytes = body.read() if at_most is None else body.read(at_most + 1)
            except Exception as error:  # botocore repeats a request, and no body that broke off
                if retryable.verdict(error).is_retryable:
                    raise NotYet(str(error)) from error
                raise
        return content

    return retried(f"the read of {key}", read, _pauses_s())


def get(key: str) -> Any:
    """Return a document, or None if it does not exist. Raises InvalidDocument with the key if it is not JSON."""
    text = get_bytes(key)
    return None if text is None else reading.parse(text, key)


def read(key: str, kind: type[T]) -> T | None:
    """Return a document of a type of matrix.terms.documents, or None if it does not exist.

    Raises InvalidDocument with the path and the rule if it does not fit its type, or is not JSON.
    """
    document = get(key)
    return None if document is None else reading.read(kind, document, key)


def exists(key: str) -> bool:
    """Return whether an object with this key exists."""
    return any(name == key for name, _ in listing(key))


def listing(prefix: str, without: str = "") -> Iterator[tuple[str, float]]:
    """Yield (key, last-modified epoch seconds) of every object below a prefix; strongly consistent since 2020.

    `without` is a letter: keys that contain it after the prefix are left out. S3 groups such keys by their part before
    it, and counts each group as one key. https://docs.aws.amazon.com/AmazonS3/latest/API/API_ListObjectsV2.html
    (Delimiter)
    """
    delimiter = {"Delimiter": without} if without else {}
    bucket = environment().bucket
    for entry in listed("s3", "list_objects_v2", "Contents", Bucket=bucket, Prefix=prefix, **delimiter):
        yield entry["Key"], entry["LastModified"].timestamp()


def folders(prefix: str) -> Iterator[str]:
    """Yield the next part of the keys below a prefix, up to the slash: the names of runs, below `runs/`."""
    bucket, above = environment().bucket, prefix.rpartition("/")[0]
    for entry in listed("s3", "list_objects_v2", "CommonPrefixes", Bucket=bucket, Prefix=prefix, Delimiter="/"):
        yield entry["Prefix"].removeprefix(f"{above}/").rstrip("/")
