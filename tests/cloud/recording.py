"""Record all requests to the local cloud and its responses, for judges that compare both with AWS's models.

One JSON object per line, bodies in base64.
"""

import base64
import io
import json
import threading
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from local.hooks import Application
from local.signatures import claim_of

# Longer bodies are objects: agents, pages and data. Our documents have some 100 kB.
MAX_BODY_BYTES = 1_000_000


class Recorder:
    """A WSGI application that hands everything on, and appends it to a file with the answer."""

    def __init__(self, application: Application, path: Path) -> None:
        """`path` is created, or emptied."""
        self._application = application
        self._record = path.open("w", encoding="utf-8", buffering=1)
        self._writing = threading.Lock()

    def __call__(self, environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
        is_terminated = environ.get("wsgi.input_terminated", False)
        length = int(environ.get("CONTENT_LENGTH") or 0)
        body = environ["wsgi.input"].read() if is_terminated else environ["wsgi.input"].read(length)
        environ["wsgi.input"] = io.BytesIO(body)
        answered: dict[str, Any] = {}

        def start(status: str, headers: list[tuple[str, str]], *rest: Any) -> Any:
            answered.update(status=int(status.split(maxsplit=1)[0]), answer_headers=dict(headers))
            return start_response(status, headers, *rest)

        answer = b"".join(self._application(environ, start))
        claim = claim_of(environ.get("HTTP_AUTHORIZATION", ""))  # admission has checked it
        exchange = {
            "service": claim.service,
            "method": environ["REQUEST_METHOD"],
            "target": environ["REQUEST_URI"],
            "headers": {
                name[5:].replace("_", "-").lower(): value
                for name, value in environ.items()
                if name.startswith("HTTP_") and name not in ("HTTP_AUTHORIZATION", "HTTP_X_AMZ_SECURITY_TOKEN")
            }
            | {"content-type": environ.get("CONTENT_TYPE", "")},
            "body": _encoded(body),
            **answered,
            "answer": _encoded(answer),
        }
        with self._writing:
            self._record.write(json.dumps(exchange) + "\n")
        return [answer]


def _encoded(body: bytes) -> str | None:
    """Return a body in base64, or None if it is too long to record."""
    return base64.b64encode(body).decode() if len(body) <= MAX_BODY_BYTES else None
