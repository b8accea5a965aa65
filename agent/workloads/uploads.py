"""The data of an instance in S3: uploaded in parts, by several hands, from records that are made meanwhile."""

from __future__ import annotations

import concurrent.futures
import itertools
from typing import TYPE_CHECKING, Any

from agent.board.blackboard import new_client, new_session, translated

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from agent.engine.records import Records

HANDS = 8
MOST_PARTS = 10_000  # S3's limit


def put_records(where: dict[str, Any], records: Records, count: int) -> None:
    """Put `count` records as one object. Raises BlackboardUnavailable where S3 refuses."""
    client = new_client(new_session(where["region"]), "s3", HANDS)
    place = {"Bucket": where["bucket"], "Key": where["key"]}
    with translated(f"PUT s3://{where['bucket']}/{where['key']}"):
        upload = client.create_multipart_upload(**place)["UploadId"]
        parts: list[dict[str, Any]] = []

        def put(number: int, body: bytes) -> dict[str, Any]:
            answer = client.upload_part(**place, UploadId=upload, PartNumber=number, Body=body)
            return {"PartNumber": number, "ETag": answer["ETag"]}

        numbered = enumerate(parts_of(records, count), start=1)
        with concurrent.futures.ThreadPoolExecutor(HANDS) as hands:
            # Only so many at once are made: the data may be larger than the memory.
            while some := list(itertools.islice(numbered, HANDS)):
                parts += hands.map(put, *zip(*some))
        client.complete_multipart_upload(**place, UploadId=upload, MultipartUpload={"Parts": parts})


def put_objects(where: dict[str, Any], keys: Sequence[str], records: Records, count: int) -> None:
    """Put `count` records as each of these objects: parts of large ones at once, or several small ones."""
    if records.number_of_chunks(count) > 1:
        for key in keys:
            put_records({**where, "key": key}, records, count)
        return
    client = new_client(new_session(where["region"]), "s3", HANDS)

    def put(number: int, key: str) -> None:
        client.put_object(Bucket=where["bucket"], Key=key, Body=bytes(records.chunk(number * count, count)))

    with translated(f"PUT s3://{where['bucket']}/{keys[0]}"), concurrent.futures.ThreadPoolExecutor(HANDS) as hands:
        for _ in hands.map(put, range(len(keys)), keys):
            pass


def parts_of(records: Records, count: int) -> Iterator[bytes]:
    """The records in parts of equal size, as many chunks each as keep the parts few enough."""
    chunks = records.chunks(count)
    each = -(-records.number_of_chunks(count) // MOST_PARTS)
    while some := list(itertools.islice(chunks, each)):
        yield b"".join(some)
