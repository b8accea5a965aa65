"""Let the leader of a fleet run commands on the other instances, as `mpirun` and others do by ssh.

Each instance listens for the whole job. A request is a line of JSON with the token of the launch. `{"run": command}`
is answered by what the command prints, and a last byte with its exit status; it ends with its connection.
`{"over": step}` says that the leader has ended a step. `{"await": step}` is a connection to the leader that lasts as
long as the leader. Only instances of connected fleets reach the port (security
group), and EC2 reuses addresses, so the token keeps one launch from another.
"""

from __future__ import annotations

import contextlib
import hashlib
import hmac
import json
import os
import secrets
import select
import signal
import socket
import socketserver
import subprocess
import sys
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from agent.errors import WorkIncomplete
from agent.retrying import GaveUp, NotYet, patience, retried

if TYPE_CHECKING:
    from agent.board.barrier_objects import BarrierObjects

PORT = 7576
MAX_LINE_BYTES = 1 << 20
# Launch fleet writes the roster within seconds of the launch.
ROSTER_S, PAUSE_S = 180.0, 1.0
CONNECT_S = 30.0
# What the leader said last may still be on its way when its connection ends.
SAID_S = 5.0
# A host that has gone sends no end, and instances of Nitro V6 forget a connection that is silent for 350 s.
KEEPALIVE = {socket.TCP_KEEPIDLE: 60, socket.TCP_KEEPINTVL: 15, socket.TCP_KEEPCNT: 4}
NOT_STARTED = 255  # as of ssh
_CLIENT = """\
#!{python}
import sys
sys.path.insert(0, {place!r})
from agent.board import peers
sys.exit(peers.on_host({token!r}, {port}, sys.argv[1:]))
"""


@dataclass
class Peers:
    """The instances of a launch, the leader first, and what the leader has said to this one."""

    hosts: list[str]
    own: str
    port: int
    token: str
    _ended: set[int] = field(default_factory=set)
    _said: threading.Condition = field(default_factory=threading.Condition)

    @property
    def is_leader(self) -> bool:
        return self.own == self.hosts[0]

    def variables(self, scratch: Path) -> dict[str, str]:
        """Return the variables of the leader's command; ON_HOST is a program that takes a host and a command."""
        program = scratch / "on-host"
        place = str(Path(__file__).parents[2])
        program.write_text(_CLIENT.format(python=sys.executable, place=place, token=self.token, port=self.port))
        program.chmod(0o700)
        return {"HOSTS": ",".join(self.hosts), "LEADER": self.hosts[0], "ON_HOST": str(program)}

    def end(self, step: int) -> None:
        """Say to all others that the leader has ended a step; one that has gone need not know."""
        for host in self.hosts[1:]:
            with contextlib.suppress(OSError), _asked(host, self.port, {"token": self.token, "over": step}):
                pass

    def ended(self, step: int) -> None:
        """Take note that the leader has ended a step."""
        with self._said:
            self._ended.add(step)
            self._said.notify_all()

    def await_end(self, step: int) -> None:
        """Wait until the leader has ended a step. Raises WorkIncomplete if the leader has gone before."""
        with (
            contextlib.suppress(OSError),
            _asked(self.hosts[0], self.port, {"token": self.token, "await": step}) as line,
        ):
            while step not in self._ended and not select.select([line], [], [], 0.2)[0]:
                pass
        with self._said:
            if not self._said.wait_for(lambda: step in self._ended, SAID_S):
                raise WorkIncomplete(f"the leader {self.hosts[0]} has gone before it ended step {step}")


@contextlib.contextmanager
def joined(barrier_objects: BarrierObjects | None, instance: str, nonce: str, *, is_local: bool) -> Iterator[Peers]:
    """Serve this launch's leader until the end of the block; an instance without a barrier is alone."""
    if barrier_objects is None:
        hosts, port, token = {instance: "127.0.0.1"}, 0, secrets.token_hex(16)
    else:
        hosts, port, token = _hosts(barrier_objects, is_local=is_local), PORT, nonce
        if is_local:
            # Its instances share a machine, where they have addresses of the loopback network.
            port = 20_000 + int(hashlib.sha256(nonce.encode()).hexdigest()[:4], 16) % 10_000
    peers = Peers(list(hosts.values()), hosts[instance], port, token)
    with _Server((peers.own, port), peers) as server:
        peers.port = server.server_address[1]
        serving = threading.Thread(target=server.serve_forever, name="peers", daemon=True)
        serving.start()
        try:
            yield peers
        finally:
            server.shutdown()


