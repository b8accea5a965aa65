"""What a page was drawn from, as a line in its head: so a page that is kept is known to be what would be drawn now.

The line has digests of the page itself, of our code, and of the documents. None of them can stay the same when a page
is cut off, the code of a tree is edited, or a document is corrected or measured again.
"""

import dataclasses
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from functools import cache
from hashlib import sha256
from pathlib import Path

SUMMARY, RECEIPT, PLAN = "summary.json", "receipt.json", "plan.json"
CORE = Path(__file__).parents[1]
_SOURCES = {".py", ".js", ".css", ".json"}
_BEFORE = '<meta charset="utf-8">'
_LINE = re.compile('<meta name="drawn-from" content="([^"]*)">')


@dataclass(frozen=True)
class Origin:
    """Digests of what a page was drawn from, and of the page without this line."""

    page: str
    code: str
    summary: str
    receipt: str
    others: str  # the plan and each cell's result

    @property
    def line(self) -> str:
        """The line of the page's head."""
        return f'<meta name="drawn-from" content="{" ".join(asdict(self).values())}">'


def digest(text: bytes) -> str:
    """Return the SHA-256 of a document's bytes."""
    return sha256(text).hexdigest()


def marked(page: str, documents: Mapping[str, str]) -> str:
    """Return a page with the line that says what it was drawn from.

    `documents` are the digests of the run's documents by their names in its folder; those that no page is drawn from do
    not count. Each must have been taken of the bytes that were read, or before they were read.
    """
    others = sorted(f"{name} {known}\n" for name, known in documents.items() if name == PLAN or is_result(name))
    return _with_line(
        page,
        Origin(
            page=digest(page.encode()),
            code=code(),
            summary=documents.get(SUMMARY, "none"),
            receipt=documents.get(RECEIPT, "none"),
            others=digest("".join(others).encode()),
        ),
    )


def is_current(page: str, documents: Mapping[str, str]) -> bool:
    """Say whether a page is what our code drew from just these documents; see `marked`."""
    line, without = _split(page)
    return bool(line) and page == marked(without, documents)


def carried_over(page: str, settled: str, *, summary: tuple[str, str], receipt: str) -> str:
    """Return a page whose receipt has been replaced, with the line of the page before it brought up to date.

    `summary` are the digests of the summary before and now. A page that was not drawn from the one before has no line.
    """
    line, before = _split(page)
    after = _split(settled)[1]
    fields = line.split(" ")
    was = Origin(*fields) if len(fields) == len(dataclasses.fields(Origin)) else None
    if was is None or was.page != digest(before.encode()) or was.summary != summary[0]:
        return after
    return _with_line(after, replace(was, page=digest(after.encode()), summary=summary[1], receipt=receipt))


def is_result(name: str) -> bool:
    """Say whether a name in a run's folder is that of a cell's result."""
    return name.startswith("cells/") and name.endswith("/result.json") and name.count("/") == 2  # noqa: PLR2004


@cache
def code(root: Path = CORE) -> str:
    """Return the digest of the core's sources, which with the documents decide what a page looks like."""
    sources = sorted((path.relative_to(root).as_posix(), path) for path in root.rglob("*.*") if path.suffix in _SOURCES)
    return digest("".join(f"{name} {digest(path.read_bytes())}\n" for name, path in sources).encode())


def _with_line(page: str, origin: Origin) -> str:
    return page.replace(_BEFORE, f"{_BEFORE}{origin.line}", 1)


def _split(page: str) -> tuple[str, str]:
    """Return what the line of a page says, empty where there is none, and the page without it."""
    before, start, rest = page.partition(_BEFORE)
    line = _LINE.match(rest)
    return (line[1], before + start + rest[line.end() :]) if line else ("", page)
