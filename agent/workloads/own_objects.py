"""Objects in a bucket for a command: uploaded once by each instance, and named by variables of the environment."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from agent.board.blackboard import new_session
from agent.engine.records import Records
from agent.workloads import uploads

# Each object is as many records, whose numbers and checksums make all of them different.
RECORD_BYTES = 4_096
# Where the local cloud has its S3, which every AWS SDK reads; on AWS it is not set.
ENDPOINT = "AWS_ENDPOINT_URL"


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
        uploads.put_objects(where, names, Records(RECORD_BYTES), size // RECORD_BYTES)
        noted.touch()
    return {**named, "S3_KEY": names[0], "S3_OBJECTS": str(count), "S3_BYTES": str(total_bytes(params))}


def total_bytes(params: dict[str, Any]) -> int:
    """Return the bytes of all objects of an instance; 0 if it has none."""
    return int(params.get("objects", 1)) * int(params.get("object_bytes", 0))
