"""The cloud's side of the fork server: start a process, wait for it, end it with everything it started."""

import itertools
import json
import os
import signal
import socket
import subprocess
import sys
import threading
from dataclasses import dataclass, field
from pathlib import Path

START_TIMEOUT_S = 60


class ProcessNotStartedError(RuntimeError):
    """The fork server did not answer: it died, or the cloud is ending."""


@dataclass
class Process:
    """A process in a session of its own; `status` is its exit code, negative for a signal, once it has ended."""

    identity: int
    pid: int = 0
    status: int | None = None
    _started: threading.Event = field(default_factory=threading.Event)
    _ended: threading.Event = field(default_factory=threading.Event)

    @property
    def is_running(self) -> bool:
        """Return whether it has not ended yet."""
        return not self._ended.is_set()

    def wait(self, timeout_s: float | None = None) -> int | None:
        """Return its exit status, None where it is still running after `timeout_s`."""
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


class ProcessStarter:
    """Starts processes through the fork server and keeps what it reports of them."""

    def __init__(self) -> None:
        ours, theirs = socket.socketpair()
        self._channel = ours
        self._processes: dict[int, Process] = {}
        self._identities = itertools.count(1)
        self._lock = threading.Lock()
        # one thread per library: numpy's threads do not survive a fork, and there are few cores to share
        env = {**os.environ, "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "PYTHONDONTWRITEBYTECODE": "1"}
        with theirs:
            self._server = subprocess.Popen(  # noqa: S603
                [sys.executable, str(Path(__file__).with_name("fork_server.py")), str(theirs.fileno())],
                pass_fds=[theirs.fileno()],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                env=env,
                start_new_session=True,  # Ctrl-C in the terminal is the cloud's to handle
            )
        threading.Thread(target=self._listen, name="process-reports", daemon=True).start()

    def log_to(self, log: Path) -> None:
        """Let the fork server write what goes wrong to this file; until then it shares the cloud's own output."""
        with self._lock:
            self._send({"own_log": str(log)})

    def start_program(self, argv: list[str], *, cwd: Path, env: dict[str, str], log: Path) -> Process:
        """Start a program of its own."""
        return self._start({"argv": argv, "cwd": str(cwd), "env": env, "log": str(log)})

    def start_sandbox(self, handler: str, *, path: list[str], cwd: Path, env: dict[str, str], log: Path) -> Process:
        """Start a Lambda sandbox as a fork with the common packages imported already."""
        return self._start({"handler": handler, "path": path, "cwd": str(cwd), "env": env, "log": str(log)})

    def preload(self, path: list[str]) -> None:
        """Let the packages in `path` be imported for the sandboxes to come; return before that is done."""
        with self._lock:
            self._send({"preload": path})

    def start_archive(self, argv: list[str], unpacked: Path, *, cwd: Path, env: dict[str, str], log: Path) -> Process:
        """Start an agent's zip, the first of `argv`, as a fork with botocore and the agent imported already."""
        return self._start({"archive": argv, "path": [str(unpacked)], "cwd": str(cwd), "env": env, "log": str(log)})

    def close(self) -> None:
        """End every process that was started; return when they are gone."""
        self._channel.shutdown(socket.SHUT_WR)
        try:
            self._server.wait(10)
        except subprocess.TimeoutExpired:
            self._server.kill()

    def _start(self, request: dict) -> Process:
        with self._lock:
            process = Process(next(self._identities))
            self._processes[process.identity] = process
            self._send({**request, "id": process.identity})
        if not process._started.wait(START_TIMEOUT_S) or not process.pid:
            raise ProcessNotStartedError(f"no process after {START_TIMEOUT_S} s for {request.get('argv', 'a fork')}")
        return process

    def _send(self, message: dict) -> None:
        try:
            self._channel.sendall(json.dumps(message).encode() + b"\n")
        except OSError as err:
            raise ProcessNotStartedError(f"the fork server is gone: {err}") from err

    def _listen(self) -> None:
        with self._channel.makefile("rb") as messages:
            for line in messages:
                self._note(json.loads(line))
        for process in list(self._processes.values()):
            process._started.set()
            process._ended.set()

    def _note(self, message: dict) -> None:
        process = self._processes[message["id"]]
        if "pid" in message:
            process.pid = message["pid"]
            process._started.set()
        else:
            process.status = message["status"]
            process._ended.set()
            del self._processes[message["id"]]
