"""Directory buckets of S3 Express One Zone, which moto lacks: their calls, and the sessions for them.

The objects are moto's: a directory bucket is one of its buckets with its own tags, and ListBuckets leaves it out. A
call on objects needs the keys of a session, which are valid for one bucket and five minutes; a ReadOnly session changes
nothing. IAM evaluates calls on buckets by the role, even if a session's keys sign them. With a custom endpoint such as
the local cloud's, botocore opens a session for each named bucket, even before CreateBucket. On AWS it does not. So such
a session is created here before the bucket exists, and the role's permission for it is checked at its first call on
objects.

Sources: botocore's models of S3 and S3 Control; S3 user guide, directory bucket naming rules and differences.
"""

import re
import secrets
import threading
import time
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit
from xml.etree import ElementTree as ET

from moto.core.base_backend import BackendDict
from moto.core.exceptions import ServiceException
from moto.core.responses import ActionResult, BaseResponse, EmptyResult
from moto.ec2.models.availability_zones_and_regions import RegionsAndZonesBackend
from moto.efs.models import efs_backends
from moto.s3.models import FakeBucket, S3Backend, s3_backends
from moto.s3.responses import S3Response

from local.corrections.own_services import OwnBackend, register

SERVICE = "s3express"
NAME = re.compile(r"[a-z0-9][a-z0-9-]*--(?P<zone>[a-z0-9]+-az\d+)--x-s3")
MAX_NAME = 63
SESSION_S = 300.0
TAGS_PATH = "/v20180820/tags/"
STATUS = {"BucketAlreadyOwnedByYou": 409, "BucketNotEmpty": 409, "NoSuchBucket": 404, "AccessDenied": 403}
SIGNED_BY = re.compile(r"Credential=([^/,]+)/")
Document = dict[str, Any]


class ExpressError(ServiceException):
    """A refusal, with the status that S3 gives it."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(code, message)
        self.status = STATUS.get(code, 400)


@dataclass(frozen=True)
class Session:
    """Keys for the objects of one bucket, and whose keys opened it."""

    bucket: str
    is_read_only: bool
    opened_by: str
    access_key: str
    secret_key: str
    token: str
    expires_at: float  # epoch seconds


_sessions: dict[str, Session] = {}
_lock = threading.Lock()


def session_of(access_key: str) -> Session | None:
    """Return the session with this access key, also after it has expired."""
    return _sessions.get(access_key)


def opened_by(access_key: str) -> str:
    """Return the access key by which a session was opened; any other key itself."""
    session = _sessions.get(access_key)
    return session.opened_by if session else access_key


@dataclass(frozen=True)
class _Target:
    """Bucket and key of a request ("" if it names none), and its action on buckets or None."""

    method: str
    bucket: str
    key: str
    query: dict[str, list[str]]
    is_by_own_endpoint: bool
    path: str

    @classmethod
    def of(cls, request: Any) -> "_Target":
        url = urlsplit(request.raw_url)
        host, path = url.netloc, unquote(url.path)
        by_host = host.partition(f".{SERVICE}-")[0] if f".{SERVICE}-" in host else ""
        parts = path.lstrip("/").split("/", 1)
        bucket, key = (by_host, path.lstrip("/")) if by_host else (parts[0], parts[1] if len(parts) > 1 else "")
        is_own = SERVICE not in host
        return cls(request.method, bucket, key, parse_qs(url.query, keep_blank_values=True), is_own, path)

    @property
    def action(self) -> str | None:
        """Name of the operation, unless it is one on objects or their uploads."""
        if self.path.startswith(TAGS_PATH):
            return "ListTagsForResource"
        if not self.bucket:
            return "ListDirectoryBuckets"
        if not self.key and "session" in self.query:
            return "CreateSession"
        if not self.key and not self.query:
            return {"PUT": "CreateBucket", "DELETE": "DeleteBucket"}.get(self.method)
        return None


def directory_buckets(account: str) -> dict[str, FakeBucket]:
    """Return the directory buckets of an account by name."""
    buckets = s3_backends[account]["aws"].buckets
    return {name: bucket for name, bucket in buckets.items() if NAME.fullmatch(name)}


def tags_of(account: str, bucket: str) -> dict[str, str]:
    """Return the tags of a directory bucket; empty if the bucket does not exist."""
    known = directory_buckets(account).get(bucket)
    return dict(getattr(known, "directory_tags", {}))


class ExpressBackend(OwnBackend):
    """Registers the requests that this module answers; the data stay in moto's S3."""

    URL = rf"https?://(.+\.)?{SERVICE}(-[a-z0-9-]+)?\.(.+)\.amazonaws\.com"


