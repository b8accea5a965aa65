"""The console's server for the page, its data and the order to stop a run. It listens on 127.0.0.1 only."""

import json
import re
import secrets
import sys
import threading
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, quote, unquote, urlsplit

from typing_extensions import TypedDict

from cli.console.admission import HEADERS, PAGE_POLICY, REPORT_POLICY, Admission, Refused
from cli.console.polling import RunLook
from cli.console.stopping import Stop
from cli.messages.errors import CommandError, UnknownRun
from cli.messages.explain import explain
from cli.target.traces import Traces
from cli.target.unzipping import MAX_ZIPPED_BYTES, Unzipped
from local.programs import peers
from matrix.terms.documents.plan import PlanDocument
from matrix.terms.keys import RUN_PATTERN
from matrix.terms.printable import printable

PAGES = Path(__file__).with_name("pages")
KINDS = {".html": "text/html", ".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml"}
SHOWN_RUNS = 50
LONGEST_ORDER_BYTES = 10_000


@dataclass
class Console:
    """The served runs of a deployment."""

    source: Traces
    run: str
    """Shown first; empty for the newest."""
    stop: Stop
    admission: Admission
    plan: PlanDocument | None = None
    """Of the run that is shown first, where this command starts it."""
    looks: dict[str, RunLook] = field(default_factory=dict)
    asked: threading.Event = field(default_factory=threading.Event)
    """Set on every request of a page: a page is open."""
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def look(self, run: str) -> RunLook:
        """Return the cached state of a run."""
        with self._lock:
            if run not in self.looks:
                self.looks[run] = RunLook(self.source, run, self.plan if run == self.run else None)
            return self.looks[run]

    def runs(self) -> list[str]:
        """Return the runs of the deployment, newest first."""
        listed = [execution.run for execution in self.source.executions(SHOWN_RUNS)]
        return listed if not self.plan or self.run in listed else [self.run, *listed]

    def answer(self, path: str, query: dict[str, str]) -> Any:
        """Return the JSON for a request of the page. Raises CommandError; LookupError if it does not exist."""
        self.asked.set()
        if path == "/api/runs":
            return {"runs": self.runs(), "first": self.run}
        run = self._named(query)
        if path == "/api/definition":
            return self.look(run).machine()
        if path == "/api/view":
            wanted = {name: query.get(name, "") for name in ("view", "file_system", "cell", "state")}
            report = f"/report/{self.admission.report_key(run)}/{quote(run)}"
            return self.look(run).view(wanted, self.stop.view(run), report)
        if path == "/api/function-log":
            return self.source.log_lines(query["function"], float(query["since"]), float(query["until"]))
        if path == "/api/instance-log":
            return instance_lines(self.source, run, query["cell"], query["instance"])
        raise LookupError(path)

    def order(self, path: str, order: dict[str, str]) -> Any:
        """Carry out a POST of the page."""
        if path != "/api/stop":
            raise LookupError(path)
        run = self._named(order)
        self.stop.start(run)
        return self.stop.view(run)

    def report(self, path: str) -> bytes:
        """Return the report of a run by its address."""
        _, _, key, run = path.split("/")
        run = unquote(run)
        if not secrets.compare_digest(key.encode(), self.admission.report_key(run).encode()):
            raise Refused("This is not the address of a report.")
        stored = self.source.content(run, "report.html")
        if stored is None:
            raise LookupError(path)
        return stored

    def _named(self, query: dict[str, str]) -> str:
        run = query.get("run", "")
        if not re.fullmatch(RUN_PATTERN, run):
            raise LookupError(f"run {run[:100]!r}")
        return run


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server_version, sys_version = "storage-matrix", ""
    timeout = 60
    server: "Server"

    def do_GET(self) -> None:
        """Serve the page's files to every request with the console's host name, and the rest with the token."""
        self._answer(self._get)

    def do_POST(self) -> None:
        """Take an order."""
        self._answer(self._post)

    def _get(self) -> tuple[int, str, bytes, str]:
        console, address = self.server.console, urlsplit(self.path)
        console.admission.check_place(self.headers)  # type: ignore[arg-type]
        if address.path.startswith("/report/") and address.path.count("/") == 3:  # noqa: PLR2004 - /report/KEY/RUN
            return 200, "text/html", console.report(address.path), REPORT_POLICY
        if not address.path.startswith("/api/"):
            return (*self._file(address.path), PAGE_POLICY)
        console.admission.check_token(self.headers)  # type: ignore[arg-type]
        query = {name: values[-1] for name, values in parse_qs(address.query).items()}
        return 200, "application/json", _json(console.answer(address.path, query)), PAGE_POLICY

    def _post(self) -> tuple[int, str, bytes, str]:
        console = self.server.console
        length = int(self.headers.get("Content-Length") or 0)
        if not 0 <= length <= LONGEST_ORDER_BYTES:
            self.close_connection = True
            raise Refused("The order is too long.")
        body = self.rfile.read(length)
        console.admission.check_place(self.headers)  # type: ignore[arg-type]
        console.admission.check_change(self.headers)  # type: ignore[arg-type]
        console.admission.check_token(self.headers)  # type: ignore[arg-type]
        order = json.loads(body)
        if not isinstance(order, dict):
            raise Refused("The order is not JSON object.")
        answer = console.order(urlsplit(self.path).path, {str(name): str(value) for name, value in order.items()})
        return 200, "application/json", _json(answer), PAGE_POLICY

    def _file(self, path: str) -> tuple[int, str, bytes]:
        content = self.server.files.get("/index.html" if path == "/" else path)
        if content is None:
            raise LookupError(path)
        return 200, KINDS[Path(path).suffix or ".html"], content

    def _answer(self, act: Callable[[], tuple[int, str, bytes, str]]) -> None:
        try:
            status, kind, body, policy = act()
        except Refused as refused:
            status, kind, body, policy = 403, "application/json", _json({"error": str(refused)}), PAGE_POLICY
        except UnknownRun as unknown:
            # The command prints the address before it starts the run, so that this is not a fault: the page asks again.
            status, kind, body, policy = 200, "application/json", _json({"waiting": unknown.message}), PAGE_POLICY
        except (LookupError, ValueError) as error:
            status, kind, body, policy = 404, "application/json", _json({"error": f"not there: {error}"}), PAGE_POLICY
        except Exception as error:
            failure = explain(error)
            words = {"error": failure.message, "advice": failure.advice}
            status = 409 if isinstance(error, CommandError) else 502
            kind, body, policy = "application/json", _json(words), PAGE_POLICY
        self.send_response(status)
        for name, value in {**HEADERS, "Content-Security-Policy": policy}.items():
            self.send_header(name, value)
        self.send_header("Content-Type", f"{kind}; charset=utf-8")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - its name in the standard library
        """Log nothing, because the terminal shows the run."""


