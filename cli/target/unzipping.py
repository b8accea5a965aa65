"""Unzip an instance's files within limits: a file of 1 MB may contain 1 GB."""

import zlib
from collections.abc import Iterator
from dataclasses import dataclass

# Limits of an instance's log, zipped and unzipped. An agent logs some lines per step; outputs of tools are files.
MAX_ZIPPED_BYTES = 16 * 2**20
MAX_BYTES = 16 * 2**20
# Bytes that are unzipped at once.
PART_BYTES = 2**20
# zlib: a gzip header is expected.
GZIP = 16 + zlib.MAX_WBITS


@dataclass
class Unzipped:
    """The lines of a zipped text, and, after these were read, the reason if the text is incomplete."""

    zipped: bytes
    problem: str = ""

    def lines(self) -> Iterator[str]:
        """Yield the lines as they are unzipped, up to the limit, or to the damaged part of the file."""
        left = b""
        for part in self._parts():
            *whole, left = (left + part).split(b"\n")
            for line in whole:
                yield from _text(line)
        yield from _text(left)

    def _parts(self) -> Iterator[bytes]:
        unpacking, waiting, total = zlib.decompressobj(GZIP), self.zipped, 0
        if len(waiting) > MAX_ZIPPED_BYTES:
            self.problem = f"cannot be read: it has more than {MAX_ZIPPED_BYTES:,} bytes"
            return
        try:
            while waiting and not unpacking.eof:
                part = unpacking.decompress(waiting, min(PART_BYTES, MAX_BYTES - total))
                yield part
                waiting, total = unpacking.unconsumed_tail, total + len(part)
                if total >= MAX_BYTES:
                    self.problem = f"is shown as far as {MAX_BYTES:,} bytes: more are zipped in it"
                    return
        except zlib.error as error:
            self.problem = f"cannot be read: {error}"
            return
        if not unpacking.eof:
            self.problem = "cannot be read to its end: it is cut off"


def _text(line: bytes) -> Iterator[str]:
    yield from line.decode(errors="replace").splitlines()