s3express_backends = BackendDict(ExpressBackend, efs_backends.service_name)


class ExpressResponse(BaseResponse):
    """Answers of calls on buckets, which moto writes by botocore's models; those on objects are left to moto's S3."""

    def __init__(self) -> None:
        super().__init__(service_name=s3_backends.service_name)
        self.allow_request_decompression = False

    @property
    def boto3_service_name(self) -> str:
        """Tags are S3 Control's."""
        return "s3control" if self._get_action() == "ListTagsForResource" else s3_backends.service_name

    @classmethod
    def dispatch(cls, request: Any, full_url: str, headers: Any) -> Any:
        """Answer a request, or pass it to moto's S3 if its session permits it."""
        target = _Target.of(request)
        if target.action:
            return cls()._dispatch(request, full_url, headers)
        try:
            _check_session(target, request.headers)
            _check_listing(target)
        except ExpressError as error:
            text = f"<Error><Code>{error.code}</Code><Message>{error.message}</Message></Error>"
            return error.status, {"Content-Type": "application/xml"}, "" if target.method == "HEAD" else text
        answer = S3Response.key_dispatch if target.key else S3Response.bucket_dispatch
        return answer(request, full_url, headers)

    @property
    def target(self) -> _Target:
        return _Target.of(self.normalized_request)

    @property
    def requested_tags(self) -> list[dict[str, str]]:
        tags: list[dict[str, str]] = _parsed(self.body)["Tags"]
        return tags

    def _get_action(self) -> str:
        return self.target.action or ""

    def call_action(self) -> Any:
        """Answer with S3's status code, which the models lack for some errors."""
        status, headers, body = super().call_action()
        code = re.search(rb"<Code>(\w+)</Code>", body.encode() if isinstance(body, str) else body or b"")
        return (STATUS.get(code[1].decode(), status) if code else status), headers, body

    def list_directory_buckets(self) -> ActionResult:
        """GET /."""
        rows = [
            {
                "Name": name,
                "CreationDate": bucket.creation_date,
                "BucketRegion": self.region,
                "BucketArn": f"arn:aws:{SERVICE}:{self.region}:{self.current_account}:bucket/{name}",
            }
            for name, bucket in sorted(directory_buckets(self.current_account).items())
            if bucket.region_name == self.region
        ]
        return ActionResult({"Buckets": rows})

    def list_tags_for_resource(self) -> ActionResult:
        """GET /v20180820/tags/{resourceArn}."""
        bucket = self._there(self.target.path.rpartition("/")[2])
        tags = getattr(bucket, "directory_tags", {})
        return ActionResult({"Tags": [{"Key": key, "Value": value} for key, value in tags.items()]})

    def create_bucket(self) -> ActionResult:
        """PUT /{Bucket}; refuses values that contradict the name, with S3's message if known."""
        name, account = self.target.bucket, self.current_account
        configuration = _parsed(self.body)
        match = NAME.fullmatch(name)
        if not match or len(name) > MAX_NAME:
            raise ExpressError("InvalidBucketName", f"The specified bucket is not valid: {name}")
        location, kind = configuration.get("Location") or {}, configuration.get("Bucket") or {}
        zones = {zone.zone_id for zone in RegionsAndZonesBackend.zones[self.region]}
        if location.get("Type") != "AvailabilityZone" or location.get("Name") != match["zone"]:
            raise ExpressError("InvalidBucketName", f"{name} does not end with the zone of its Location.")
        if match["zone"] not in zones:
            raise ExpressError("InvalidRequest", f"{match['zone']} is not an Availability Zone of {self.region}.")
        if kind != {"Type": "Directory", "DataRedundancy": "SingleAvailabilityZone"}:
            raise ExpressError("InvalidRequest", "Bucket must be a Directory of SingleAvailabilityZone.")
        with _lock:
            if name in directory_buckets(account):
                raise ExpressError("BucketAlreadyOwnedByYou", f"{name} exists and is yours.")
            bucket = s3_backends[account]["aws"].create_bucket(name, self.region)
            bucket.directory_tags = {tag["Key"]: tag["Value"] for tag in configuration.get("Tags", [])}
        return ActionResult({"Location": f"http://{name}/"})

    def delete_bucket(self) -> ActionResult:
        """DELETE /{Bucket}; refuses one with objects or unfinished uploads."""
        bucket = self._there(self.target.bucket)
        if bucket.keys or bucket.multiparts:
            raise ExpressError("BucketNotEmpty", "The bucket you tried to delete is not empty")
        s3_backends[self.current_account]["aws"].delete_bucket(bucket.name)
        return EmptyResult()

    def create_session(self) -> ActionResult:
        """GET /{Bucket}?session."""
        if not self.target.is_by_own_endpoint:
            self._there(self.target.bucket)
        signed = SIGNED_BY.search(self.headers.get("Authorization", ""))
        session = Session(
            bucket=self.target.bucket,
            is_read_only=self.headers.get("x-amz-create-session-mode") == "ReadOnly",
            opened_by=opened_by(signed[1]) if signed else "",
            access_key=f"SXPR{secrets.token_hex(8).upper()}",
            secret_key=secrets.token_urlsafe(30),
            token=secrets.token_urlsafe(60),
            expires_at=time.time() + SESSION_S,
        )
        with _lock:
            for key in [key for key, known in _sessions.items() if known.expires_at < time.time() - SESSION_S]:
                del _sessions[key]
            _sessions[session.access_key] = session
        keys = {
            "AccessKeyId": session.access_key,
            "SecretAccessKey": session.secret_key,
            "SessionToken": session.token,
            "Expiration": datetime.fromtimestamp(session.expires_at, UTC),
        }
        return ActionResult({"Credentials": keys})

    def _there(self, name: str) -> FakeBucket:
        bucket = directory_buckets(self.current_account).get(name)
        if bucket is None:
            raise ExpressError("NoSuchBucket", "The specified bucket does not exist")
        return bucket