class Server(ThreadingHTTPServer):
    """Listens for the browser."""

    daemon_threads = True
    console: Console

    @cached_property
    def files(self) -> dict[str, bytes]:
        """Return the page's files by path. No other file is served."""
        files = [path for path in PAGES.rglob("*") if path.suffix in KINDS]
        return {f"/{path.relative_to(PAGES).as_posix()}": path.read_bytes() for path in files}

    def verify_request(self, request: Any, client_address: Any) -> bool:
        """Spend no thread on other users of this machine."""
        return peers.is_of_this_user(client_address, request.getsockname())

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Pass over a browser that went away in the middle of an answer."""
        if not isinstance(sys.exc_info()[1], ConnectionError | TimeoutError):
            super().handle_error(request, client_address)


def new_token() -> str:
    return secrets.token_urlsafe(32)


def _json(document: Any) -> bytes:
    return json.dumps(document, ensure_ascii=False, separators=(",", ":"), default=str).encode()


# --- the end of an instance log ---------------------------------------------------------------------------------------

LINES = 500
LONGEST_LINE = 20_000


class InstanceLog(TypedDict):
    """The last lines."""

    lines: list[str]
    note: str


def instance_lines(source: Traces, run: str, cell: str, instance: str) -> InstanceLog:
    """Return the last lines of an instance's log. It uploads one when it ends."""
    below = f"cells/{cell}/instances/"
    names = [name for name, _ in source.listing(run, below)]
    name = next((name for name in names if name.partition("/")[0].endswith(f":{instance}") and _is_log(name)), None)
    stored = source.content(run, f"{below}{name}", MAX_ZIPPED_BYTES + 1) if name else None
    if stored is None:
        return {"lines": [], "note": "an instance uploads its log when it ends"}
    unzipped, number = Unzipped(stored), 0
    last: deque[str] = deque(maxlen=LINES)
    for line in unzipped.lines():
        last.append(printable(line[:LONGEST_LINE]))
        number += 1
    cut = f"the last {LINES} of {number:,} lines" if number > LINES else ""
    problem = f"the log {unzipped.problem}" if unzipped.problem else ""
    return {"lines": list(last), "note": "; ".join(filter(None, [cut, problem]))}


def _is_log(name: str) -> bool:
    return name.partition("/")[2] == "log.gz"
