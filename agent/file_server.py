"""A small file server with one thread per connection: it appends to files below one folder and reads pages of them.

A request is a line of JSON. The first of a connection is `{"op": "open", "token"}`. `{"op": "read", "path", "length",
"offsets": […], "direct"}` then asks for `length` bytes at each offset, `{"op": "append", "path", "length"}` is followed
by `length` bytes, and `{"op": "forget", "path"}` writes a file out and drops its pages from the cache. An answer is a
status byte (0: done), eight bytes of length, and the bytes read or an error message.

Only instances of the stack reach the port (security group). EC2 reuses addresses, so the token keeps the instances of
one run from the server of another. Nothing outside of the folder can be reached.
"""

from __future__ import annotations

import contextlib
import errno
import hmac
import json
import mmap
import os
import re
import socket
import socketserver
import stat
import struct
import threading
from pathlib import Path
from typing import Any

ANSWER = struct.Struct(">BQ")  # status, length of the rest
DONE, REFUSED = 0, 1
NAME = re.compile(r"[A-Za-z0-9_:.-]{1,128}")
MAX_LINE_BYTES = 1 << 20
MAX_LENGTH, MAX_OFFSETS = 64 << 20, 10_000
# A client holds an answer in memory, one for each of its readers.
MAX_ANSWER_BYTES = 64 << 20
# Buffer of a connection on the server for any request: 4 requests of 256 KiB, the largest of an EBS volume.
CHUNK_BYTES = 1 << 20
# The plan admits 4,000 readers of a server, and connections that measure a pilot and write the data come on top. Each
# takes 2 descriptors and up to 3 more within a request: 8,192 × 5 = 40,960 of 65,536 (processes.OPEN_FILES).
MAX_CONNECTIONS = 8_192
# A connection must send its token at once. Between requests, readers wait at the fleet's start barrier. Within a
# request, a client that neither reads nor sends a byte for a minute counts as gone.
TOKEN_WITHIN_S, IDLE_S, STALLED_S = 10, 3_600, 60
# Peers that vanish silently, as terminated instances do: first probe after 15 s, given up after 15 + 5 × 6 = 45 s.
KEEP_ALIVE = ((socket.TCP_KEEPIDLE, 15), (socket.TCP_KEEPINTVL, 5), (socket.TCP_KEEPCNT, 6))
DIRECT_BYTES = 4_096  # the largest logical block of disks
NO_DIRECT = 'the server\'s volume has no direct reads (O_DIRECT); write caching "cached"'


class Refused(Exception):
    """The server refuses the request; the message has the reason."""


class FileServer(socketserver.ThreadingTCPServer):
    """Serves a folder to clients that have the token; port 0 takes any free one."""

    allow_reuse_address = True
    daemon_threads = False  # so that server_close waits for them
    request_queue_size = 1_024

    def __init__(self, root: Path, host: str, port: int, token: str) -> None:
        self.root = os.open(root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        self._token = token.encode()
        self._connections: set[socket.socket] = set()
        super().__init__((host, port), _Reader)

    @property
    def port(self) -> int:
        return int(self.server_address[1])

    def knows(self, token: object) -> bool:
        """Return whether it is the token, in constant time."""
        return isinstance(token, str) and hmac.compare_digest(token.encode(), self._token)

    def process_request(self, request: Any, client_address: Any) -> None:
        """Give the connection a thread, or answer why it gets none."""
        if threading.active_count() <= MAX_CONNECTIONS:
            self._connections.add(request)
            super().process_request(request, client_address)
            return
        why = f"the server has {MAX_CONNECTIONS} connections already".encode()
        with contextlib.suppress(OSError):
            request.send(ANSWER.pack(REFUSED, len(why)) + why, socket.MSG_DONTWAIT)
        self.shutdown_request(request)

    def shutdown_request(self, request: Any) -> None:
        self._connections.discard(request)
        super().shutdown_request(request)

    def server_close(self) -> None:
        """End the connections, then close port and folder.

        In this order: a thread that still answers would use the next folder with the same descriptor.
        """
        for connection in list(self._connections):
            with contextlib.suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)
        super().server_close()
        os.close(self.root)


