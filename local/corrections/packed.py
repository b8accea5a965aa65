"""Rows and objects of runs, compressed: the cloud keeps them in memory until it ends, but they are rarely read again.

moto creates an object for each number in a row, so the row of a point with its percentiles took 94 KiB. An S3 object
has its own file in memory. Readers of either get the original content.
"""

import json
import zlib
from functools import lru_cache
from typing import Any

from moto.dynamodb.models.dynamo_type import DynamoType, Item
from moto.s3 import models as s3

# Shorter values gain nothing.
MIN_BYTES = 60


class PackedValue(DynamoType):
    """A map or list of a row; each access builds its value anew, so changes of the returned value are lost."""

    def __init__(self, value: DynamoType, size: int) -> None:
        text = json.dumps(value.to_regular_json()).encode()
        self.type = value.type
        self._size = size
        self._packed = zlib.compress(text, level=1)

    @property
    def value(self) -> Any:
        return self.plain().value

    def size(self) -> int:
        """Return its size in bytes, as DynamoDB counts them."""
        return self._size

    def plain(self) -> DynamoType:
        return DynamoType(json.loads(zlib.decompress(self._packed)))

    def __deepcopy__(self, memo: dict[int, Any]) -> "PackedValue":
        """Return itself, because it is immutable."""
        return self


class PackedBody:
    """The body of an object in place of moto's file: it is read, from its first byte on, and never changed."""

    __slots__ = ("_at", "_is_packed", "_kept")

    def __init__(self, body: bytes) -> None:
        packed = zlib.compress(body, level=1)
        self._is_packed = len(packed) < len(body)
        self._kept = packed if self._is_packed else body
        self._at = 0

    def seek(self, at: int) -> None:
        self._at = at

    def read(self, size: int = -1) -> bytes:
        """Return `size` bytes from the current position, or all the rest."""
        body = zlib.decompress(self._kept) if self._is_packed else self._kept
        start, self._at = self._at, len(body) if size < 0 else min(len(body), self._at + size)
        return body[start : self._at]

    def close(self) -> None:
        """Let go of the body."""
        self._kept, self._is_packed = b"", False


def pack_object(key: s3.FakeKey) -> None:
    """Pack an object that has been written."""
    body = key.value
    with key.lock:
        file, key._value_buffer = key._value_buffer, PackedBody(body)
        file.close()


def share_permissions() -> None:
    """Let all objects without permissions of their own share a single list of them."""
    s3.get_canned_acl = lru_cache(maxsize=None)(s3.get_canned_acl)


def pack_row(item: Item, size_of: Any) -> None:
    """Compress the large values of a row."""
    for name, value in item.attrs.items():
        if type(value) is DynamoType and value.type in ("M", "L") and (size := size_of(value)) >= MIN_BYTES:
            try:
                packed = PackedValue(value, size)
            except TypeError:  # bytes are not JSON
                continue
            # Not through moto's own way, which adds up the sizes of all attributes for each.
            dict.__setitem__(item.attrs, name, packed)


def unpack_row(item: Item | None) -> None:
    """Restore moto's objects in a row, for an update that may address its maps."""
    if item is None:
        return
    for name, value in item.attrs.items():
        if isinstance(value, PackedValue):
            dict.__setitem__(item.attrs, name, value.plain())
