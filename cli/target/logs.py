"""What the instances of a cell wrote down: log.gz of each, from the run's folder here or from the bucket."""

import gzip
import zlib
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

from cli.messages.errors import UnreadableRun
from cli.target import deployment
from cli.target.documents import CONTROL, note
from cli.target.service import Service
from cli.target.workdir import run_folder

LOG, FAILED = "log.gz", "failed.json"


def of_cell(run: str, cell: str, *, local: bool, stack: str | None, region: str | None) -> dict[str, Iterator[str]]:
    """Return the lines of each instance's log by the instance's id, those of instances that failed first.

    A log that cannot be read is noted, and has no lines.
    """
    deployment.refuse_two_places(local=local, stack=stack)
    folder = run_folder(run)
    is_here = stack is None and region is None and folder.is_dir() and not folder.is_symlink()
    store = (
        _Kept(folder) if is_here else _Stored(run, Service(deployment.find(local=local, stack=stack, region=region)))
    )
    below = f"cells/{cell}/instances/"
    names = [PurePosixPath(name) for name in store.names(below)]
    failed = {name.parent for name in names if name.name == FAILED}
    logs = sorted((name for name in names if name.name == LOG), key=lambda name: (name.parent not in failed, name))
    # A folder is named by role and instance, as the instance's rights end with its own name.
    return {name.parent.name.rpartition(":")[2]: _lines(store, str(name)) for name in logs}


class _Kept:
    """The folder of a local run."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def names(self, below: str) -> list[str]:
        # Names may be anything, so the folder is searched by comparison and not by a path made of them.
        paths = [path for path in self._folder.rglob("*") if path.is_file() and not path.is_symlink()]
        names = [path.relative_to(self._folder).as_posix() for path in paths]
        return [name for name in names if name.startswith(below)]

    def content(self, name: str) -> bytes:
        return (self._folder / name).read_bytes()

    def where(self, name: str) -> str:
        return str(self._folder / name)


class _Stored:
    """The bucket of a deployment."""

    def __init__(self, run: str, service: Service) -> None:
        self._run, self._service = run, service

    def names(self, below: str) -> list[str]:
        return [key.removeprefix(f"runs/{self._run}/") for key in self._service.keys(self._run, below)]

    def content(self, name: str) -> bytes:
        return self._service.content(self._run, name) or b""

    def where(self, name: str) -> str:
        return f"{self._service.where(self._run)}{name}"


def _lines(store: _Kept | _Stored, name: str) -> Iterator[str]:
    try:
        text = gzip.decompress(store.content(name)).decode(errors="replace")
    except (OSError, EOFError, zlib.error) as error:
        note(
            UnreadableRun(
                f"{store.where(name)} cannot be read: {error}", "the instance may have died while it wrote it"
            )
        )
        return
    # What an instance writes is not trusted: it could clear the terminal.
    yield from (CONTROL.sub("?", line) for line in text.splitlines())
