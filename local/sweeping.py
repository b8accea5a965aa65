"""Remove leftovers of a killed cloud from its folder; only for the folder's owner (local/programs/claims.py)."""

import shutil
import time
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from local.keeping import runs
from local.programs import leftovers

# Folders that emulate storage and hold functions.
ITS_OWN = ("storage", "code")
# Address and key of the cloud.
DESCRIPTION = "cloud.json"

# Limits at the start of a cloud for old logs and agents: the newest ones are kept, up to this number and size.
MAX_LOGS, MAX_AGENTS = 1_000, 8
MAX_BYTES = 256 << 20
MAX_AGE_S = 30 * 86_400.0


class Left(NamedTuple):
    """One thing that a killed cloud has left."""

    kind: str
    name: str


def left(workdir: Path) -> list[Left]:
    """Return the leftovers of a killed cloud of the folder, and of agents that no longer run."""
    own = [
        *(Left("file", str(path)) for path in [workdir / DESCRIPTION] if path.exists()),
        *(Left("folder", str(path)) for path in map(workdir.joinpath, ITS_OWN) if path.exists()),
    ]
    processes = [Left("process", str(pid)) for pid in leftovers.processes(workdir.resolve())]
    return [*own, *processes, *(Left("folder", str(folder)) for folder in leftovers.folders())]


def remove_links(workdir: Path) -> None:
    """Remove the links in the places of what a cloud writes: somebody else may have left them, and they lead anywhere.

    The folder of runs may be a link of the user's to a larger disk.
    """
    for path in [*workdir.iterdir(), *(workdir / "logs").rglob("*"), *(workdir / "agents").rglob("*")]:
        if path.is_symlink() and path != workdir / "runs":
            path.unlink()


def sweep(workdir: Path) -> list[str]:
    """Remove leftovers, and return a sentence for each that the user should know, such as an interrupted run."""
    # First, so that no command mistakes it for a running cloud.
    (workdir / DESCRIPTION).unlink(missing_ok=True)
    ended = leftovers.end_processes(workdir.resolve())
    remove_folders(workdir)
    freed = leftovers.remove_folders()
    sentences = runs.close_interrupted(workdir / "runs")
    if ended:
        sentences.append(f"{ended} process{'es' if ended > 1 else ''} of a killed cloud went on and are ended")
    if freed:
        sentences.append(f"{freed / 2**20:.0f} MiB of killed agents were left and are freed")
    return sentences


def remove_old_logs(workdir: Path) -> None:
    """Leave the newest logs and agents: no more than MAX_BYTES of each, and none older than MAX_AGE_S.

    An agent is a version of the code; each instance has a log of its own, each function one for all its calls.
    """
    _leave_newest(workdir.glob("logs/i-*.log"), MAX_LOGS)
    _leave_newest(workdir.glob("logs/*"), None)
    _leave_newest(workdir.glob("agents/*/*"), MAX_AGENTS)


def _leave_newest(paths: Iterable[Path], most: int | None) -> None:
    oldest = time.time() - MAX_AGE_S
    kept_bytes = 0
    newest_first = sorted(((path.lstat().st_mtime, path) for path in paths), reverse=True)
    for number, (changed_at, path) in enumerate(newest_first):
        files = [path, *path.rglob("*")] if path.is_dir() else [path]
        kept_bytes += sum(file.lstat().st_size for file in files)
        if kept_bytes > MAX_BYTES or changed_at < oldest or (most is not None and number >= most):
            shutil.rmtree(path) if path.is_dir() else path.unlink(missing_ok=True)


def remove_folders(workdir: Path) -> None:
    for name in ITS_OWN:
        shutil.rmtree(workdir / name, ignore_errors=True)
