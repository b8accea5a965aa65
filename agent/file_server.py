"""A small file server, one thread for each reader: it appends to files below one folder and reads pages of them.

A request is a line of JSON: `{"op": "read", "path", "length", "offsets": […]}` asks for so many bytes at each offset,
`{"op": "append", "path", "length"}` is followed by as many bytes, `{"op": "forget", "path"}` writes a file out and
gives its pages in the cache back. An answer is a status byte (0: done), eight bytes of length, and the bytes read or
what was wrong. Who may connect is up to the security group; what may be reached is the folder and nothing else.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import socket
import socketserver
import stat
import struct
from pathlib import Path
from typing import Any

ANSWER = struct.Struct(">BQ")  # status, length of what follows
DONE, REFUSED = 0, 1
NAME = re.compile(r"[A-Za-z0-9_:.-]{1,128}")
MOST_LINE_BYTES = 1 << 20
MOST_LENGTH, MOST_OFFSETS, MOST_ANSWER_BYTES = 64 << 20, 10_000, 1 << 30


class Refused(Exception):
    """The request asks for what the server does not give."""


class FileServer(socketserver.ThreadingTCPServer):
    """Serves a folder at an address; port 0 takes any that is free."""

    allow_reuse_address = True
    daemon_threads = True
    request_queue_size = 1_024

    def __init__(self, root: Path, host: str, port: int) -> None:
        """Open folder and port."""
        self.root = os.open(root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        super().__init__((host, port), _Reader)

    @property
    def port(self) -> int:
        """Where it listens."""
        return int(self.server_address[1])

    def server_close(self) -> None:
        """Let go of port and folder."""
        super().server_close()
        os.close(self.root)


class _Reader(socketserver.StreamRequestHandler):
    """One connection."""

    server: FileServer

    def handle(self) -> None:
        self.connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        try:
            while line := self.rfile.readline(MOST_LINE_BYTES):
                self._try(_request(line))
        except Refused as err:
            # What follows a request that cannot be read may be anything: the connection ends.
            self._say(REFUSED, str(err).encode())
        except ConnectionError:
            return

    def _try(self, request: dict[str, Any]) -> None:
        try:
            self._answer(request)
        except Refused as err:
            self._say(REFUSED, str(err).encode())
        except ConnectionError:
            raise
        except OSError as err:
            self._say(REFUSED, f"{request['path']!r}: {err.strerror}".encode())

    def _answer(self, request: dict[str, Any]) -> None:
        if request["op"] == "append":
            self._append(request)
        elif request["op"] == "read":
            self._read(request)
        else:
            file = open_below(self.server.root, request["path"], os.O_RDONLY)
            try:
                # Only what has reached the disk can be given back.
                os.fsync(file)
                os.posix_fadvise(file, 0, 0, os.POSIX_FADV_DONTNEED)
            finally:
                os.close(file)
            self._say(DONE)

    def _append(self, request: dict[str, Any]) -> None:
        body = self.rfile.read(request["length"])
        if len(body) < request["length"]:
            raise Refused("the connection ended within the bytes to append")
        file = open_below(self.server.root, request["path"], os.O_WRONLY | os.O_APPEND | os.O_CREAT)
        try:
            view = memoryview(body)
            while view:
                view = view[os.write(file, view) :]
        finally:
            os.close(file)
        self._say(DONE)

    def _read(self, request: dict[str, Any]) -> None:
        length, offsets = request["length"], request["offsets"]
        file = open_below(self.server.root, request["path"], os.O_RDONLY)
        try:
            size = os.fstat(file).st_size
            if max(offsets) + length > size:
                raise Refused(f"{request['path']} has {size} bytes, no {length} at {max(offsets)}")
            self.connection.sendall(ANSWER.pack(DONE, length * len(offsets)))
            for offset in offsets:
                self._send(file, offset, length)
        finally:
            os.close(file)

    def _send(self, file: int, offset: int, length: int) -> None:
        end = offset + length
        while offset < end:
            offset += os.sendfile(self.connection.fileno(), file, offset, end - offset)

    def _say(self, status: int, body: bytes = b"") -> None:
        self.connection.sendall(ANSWER.pack(status, len(body)) + body)


def _request(line: bytes) -> dict[str, Any]:
    """The checked request of a line."""
    try:
        request = json.loads(line)
    except ValueError as err:
        raise Refused("a request is a line of JSON") from err
    if not isinstance(request, dict) or request.get("op") not in ("read", "append", "forget"):
        raise Refused("op is none of read, append, forget")
    if not isinstance(request.get("path"), str):
        raise Refused("path is no text")
    if request["op"] != "forget" and not _is_amount(request.get("length"), 1, MOST_LENGTH):
        raise Refused(f"length is no number from 1 to {MOST_LENGTH}")
    if request["op"] == "read":
        _check_offsets(request)
    return request


def _check_offsets(request: dict[str, Any]) -> None:
    offsets = request.get("offsets")
    if not isinstance(offsets, list) or not 1 <= len(offsets) <= MOST_OFFSETS:
        raise Refused(f"offsets is no list of 1 to {MOST_OFFSETS}")
    if not all(_is_amount(offset, 0, 1 << 62) for offset in offsets):
        raise Refused("an offset is no number from 0")
    if request["length"] * len(offsets) > MOST_ANSWER_BYTES:
        raise Refused(f"more than {MOST_ANSWER_BYTES} bytes are asked for at once")


def _is_amount(value: Any, least: int, most: int) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and least <= value <= most


def open_below(root: int, path: str, flags: int) -> int:
    """Open a regular file below the folder `root`, name by name and through no link, so that no path leads out of it.

    Folders are made where a file is created.
    """
    names = path.split("/")
    if not all(NAME.fullmatch(name) and name.strip(".") for name in names):
        raise Refused(f"{path!r} is no path of names (A-Z a-z 0-9 _ : . -) below the folder")
    folder = os.dup(root)
    try:
        for name in names[:-1]:
            folder = _step(folder, name, may_make=bool(flags & os.O_CREAT))
        # O_NONBLOCK: a pipe that somebody put there must not hold the server.
        file = os.open(names[-1], flags | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, 0o600, dir_fd=folder)
    finally:
        os.close(folder)
    if not stat.S_ISREG(os.fstat(file).st_mode):
        os.close(file)
        raise Refused(f"{path!r} is no regular file")
    return file


def _step(folder: int, name: str, *, may_make: bool) -> int:
    """The folder below, in place of this one, which is closed if that succeeds."""
    if may_make:
        with contextlib.suppress(FileExistsError):
            os.mkdir(name, 0o700, dir_fd=folder)
    below = os.open(name, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=folder)
    os.close(folder)
    return below


class Connection:
    """A client's connection to a file server."""

    def __init__(self, host: str, port: int, timeout_s: float = 60.0) -> None:
        """Connect; an OSError says why not."""
        self._socket = socket.create_connection((host, port), timeout=timeout_s)
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def append(self, path: str, body: bytes | bytearray) -> None:
        """Append to a file."""
        self._ask({"op": "append", "path": path, "length": len(body)})
        self._socket.sendall(body)
        self._take()

    def forget(self, path: str) -> None:
        """Have a file written out and its pages given back."""
        self._ask({"op": "forget", "path": path})
        self._take()

    def read_into(self, buffer: memoryview, path: str, length: int, offsets: list[int]) -> None:
        """Fill `buffer` with `length` bytes from each offset."""
        self._ask({"op": "read", "path": path, "length": length, "offsets": offsets})
        self._take(buffer)

    def close(self) -> None:
        """Close it."""
        self._socket.close()

    def _ask(self, request: dict[str, Any]) -> None:
        self._socket.sendall(json.dumps(request, separators=(",", ":")).encode() + b"\n")

    def _take(self, buffer: memoryview | None = None) -> None:
        status, length = ANSWER.unpack(self._receive(memoryview(bytearray(ANSWER.size))))
        if status != DONE:
            raise Refused(self._receive(memoryview(bytearray(length))).tobytes().decode(errors="replace"))
        if length != (0 if buffer is None else len(buffer)):
            raise Refused(f"the server answers with {length} bytes, not what was asked for")
        if buffer is not None:
            self._receive(buffer)

    def _receive(self, buffer: memoryview) -> memoryview:
        left = buffer
        while left:
            got = self._socket.recv_into(left)
            if not got:
                raise ConnectionError("the file server closed the connection")
            left = left[got:]
        return buffer