def _check_session(target: _Target, headers: Any) -> None:
    signed = SIGNED_BY.search(headers.get("Authorization", ""))
    session = _sessions.get(signed[1]) if signed else None
    if session is None or headers.get("x-amz-s3session-token") != session.token:
        raise ExpressError("AccessDenied", "A call on objects of a directory bucket needs the keys of a session.")
    if session.expires_at < time.time():
        raise ExpressError("ExpiredToken", "The provided token has expired.")
    if session.bucket != target.bucket:
        raise ExpressError("AccessDenied", f"The session is for {session.bucket}.")
    if session.is_read_only and target.method not in ("GET", "HEAD"):
        raise ExpressError("AccessDenied", "The session is ReadOnly.")


def _check_listing(target: _Target) -> None:
    """Refuse the listings that directory buckets lack: prefixes and delimiters are directories."""
    if target.key or target.method != "GET":
        return
    prefix, delimiter = target.query.get("prefix", [""])[0], target.query.get("delimiter", ["/"])[0]
    if (prefix and not prefix.endswith("/")) or delimiter != "/" or "start-after" in target.query:
        raise ExpressError("InvalidArgument", "Of directory buckets, prefixes end in / and nothing else delimits.")


def _parsed(body: Any) -> Document:
    text = body.decode() if isinstance(body, bytes) else body
    if not text:
        return {"Tags": []}
    root = ET.fromstring(re.sub(r' xmlns="[^"]+"', "", text, count=1))  # noqa: S314 of clients with a key of ours
    parsed: Document = {child.tag: {each.tag: each.text for each in child} for child in root if child.tag != "Tags"}
    tags = root.find("Tags")
    parsed["Tags"] = [{each.tag: each.text or "" for each in tag} for tag in tags] if tags is not None else []
    return parsed


def install() -> None:
    """Make moto answer the service, and leave directory buckets out of its own lists."""
    listed = S3Backend.list_buckets
    if not getattr(listed, "leaves_out_directories", False):

        def list_buckets(self: Any, *arguments: Any, **named: Any) -> list[FakeBucket]:
            return [bucket for bucket in listed(self, *arguments, **named) if not NAME.fullmatch(bucket.name)]

        list_buckets.leaves_out_directories = True
        S3Backend.list_buckets = list_buckets
    register(SERVICE, s3express_backends, ExpressResponse)
