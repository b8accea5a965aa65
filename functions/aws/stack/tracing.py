"""What a function adds to X-Ray's trace of an invocation: which run, file system and cell it is about.

Of our own, as docs/adr/0011-traces-without-the-x-ray-sdk.md says why.
"""

import json
import os
import socket
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from secrets import token_hex
from typing import Any

# What the daemon, which Lambda runs beside each function, expects before a document (X-Ray guide, "Sending trace data
# to AWS X-Ray", read November 2026).
HEADER = b'{"format": "json", "version": 1}\n'


@contextmanager
def subsegment(name: str, annotations: Mapping[str, str]) -> Iterator[None]:
    """Record the work inside as a subsegment with annotations, if X-Ray traces this invocation; else do nothing.

    A trace that cannot be sent is lost: a run does not fail for it.
    """
    # Root=1-…;Parent=…;Sampled=1, set by the runtime before each invocation (Lambda guide, "Environment variables").
    traced = dict(part.partition("=")[::2] for part in os.environ.get("_X_AMZN_TRACE_ID", "").split(";"))
    if traced.get("Sampled") != "1":
        yield
        return
    document: dict[str, Any] = {
        "name": name,
        "id": token_hex(8),
        "type": "subsegment",
        "trace_id": traced["Root"],
        "parent_id": traced["Parent"],
        "start_time": time.time(),
        "annotations": dict(annotations),
    }
    try:
        yield
    except Exception as error:
        exception = {"id": token_hex(8), "type": type(error).__name__, "message": str(error)}
        document |= {"fault": True, "cause": {"exceptions": [exception]}}
        raise
    finally:
        _send(document | {"end_time": time.time()})


def _send(document: Mapping[str, Any]) -> None:
    host, _, port = os.environ["AWS_XRAY_DAEMON_ADDRESS"].rpartition(":")
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as daemon:
        try:
            daemon.sendto(HEADER + json.dumps(document).encode(), (host, int(port)))
        except OSError:
            return
