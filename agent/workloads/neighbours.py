"""Data of a fleet that shares a file system: each instance reads a neighbour's data, or all read those of one.

So no instance has a neighbour's data in its cache. All files of one kind are in one folder, each under the name of the
instance that wrote it, so that one listing shows all of them. A file gets that name when it is complete. Its only
reader removes it, because its writer cannot know when it has been read.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Callable, TypeVar

from agent.errors import WorkIncomplete
from agent.machine.workspace import remove
from agent.retrying import GaveUp, NotYet, patience, retried

if TYPE_CHECKING:
    from agent.machine.workspace import Workspace

Result = TypeVar("Result")
FOLDER, SHARED = "neighbours", "shared"
# An NFS client may keep a folder's listing for a minute (nfs(5): acdirmax); the rest is patience with a slow writer.
TIMEOUT_S = 900.0
PAUSE_S = 0.5
SLOWEST_BYTES_PER_S = 10e6


def data_of_neighbour(workspace: Workspace, name: str, instances: int, write: Callable[[Path], None]) -> Path:
    """Write this instance's file if it is missing, wait for all others', and return the neighbour's.

    The neighbour is the next one in the order of the instances' names, so that each is read by one instance.
    Raises WorkIncomplete if fewer than `instances` have written after TIMEOUT_S.
    """
    own = workspace.target.parent  # <cell>/<instance>
    folder = own.parent / FOLDER / f"{name}-neighbour"
    folder.mkdir(parents=True, exist_ok=True)
    if not (folder / own.name).exists():
        # Names of instances have no dot, so a file that is still being written does not match.
        unfinished = folder / f".{own.name}"
        unfinished.unlink(missing_ok=True)
        try:
            write(unfinished)
        except BaseException:
            unfinished.unlink(missing_ok=True)
            raise
        unfinished.rename(folder / own.name)
    fleet = _wait(folder, instances)
    neighbour = folder / fleet[(fleet.index(own.name) + 1) % len(fleet)]
    workspace.at_end.add(neighbour)
    return neighbour


def shared_data(
    workspace: Workspace, name: str, instances: int, write: Callable[[Path], None], data_bytes: float
) -> Path:
    """Return the file or folder that all instances read; the first in the order of their names writes it once.

    Each has an empty file beside it as long as it may read; the last to remove its own removes the data, too
    (Workspaces.close). Raises WorkIncomplete if fewer than `instances` have come after TIMEOUT_S, or nothing was
    written after that and the time that so many bytes take at SLOWEST_BYTES_PER_S.
    """
    own = workspace.target.parent
    folder = own.parent / FOLDER / f"{name}-{SHARED}"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / own.name).touch()
    workspace.at_end.add(folder / own.name)
    fleet = _wait(folder, instances)
    data = folder / f".{SHARED}"
    if fleet[0] == own.name and not data.exists():
        unfinished = folder / ".unfinished"
        remove(unfinished)
        write(unfinished)
        unfinished.rename(data)

    def written() -> Path:
        # A listing, since a client may keep a missing name for a minute.
        if data.name not in (path.name for path in folder.iterdir()):
            raise NotYet(f"{fleet[0]} has not written the data that all instances read")
        return data

    return _patiently("the shared data", written, TIMEOUT_S + data_bytes / SLOWEST_BYTES_PER_S)


def _wait(folder: Path, instances: int) -> list[str]:
    def written() -> list[str]:
        fleet = sorted(path.name for path in folder.iterdir() if not path.name.startswith("."))
        if len(fleet) < instances:
            raise NotYet(f"{len(fleet)} of {instances} instances have written what their neighbours are to read")
        return fleet

    return _patiently("the data of the neighbours", written, TIMEOUT_S)


def _patiently(what: str, done: Callable[[], Result], at_most_s: float) -> Result:
    try:
        return retried(what, done, patience(at_most_s, PAUSE_S))
    except GaveUp as err:
        raise WorkIncomplete(f"{err.__cause__}, after {at_most_s:.0f} s: see the log.gz of the others") from err
