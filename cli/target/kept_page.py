"""The report that a run's analysis, or an earlier `matrix report`, has left here: shown while it is current."""

from pathlib import Path

from cli.messages.errors import UnreadableRun
from cli.target import mirror
from cli.target.summaries import LATEST
from cli.target.workdir import run_folder
from matrix.report import origin

NAME = "report.html"
Digests = dict[str, str]


def kept_run(run: str, *, stack: str | None, region: str | None) -> str | None:
    """Return the name of the run of which a page could be kept here; None where AWS is asked, or nothing is kept.

    On AWS each page is drawn anew, since CloudWatch may know more by now.
    """
    if stack is not None or region is not None:
        return None
    return next(iter(mirror.kept_runs()), None) if run == LATEST else run


def digests(run: str | None) -> Digests:
    """Return the digest of each document that the page of a kept run is drawn from; empty where one is unreadable."""
    try:
        return mirror.digests(run) if run is not None else {}
    except UnreadableRun:  # to draw the page says which
        return {}


def current(run: str | None, documents: Digests) -> Path | None:
    """Return the page of a run that is just what would be drawn now; None where there is none."""
    if run is None or origin.SUMMARY not in documents:
        return None
    path = run_folder(Path(run).name) / NAME
    # A link may show any file of this machine, and to read a pipe might never end.
    if path.is_symlink() or not path.is_file():
        return None
    page = path.read_bytes().decode(errors="replace")
    return path if origin.is_current(page, documents) else None
