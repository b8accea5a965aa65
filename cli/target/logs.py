"""The instance logs of a cell: log.gz of each, from the run's folder here or from the bucket."""

import json
import time
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

from cli.messages.errors import UnreadableRun
from cli.target.documents import note, readable
from cli.target.place import Place
from cli.target.run_folders import RunFolders
from cli.target.service import Service
from cli.target.unzipping import LARGEST_ZIPPED_BYTES, Unzipped
from cli.target.workdir import run_folder
from matrix.terms.printable import printable

LOG, FAILED, HEARTBEAT, RESULT = "log.gz", "failed.json", "heartbeat", "result.json"


def of_cell(run: str, cell: str, place: Place) -> dict[str, Iterator[str]]:
    """Return the lines of each instance's log by the instance's id, those of instances that failed first.

    A log that cannot be read is noted, and has no lines.
    """
    store, below = _store(run, place), _below(cell)
    names = [PurePosixPath(name) for name in store.names(below)]
    failed = {name.parent for name in names if name.name == FAILED}
    logs = sorted((name for name in names if name.name == LOG), key=lambda name: (name.parent not in failed, name))
    return {_instance(name): _lines(store, str(name)) for name in logs}


def follow(run: str, cell: str, place: Place) -> Iterator[tuple[str, str]]:
    """Yield each instance with a line: what its heartbeat says, once it says something new, and its log when it ends.

    Ends with the run, or as soon as the cell has a result. An instance uploads its log only when it ends.
    """
    store, below = _store(run, place), _below(cell)
    stands: dict[str, str] = {}
    printed: set[str] = set()
    while True:
        # Whether it goes on is asked before what there is: what came in between is seen by the next look.
        is_last = not store.goes_on(run) or bool(store.names(f"cells/{cell}/{RESULT}"))
        for name in map(PurePosixPath, store.names(below)):
            instance = _instance(name)
            if name.name == HEARTBEAT and (stand := _stand(store, str(name))) not in ("", stands.get(instance)):
                stands[instance] = stand
                yield instance, stand
            if name.name == LOG and instance not in printed:
                printed.add(instance)
                yield from ((instance, line) for line in _lines(store, str(name)))
        if is_last:
            return
        time.sleep(store.look_every_s)


def cells_of(run: str, place: Place) -> list[str]:
    """Return the cells of a run that have left anything; raises UnknownRun where there is no such run."""
    store = _store(run, place)
    cells = sorted({name.split("/")[1] for name in store.names("cells/")})
    if not cells:
        with place.naming_kept_runs(run):
            store.refuse_unknown(run)
    return cells


def _below(cell: str) -> str:
    return f"cells/{cell}/instances/"


def _instance(name: PurePosixPath) -> str:
    """Return the id of the instance that wrote a file: its folder is named by role and instance, as its rights are."""
    return printable(name.parent.name.rpartition(":")[2])


def _stand(store: "_Kept | _Stored", name: str) -> str:
    """Return what a heartbeat says: `running, step 3 p02`; '' where it says nothing that can be read."""
    try:
        beat = json.loads(store.content(name))
        step = f", step {int(beat['step']) + 1}" if beat.get("step") is not None else ""
        words = f"{beat['state']}{step} {beat.get('point') or ''}"
    except (OSError, ValueError, TypeError, KeyError, AttributeError):
        return ""
    return f"[{printable(words).strip()}]"


def _store(run: str, place: Place) -> "_Kept | _Stored":
    folder = run_folder(run)
    if not place.is_on_aws and folder.is_dir() and not folder.is_symlink():
        return _Kept(folder)
    with place.naming_kept_runs(run):
        return _Stored(run, place.service())


class _Kept:
    """The folder of a local run."""

    look_every_s = 1.0

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def names(self, below: str) -> list[str]:
        # Names may be anything, so the folder is searched by comparison and not by a path made of them.
        paths = [path for path in self._folder.rglob("*") if path.is_file() and not path.is_symlink()]
        names = [path.relative_to(self._folder).as_posix() for path in paths]
        return [name for name in names if name.startswith(below)]

    def content(self, name: str) -> bytes:
        with (self._folder / name).open("rb") as file:
            return file.read(LARGEST_ZIPPED_BYTES + 1)

    def refuse_unknown(self, run: str) -> None:
        """It is kept, so it is known."""

    def where(self, name: str) -> str:
        return str(self._folder / name)

    def goes_on(self, run: str) -> bool:
        execution = readable(RunFolders().execution, run)
        return execution is not None and execution.is_running


class _Stored:
    """The bucket of a deployment."""

    look_every_s = 5.0  # each look is paid for

    def __init__(self, run: str, service: Service) -> None:
        self._run, self._service = run, service

    def names(self, below: str) -> list[str]:
        return [key.removeprefix(f"runs/{self._run}/") for key in self._service.keys(self._run, below)]

    def content(self, name: str) -> bytes:
        return self._service.content(self._run, name, LARGEST_ZIPPED_BYTES + 1) or b""

    def goes_on(self, run: str) -> bool:
        return self._service.execution(run).is_running

    def refuse_unknown(self, run: str) -> None:
        self._service.execution(run)

    def where(self, name: str) -> str:
        return f"{self._service.where(self._run)}{name}"


def _lines(store: _Kept | _Stored, name: str) -> Iterator[str]:
    try:
        unzipped = Unzipped(store.content(name))
    except OSError as error:
        unzipped = Unzipped(b"", f"cannot be read: {error.strerror}")
    # What an instance writes is not trusted: it could clear the terminal.
    yield from (printable(line) for line in unzipped.lines())
    if unzipped.problem:
        note(UnreadableRun(f"{store.where(name)} {unzipped.problem}", "the instance may have died while it wrote it"))
