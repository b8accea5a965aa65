"""The cell's folder in S3: the agent reads the job there, and writes below its own instance's folder.

Only this module and barrier_objects.py call AWS, with the botocore in the agent's zip. The first call imports it, so
that `agent` without a job need not wait for it.
"""

from __future__ import annotations

import contextlib
import gzip
import json
import os
import re
import sys
import time
from collections.abc import Iterator, Mapping
from typing import Any

from agent.board.barrier_objects import ABSENT, BarrierObjects, at_once
from agent.board.s3_clock import S3Clock
from agent.errors import BlackboardUnavailable, JobInvalid, MetadataUnavailable, ToolMissing
from agent.retrying import LOG
from contract import keys, retryable
from contract.keys import BarrierKeys

COMPRESS_FROM_BYTES = 100_000
# Standard mode waits up to 1, 2, 4, 8, 16, 20 and 20 s, half of that on average: 8 attempts ride out half a minute of a
# prefix that S3 throttles because 1,000 instances upload at once.
ATTEMPTS = 8
CONNECT_TIMEOUT_S, READ_TIMEOUT_S = 10, 30
# Attempts to read a body that breaks off; boto3's downloads make as many.
BODIES = 5
# botocore reads it when it is imported.
NO_CRT = "BOTO_DISABLE_CRT"
BROKEN_OFF = "an answer of S3 broke off"
REPEATED = "repeated by boto3 after:"
SESSION_SETTINGS = {
    # By default botocore asks the metadata service for the role's keys once, for 1 s: too short for a busy machine.
    "metadata_service_num_attempts": 5,
    "metadata_service_timeout": 5,
}


class Bucket:
    """Get and put objects of one bucket; threads may share it, as botocore's clients are thread-safe."""

    def __init__(self, name: str, session: Any) -> None:
        self._session = session
        self._client = new_client(session, "s3")
        self.s3_clock = S3Clock()
        self.name = name

    def barrier_objects(self, place: BarrierKeys, request_s: float) -> BarrierObjects:
        """Return the fleet's start barrier in S3, with a client that tries once and waits `request_s` seconds."""
        return BarrierObjects(new_client(self._session, "s3", request_s=request_s), self.name, place)

    def get(self, key: str) -> bytes | None:
        """Return the object's bytes, or None if it does not exist (yet).

        A role without list permission gets 403 instead of 404 for a missing key, so both mean that.
        """
        with translated(f"GET s3://{self.name}/{key}"):
            try:
                return bytes(self._client.get_object(Bucket=self.name, Key=key)["Body"].read())
            except self._client.exceptions.ClientError as err:
                if err.response["ResponseMetadata"]["HTTPStatusCode"] in ABSENT:
                    return None
                raise

    def put(self, key: str, body: bytes, content_type: str = "application/json") -> None:
        """Store the object; botocore repeats the request while S3 asks to slow down."""
        with translated(f"PUT s3://{self.name}/{key}"):
            sent_at = time.time()
            answer = self._client.put_object(Bucket=self.name, Key=key, Body=at_once(body), ContentType=content_type)
            # An answer to a repeated request was sent for later than this: wider bounds, but never wrong ones.
            self.s3_clock.heard(answer, sent_at, time.time())


class Blackboard:
    """The part of the bucket that belongs to this cell and this instance."""

    def __init__(self, bucket: Bucket, prefix: str, userid: str) -> None:
        """`prefix` is the cell's folder, `userid` the role's name for this instance (role id:instance id)."""
        self._bucket = bucket
        self.prefix = prefix.rstrip("/")
        self.own = f"{self.prefix}/{keys.INSTANCES}{userid}"

    def barrier_objects(self, nonce: str, request_s: float) -> BarrierObjects:
        """Return where the instances of this launch meet; `nonce` is its secret name."""
        return self._bucket.barrier_objects(BarrierKeys.below(f"{self.prefix}/", nonce), request_s)

    @property
    def s3_clock(self) -> S3Clock:
        """Offset of this instance's clock, from S3's responses for its own objects."""
        return self._bucket.s3_clock

    def volumes(self, instance_id: str) -> list[str] | None:
        """Return the ids of the data volumes of an instance; None until Launch fleet has recorded them."""
        body = self._bucket.get(f"{self.prefix}/{keys.VOLUMES}")
        return None if body is None else list(json.loads(body)["volumes"].get(instance_id, []))

    def put(self, name: str, document: dict[str, Any]) -> None:
        """Write one of this instance's own documents."""
        self._bucket.put(f"{self.own}/{name}", json.dumps(document, separators=(",", ":")).encode())

    def put_raw(self, name: str, body: bytes) -> None:
        """Store a tool's raw output."""
        if len(body) > COMPRESS_FROM_BYTES:
            self.put_zipped(stored_name(name, body), body)
        else:
            self._bucket.put(f"{self.own}/{stored_name(name, body)}", body)

    def put_log(self, text: str) -> None:
        self.put_zipped(keys.LOG, text.encode())

    def put_zipped(self, name: str, body: bytes) -> None:
        """Store a large object compressed; `name` ends with .gz."""
        self._bucket.put(f"{self.own}/{name}", gzip.compress(body, compresslevel=5, mtime=0), "application/gzip")


