"""Admission to the local cloud: only programs of this machine that have one of its keys, and no web page.

A page in a browser can reach every port of the machine that shows it. Three checks keep it out; each one stops the
known attacks by itself. A request to another host name is refused, because a name may have been rebound to 127.0.0.1.
So is each request with an Origin, which browsers add to cross-origin requests. And every request needs a signature by
the key of this cloud, or of a role session that it issued. The key also keeps out other users.
"""

import io
import json
import logging
from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from http import HTTPStatus
from typing import Any

from local.hooks import Application
from local.signatures import OF_S3, NotSignedError, Request, check, claim_of

# moto's own pages: a dashboard, a reset of everything, and a metadata service for everybody.
PAGES_OF_MOTO = (
    "/moto-api",
    "/favicon.ico",
    "/latest/meta-data",
    "/latest/api",
    "/latest/dynamic",
    "/latest/user-data",
)
# Services that moto lacks; without an answer of theirs the functions go on.
NOT_PLAYED = ("pricing",)
LOG = logging.getLogger(__name__)
REQUEST_ID = "local-refused"


class Admission:
    """A WSGI application that passes on only admitted requests."""

    def __init__(
        self,
        application: Application,
        hosts: Iterable[str],
        secret_of: Callable[[str], tuple[str, str] | None],
    ) -> None:
        """`secret_of` returns secret and session token ("" without one) of an access key, None for an unknown key."""
        self._application = application
        self._hosts = frozenset(hosts)
        self._secret_of = secret_of

    def __call__(self, environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
        """Answer with the application, refuse strangers, or report an internal error."""
        request = _request(environ)
        try:
            self._refuse_pages(request, environ["PATH_INFO"])
            service = self._check_signature(request)
        except NotSignedError as err:
            return _error(request, 403, err.code, str(err), start_response)
        if service in NOT_PLAYED:
            why = f"The local cloud has no {service}; `matrix` has a price book."
            # Not a denial: no right is missing.
            return _error(request, 400, "UnknownOperationException", why, start_response)
        try:
            return self._application(environ, start_response)
        except ConnectionError:
            raise
        except Exception as err:
            what = request.headers.get("x-amz-target", request.target)
            LOG.error("%s %s was not answered: %r", request.method, what, err)
            why = f"a fault of the local cloud: {type(err).__name__}: {err}"
            return _error(request, 500, "InternalFailure", why, start_response)

    def _refuse_pages(self, request: Request, path: str) -> None:
        host, origin = request.headers.get("host", ""), request.headers.get("origin")
        if host.lower() not in self._hosts:
            raise NotSignedError("AccessDenied", f"This is not {host}, but the local cloud of Storage Matrix.")
        if origin is not None:
            raise NotSignedError(
                "AccessDenied", f"The local cloud answers programs, not pages such as those of {origin}."
            )
        if path.startswith(PAGES_OF_MOTO):
            raise NotSignedError("AccessDenied", f"{path} is not served.")

    def _check_signature(self, request: Request) -> str:
        """Return the service that the request is signed for."""
        claim = claim_of(request.headers.get("authorization", ""))
        keys = self._secret_of(claim.access_key)
        token = request.headers.get("x-amz-s3session-token") or request.headers.get("x-amz-security-token", "")
        if keys is None or token != keys[1]:
            raise NotSignedError(
                "InvalidAccessKeyId" if claim.service in OF_S3 else "UnrecognizedClientException",
                "The security token included in the request is invalid: the key is none of this local cloud. "
                "`matrix local up` prints its keys; .local/cloud.json has them.",
            )
        check(request, claim, keys[0], datetime.now(UTC))
        return claim.service


def _request(environ: dict[str, Any]) -> Request:
    headers = {name[5:].replace("_", "-").lower(): value for name, value in environ.items() if name.startswith("HTTP_")}
    for name in ("CONTENT_TYPE", "CONTENT_LENGTH"):
        if name in environ:
            headers[name.replace("_", "-").lower()] = environ[name]

    def read_body() -> bytes:
        """Return the body, left for the application to read again."""
        source = environ["wsgi.input"]
        is_terminated = environ.get("wsgi.input_terminated", False)
        body: bytes = source.read() if is_terminated else source.read(int(headers.get("content-length") or 0))
        environ["wsgi.input"] = io.BytesIO(body)
        return body

    return Request(environ["REQUEST_METHOD"], environ["REQUEST_URI"], headers, read_body)


def _error(
    request: Request, status: int, code: str, message: str, start_response: Callable[..., Any]
) -> Iterable[bytes]:
    """Return an error in the format that the service's clients read: JSON, S3's XML, or EC2's XML."""
    authorization, content_type = request.headers.get("authorization", ""), request.headers.get("content-type", "")
    if any(f"/{service}/aws4_request" in authorization for service in OF_S3):
        kind, body = "application/xml", f"<Error><Code>{code}</Code><Message>{_xml(message)}</Message></Error>"
    elif content_type.startswith("application/x-www-form-urlencoded"):
        kind = "text/xml"
        body = (
            f"<Response><Errors><Error><Code>{code}</Code><Message>{_xml(message)}</Message></Error></Errors>"
            f"<RequestID>{REQUEST_ID}</RequestID></Response>"
        )
    else:
        kind, body = "application/json", json.dumps({"__type": code, "message": message})
    sent = b"" if request.method == "HEAD" else body.encode()
    start_response(
        f"{status} {HTTPStatus(status).phrase.upper()}",
        [
            ("Content-Type", kind),
            ("Content-Length", str(len(body.encode()))),
            ("x-amzn-ErrorType", code),
            # Without it a client has no RequestId, which moto's interpreter of state machines asks for.
            ("x-amzn-RequestId", REQUEST_ID),
        ],
    )
    return [sent]


def _xml(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
