"""The cloud's side of the fork server: start a process, wait for it, end it with all of its descendants."""

import itertools
import json
import logging
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from local.programs.leftovers import GONE_WITHIN_S
from local.programs.liveness import started_ticks

LOG = logging.getLogger(__name__)
START_TIMEOUT_S = 60
# A fork server that was killed is followed by another one; that one may be killed too.
STARTS_TRIED = 3


class ProcessNotStartedError(RuntimeError):
    """The fork server did not respond: it died, or the cloud is ending."""


@dataclass
class Process:
    """A process in a session of its own; `status` is its exit code, negative for a signal, once it has ended."""

    identity: int
    pid: int = 0
    status: int | None = None
    killed_with: str = ""  # reason if the fork server's end ended it
    _started: threading.Event = field(default_factory=threading.Event)
    _ended: threading.Event = field(default_factory=threading.Event)

    @property
    def why(self) -> str:
        """Return the reason for its end in parentheses; empty if it ended by itself."""
        return f" ({self.killed_with})" if self.killed_with else ""

    @property
    def is_running(self) -> bool:
        return not self._ended.is_set()

    def wait(self, timeout_s: float | None = None) -> int | None:
        """Return the exit status, or None if it still runs after `timeout_s`."""
        return self.status if self._ended.wait(timeout_s) else None

    def end(self, grace_s: float = 0.0) -> None:
        """Kill it and all it started; with a grace, ask first (SIGTERM)."""
        if grace_s and self._signal(signal.SIGTERM):
            self._ended.wait(grace_s)
        self._signal(signal.SIGKILL)

    def _signal(self, number: int) -> bool:
        if self._ended.is_set() or not self.pid:
            return False
        try:
            os.killpg(self.pid, number)
        except ProcessLookupError:
            return False
        return True


class _Server:
    def __init__(self, environment: dict[str, str]) -> None:
        ours, theirs = socket.socketpair()
        self.channel = ours
        self.is_gone = False
        self.processes: dict[int, Process] = {}
        with theirs:
            self.program = subprocess.Popen(  # noqa: S603
                [sys.executable, str(Path(__file__).with_name("fork_server.py")), str(theirs.fileno())],
                pass_fds=[theirs.fileno()],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                env=environment,
                start_new_session=True,  # the cloud handles Ctrl-C in the terminal
            )

    def send(self, message: dict) -> None:
        try:
            self.channel.sendall(json.dumps(message).encode() + b"\n")
        except OSError as err:
            raise ProcessNotStartedError(f"the fork server is gone: {err}") from err

    def note(self, message: dict) -> None:
        process = self.processes[message["id"]]
        if "pid" in message:
            process.pid = message["pid"]
            process._started.set()
        else:
            process.status = message["status"]
            process._ended.set()
            del self.processes[message["id"]]


class ProcessStarter:
    """Starts processes through a fork server and records its reports about them.

    If the fork server is killed, all of its processes end with it, and the next start creates another one.
    """

    def __init__(self) -> None:
        self._identities = itertools.count(1)
        self._lock = threading.Lock()
        self._is_closing = False
        # Messages that each new fork server gets first.
        self._told: dict[str, dict] = {}
        # one thread per library: numpy's threads do not survive a fork, and there are few cores to share
        threads = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
        self._environment = {**os.environ, **threads, "PYTHONDONTWRITEBYTECODE": ""}
        self._server = self._begin()

    def log_to(self, log: Path) -> None:
        """Let the fork server write its errors to this file; until then it shares the cloud's output."""
        self._tell("own_log", str(log))

    def start_program(self, argv: list[str], *, cwd: Path, env: dict[str, str], log: Path) -> Process:
        """Start a program of its own."""
        return self._start({"argv": argv, "cwd": str(cwd), "env": env, "log": str(log)})

    def start_sandbox(self, handler: str, *, path: list[str], cwd: Path, env: dict[str, str], log: Path) -> Process:
        """Start a Lambda sandbox as a fork with the common packages imported already."""
        return self._start({"handler": handler, "path": path, "cwd": str(cwd), "env": env, "log": str(log)})

    def preload(self, path: list[str]) -> None:
        """Let the packages in `path` be imported for the sandboxes to come; return before that is done."""
        self._tell("preload", path)

    def start_archive(self, argv: list[str], unpacked: Path, *, cwd: Path, env: dict[str, str], log: Path) -> Process:
        """Start an agent's zip, the first of `argv`, as a fork with botocore and the agent imported already."""
        return self._start({"archive": argv, "path": [str(unpacked)], "cwd": str(cwd), "env": env, "log": str(log)})

    def close(self) -> None:
        """End every started process; return when they have ended."""
        with self._lock:
            self._is_closing = True
        with suppress(OSError):  # it was killed
            self._server.channel.shutdown(socket.SHUT_WR)
        try:
            self._server.program.wait(10)
        except subprocess.TimeoutExpired:
            self._server.program.kill()

    def _begin(self) -> _Server:
        server = _Server(self._environment)
        threading.Thread(target=self._listen, args=(server,), name="process-reports", daemon=True).start()
        return server

    def _living(self) -> _Server:
        """Return the fork server; start another one if it was killed. Call it with the lock."""
        if self._is_closing:
            raise ProcessNotStartedError("the local cloud is ending")
        if self._server.is_gone:
            try:
                self._server = self._begin()
            except OSError as err:
                raise ProcessNotStartedError(f"the fork server was killed, and no other one starts: {err}") from err
            for message in self._told.values():
                self._server.send(message)
        return self._server

    def _tell(self, name: str, value: Any) -> None:
        with self._lock:
            self._told[name] = {name: value}
            self._living().send(self._told[name])

    def _start(self, request: dict) -> Process:
        problem = ""
        for _ in range(STARTS_TRIED):
            process = Process(next(self._identities))
            with self._lock:
                server = self._living()
                server.processes[process.identity] = process
                # Killed meanwhile, which the listener notes: the process never starts.
                with suppress(ProcessNotStartedError):
                    server.send({**request, "id": process.identity})
            if not process._started.wait(START_TIMEOUT_S):
                what = request.get("argv", "a fork")
                raise ProcessNotStartedError(f"no process after {START_TIMEOUT_S} s for {what}")
            if process.pid:
                return process
            problem = process.killed_with
        raise ProcessNotStartedError(problem)

    def _listen(self, server: _Server) -> None:
        with server.channel.makefile("rb") as messages, suppress(ConnectionError):
            for line in messages:
                server.note(json.loads(line))
        why = f"the local cloud's fork server, which starts all its processes, {_ending(server.program.wait())}"
        with self._lock:
            server.is_gone = True
            server.channel.close()
            left, is_closing = list(server.processes.values()), self._is_closing
        for process in left:
            # Linux kills the process itself (PR_SET_PDEATHSIG), but not its children.
            process._signal(signal.SIGKILL)
        _wait_for_ends([process.pid for process in left if process.pid])
        for process in left:
            process.status, process.killed_with = -signal.SIGKILL, why
            process._started.set()
            process._ended.set()
        if not is_closing:
            LOG.error("%s; what it had started has ended with it (%d processes)", why, len(left))


def _wait_for_ends(pids: list[int]) -> None:
    """Wait until killed processes have ended, but not for ever, because a disk may not respond."""
    give_up_at = time.monotonic() + GONE_WITHIN_S
    while any(started_ticks(pid) is not None for pid in pids) and time.monotonic() < give_up_at:
        time.sleep(0.02)


def _ending(status: int) -> str:
    return f"was killed by signal {-status}" if status < 0 else f"has ended with status {status}"