def stored_name(name: str, body: bytes) -> str:
    """Return the name of a tool's raw output below its instance's folder; large outputs are stored compressed."""
    return keys.raw_name(name, is_zipped=len(body) > COMPRESS_FROM_BYTES)


def parse_uri(uri: str) -> tuple[str, str]:
    """Return bucket and key of an s3:// URI."""
    match = re.fullmatch(r"s3://([^/]+)/(.+)", uri)
    if not match:
        raise JobInvalid(f"'{uri}' is not an S3 URI; start the agent with s3://<bucket>/<prefix>/job.json")
    return match.group(1), match.group(2)


def new_session(region: str) -> Any:
    """Return a botocore session: keys from the environment, else of the instance's role, which it renews."""
    try:
        with without_crt():
            import botocore.session
    except ImportError as err:
        raise ToolMissing(
            f"{sys.executable} has no botocore ({err}); start the agent from the zip that the stack's runs have in "
            "their bucket (agents/), or that `make agent` writes: it brings one"
        ) from err
    session = botocore.session.get_session()
    for name, setting in {**SESSION_SETTINGS, "region": region}.items():
        session.set_config_variable(name, setting)
    return session


@contextlib.contextmanager
def without_crt() -> Iterator[None]:
    """Let botocore be imported without awscrt: that is the distribution's, where a job wants it, and of any age."""
    before = os.environ.get(NO_CRT)
    os.environ[NO_CRT] = "true"
    try:
        yield
    finally:
        # Programs of a workload may have their own botocore, and decide by themselves.
        del os.environ[NO_CRT]
        if before is not None:
            os.environ[NO_CRT] = before


def sdk_version() -> str:
    """Return the version of botocore that is imported."""
    import botocore

    return str(botocore.__version__)


def new_client(session: Any, service: str, connections: int = 10, request_s: float | None = None) -> Any:
    """Return a client of one service with ATTEMPTS per call, for as many threads at once as `connections`.

    With `request_s` it makes one attempt a call, which may take so many seconds. Otherwise the log has the
    first failure of each call that is repeated.
    """
    from botocore.config import Config

    config = Config(
        connect_timeout=request_s or CONNECT_TIMEOUT_S,
        read_timeout=request_s or READ_TIMEOUT_S,
        max_pool_connections=connections,
        retries={"mode": "standard", "total_max_attempts": 1 if request_s else ATTEMPTS},
    )
    return retryable.log_retries(session.create_client(service, config=config), _repeated, _answered)


def _repeated(call: str, reason: str) -> None:
    LOG.warning("%s: %s %s", call, REPEATED, reason)


def _answered(call: str, attempts: int) -> None:
    LOG.info("%s: answered at attempt %d", call, attempts)


def caller_userid(session: Any) -> str:
    """Return the instance's `aws:userid` (role id:instance id), which EC2 sets and the role's policy uses."""
    with translated("sts GetCallerIdentity"):
        return str(new_client(session, "sts").get_caller_identity()["UserId"])


def get_range(client: Any, place: Mapping[str, str], first: int, last: int) -> bytes:
    """Return the bytes from `first` to `last`, both included, of the object at `place` (Bucket, Key).

    botocore retries a failed request, but not one whose response breaks off, which happens to a few of millions. A
    retry here takes the caller's time, and writes a line that begins with BROKEN_OFF to standard error.
    """
    for left in reversed(range(BODIES)):
        body = client.get_object(**place, Range=f"bytes={first}-{last}")["Body"]
        try:
            return bytes(body.read())
        except Exception as err:  # older releases of botocore let errors of urllib3 through
            if not left or not retryable.verdict(err).is_retryable:
                raise
            print(f"{BROKEN_OFF}: {err}", file=sys.stderr)
    raise AssertionError("unreachable")


@contextlib.contextmanager
def translated(request: str) -> Iterator[None]:
    """Raise an AgentError in place of botocore's error, after all of its attempts."""
    from botocore.exceptions import BotoCoreError, ClientError, NoCredentialsError

    try:
        yield
    except NoCredentialsError as err:
        raise MetadataUnavailable("the instance has no role: launch it with the stack's instance profile") from err
    except (BotoCoreError, ClientError) as err:
        raise BlackboardUnavailable(f"{request}: {err}") from err
