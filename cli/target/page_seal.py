"""The seal of a drawn page: with it, `matrix report` shows the page again instead of drawing it anew.

A page runs scripts, and a page in a run's folder may come from a stranger. The seal beside it shows that this user's
`matrix report`, with the same code, drew exactly this page from exactly these documents: an HMAC of all of them with a
key that only this user has. Whoever cannot write the key's file, or read it, gets a page that is drawn anew.
"""

import hashlib
import hmac
import os
import secrets
from collections.abc import Iterable, Iterator
from pathlib import Path

PAGE, SEAL = "report.html", "report.seal"
DRAWING_CODE = Path(__file__).parents[2] / "functions"


def seal(folder: Path, drawn_from: bytes) -> None:
    """Seal the page of a run's folder; `drawn_from` is the digest of its documents before they were read."""
    try:
        (folder / SEAL).unlink(missing_ok=True)
        (folder / SEAL).write_bytes(_seal(folder, drawn_from))
    except OSError:
        return


def is_sealed(folder: Path) -> bool:
    """Whether the page of a run's folder is what would be drawn now."""
    page, kept = folder / PAGE, folder / SEAL
    if any(not path.is_file() or path.is_symlink() for path in (page, kept)):
        return False
    try:
        return hmac.compare_digest(kept.read_bytes(), _seal(folder, digest_of_documents(folder)))
    except OSError:
        return False


def digest_of_documents(folder: Path) -> bytes:
    """Return a digest of all documents of which a page is drawn: 0.1 s for 100 MB."""
    return _digest(folder, _documents(folder))


def _documents(folder: Path) -> Iterator[Path]:
    for pattern in ("*.json", "cells/*/result.json"):
        # Reading a pipe might never end.
        yield from (path for path in sorted(folder.glob(pattern)) if path.is_file())


def _seal(folder: Path, drawn_from: bytes) -> bytes:
    page = hashlib.sha256((folder / PAGE).read_bytes()).digest()
    return hmac.digest(_key(), _digest_of_code() + drawn_from + page, "sha256")


def _digest_of_code() -> bytes:
    code = (path for path in DRAWING_CODE.rglob("*") if path.suffix in (".py", ".json", ".js", ".css"))
    return _digest(DRAWING_CODE, sorted(code))


def _digest(folder: Path, paths: Iterable[Path]) -> bytes:
    """Return a digest of the names below a folder and the contents of these files."""
    digest = hashlib.sha256()
    for path in paths:
        content = path.read_bytes()
        digest.update(f"{path.relative_to(folder)} {len(content)}\n".encode())
        digest.update(content)
    return digest.digest()


def _key() -> bytes:
    """Return this user's key; a new one the first time."""
    folder = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "storage-matrix"
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "page.key"
    try:
        with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            file.write(secrets.token_bytes(32))
    except FileExistsError:
        pass
    return path.read_bytes()
