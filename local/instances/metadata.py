"""The instance metadata service, version 2 only: the identity of an agent's instance, and its role's credentials.

All instances that are processes share one server: the first part of the path, in the agent's own
AWS_EC2_METADATA_SERVICE_ENDPOINT, identifies the instance. It is a secret of the instance, because the responses
contain the keys of its role. A VM has its own port, which it reaches as 169.254.169.254; the pipe between them sends
the secret.
"""

import json
import secrets
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from local.settings import ADDRESS

TOKEN_HEADER = "X-aws-ec2-metadata-token"  # noqa: S105 - a header's name
# An instance's own address and card, as its metadata names them; processes use those of this machine.
GUEST, MAC = "169.254.169.15", "52:54:00:12:34:56"
TIME_FORMAT = "%Y-%m-%dT%H:%M:%SZ"


@dataclass
class InstanceIdentity:
    values: dict[str, str]
    role: str | None
    session: Callable[[], Any]
    user_data: str = ""
    has_asked: threading.Event = field(default_factory=threading.Event)
    tokens: set[str] = field(default_factory=set)
    secret: str = field(default_factory=lambda: secrets.token_urlsafe(32))

    def answer(self, path: str) -> str | None:
        """Return the value at a path below latest/, or None if there is none."""
        if path == "user-data":
            return self.user_data
        if path.startswith("dynamic/"):
            return self._dynamic(path)
        return self._meta_data(path.removeprefix("meta-data").lstrip("/")) if path.startswith("meta-data") else None

    def _meta_data(self, path: str) -> str | None:
        credentials = "iam/security-credentials"
        if path.rstrip("/") == credentials:
            return self.role
        if self.role and path == f"{credentials}/{self.role}":
            return self._credentials()
        if path in self.values:
            return self.values[path]
        below = sorted({_first_part(name[len(path) :]) for name in self.values if name.startswith(path)})
        return "\n".join(below) if below and (path == "" or path.endswith("/")) else None

    def _dynamic(self, path: str) -> str | None:
        """Return the identity document, or the listing of its folder, for which cloud-init asks until it gets one."""
        if path.rstrip("/") == "dynamic/instance-identity":
            return "document"
        if path != "dynamic/instance-identity/document":
            return None
        names = {"instanceId": "instance-id", "instanceType": "instance-type", "imageId": "ami-id"}
        placement = {"region": "placement/region", "availabilityZone": "placement/availability-zone"}
        return json.dumps({name: self.values[key] for name, key in (names | placement).items()})

    def _credentials(self) -> str:
        session, now = self.session(), datetime.now(UTC)
        document = {
            "Code": "Success",
            "LastUpdated": now.strftime(TIME_FORMAT),
            "Type": "AWS-HMAC",
            "AccessKeyId": session.access_key_id,
            "SecretAccessKey": session.secret_access_key,
            "Token": session.session_token,
            "Expiration": (now + timedelta(hours=6)).strftime(TIME_FORMAT),
        }
        return json.dumps(document)


class MetadataService:
    """Serves the identities of the running instances."""

    def __init__(self) -> None:
        self._by_id: dict[str, InstanceIdentity] = {}
        self._by_secret: dict[str, InstanceIdentity] = {}
        self._server = _Server(self._by_secret)
        self._own: dict[str, _Server] = {}

    def serve(self, instance_id: str, identity: InstanceIdentity) -> None:
        self._by_id[instance_id] = self._by_secret[identity.secret] = identity

    def endpoint(self, instance_id: str) -> str:
        """Return the AWS_EC2_METADATA_SERVICE_ENDPOINT of an instance's agent."""
        return f"http://{ADDRESS}:{self._server.server_port}/{self._by_id[instance_id].secret}/"

    def own_port(self, instance_id: str) -> int:
        """Return a port of this machine that serves this instance only, after a line with its secret."""
        server = self._own[instance_id] = _Server(self._by_secret, only=self._by_id[instance_id])
        return int(server.server_port)

    def forget(self, instance_id: str) -> None:
        identity = self._by_id.pop(instance_id, None)
        if identity is not None:
            self._by_secret.pop(identity.secret, None)
        server = self._own.pop(instance_id, None)
        if server is not None:
            server.end()

    def close(self) -> None:
        """Stop serving."""
        for server in (self._server, *self._own.values()):
            server.end()


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 256

    def __init__(self, by_secret: dict[str, InstanceIdentity], only: InstanceIdentity | None = None) -> None:
        super().__init__((ADDRESS, 0), _Handler)
        self.by_secret = by_secret
        self.only = only
        # The server polls for its shutdown, by default twice a second, and the cloud has to wait for it.
        threading.Thread(target=self.serve_forever, args=(0.05,), name="metadata", daemon=True).start()

    def end(self) -> None:
        self.shutdown()
        self.server_close()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Server

    def handle(self) -> None:
        """Serve a connection; on a port of one instance only after its secret."""
        only = self.server.only
        if only is None or self.rfile.readline(len(only.secret) + 1) == f"{only.secret}\n".encode():
            super().handle()

    def do_PUT(self) -> None:
        identity, path = self._identity_and_path()
        if identity is None or path != "latest/api/token":
            self._send(404, "")
            return
        token = secrets.token_urlsafe(32)
        identity.tokens.add(token)
        identity.has_asked.set()
        self._send(200, token)

    def do_GET(self) -> None:
        identity, path = self._identity_and_path()
        if identity is None:
            self._send(404, "")
        elif self.headers.get(TOKEN_HEADER) not in identity.tokens:
            self._send(401, "")
        else:
            # cloud-init asks for dated versions, which hold the same
            value = identity.answer(path.partition("/")[2])
            self._send(404 if value is None else 200, value or "")

    def _identity_and_path(self) -> tuple[InstanceIdentity | None, str]:
        path = self.path.lstrip("/")
        if self.server.only is not None:
            return self.server.only, path
        secret, _, path = path.partition("/")
        return self.server.by_secret.get(secret), path.lstrip("/")

    def _send(self, status: int, body: str) -> None:
        self.send_response(status)
        self.send_header("Content-Type", "text/plain")
        self.send_header("Content-Length", str(len(body.encode())))
        self.end_headers()
        self.wfile.write(body.encode())

    def log_message(self, *_: object) -> None:
        """Log nothing."""


def _first_part(name: str) -> str:
    """Return the name's first part, with a slash where more follows, as the service lists names."""
    first, slash, _ = name.partition("/")
    return first + slash
