"""The data of an instance in S3: uploaded in parts, by several hands, from records that are made meanwhile.

For a command they are objects that variables of its environment name; each instance uploads them once.
"""

from __future__ import annotations

import concurrent.futures
import itertools
import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from agent.board.blackboard import new_client, new_session, translated
from agent.engine.records import Records

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

WORKERS = 8
MAX_PARTS = 10_000  # S3's limit
# Each object is as many records, whose numbers and checksums make all of them different.
RECORD_BYTES = 4_096
# Where the local cloud has its S3, which every AWS SDK reads; on AWS it is not set.
ENDPOINT = "AWS_ENDPOINT_URL"


def put_records(where: dict[str, Any], records: Records, count: int) -> None:
    """Put `count` records as one object. Raises BlackboardUnavailable where S3 refuses."""
    client = new_client(new_session(where["region"]), "s3", WORKERS)
    place = {"Bucket": where["bucket"], "Key": where["key"]}
    with translated(f"PUT s3://{where['bucket']}/{where['key']}"):
        upload = client.create_multipart_upload(**place)["UploadId"]
        parts: list[dict[str, Any]] = []

        def put(number: int, body: bytes) -> dict[str, Any]:
            answer = client.upload_part(**place, UploadId=upload, PartNumber=number, Body=body)
            return {"PartNumber": number, "ETag": answer["ETag"]}

        numbered = enumerate(parts_of(records, count), start=1)
        with concurrent.futures.ThreadPoolExecutor(WORKERS) as workers:
            # Only so many at once are made: the data may be larger than the memory.
            while some := list(itertools.islice(numbered, WORKERS)):
                parts += workers.map(put, *zip(*some))
        client.complete_multipart_upload(**place, UploadId=upload, MultipartUpload={"Parts": parts})


def put_objects(where: dict[str, Any], keys: Sequence[str], records: Records, count: int) -> None:
    """Put `count` records as each of these objects: parts of large ones at once, or several small ones."""
    if records.number_of_chunks(count) > 1:
        for key in keys:
            put_records({**where, "key": key}, records, count)
        return
    client = new_client(new_session(where["region"]), "s3", WORKERS)

    def put(number: int, key: str) -> None:
        client.put_object(Bucket=where["bucket"], Key=key, Body=bytes(records.chunk(number * count, count)))

    with translated(f"PUT s3://{where['bucket']}/{keys[0]}"), concurrent.futures.ThreadPoolExecutor(WORKERS) as workers:
        for _ in workers.map(put, range(len(keys)), keys):
            pass


def parts_of(records: Records, count: int) -> Iterator[bytes]:
    """The records in parts of equal size, as many chunks each as keep the parts few enough."""
    chunks = records.chunks(count)
    each = -(-records.number_of_chunks(count) // MAX_PARTS)
    while some := list(itertools.islice(chunks, each)):
        yield b"".join(some)


def exported(where: dict[str, str], folder: Path) -> dict[str, str]:
    """Return bucket, region and prefix below which files of a folder of S3 Files become objects."""
    client = new_client(new_session(where["region"]), "s3")
    with translated(f"GET s3://{where['bucket']}/{where['mark']}"):
        mark = json.load(client.get_object(Bucket=where["bucket"], Key=where["mark"])["Body"])
    return {"bucket": where["bucket"], "region": where["region"], "prefix": f"{mark['prefix']}{folder}"}


def variables(mount: dict[str, Any], params: dict[str, Any], folder: Path) -> dict[str, str]:
    """Return the environment variables of a command about its bucket. Its objects exist then; `folder` notes them."""
    prefix, region = mount["prefix"], mount["region"]
    named = {"S3_BUCKET": mount["bucket"], "S3_PREFIX": prefix, "AWS_REGION": region, "AWS_DEFAULT_REGION": region}
    if ENDPOINT in os.environ:
        # The local cloud's metadata service identifies instances by a path, which the SDKs for Go leave out.
        keys = new_session(region).get_credentials().get_frozen_credentials()
        named[ENDPOINT] = os.environ[ENDPOINT]
        named["AWS_ACCESS_KEY_ID"], named["AWS_SECRET_ACCESS_KEY"] = keys.access_key, keys.secret_key
        if keys.token:
            named["AWS_SESSION_TOKEN"] = keys.token
    if not total_bytes(params):
        return named
    count, size = params["objects"], params["object_bytes"]
    names = [f"{prefix}/objects/{number:05d}" for number in range(count)]
    noted = folder / "objects"
    if not noted.exists():
        where = {"region": region, "bucket": mount["bucket"]}
        put_objects(where, names, Records(RECORD_BYTES), size // RECORD_BYTES)
        noted.touch()
    return {**named, "S3_KEY": names[0], "S3_OBJECTS": str(count), "S3_BYTES": str(total_bytes(params))}


def total_bytes(params: dict[str, Any]) -> int:
    """Return the bytes of all objects of an instance; 0 if it has none."""
    return int(params.get("objects", 1)) * int(params.get("object_bytes", 0))
