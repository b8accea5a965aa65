"""The names of existing runs, kept on this machine or in a deployment, and the most similar name to a given one."""

import difflib
from collections.abc import Iterable, Iterator
from pathlib import Path

from cli.messages.errors import UnknownRun
from cli.target.workdir import runs_folder
from local.keeping import runs
from matrix.terms.printable import printable

# So many of the newest names are listed.
MAX_NAMES = 5
# What the names of runs of published figures begin with, unless a user chooses otherwise.
PUBLISHED = "published"


def kept_runs() -> list[str]:
    """Return the names of the runs that are kept here, newest first."""
    folders = [folder for folder in runs_folder().glob("*") if folder.is_dir()]
    return list(plain(folder.name for folder in sorted(folders, key=_ended_at, reverse=True)))


def whole_name(run: str) -> str:
    """Return the name of the only kept run that begins like this; the name as it is if there are none or several."""
    kept = kept_runs()
    beginning = [name for name in kept if name.startswith(run)]
    return run if run in kept or len(beginning) != 1 else beginning[0]


def plain(names: Iterable[str]) -> Iterator[str]:
    """Yield valid names of runs and cells; a name with control characters may be an attack on the terminal."""
    return (name for name in names if name == printable(name))


def _ended_at(folder: Path) -> float:
    ends = [folder / "summary.json", folder / runs.EXECUTION, folder]
    return next(path for path in ends if path.exists()).stat().st_mtime


def unknown_run(message: str, run: str, names: Iterable[str], note: str = "") -> UnknownRun:
    """Return the error for a run that does not exist: the most similar name, the newest `names`, then a `note`."""
    known = sorted(dict.fromkeys(names), key=lambda name: not name.startswith(run))
    more = f" and {len(known) - MAX_NAMES} more (`matrix runs`)" if len(known) > MAX_NAMES else ""
    listed = f"the newest runs: {', '.join(known[:MAX_NAMES])}{more}" if known else "there is no run yet"
    near = meant(run, [*known, "latest"] if known else ())
    return UnknownRun(message, " ".join(filter(None, [near, "; ".join(filter(None, [loading(run), listed, note]))])))


def loading(run: str) -> str:
    """Return the command that makes a published benchmark a run; empty for names of other runs."""
    return "load the published benchmarks: `matrix import --published`" if run.startswith(PUBLISHED) else ""


def meant(written: str, names: Iterable[str]) -> str:
    """Return `did you mean …?` with the most similar name; empty if none is similar."""
    close = difflib.get_close_matches(written, list(names), n=1)
    return f"did you mean {close[0]}?" if close else ""
