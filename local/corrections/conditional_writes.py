"""S3's conditional writes: of concurrent writers of a key with `If-None-Match: *`, exactly one succeeds.

moto checks for the key and writes in two steps, so sometimes two of four threads succeed. It ignores any other value of
the header; S3 "expects the '*' (asterisk) character" (S3 API, PutObject).
"""

import threading
from functools import wraps
from typing import Any

from moto.s3.exceptions import S3ClientError
from moto.s3.responses import S3Response

_ONE_AT_A_TIME = threading.Lock()


def install() -> None:
    """Make the check and the write of an object atomic, and refuse header values that S3 refuses."""
    put_object = S3Response.put_object
    if getattr(put_object, "is_atomic", False):
        return

    @wraps(put_object)
    def put_alone(response: Any) -> Any:
        header = response.headers.get("If-None-Match")
        if header is None:
            return put_object(response)
        if header != "*":
            raise S3ClientError("NotImplemented", "A header you provided implies functionality that is not implemented")
        with _ONE_AT_A_TIME:
            return put_object(response)

    put_alone.is_atomic = True
    S3Response.put_object = put_alone
