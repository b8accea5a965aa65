"""Distinguishable records: each begins with its number and a checksum; the rest is incompressible."""

from __future__ import annotations

import os
import struct
import zlib
from collections.abc import Iterator

HEADER = struct.Struct("<QII")  # number, checksum of the payload, mark
MARK = 0x52454344
# Also the parts that an object is uploaded in: S3 takes no smaller ones than 5 MiB.
CHUNK_BYTES = 8 << 20
# The payload repeats after this many bytes. No file system compresses or deduplicates so many at once (OpenZFS: records
# of up to 1 MiB). It is not a multiple of a power of two, so that equal payloads have different alignments.
POOL_BYTES = (16 << 20) + 4_093


class RecordWrong(Exception):
    """The record read differs from the written one."""


class Records:
    """Makes records of one size; two makers make different payloads."""

    def __init__(self, record_bytes: int) -> None:
        """Draw the random pool that payloads are cut from."""
        self._record_bytes = record_bytes
        self._per_chunk = max(1, CHUNK_BYTES // record_bytes)
        chunk_bytes = self._per_chunk * record_bytes
        # One chunk longer than it is, so that no cut runs over its end.
        pool = os.urandom(POOL_BYTES)
        self._pool = memoryview((pool * (chunk_bytes // POOL_BYTES + 2))[: POOL_BYTES + chunk_bytes])

    def chunks(self, count: int) -> Iterator[bytearray]:
        """Records 0 to `count` - 1, chunk by chunk."""
        for first in range(0, count, self._per_chunk):
            yield self.chunk(first, min(self._per_chunk, count - first))

    def number_of_chunks(self, count: int) -> int:
        return -(-count // self._per_chunk)

    def write(self, descriptor: int, count: int) -> None:
        """Write records 0 to `count` - 1 at the current position of the file."""
        for chunk in self.chunks(count):
            view = memoryview(chunk)
            while view:
                view = view[os.write(descriptor, view) :]

    def chunk(self, first: int, count: int) -> bytearray:
        """Records `first` to `first + count - 1`."""
        size = self._record_bytes
        start = first * size % POOL_BYTES
        made = bytearray(self._pool[start : start + count * size])
        view = memoryview(made)
        for place in range(count):
            at, number = place * size, first + place
            HEADER.pack_into(made, at, number, _checksum(view[at + HEADER.size : at + size], number), MARK)
        return made


def check(content: bytes | memoryview, number: int) -> None:
    """Raise RecordWrong unless `content` is record `number`, unharmed."""
    written, checksum, mark = HEADER.unpack_from(content)
    if mark != MARK:
        raise RecordWrong(f"where record {number} should begin there is no record")
    if written != number:
        raise RecordWrong(f"record {written} was read where record {number} should be")
    if checksum != _checksum(memoryview(content)[HEADER.size :], number):
        raise RecordWrong(f"record {number} was read with another content than was written")


def _checksum(payload: memoryview, number: int) -> int:
    # Starting from the number: a payload that was cut out for another record does not fit.
    return zlib.crc32(payload, number & 0xFFFFFFFF)