def _hosts(barrier_objects: BarrierObjects, *, is_local: bool) -> dict[str, str]:
    def said() -> dict[str, str]:
        addresses = barrier_objects.addresses()
        if addresses is None:
            raise NotYet("Launch fleet has not written the roster")
        return addresses

    try:
        addresses = retried("the addresses of the fleet", said, patience(ROSTER_S, PAUSE_S))
    except GaveUp as err:
        raise WorkIncomplete(f"the addresses of the fleet are unknown: {err.__cause__}") from err
    if not is_local:
        return addresses
    return {name: f"127.{address.partition('.')[2]}" for name, address in addresses.items()}


class _Server(socketserver.ThreadingTCPServer):
    allow_reuse_address = True
    daemon_threads = True

    def __init__(self, address: tuple[str, int], peers: Peers) -> None:
        self.peers = peers
        super().__init__(address, _Request)


class _Request(socketserver.StreamRequestHandler):
    server: _Server

    def handle(self) -> None:
        self.connection.settimeout(CONNECT_S)
        try:
            request = json.loads(self.rfile.readline(MAX_LINE_BYTES))
            token = str(request["token"])
        except (ValueError, KeyError, TypeError, OSError):
            return
        if not hmac.compare_digest(token.encode(), self.server.peers.token.encode()):
            return
        _keep(self.connection)
        if "over" in request:
            self.server.peers.ended(int(request["over"]))
        elif "await" in request:
            self.rfile.read()
        else:
            self._run(str(request["run"]))

    def _run(self, command: str) -> None:
        program = subprocess.Popen(  # noqa: S603 (the leader's own command)
            ["/bin/sh", "-c", command],
            stdin=subprocess.DEVNULL, stdout=self.connection, stderr=self.connection, cwd="/", start_new_session=True,
        )  # fmt: skip
        over = threading.Event()

        def end_with_connection() -> None:
            while not over.is_set():
                if select.select([self.connection], [], [], 0.5)[0]:
                    with contextlib.suppress(ProcessLookupError):
                        os.killpg(program.pid, signal.SIGKILL)
                    return

        watching = threading.Thread(target=end_with_connection, daemon=True)
        watching.start()
        status = program.wait()
        over.set()
        watching.join()
        with contextlib.suppress(OSError):
            self.connection.sendall(bytes([status if status >= 0 else 128 - status]))


def _keep(connection: socket.socket) -> None:
    """Let a connection be silent for as long as both hosts are there."""
    connection.settimeout(None)
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    for option, value in KEEPALIVE.items():
        connection.setsockopt(socket.IPPROTO_TCP, option, value)


@contextlib.contextmanager
def _asked(host: str, port: int, request: dict[str, object]) -> Iterator[socket.socket]:
    with socket.create_connection((host, port), timeout=CONNECT_S) as connection:
        connection.sendall(json.dumps(request).encode() + b"\n")
        _keep(connection)
        yield connection


def on_host(token: str, port: int, arguments: list[str]) -> int:
    """Run a command on a host, print what it prints, and return its exit status.

    The arguments are those of ssh: options, which are ignored, a host, and the words of a command.
    """
    words = list(arguments)
    while words and words[0].startswith("-"):
        words.pop(0)
    if len(words) < 2:  # noqa: PLR2004 (a host and a command)
        print("usage: on-host HOST COMMAND", file=sys.stderr)
        return NOT_STARTED
    pending = b""
    try:
        with _asked(words[0], port, {"token": token, "run": " ".join(words[1:])}) as connection:
            while chunk := connection.recv(1 << 16):
                pending += chunk
                os.write(1, pending[:-1])
                pending = pending[-1:]
    except OSError as err:
        print(f"on-host: {words[0]}: {err}", file=sys.stderr)
        return NOT_STARTED
    return pending[0] if pending else NOT_STARTED
