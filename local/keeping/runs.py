"""The folder of a run, `.local/runs/<run>/`: its objects as in the bucket, its rows, and its status.

    plan.json, cells/<cell>/result.json …   the objects of the bucket below runs/<run>/
    rows.jsonl                              each row of the table, again whenever it changes; the last one counts
    execution.json                          status, start and end of the execution, and the process of its cloud

The command reads it, so this imports nothing of moto.
"""

import json
import threading
import zlib
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath
from types import NoneType
from typing import Any

from local.keeping.files import FULL, PARTIAL, append_line, overwrite, remove_partial, write_whole
from local.programs.liveness import is_alive

EXECUTION, ROWS = "execution.json", "rows.jsonl"
# Files that the local cloud adds to a run's objects.
OWN_FILES = (EXECUTION, ROWS)
# These are enough to read and resume a run; other files may be lost in a power failure.
LASTING = (
    "plan.json",
    "matrix.json",
    "samples.json",
    "result.json",
    "summary.json",
    "summary.values.json",
    "receipt.json",
    EXECUTION,
)
# Linux takes no longer names.
MAX_NAME_BYTES = 255
LOCKS = 16


@dataclass(frozen=True)
class KeptExecution:
    """Status of a run, from its folder."""

    run: str
    status: str
    started_at: float
    ended_at: float | None
    error: str
    cause: str
    arn: str = ""
    cloud_pid: int = 0
    cloud_started_ticks: int = 0

    @classmethod
    def of(cls, document: dict[str, Any]) -> "KeptExecution":
        """Return the execution in a document; raises ValueError if a field is missing or has a wrong type."""
        facts = {name: value for name, value in document.items() if name in cls.__dataclass_fields__}
        for name, value in facts.items():
            if not isinstance(value, KINDS[name]) or isinstance(value, bool):
                raise ValueError(f"{name} is {value!r:.100}")
        try:
            return cls(**facts)
        except TypeError as err:
            raise ValueError(str(err)) from err

    @property
    def has_lost_its_cloud(self) -> bool:
        """Return whether the execution was running when its cloud ended."""
        return self.status == "RUNNING" and not is_alive(self.cloud_pid, self.cloud_started_ticks)


KINDS: dict[str, tuple[type, ...]] = {
    **dict.fromkeys(("run", "status", "error", "cause", "arn"), (str,)),
    "started_at": (int, float),
    "ended_at": (int, float, NoneType),
    **dict.fromkeys(("cloud_pid", "cloud_started_ticks"), (int,)),
}