class _Reader(socketserver.StreamRequestHandler):
    server: FileServer

    def setup(self) -> None:
        super().setup()
        keep_alive(self.connection)
        # Limits of the kernel: a timeout of Python makes the socket non-blocking, and sendfile needs a blocking one.
        self._limit(socket.SO_SNDTIMEO, STALLED_S)
        self._limit(socket.SO_RCVTIMEO, TOKEN_WITHIN_S)
        self._buffer: mmap.mmap | None = None
        self._file, self._file_is = -1, ("", False)  # the last read file: its path, and whether by O_DIRECT

    def finish(self) -> None:
        try:
            super().finish()
        finally:
            self._let_go()

    def handle(self) -> None:
        try:
            self._admit()
            while line := self.rfile.readline(MAX_LINE_BYTES):
                self._try(_request(line))
        except Refused as err:
            # After a request that cannot be read the next bytes may be anything, so the connection ends.
            with contextlib.suppress(OSError):
                self._say(REFUSED, str(err).encode())
        except (ConnectionError, BlockingIOError):
            return

    def _admit(self) -> None:
        line = self.rfile.readline(1_024)
        if line:
            request = _object(line)
            if request.get("op") != "open" or not self.server.knows(request.get("token")):
                raise Refused("this server serves another run")
            self._limit(socket.SO_RCVTIMEO, IDLE_S)
            self._say(DONE)

    def _limit(self, option: int, seconds: int) -> None:
        self.connection.setsockopt(socket.SOL_SOCKET, option, struct.pack("ll", seconds, 0))

    def _try(self, request: dict[str, Any]) -> None:
        try:
            {"append": self._append, "read": self._read, "forget": self._forget}[request["op"]](request)
        except Refused as err:
            self._say(REFUSED, str(err).encode())
        except (ConnectionError, BlockingIOError):
            raise
        except OSError as err:
            self._say(REFUSED, f"{request['path']!r}: {err.strerror}".encode())

    def _forget(self, request: dict[str, Any]) -> None:
        file = open_below(self.server.root, request["path"], os.O_RDONLY)
        try:
            # Only pages that have reached the disk can be dropped.
            os.fsync(file)
            os.posix_fadvise(file, 0, 0, os.POSIX_FADV_DONTNEED)
        finally:
            os.close(file)
        self._say(DONE)

    def _append(self, request: dict[str, Any]) -> None:
        """Receive all bytes even where writing fails, because the next request follows them."""
        self._limit(socket.SO_RCVTIMEO, STALLED_S)
        file = -1
        why: OSError | Refused | None = None
        try:
            file = open_below(self.server.root, request["path"], os.O_WRONLY | os.O_APPEND | os.O_CREAT)
        except (OSError, Refused) as err:
            why = err
        try:
            left = request["length"]
            while left:
                piece = self.rfile.read(min(left, CHUNK_BYTES))
                if not piece:
                    raise ConnectionAbortedError("the connection ended within the bytes to append")
                left -= len(piece)
                if why:
                    continue
                try:
                    _write(file, piece)
                except OSError as err:
                    why = err
        finally:
            if file >= 0:
                os.close(file)
        self._limit(socket.SO_RCVTIMEO, IDLE_S)
        if why:
            raise why
        self._say(DONE)

    def _read(self, request: dict[str, Any]) -> None:
        length, offsets = request["length"], request["offsets"]
        is_direct = request.get("direct") is True
        if is_direct and any(number % DIRECT_BYTES for number in (length, *offsets)):
            raise Refused(f"direct reads are of multiples of {DIRECT_BYTES} bytes, from multiples of it")
        size = self._open_to_read(request["path"], is_direct=is_direct)
        if max(offsets) + length > size:
            raise Refused(f"{request['path']} has {size} bytes, no {length} at {max(offsets)}")
        self._send(self._file, length, offsets, is_direct=is_direct)

    def _open_to_read(self, path: str, *, is_direct: bool) -> int:
        """Open a file, unless it is the last read one and still exists; return its size.

        Opening it takes a dozen system calls, and the interpreter's threads wait for each other at each.
        """
        if self._file >= 0 and self._file_is == (path, is_direct):
            about = os.fstat(self._file)
            if about.st_nlink:
                return about.st_size
        self._let_go()
        try:
            self._file = open_below(self.server.root, path, os.O_RDONLY | (os.O_DIRECT if is_direct else 0))
        except OSError as err:
            if is_direct and err.errno == errno.EINVAL:
                raise Refused(NO_DIRECT) from err
            raise
        self._file_is = path, is_direct
        return os.fstat(self._file).st_size

    def _let_go(self) -> None:
        if self._file >= 0:
            os.close(self._file)
            self._file = -1

    def _send(self, file: int, length: int, offsets: list[int], *, is_direct: bool) -> None:
        # MSG_MORE: a small answer leaves in one packet with its header.
        self.connection.sendall(ANSWER.pack(DONE, length * len(offsets)), socket.MSG_MORE)
        send = self._send_direct if is_direct else self._send_cached
        try:
            for offset in offsets:
                send(file, offset, offset + length)
        except OSError as err:
            # The length is announced: an error message now would be taken for bytes of the file.
            raise ConnectionAbortedError(f"the answer ended early: {err.strerror}") from err

    def _send_cached(self, file: int, offset: int, end: int) -> None:
        while offset < end:
            sent = os.sendfile(self.connection.fileno(), file, offset, end - offset)
            if not sent:
                raise OSError(errno.EIO, "the file became shorter")
            offset += sent

    def _send_direct(self, file: int, offset: int, end: int) -> None:
        if self._buffer is None:
            # O_DIRECT needs aligned memory, and anonymous memory is page-aligned.
            self._buffer = mmap.mmap(-1, CHUNK_BYTES)
        with memoryview(self._buffer) as view:
            while offset < end:
                got = os.preadv(file, [view[: end - offset]], offset)
                if not got:
                    raise OSError(errno.EIO, "the file became shorter")
                self.connection.sendall(view[:got])
                offset += got

    def _say(self, status: int, body: bytes = b"") -> None:
        self.connection.sendall(ANSWER.pack(status, len(body)) + body)


