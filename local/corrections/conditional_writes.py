"""S3's conditional writes: of several callers that write a key with `If-None-Match: *` at once, one succeeds.

moto looks whether the key is there and writes in two steps, so that two of four threads succeed now and then.
"""

import threading
from functools import wraps
from typing import Any

from moto.s3.responses import S3Response

_ONE_AT_A_TIME = threading.Lock()


def install() -> None:
    """Let no write of an object come between the look and the write of another."""
    put_object = S3Response.put_object
    if getattr(put_object, "is_atomic", False):
        return

    @wraps(put_object)
    def put_alone(response: Any) -> Any:
        if response.headers.get("If-None-Match") is None:
            return put_object(response)
        with _ONE_AT_A_TIME:
            return put_object(response)

    put_alone.is_atomic = True
    S3Response.put_object = put_alone
