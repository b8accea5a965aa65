"""`.local/console.html`: leads to the console of the local cloud, to which its stack's output DashboardUrl points."""

import html
import os
from pathlib import Path

PAGE = """<!doctype html><html lang="en"><meta charset="utf-8"><title>Storage Matrix</title>{forward}
<p>{words}</p></html>
"""
CLOSED = "No console runs now: <code>matrix watch RUN --web</code> or <code>matrix local up --web</code> opens one."


def lead_to(path: Path, address: str) -> None:
    """Make the page redirect to a console. It contains the console's token, so only its owner may read it."""
    there = html.escape(address, quote=True)
    _write(path, f'<meta http-equiv="refresh" content="0; url={there}">', f'<a href="{there}">The console</a>')


def close(path: Path, address: str) -> None:
    """Make the page say that no console runs, unless another one has been opened since."""
    if path.is_file() and html.escape(address, quote=True) in path.read_text():
        _write(path, "", CLOSED)


def _write(path: Path, forward: str, words: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.unlink(missing_ok=True)  # do not write through a link, or into a file that others may read
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
        file.write(PAGE.format(forward=forward, words=words))
