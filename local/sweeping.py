"""What a killed cloud of a folder has left there; only for the folder's owner (local/programs/claims.py)."""

import shutil
from pathlib import Path
from typing import NamedTuple

from local.keeping import runs
from local.programs import leftovers

# Folders that stand for storage and for functions.
ITS_OWN = ("storage", "code")
# Where the cloud is, and its key.
DESCRIPTION = "cloud.json"


# A cloud removes older ones when it starts.
MOST_LOGS, MOST_AGENTS = 1_000, 8


class Left(NamedTuple):
    """One thing that a killed cloud has left."""

    kind: str
    name: str


def left(workdir: Path) -> list[Left]:
    """Return what a killed cloud of the folder has left, and agents that are no more."""
    own = [
        *(Left("file", str(path)) for path in [workdir / DESCRIPTION] if path.exists()),
        *(Left("folder", str(path)) for path in map(workdir.joinpath, ITS_OWN) if path.exists()),
    ]
    processes = [Left("process", str(pid)) for pid in leftovers.processes(workdir.resolve())]
    return [*own, *processes, *(Left("folder", str(folder)) for folder in leftovers.folders())]


def sweep(workdir: Path) -> list[str]:
    """Remove it, and return a sentence for each thing that somebody should know of, such as a run that was cut off."""
    # First, so that nobody takes it for a living one's.
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
    """Leave the logs of the latest instances, and the latest agents, each of which is a version of the code."""
    for pattern, most in (("logs/i-*.log", MOST_LOGS), ("agents/*/*", MOST_AGENTS)):
        oldest_first = sorted(workdir.glob(pattern), key=lambda path: path.stat().st_mtime)
        for path in oldest_first[:-most]:
            shutil.rmtree(path) if path.is_dir() else path.unlink(missing_ok=True)


def remove_folders(workdir: Path) -> None:
    """Remove the folders of a cloud."""
    for name in ITS_OWN:
        shutil.rmtree(workdir / name, ignore_errors=True)
