"""The folder of a local cloud after a loss of power: copied at random moments while it is written."""

import json
import os
import random
import shutil
import threading
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from cli.inputs import resuming
from cli.target import run_folders
from cli.target.deployment import Deployment
from cli.target.run_folders import RunFolders
from local.keeping import runs
from local.keeping.runs import LASTING


@dataclass(frozen=True)
class Copy:
    """A copy of a folder, with the results that certainly existed at its start, and those that may exist at its end."""

    folder: Path
    at_least: frozenset[str]
    at_most: frozenset[str]


def results_of(folder: Path) -> frozenset[str]:
    """The results of cells below a working folder, as `<run>/cells/<cell>/result.json`."""
    runs_folder = folder / "runs"
    return frozenset(str(path.relative_to(runs_folder)) for path in runs_folder.glob("*/cells/*/result.json"))


def copy_now(folder: Path, copy: Path) -> Copy:
    """Copy a folder file by file while it is written; without the functions' code, which a start creates."""
    at_least = results_of(folder)
    for parent, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if name != "code"]
        into = copy / Path(parent).relative_to(folder)
        into.mkdir(parents=True, exist_ok=True)
        for name in names:
            with suppress(OSError):  # renamed or removed meanwhile
                shutil.copyfile(Path(parent, name), into / name)
    return Copy(copy, at_least, results_of(folder))


class Copier:
    """Copies a folder at random moments, in a separate thread, until the block ends."""

    def __init__(self, folder: Path, into: Path, pause_s: float, most: int) -> None:
        """Pause for 0 to 2 × `pause_s` between copies, of which no more than `most` are taken."""
        self.copies: list[Copy] = []
        self._folder, self._into, self._pause_s, self._most = folder, into, pause_s, most
        self._chance = random.Random(1)
        self._is_over = threading.Event()
        self._thread = threading.Thread(target=self._take, daemon=True)

    def __enter__(self) -> "Copier":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._is_over.set()
        self._thread.join()

    def _take(self) -> None:
        while len(self.copies) < self._most and not self._is_over.wait(self._chance.random() * 2 * self._pause_s):
            if (self._folder / "runs").is_dir():
                self.copies.append(copy_now(self._folder, self._into / str(len(self.copies))))


def lose_power(folder: Path, chance: random.Random) -> int:
    """Damage one in two of the files that were not synced to the disk, in one of four ways; return how many.

    A file that was not synced may be there with its name only, with zeros in place of unwritten data, with a part of
    it, or not at all.
    """
    spoilt = 0
    for path in folder.rglob("*"):
        if path.is_file() and path.name not in LASTING and chance.random() < 0.5:
            size = path.stat().st_size
            match chance.randrange(4):
                case 0:
                    path.write_bytes(b"")
                case 1:
                    path.write_bytes(bytes(size))
                case 2:
                    os.truncate(path, chance.randrange(size + 1))
                case _:
                    path.unlink()
            spoilt += 1
    return spoilt


class Bucket:
    """The empty bucket of the next cloud, with the operations that `matrix run --resume` needs."""

    deployment = Deployment("local", "storage-matrix", "us-east-1", None)

    def __init__(self) -> None:
        """Start empty."""
        self.objects: dict[str, bytes] = {}

    def names(self, run):
        top = f"runs/{run}/"
        return iter([key.removeprefix(top) for key in self.objects if key.startswith(top)])

    def upload(self, path, key):
        self.objects[key] = path.read_bytes()

    def document(self, run, name):
        body = self.objects.get(f"runs/{run}/{name}")
        return None if body is None else json.loads(body)


def taken_over(run: str) -> list[str] | None:
    """The cells of a run whose results the next run takes over; None if it has no plan. Raises if it is damaged.

    The run is in the working folder, MATRIX_WORKDIR.
    """
    bucket = Bucket()
    run_folders.restore(bucket, run)
    plan = bucket.document(run, "plan.json")
    if plan is None:
        return None
    earlier = resuming._earlier(bucket, run, plan)
    return sorted(each.reused_from["cell"] for each in earlier.values() if each.reused_from)


def assert_nothing_is_lost(copy: Copy) -> int:
    """Read each run of a copy, and resume it up to its plan; return how many cells are taken over.

    The copy is the working folder, MATRIX_WORKDIR. As the next start does, it closes the runs.
    """
    folder, present = copy.folder / "runs", results_of(copy.folder)
    assert copy.at_least <= present <= copy.at_most
    total = 0
    for run in sorted(path.name for path in folder.glob("*/")):
        execution = RunFolders().execution(run)
        if execution is None:  # it had just started
            assert not [name for name in copy.at_least if name.startswith(f"{run}/")]
            continue
        assert not execution.is_running
        assert isinstance(RunFolders().progress_rows(run), list)
        assert all(json.loads(path.read_bytes()) for path in (folder / run).rglob("*") if path.name in LASTING)
        own = {name.split("/")[2]: name for name in present if name.startswith(f"{run}/")}
        measured = [
            cell for cell, name in own.items() if json.loads((folder / name).read_bytes())["state"] == "measured"
        ]
        taken = taken_over(run)
        assert taken is not None or not own
        assert set(measured) <= set(taken or [])
        total += len(taken or [])
    runs.close_interrupted(folder)
    assert not list(copy.folder.rglob("*.partial"))
    assert runs.close_interrupted(folder) == []
    return total
