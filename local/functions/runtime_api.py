"""The Lambda Runtime API of one sandbox: the documented HTTP interface between Lambda and AWS's runtime client.

Every path begins with a secret of the sandbox: whoever could take an event would read its content, and whoever could
answer one would control the state machine.
"""

import contextlib
import hmac
import queue
import secrets
import socket
import threading
import time
import uuid
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler
from typing import Literal

from local.programs import peers


@dataclass(frozen=True)
class Invocation:
    """One event for the function."""

    request_id: str
    function_arn: str
    payload: bytes
    deadline_ms: int


@dataclass(frozen=True)
class Outcome:
    """Result of an invocation; `body` is the function's JSON, or its error as JSON, or an exit status."""

    kind: Literal["response", "error", "init_error", "timeout", "exit"]
    body: bytes = b""


class RuntimeApi:
    """Listens on a port of its own: awslambdaric identifies its sandbox by the address only."""

    def __init__(self) -> None:
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._invocations: queue.SimpleQueue[Invocation | None] = queue.SimpleQueue()
        self._secret = secrets.token_urlsafe(32)
        self.address = f"127.0.0.1:{self._listener.getsockname()[1]}/{self._secret}"
        self.initialised = threading.Event()
        self.outcomes: queue.SimpleQueue[Outcome] = queue.SimpleQueue()
        threading.Thread(target=self._accept, name="runtime-api", daemon=True).start()

    def knows(self, path: str) -> bool:
        """Return whether a path begins with the secret."""
        return hmac.compare_digest(path.split("/")[1].encode() if "/" in path else b"", self._secret.encode())

    def give(self, invocation: Invocation) -> None:
        """Hand the next event to the sandbox."""
        self._invocations.put(invocation)

    def take(self) -> Invocation | None:
        """Wait for the next event; None when the sandbox is being ended."""
        return self._invocations.get()

    def close(self) -> None:
        """Stop listening and release the thread that waits for the next event."""
        self._invocations.put(None)
        with contextlib.suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)  # wakes accept(); close() alone does not
        self._listener.close()

    def _accept(self) -> None:
        while True:
            try:
                connection, address = self._listener.accept()
            except OSError:
                return
            if peers.is_of_this_user(address, connection.getsockname()):
                threading.Thread(target=self._serve, args=(connection, address), daemon=True).start()
            else:
                connection.close()

    def _serve(self, connection: socket.socket, address: tuple) -> None:
        try:
            _Handler(connection, address, self)  # type: ignore[arg-type]
        except OSError:
            pass  # the sandbox died while it was spoken to; its exit is reported by the fork server
        finally:
            connection.close()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server: RuntimeApi

    def parse_request(self) -> bool:
        """Read the request's head; without the secret, answer 403 and return False."""
        if not super().parse_request():
            return False
        if not self.server.knows(self.path):
            self.close_connection = True
            self.send_error(403)
            return False
        return True

    def do_GET(self) -> None:
        self.server.initialised.set()
        invocation = self.server.take()
        if invocation is None:
            self.close_connection = True
            return
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(invocation.payload)))
        self.send_header("Lambda-Runtime-Aws-Request-Id", invocation.request_id)
        self.send_header("Lambda-Runtime-Deadline-Ms", str(invocation.deadline_ms))
        self.send_header("Lambda-Runtime-Invoked-Function-Arn", invocation.function_arn)
        trace = f"Root=1-{int(time.time()):08x}-{uuid.uuid4().hex[:24]};Sampled=0"
        self.send_header("Lambda-Runtime-Trace-Id", trace)
        self.end_headers()
        self.wfile.write(invocation.payload)

    def do_POST(self) -> None:
        body = self._body()
        if self.path.endswith("/response"):
            self.server.outcomes.put(Outcome("response", body))
        elif self.path.endswith("/init/error"):
            self.server.outcomes.put(Outcome("init_error", body))
        else:
            self.server.outcomes.put(Outcome("error", body))
        answer = b'{"status":"OK"}'
        self.send_response(202)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def _body(self) -> bytes:
        if self.headers.get("Transfer-Encoding", "").lower() != "chunked":
            return self.rfile.read(int(self.headers.get("Content-Length", 0)))
        body = b""
        while size := int(self.rfile.readline().split(b";")[0], 16):
            body += self.rfile.read(size)
            self.rfile.readline()
        self.rfile.readline()
        return body

    def log_message(self, *_: object) -> None:
        """Log nothing: one line per invocation would flood the cloud's log."""