def keep_alive(connection: socket.socket) -> None:
    """Send without delay, and detect a peer that has vanished."""
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    for option, value in KEEP_ALIVE:
        connection.setsockopt(socket.IPPROTO_TCP, option, value)


def _write(file: int, piece: bytes) -> None:
    view = memoryview(piece)
    while view:
        view = view[os.write(file, view) :]


def _object(line: bytes) -> dict[str, Any]:
    try:
        request = json.loads(line)
    except (ValueError, RecursionError) as err:
        raise Refused("a request is a line of JSON") from err
    if not isinstance(request, dict):
        raise Refused("a request is an object of JSON")
    return request


def _request(line: bytes) -> dict[str, Any]:
    """Return the checked request of a line."""
    request = _object(line)
    if request.get("op") not in ("read", "append", "forget"):
        raise Refused("op is none of read, append, forget")
    if not isinstance(request.get("path"), str):
        raise Refused("path is not text")
    if request["op"] != "forget" and not _is_amount(request.get("length"), 1, MAX_LENGTH):
        raise Refused(f"length is not a number from 1 to {MAX_LENGTH}")
    if request["op"] == "read":
        _check_offsets(request)
    return request


def _check_offsets(request: dict[str, Any]) -> None:
    offsets = request.get("offsets")
    if not isinstance(offsets, list) or not 1 <= len(offsets) <= MAX_OFFSETS:
        raise Refused(f"offsets is not a list of 1 to {MAX_OFFSETS}")
    if not all(_is_amount(offset, 0, 1 << 62) for offset in offsets):
        raise Refused("an offset is not a number from 0")
    if request["length"] * len(offsets) > MAX_ANSWER_BYTES:
        raise Refused(f"more than {MAX_ANSWER_BYTES} bytes are asked for at once")


def _is_amount(value: Any, least: int, most: int) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and least <= value <= most


def open_below(root: int, path: str, flags: int) -> int:
    """Open a regular file below the folder `root`, without following links, so that no path leads out of it.

    Creates missing folders if it may create the file.
    """
    names = path.split("/")
    if not all(NAME.fullmatch(name) and name.strip(".") for name in names):
        raise Refused(f"{path!r} is not a path of names (A-Z a-z 0-9 _ : . -) below the folder")
    folder = os.dup(root)
    try:
        for name in names[:-1]:
            folder = _step(folder, name, may_make=bool(flags & os.O_CREAT))
        # O_NONBLOCK: to open a pipe that somebody put there must not block the server.
        file = os.open(names[-1], flags | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, 0o600, dir_fd=folder)
    finally:
        os.close(folder)
    if not stat.S_ISREG(os.fstat(file).st_mode):
        os.close(file)
        raise Refused(f"{path!r} is not a regular file")
    return file


def _step(folder: int, name: str, *, may_make: bool) -> int:
    """Return a descriptor of the folder `name` below; closes `folder` once that is open."""
    if may_make:
        with contextlib.suppress(FileExistsError):
            os.mkdir(name, 0o700, dir_fd=folder)
    below = os.open(name, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=folder)
    os.close(folder)
    return below
