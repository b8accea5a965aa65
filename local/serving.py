"""HTTP of the local cloud: many requests on one connection, each response in a single write.

werkzeug's server closes each connection after its response. A run makes some 3,000 requests, mostly small ones: a
connection and a thread for each took a third of the processor time of a small one, on either side.
"""

import io
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from moto.server import MotoRequestHandler

# A client that finds its connection closed opens another one.
IDLE_S = 60.0
# HTTP knows no body in answers with these: https://httpwg.org/specs/rfc9110.html#name-content-length
BODILESS = (204, 304)


class KeepAliveHandler(MotoRequestHandler):
    """Answers the requests of one connection, one after the other."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    timeout = IDLE_S
    wbufsize = -1  # one write for head and body together

    def run_wsgi(self) -> None:
        if self.headers.get("Expect", "").lower().strip() == "100-continue":
            self.wfile.write(b"HTTP/1.1 100 Continue\r\n\r\n")
            self.wfile.flush()
        self.environ = environ = self.make_environ()
        unread = environ["wsgi.input"]
        has_body = "HTTP_TRANSFER_ENCODING" in environ or environ.get("CONTENT_LENGTH", "0") not in ("", "0")
        answered: list[Any] = []

        def start(status: str, head: list[tuple[str, str]], *_: Any) -> Callable[[bytes], object]:
            answered[:] = status, head
            return io.BytesIO().write  # PEP 3333's legacy way to write before the response, which is unused here

        body = b""
        try:
            answer = self.server.app(environ, start)
            body = b"".join(answer)
            if hasattr(answer, "close"):
                answer.close()
        except ConnectionError:
            raise
        except Exception as err:
            self.server.log("error", f"Error on request: {err!r}")
            answered, body = ["500 INTERNAL SERVER ERROR", []], b""
            self.close_connection = True
        # Drop the last request from an idle connection: clients hold hundreds, and uploads are large.
        self.environ = {}
        if has_body and environ["wsgi.input"] is unread:
            # The request was refused by its head (local/admission.py), so its body is still unread.
            self.close_connection = True
        self._send(answered[0], answered[1], body)

    def _send(self, status: str, headers: list[tuple[str, str]], body: bytes) -> None:
        code, _, reason = status.partition(" ")
        is_head = self.command == "HEAD"
        self.send_response(int(code), reason)
        for name, value in headers:
            if is_head or name.lower() not in ("content-length", "connection", "transfer-encoding"):
                self.send_header(name, value)
        if not is_head and int(code) not in BODILESS:
            self.send_header("Content-Length", str(len(body)))
        if self.close_connection:
            self.send_header("Connection", "close")
        self.end_headers()
        if not is_head:
            self.wfile.write(body)
        self.wfile.flush()

    def finish(self) -> None:
        """Close the connection, even if it broke during a response."""
        with suppress(OSError):
            super().finish()

    def log_request(self, *_: object) -> None:
        """Log nothing: a line for each request would be useless."""
