"""The client of a file server (agent/file_server.py): appends to its files, and reads pages of them."""

from __future__ import annotations

import json
import socket
from typing import Any

from agent.file_server import ANSWER, DONE, MAX_LINE_BYTES, STALLED_S, Refused, keep_alive


class ServerLost(ConnectionError):
    """The server cannot be reached, or went away."""


class Connection:
    """A client's connection to a file server; raises Refused if the server refuses, ServerLost if it is gone."""

    def __init__(self, host: str, port: int, token: str, timeout_s: float = 900.0) -> None:
        """Connect within a minute; an answer may take `timeout_s`, as the server may have to write much out first."""
        self._name = f"the file server {host}:{port}"
        try:
            self._socket = socket.create_connection((host, port), timeout=STALLED_S)
        except OSError as err:
            raise self._lost(err) from err
        keep_alive(self._socket)
        self._socket.settimeout(timeout_s)
        self._ask({"op": "open", "token": token})
        self._take()

    def append(self, path: str, body: bytes | bytearray) -> None:
        self._ask({"op": "append", "path": path, "length": len(body)}, body)
        self._take()

    def forget(self, path: str) -> None:
        """Have a file written out and its pages dropped from the server's cache."""
        self._ask({"op": "forget", "path": path})
        self._take()

    def read_into(
        self, buffer: memoryview, path: str, length: int, offsets: list[int], *, is_direct: bool = False
    ) -> None:
        """Fill `buffer` with `length` bytes from each offset, past the server's page cache if `is_direct`."""
        self._ask({"op": "read", "path": path, "length": length, "offsets": offsets, "direct": is_direct})
        self._take(buffer)

    def close(self) -> None:
        self._socket.close()

    def _ask(self, request: dict[str, Any], body: bytes | bytearray = b"") -> None:
        try:
            self._socket.sendall(json.dumps(request, separators=(",", ":")).encode() + b"\n")
            self._socket.sendall(body)
        except ConnectionError:
            pass  # the server's reason for closing it may still be readable
        except OSError as err:
            raise self._lost(err) from err

    def _take(self, buffer: memoryview | None = None) -> None:
        status, length = ANSWER.unpack(self._receive(memoryview(bytearray(ANSWER.size))))
        if status != DONE:
            refusal = self._receive(memoryview(bytearray(min(length, MAX_LINE_BYTES)))).tobytes()
            raise Refused(f"{self._name}: {refusal.decode(errors='replace')}")
        if length != (0 if buffer is None else len(buffer)):
            raise Refused(f"{self._name} answers with {length} bytes, not what was asked for")
        if buffer is not None:
            self._receive(buffer)

    def _receive(self, buffer: memoryview) -> memoryview:
        left = buffer
        while left:
            try:
                got = self._socket.recv_into(left)
            except OSError as err:
                raise self._lost(err) from err
            if not got:
                raise self._lost("it closed the connection")
            left = left[got:]
        return buffer

    def _lost(self, why: object) -> ServerLost:
        return ServerLost(f"{self._name} does not answer ({why}): has its instance ended?")
