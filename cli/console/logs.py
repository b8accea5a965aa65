"""What an instance wrote down, for the browser: the end of its log, however large somebody made it."""

import zlib

from typing_extensions import TypedDict

from cli.console.sources import Source
from cli.target.documents import CONTROL

LINES = 500
MOST_BYTES = 4_000_000
# zlib: a gzip header is expected.
GZIP = 16 + zlib.MAX_WBITS


class InstanceLog(TypedDict):
    """The last lines."""

    lines: list[str]
    note: str


def instance_lines(source: Source, run: str, cell: str, instance: str) -> InstanceLog:
    """Return the last lines of an instance's log. It uploads one when it ends."""
    below = f"cells/{cell}/instances/"
    names = [name for name, _ in source.traces.listing(run, below)]
    name = next((name for name in names if name.partition("/")[0].endswith(f":{instance}") and _is_log(name)), None)
    stored = source.commands.content(run, f"{below}{name}") if name else None
    if stored is None:
        return {"lines": [], "note": "an instance uploads its log when it ends"}
    unpacking = zlib.decompressobj(GZIP)
    try:
        text = unpacking.decompress(stored, MOST_BYTES).decode(errors="replace")
    except zlib.error as error:
        return {"lines": [], "note": f"the log cannot be read: {error}"}
    lines = [CONTROL.sub("?", line) for line in text.splitlines()]
    cut = f"the last {LINES} of {len(lines):,} lines" if len(lines) > LINES else ""
    return {"lines": lines[-LINES:], "note": cut}


def _is_log(name: str) -> bool:
    return name.partition("/")[2] == "log.gz"
