"""Hostile input: strings anywhere, objects in place of documents."""

import gzip
import json
from collections.abc import Callable

SHELL = [
    "$(reboot)",
    "`reboot`",
    "a;reboot",
    "a|b",
    "a&b",
    "a\nreboot",
    "a>b",
    "'",
    '"',
    "a b",
    "*",
    "?",
    "{a,b}",
    "!!",
    "\\",
]


UNICODE = ["\x00", "\x1b[31m", "\u202e", "é", "e\u0301", "😀", "\ud800", "\udfff\ud800", "ﬁ", "İ", "\u2028", "٣"]


# In place of a document.
HOSTILE = {
    "nothing": b"",
    "zeros": b"\x00" * 4096,
    "no UTF-8": b"\xff\xfe\x80",
    "brackets without end": b"[" * 200_000,
    "cut off": b'{"schema": 1, "run": "r',
    "NaN": b'{"step": NaN, "instances": Infinity}',
    "a number of 5,000 digits": b'{"step": ' + b"9" * 5000 + b"}",
    "a list": b"[1, 2]",
    "another form": b'{"instances": {"a": [null]}, "steps": "x", "step": {}, "samples": 5, "error": [], "message": {}}',
    "an escape sequence": json.dumps({"error": "\x1b[2J", "message": "\x1b]0;title\x07"}).encode(),
    "a bomb": gzip.compress(b"[" * 50_000_000, 1),
}  # fmt: skip


def made(content: str | bytes | Callable[[], str | bytes]) -> str | bytes:
    """Return a content; a large one is made where it is needed, as each worker would keep it from its start on."""
    return content() if callable(content) else content
