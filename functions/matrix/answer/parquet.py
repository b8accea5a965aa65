"""Rows as one Parquet file, in plain Python: no library that writes Parquet fits into a function (docs/results.md).

Rows need little of it: flat columns whose values may be missing, one row group, one page for each column, packed
by gzip. Source: parquet.thrift (numbers of fields and of choices) and Encodings.md (PLAIN, and RLE for which values are
there) of parquet-format, and Thrift's compact protocol.
"""

import gzip
import struct
from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import Any

MAGIC = b"PAR1"
# How columns of each type are stored (parquet.thrift, Type).
PHYSICAL = {"boolean": 0, "int": 1, "double": 5, "string": 6}
OPTIONAL, UTF8, PLAIN, RLE, GZIP, DATA_PAGE = 1, 0, 0, 3, 2, 0
# Thrift's compact protocol: the types of fields.
I32, I64, BINARY, LIST, STRUCT = 5, 6, 8, 9, 12

Field = tuple[int, bytes]


def parquet_file(rows: Sequence[Mapping[str, Any]], columns: Mapping[str, str]) -> bytes:
    """Return rows as a Parquet file with the columns, whose types are those of PHYSICAL; a row may lack any of them.

    Raises struct.error where an int has more than 32 bits.
    """
    body, chunks = bytearray(MAGIC), []
    for name, type_ in columns.items():
        page, unpacked_bytes = _page([row.get(name) for row in rows], type_)
        facts = {
            **_fields(I32, {1: PHYSICAL[type_]}),
            2: (LIST, _list(I32, [_int(PLAIN), _int(RLE)])),
            3: (LIST, _list(BINARY, [_text(name)])),
            **_fields(I32, {4: GZIP}),
            **_fields(I64, {5: len(rows), 6: unpacked_bytes, 7: len(page), 9: len(body)}),
        }
        chunks.append(_struct({**_fields(I64, {2: len(body)}), 3: (STRUCT, _struct(facts))}))
        body += page
    group = _struct({1: (LIST, _list(STRUCT, chunks)), **_fields(I64, {2: len(body), 3: len(rows)})})
    root = _struct({4: (BINARY, _text("row")), **_fields(I32, {5: len(columns)})})
    footer = {
        **_fields(I32, {1: 1}),
        2: (LIST, _list(STRUCT, [root, *(_leaf(name, type_) for name, type_ in columns.items())])),
        **_fields(I64, {3: len(rows)}),
        4: (LIST, _list(STRUCT, [group] if rows else [])),
        6: (BINARY, _text("Storage Matrix")),
    }
    return bytes(body) + _struct(footer) + struct.pack("<I", len(_struct(footer))) + MAGIC


def _leaf(name: str, type_: str) -> bytes:
    fields = {**_fields(I32, {1: PHYSICAL[type_], 3: OPTIONAL}), 4: (BINARY, _text(name))}
    return _struct(fields | (_fields(I32, {6: UTF8}) if type_ == "string" else {}))


def _page(values: Sequence[Any], type_: str) -> tuple[bytes, int]:
    """Return a column's only page, and how many bytes it would have unpacked."""
    runs = [(is_there, len(list(group))) for is_there, group in groupby(value is not None for value in values)]
    levels = b"".join(_varint(length << 1) + bytes([is_there]) for is_there, length in runs)
    plain = struct.pack("<I", len(levels)) + levels + _plain([value for value in values if value is not None], type_)
    packed = gzip.compress(plain, mtime=0)
    of_data = _struct(_fields(I32, {1: len(values), 2: PLAIN, 3: RLE, 4: RLE}))
    header = _struct({**_fields(I32, {1: DATA_PAGE, 2: len(plain), 3: len(packed)}), 5: (STRUCT, of_data)})
    return header + packed, len(header) + len(plain)


def _plain(values: Sequence[Any], type_: str) -> bytes:
    match type_:
        case "string":
            texts = [value.encode() for value in values]
            return b"".join(struct.pack("<I", len(text)) + text for text in texts)
        case "boolean":
            bits = sum(1 << place for place, value in enumerate(values) if value)
            return bits.to_bytes((len(values) + 7) // 8, "little")
        case _:
            return struct.pack(f"<{len(values)}{'i' if type_ == 'int' else 'd'}", *values)


def _fields(kind: int, values: Mapping[int, int]) -> dict[int, Field]:
    return {number: (kind, _int(value)) for number, value in values.items()}


def _struct(fields: Mapping[int, Field]) -> bytes:
    """Return the fields by their numbers, which ascend by less than 16."""
    numbers = [0, *fields]
    parts = [
        bytes([(number - before) << 4 | kind]) + content
        for before, (number, (kind, content)) in zip(numbers, fields.items(), strict=False)
    ]
    return b"".join(parts) + b"\0"


def _list(kind: int, members: Sequence[bytes]) -> bytes:
    return bytes([0xF0 | kind]) + _varint(len(members)) + b"".join(members)


def _text(text: str) -> bytes:
    return _varint(len(text.encode())) + text.encode()


def _int(value: int) -> bytes:
    """Return an integer that is not negative, zigzag: its sign is the last bit."""
    return _varint(value << 1)


def _varint(value: int) -> bytes:
    groups: list[int] = []
    while value >> 7:
        groups.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*groups, value])
