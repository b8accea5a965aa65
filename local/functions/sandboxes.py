"""Lambda sandboxes: one warm process each, reused for later invocations of the same function, as Lambda does."""

import json
import threading
import time
import uuid
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from queue import Empty

from local.functions.runtime_api import Invocation, Outcome, RuntimeApi
from local.programs.processes import Process

# AWS gives initialisation 10 s; here all sandboxes of all functions may start at once on two cores.
INIT_TIMEOUT_S = 60
MAX_RESPONSE_BYTES = 6_291_556


class TooManyRequestsError(Exception):
    """The function already runs as many sandboxes as its reserved concurrency allows."""


@dataclass(frozen=True)
class Result:
    """The result of an invocation, as its caller gets it."""

    payload: bytes
    failed: bool
    log: str


class Sandbox:
    """One process with the function's code loaded."""

    def __init__(self, start: Callable[[str, Path], Process], log: Path) -> None:
        self._created = time.monotonic()
        self._log = log
        self._log.touch()
        self._read_to = 0
        self._api = RuntimeApi()
        try:
            self._process = start(self._api.address, log)
        except BaseException:
            self._api.close()
            raise
        self.init_ms: float | None = None
        self.payload = b""
        threading.Thread(target=self._watch, daemon=True).start()

    @property
    def is_alive(self) -> bool:
        """Return whether the sandbox can take another event."""
        return self._process.is_running

    def invoke(self, invocation: Invocation, timeout_s: float) -> Outcome:
        """Let the function handle one event; kill the sandbox if it takes too long."""
        self.payload = invocation.payload
        self._api.give(invocation)
        if not self._api.initialised.wait(INIT_TIMEOUT_S):
            return self._timed_out()
        if self.init_ms is None:
            self.init_ms = (time.monotonic() - self._created) * 1000
        try:
            return self._api.outcomes.get(timeout=timeout_s)
        except Empty:
            return self._timed_out()

    def kill(self) -> None:
        self._process.end()

    def take_log(self) -> str:
        """Return the log since the last call. It is complete, because awslambdaric does not buffer."""
        with self._log.open("rb") as log:
            log.seek(self._read_to)
            text = log.read()
        self._read_to += len(text)
        return text.decode(errors="replace")

    def end(self) -> None:
        """Kill the process and release callers that wait for it."""
        self._process.end()
        self._api.close()
        self._log.unlink(missing_ok=True)

    def _timed_out(self) -> Outcome:
        self._process.end()
        return Outcome("timeout")

    def _watch(self) -> None:
        status = self._process.wait()
        self._api.outcomes.put(Outcome("exit", f"{_describe_exit(status)}{self._process.why}".encode()))
        self._api.initialised.set()


@dataclass(frozen=True)
class FunctionSpec:
    """The configuration of a function that a sandbox depends on: another one needs another pool."""

    name: str
    arn: str
    timeout_s: float
    memory_mib: int
    configuration: str


class SandboxPool:
    """The sandboxes of one configuration of one function."""

    def __init__(self, spec: FunctionSpec, create: Callable[[], Sandbox], log: Path) -> None:
        self.spec = spec
        self._create = create
        self._log = log
        self._idle: list[Sandbox] = []
        self._busy = 0
        self._is_closed = False
        self._lock = threading.Lock()

    def invoke(self, payload: bytes, limit: int | None) -> Result:
        """Handle one event in a warm sandbox, or in a new one if none is idle; return the caller's result."""
        sandbox = self._acquire(limit)
        request_id = str(uuid.uuid4())
        began = time.monotonic()
        is_cold = sandbox is None
        try:
            sandbox = sandbox or self._create()
            deadline_ms = int((time.time() + self.spec.timeout_s) * 1000)
            outcome = sandbox.invoke(Invocation(request_id, self.spec.arn, payload, deadline_ms), self.spec.timeout_s)
        except BaseException:
            self._release(sandbox, is_reusable=False)
            raise
        duration_ms = (time.monotonic() - began) * 1000
        log = self._report(request_id, sandbox, outcome, duration_ms, is_cold=is_cold)
        self._release(sandbox, is_reusable=outcome.kind in ("response", "error"))
        return _result(outcome, request_id, self.spec.timeout_s, log)

    def close(self) -> None:
        """End the idle sandboxes now and the busy ones when they are done."""
        with self._lock:
            self._is_closed = True
            idle, self._idle = self._idle, []
        for sandbox in idle:
            sandbox.end()

    def _acquire(self, limit: int | None) -> Sandbox | None:
        with self._lock:
            if limit is not None and self._busy >= limit:
                raise TooManyRequestsError(self.spec.name)
            self._busy += 1
            while self._idle:
                sandbox = self._idle.pop()
                if sandbox.is_alive:
                    return sandbox
                sandbox.end()
        return None

    def _release(self, sandbox: Sandbox | None, *, is_reusable: bool) -> None:
        with self._lock:
            self._busy -= 1
            if sandbox and is_reusable and not self._is_closed:
                self._idle.append(sandbox)
                return
        if sandbox:
            sandbox.end()

    def _report(self, request_id: str, sandbox: Sandbox, outcome: Outcome, duration_ms: float, *, is_cold: bool) -> str:
        """Lambda's own log lines around the function's output; also written to the function's log file."""
        timed_out = f"{request_id} Task timed out after {self.spec.timeout_s:.2f} seconds\n"
        init = f"\tInit Duration: {sandbox.init_ms:.2f} ms" if is_cold and sandbox.init_ms else ""
        text = (
            f"START RequestId: {request_id} Version: $LATEST\n{sandbox.take_log()}"
            f"{timed_out if outcome.kind == 'timeout' else ''}END RequestId: {request_id}\n"
            f"REPORT RequestId: {request_id}\tDuration: {duration_ms:.2f} ms\t"
            f"Billed Duration: {int(duration_ms) + 1} ms\tMemory Size: {self.spec.memory_mib} MB{init}\n"
        )
        # On a full disk there is no log file; the caller of the function has the same text.
        with suppress(OSError), self._log.open("a") as log:
            log.write(text)
        return text


def _result(outcome: Outcome, request_id: str, timeout_s: float, log: str) -> Result:
    if outcome.kind == "response" and len(outcome.body) <= MAX_RESPONSE_BYTES:
        return Result(outcome.body, failed=False, log=log)
    if outcome.kind in ("error", "init_error"):
        return Result(outcome.body, failed=True, log=log)
    if outcome.kind == "response":
        kind = "Function.ResponseSizeTooLarge"
        message = f"Response payload size exceeded maximum allowed payload size ({MAX_RESPONSE_BYTES} bytes)."
    elif outcome.kind == "timeout":
        kind = "Sandbox.Timedout"
        message = f"RequestId: {request_id} Error: Task timed out after {timeout_s:.2f} seconds"
    else:
        kind = "Runtime.ExitError"
        message = f"RequestId: {request_id} Error: Runtime exited with error: {outcome.body.decode()}"
    return Result(json.dumps({"errorType": kind, "errorMessage": message}).encode(), failed=True, log=log)


def _describe_exit(status: int | None) -> str:
    return f"signal: {-status}" if status is not None and status < 0 else f"exit status {status}"
