"""Signature Version 4 of AWS, from the server's side: recompute a request's signature and compare.

botocore's own signer computes it. Signatures in the query (presigned URLs) are not supported, because our code makes
none. Of a body that is sent in signed chunks (`STREAMING-…`) only the headers are checked, not each chunk.
"""

import hashlib
import hmac
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from botocore.auth import S3SigV4Auth, SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials

AUTHORIZATION = re.compile(
    r"AWS4-HMAC-SHA256\s+Credential=([^/,\s]+)/(\d{8})/([^/,\s]+)/([^/,\s]+)/aws4_request\s*,"
    r"\s*SignedHeaders=([^,\s]+)\s*,\s*Signature=([0-9a-f]{64})"
)
DATE_FORMAT = "%Y%m%dT%H%M%SZ"
# As on AWS: a request that somebody recorded is of no use to them later.
MAX_AGE = timedelta(minutes=15)
PAYLOAD_HEADER = "x-amz-content-sha256"
# Services whose paths are signed as they are sent.
OF_S3 = frozenset({"s3", "s3express"})
SHA256 = re.compile(r"[0-9a-f]{64}")


class NotSignedError(Exception):
    """A request that is refused; `code` is AWS's name for the reason."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


@dataclass(frozen=True)
class Claim:
    """Content of an Authorization header: access key, signed headers, day, region and service."""

    access_key: str
    day: str
    region: str
    service: str
    signed_headers: tuple[str, ...]
    signature: str


@dataclass(frozen=True)
class Request:
    """A request as it came: target is path and query, undecoded; names of headers are in lower case."""

    method: str
    target: str
    headers: Mapping[str, str]
    read_body: Callable[[], bytes]


def claim_of(authorization: str) -> Claim:
    """Return the claim of an Authorization header; NotSignedError if there is none that can be checked."""
    match = AUTHORIZATION.fullmatch(authorization.strip())
    if match is None:
        raise NotSignedError(
            "MissingAuthenticationToken", "The request has no Authorization header of Signature Version 4."
        )
    access_key, day, region, service, headers, signature = match.groups()
    return Claim(access_key, day, region, service, tuple(headers.split(";")), signature)


def check(request: Request, claim: Claim, secret_key: str, now: datetime) -> None:
    """Raise NotSignedError unless the claim's signature is the one of this request under `secret_key`."""
    timestamp = request.headers.get("x-amz-date", "")
    if not _is_recent(timestamp, now) or timestamp[:8] != claim.day:
        raise NotSignedError(
            "RequestTimeTooSkewed", f"X-Amz-Date {timestamp!r} is not within 15 minutes of {now:{DATE_FORMAT}}."
        )
    if not {"host", "x-amz-date"} <= set(claim.signed_headers):
        raise NotSignedError("IncompleteSignature", "Host and X-Amz-Date are not among the signed headers.")
    body_hash = hashlib.sha256(request.read_body()).hexdigest()
    announced_hash = request.headers.get(PAYLOAD_HEADER, body_hash)
    if SHA256.fullmatch(announced_hash) and announced_hash != body_hash:
        raise NotSignedError("XAmzContentSHA256Mismatch", "X-Amz-Content-SHA256 is not the hash of the body.")
    if not hmac.compare_digest(_signature(request, claim, secret_key, timestamp, body_hash), claim.signature):
        raise NotSignedError(
            "SignatureDoesNotMatch" if claim.service in OF_S3 else "InvalidSignatureException",
            "The request signature we calculated does not match the signature you provided.",
        )


def _is_recent(timestamp: str, now: datetime) -> bool:
    try:
        return abs(datetime.strptime(timestamp, DATE_FORMAT).replace(tzinfo=UTC) - now) <= MAX_AGE
    except ValueError:
        return False


def _signature(request: Request, claim: Claim, secret_key: str, timestamp: str, body_hash: str) -> str:
    signer = (_S3Signer if claim.service in OF_S3 else _Signer)(
        Credentials(claim.access_key, secret_key), claim.service, claim.region
    )
    signed = {name: request.headers.get(name, "") for name in claim.signed_headers}
    received = AWSRequest(request.method, f"http://{request.headers['host']}{request.target}", headers=signed)
    received.context.update({"timestamp": timestamp, "body_hash": body_hash})
    return str(signer.signature(signer.string_to_sign(received, signer.canonical_request(received)), received))


class _HashedBefore:
    """Uses the hash of a body that was read already; called only if the request has no header with it."""

    def payload(self, request: AWSRequest) -> str:
        return str(request.context["body_hash"])


class _Signer(_HashedBefore, SigV4Auth):
    pass


class _S3Signer(_HashedBefore, S3SigV4Auth):
    pass
