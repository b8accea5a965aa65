"""Readers of an object in S3: a request is a ranged GET, by the client in the plan."""

from __future__ import annotations

import os
import threading
import time
from typing import Any, Callable
from urllib.parse import quote, urlsplit

from agent.board.blackboard import get_range, new_client, new_session
from agent.engine.records import RecordWrong

# Of the Common Runtime: its default target, and its planned rate for each connection.
DEFAULT_GBPS, GBPS_PER_CONNECTION = 10.0, 100 / 250

_lock = threading.Lock()
_made: dict[int, Any] = {}


def reader_of(plan: dict[str, Any]) -> ObjectReader:
    return ObjectReader(plan, {"boto3": boto3_get, "crt": crt_get}[plan["reader"]](plan))


class ObjectReader:
    """Reads an object; `get` fetches the bytes from one offset to another, both included."""

    def __init__(self, plan: dict[str, Any], get: Callable[[int, int], bytes]) -> None:
        self._request_bytes = plan["request_bytes"]
        self._get = get
        self.content = b""

    def read(self, offsets: list[int], stamps: list[int]) -> None:
        """Make a GET at each offset, one after another."""
        for offset in offsets:
            self.content = self._get(offset, offset + self._request_bytes - 1)
            if len(self.content) != self._request_bytes:
                raise RecordWrong(f"the object ends within the request at {offset}")
            stamps.append(time.monotonic_ns())

    def forget(self) -> None:
        """Do nothing, because no object is cached here."""


def boto3_get(plan: dict[str, Any]) -> Callable[[int, int], bytes]:
    """GetObject of botocore, as boto3 does it, over connections that are kept."""
    client = once(lambda: new_client(new_session(plan["region"]), "s3", plan["threads"]))
    place = {"Bucket": plan["bucket"], "Key": plan["key"]}
    return lambda first, last: get_range(client, place, first, last)


def crt_get(plan: dict[str, Any]) -> Callable[[int, int], bytes]:
    """GET by the client of the AWS Common Runtime, which splits large ranges and has threads of its own."""
    from awscrt import http, s3

    client = once(lambda: crt_client(plan["region"], plan["threads"]))
    host, path = address(plan)

    def get(first: int, last: int) -> bytes:
        body = bytearray(last - first + 1)

        def keep(chunk: bytes, offset: int, **_: object) -> None:
            body[offset - first : offset - first + len(chunk)] = chunk

        headers = http.HttpHeaders([("host", host), ("range", f"bytes={first}-{last}")])
        request = http.HttpRequest("GET", path, headers)
        client.make_request(type=s3.S3RequestType.GET_OBJECT, request=request, on_body=keep).finished_future.result()
        return bytes(body)

    return get


def crt_client(region: str, threads: int) -> Any:
    """A client of the Common Runtime with the keys of the instance's role, which botocore renews."""
    from awscrt import auth, io, s3

    keys = new_session(region).get_credentials()

    def current() -> Any:
        frozen = keys.get_frozen_credentials()
        return auth.AwsCredentials(frozen.access_key, frozen.secret_key, frozen.token)

    is_plain = os.environ.get("AWS_ENDPOINT_URL", "").startswith("http://")
    # It knows some instance types, and not all of its versions have the function.
    recommended_gbps = getattr(s3, "get_recommended_throughput_target_gbps", lambda: None)()
    return s3.S3Client(
        bootstrap=io.ClientBootstrap.get_or_create_static_default(),
        region=region,
        credential_provider=auth.AwsCredentialsProvider.new_delegate(current),
        throughput_target_gbps=target_gbps(recommended_gbps, threads),
        tls_mode=s3.S3RequestTlsMode.DISABLED if is_plain else s3.S3RequestTlsMode.ENABLED,
    )


def target_gbps(recommended_gbps: float | None, threads: int) -> float:
    """Throughput (Gbit/s) that the client plans its connections for: at least one for each thread.

    It opens target / (100 / 250) connections (aws-c-s3, s3_client.c): 25 for 10 Gbit/s, its default, so with more
    threads than that the client would be measured and not the storage.
    """
    return max(recommended_gbps or DEFAULT_GBPS, threads * GBPS_PER_CONNECTION)


def address(plan: dict[str, Any]) -> tuple[str, str]:
    """Host and path of the object: in the bucket's own domain, or below an endpoint that is set."""
    key = quote(plan["key"])
    endpoint = os.environ.get("AWS_ENDPOINT_URL")
    if endpoint:
        return urlsplit(endpoint).netloc, f"/{plan['bucket']}/{key}"
    # As botocore's data of partitions has it: of GovCloud and China, China has a domain of its own.
    domain = "amazonaws.com.cn" if plan["region"].startswith("cn-") else "amazonaws.com"
    return f"{plan['bucket']}.s3.{plan['region']}.{domain}", f"/{key}"


def once(make: Callable[[], Any]) -> Any:
    """One client for all threads of a process, and another after a fork: connections are not for two processes."""
    with _lock:
        if os.getpid() not in _made:
            _made[os.getpid()] = make()
        return _made[os.getpid()]