class KeptRuns:
    """Writes the runs of a local cloud; each call returns only when another process can read the data."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder.resolve()
        self._locks = [threading.Lock() for _ in range(LOCKS)]

    def keep_object(self, key: str, body: Callable[[], bytes]) -> bool:
        """Write the current `body` of an object; return False if its key cannot be the name of a file.

        Concurrent writers of a key call `body` one after another, so the file has the bucket's last content.
        """
        path = self._path(key)
        if path is None:
            return False
        try:
            with self._locks[zlib.crc32(key.encode()) % LOCKS]:
                write_whole(path, body(), self._folder, is_lasting=path.name in LASTING)
        except (FileExistsError, NotADirectoryError, IsADirectoryError):
            return False  # S3 allows keys `a` and `a/b`; the disk keeps the first of them
        return True

    def keep_row(self, run: str, row: dict[str, Any]) -> None:
        """Keep a row, in the form of DynamoDB: {"SK": {"S": …}, …}."""
        append_line(self._folder / run / ROWS, json.dumps(row, separators=(",", ":")).encode())

    def keep_execution(self, execution: KeptExecution) -> None:
        body = json.dumps(vars(execution), indent=2).encode()
        path = self._folder / execution.run / EXECUTION
        try:
            write_whole(path, body, self._folder, is_lasting=True)
        except OSError as err:
            if err.errno not in FULL or not path.is_file():
                raise
            # A full disk has no space for a second file, so overwrite the first one.
            overwrite(path, body)

    def _path(self, key: str) -> Path | None:
        """Return where an object is kept. Instances choose the ends of keys, so a key may be no path, or lead away."""
        top, _, name = key.partition("/")
        parts = name.split("/")
        is_path = all(part not in ("", ".", "..") and "\0" not in part for part in parts)
        is_short = all(len(part.encode()) <= MAX_NAME_BYTES for part in parts)
        is_own = len(parts) == 2 and parts[1] in OWN_FILES  # noqa: PLR2004 - run and name
        return self._folder / name if top == "runs" and len(parts) > 1 and is_path and is_short and not is_own else None


def execution_of(folder: Path) -> KeptExecution | None:
    """Return the last written status of a run; None for folders without one, such as published runs.

    Raises ValueError if the file is damaged.
    """
    path = folder / EXECUTION
    if not _is_own(path):
        return None
    try:
        return KeptExecution.of(json.loads(path.read_text()))
    except (AttributeError, ValueError, RecursionError) as err:
        raise ValueError(f"{path} cannot be read: {err!r}") from err


def ended_with_its_cloud(execution: KeptExecution, folder: Path) -> KeptExecution:
    """Return the execution as ended, at the time of the last written file."""
    last = max((path.stat().st_mtime for path in _files(folder)), default=execution.started_at)
    return replace(
        execution,
        status="ABORTED",
        ended_at=last,
        error="LocalCloudEnded",
        cause=f"the local cloud (process {execution.cloud_pid}) ended while the run went on",
    )


def rows_in(text: bytes) -> tuple[list[dict[str, Any]], int]:
    """Return the rows of a run as they were last, in the form of DynamoDB, and how many lines cannot be read.

    The last line may have been cut off when the power went.
    """
    rows: dict[str, dict[str, Any]] = {}
    damaged = 0 if text else 1
    for line in text.removesuffix(b"\n").split(b"\n") if text else []:
        try:
            row = json.loads(line)
            rows[str(row["SK"]["S"])] = row
        except (ValueError, KeyError, TypeError, RecursionError):
            damaged += 1
    return [rows[name] for name in sorted(rows)], damaged


def close_interrupted(folder: Path) -> list[str]:
    """Write the end of each run that was running when its cloud ended; return a sentence about each.

    Only one living cloud can claim its folder, so other clouds' running runs in it have ended.
    """
    sentences = []
    for run in sorted(path for path in folder.glob("*/") if not path.is_symlink()):
        with suppress(ValueError, OSError):  # a damaged file is named by the command that needs it
            execution = execution_of(run)
            if execution is not None and execution.has_lost_its_cloud:
                # A copy may have another name, and a file of somebody else any.
                execution = replace(execution, run=run.name)
                KeptRuns(folder).keep_execution(ended_with_its_cloud(execution, run))
                sentences.append(f"run {execution.run} had ended with its cloud: {how_far(run)}")
    removed = remove_partial(folder)
    if removed:
        sentences.append(f"{removed} file{'s' if removed > 1 else ''} in {folder} had been cut off and are removed")
    return sentences


def how_far(folder: Path) -> str:
    """Describe the progress of a run, and how to continue it."""
    try:
        cells = [cell["id"] for cell in json.loads((folder / "plan.json").read_text())["cells"]]
    except FileNotFoundError:
        return "it had not been planned yet, so there is nothing to resume"
    except (OSError, KeyError, TypeError, ValueError, RecursionError):
        return f"{folder / 'plan.json'} cannot be read; what there is: `matrix results {folder.name} --local`"
    measured = sum(_is_measured(folder / "cells" / cell / "result.json") for cell in cells)
    return f"{measured} of {len(cells)} cells measured; measure the rest: `matrix run --resume {folder.name} --local`"


def _is_measured(path: Path) -> bool:
    try:
        return bool(json.loads(path.read_text())["state"] == "measured")
    except (OSError, KeyError, TypeError, ValueError, RecursionError):
        return False


def objects_of(folder: Path) -> Iterator[tuple[str, Path]]:
    """Yield the names below runs/<run>/ and the files of a run's objects."""
    for path in _files(folder):
        name = PurePosixPath(path.relative_to(folder)).as_posix()
        if name not in OWN_FILES:
            yield name, path


def _files(folder: Path) -> Iterator[Path]:
    return (path for path in folder.rglob("*") if _is_own(path))


def _is_own(path: Path) -> bool:
    # We write no links, so a link is somebody else's, and may lead to any file of this machine.
    return not path.is_symlink() and path.is_file() and not path.name.endswith(PARTIAL)
