"""The folders of this machine's runs, `.local/runs/<run>/`, which the local cloud writes during a run."""

import json
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, TypeAlias

from cli.messages.errors import CommandError, UnreadableRun
from cli.target import deployment, known_runs
from cli.target.documents import ProgressRow, checked_row, note, parsed, readable
from cli.target.run_documents import RunDocuments
from cli.target.service import Execution, Service, plain_row
from cli.target.workdir import run_folder, workdir
from local.keeping import runs
from local.keeping.files import write_whole
from matrix.terms.keys import BASELINES, baseline_key
from matrix.terms.sentences import message_of

# Environments of runs that were never started here.
LOADED = ("published", "imported")
ENDED = ("measured", "failed", "skipped")
# These documents decide which parts of a run are measured again.
DECIDING = ("plan.json", "matrix.json", "result.json")


class RunFolders:
    """The folders of this machine's runs, which MATRIX_WORKDIR chooses; they outlast the local cloud."""

    name = "this machine"
    flag = "--local"
    is_here = True
    metric_pages = None
    poll_every_s = 1.0

    def runs(self) -> list[str]:
        """Return the names of the runs that are kept here, newest first."""
        return known_runs.kept_runs()

    def started(self) -> Iterator[str]:
        """Yield the names of started runs, newest first, without those loaded from published or other files."""
        return (run for run in self.runs() if not is_loaded(run))

    def execution(self, run: str) -> Execution | None:
        """Return the execution of a run; None if it is not kept here, or was never started, such as published ones.

        A run that was in progress when its cloud ended is ABORTED, with the error LocalCloudEnded.
        """
        stored = self.document(run, runs.EXECUTION)
        if stored is None:
            return None
        try:
            kept = runs.KeptExecution.of(stored)
        except ValueError as error:
            raise UnreadableRun(f"{run_folder(run) / runs.EXECUTION} cannot be read: {error}", _advice(run)) from error
        if kept.has_lost_its_cloud:
            kept = runs.ended_with_its_cloud(kept, run_folder(run))
        return Execution(
            kept.run, kept.status, kept.started_at, kept.ended_at, kept.error, message_of(kept.cause), kept.arn
        )

    def progress_rows(self, run: str) -> list[ProgressRow]:
        """Return the last rows of the table for a run's plan, file systems and cells.

        Unreadable lines are left out, and damage is noted. A result takes precedence over the row of its cell, which
        may be lost in a power failure.
        """
        rows = {row["SK"]: row for row in self._rows(run)}
        for cell in self.measured_cells(run):
            row: ProgressRow = rows.get(f"CELL#{cell}", {"SK": f"CELL#{cell}", "cell": cell})
            if row.get("state") not in ENDED and (result := readable(RunDocuments(self, run).result, cell)):
                rows[row["SK"]] = {**row, "state": result["state"]}
        return list(rows.values())

    def _rows(self, run: str) -> list[ProgressRow]:
        path = run_folder(run) / runs.ROWS
        try:
            text = self.content(run, runs.ROWS)
        except UnreadableRun as error:
            note(error)
            return []
        if text is None:
            return []
        kept, damaged = runs.rows_in(text)
        rows: list[ProgressRow] = []
        for stored in kept:
            try:
                row = checked_row(plain_row(stored), str(path))
            except (TypeError, ValueError, AttributeError, UnreadableRun):
                damaged += 1
            else:
                rows += [row] if "state" in row or "expected_s" in row else []  # a point has neither
        if damaged:
            lines = f"{damaged} of its lines {'is' if damaged == 1 else 'are'} damaged" if text else "it is empty"
            note(UnreadableRun(f"{path} cannot be read: {lines}", _advice(run)))
        return rows

    def document(self, run: str, name: str) -> dict[str, Any] | None:
        """Return a document of a kept run, such as summary.json; None if it does not exist.

        Raises UnreadableRun if its content does not match its name, as after an interrupted copy, or if it is no
        regular file.
        """
        text = self.content(run, name)
        return None if text is None else parsed(text, name, str(run_folder(run) / name), _advice(run))

    def content(self, run: str, name: str, most: int | None = None) -> bytes | None:
        """Return the bytes, or the first `most`, of a file of a run; None if it does not exist.

        Raises UnreadableRun if it is a link, or no regular file.
        """
        path, advice = run_folder(run) / name, _advice(run)
        # This project never writes links, so a link is from somebody else, and may show any file of this machine as a
        # result.
        ways = [path, *(path.parents[: len(Path(name).parts) - 1])]
        if ".." in Path(name).parts or any(way.is_symlink() for way in ways):
            raise UnreadableRun(f"{path} cannot be read: it is a link, or leads out of the run's folder", advice)
        if not path.exists():
            return None
        # Reading a pipe or a device might never end.
        if not path.is_file():
            raise UnreadableRun(f"{path} cannot be read: it is {'a folder' if path.is_dir() else 'no file'}", advice)
        try:
            with path.open("rb") as file:
                return file.read(most)
        except OSError as error:
            raise UnreadableRun(f"{path} cannot be read: {error.strerror}", advice) from error

    def names(self, run: str, below: str = "") -> Iterator[str]:
        """Yield the names within a run of all its files, or of those `below` a prefix, such as cells/.

        Names may contain anything, so they are compared with the files of the folder, and never become a path.
        """
        folder = run_folder(run)
        paths = (path for path in folder.rglob("*") if path.is_file() and not path.is_symlink())
        yield from (name for path in paths if (name := path.relative_to(folder).as_posix()).startswith(below))

    def measured_cells(self, run: str) -> list[str]:
        """Return the cells of a run that have a result, readable or not."""
        return sorted(known_runs.plain(path.parent.name for path in (run_folder(run) / "cells").glob("*/result.json")))

    def known_cells(self, run: str) -> list[str]:
        """Return the cells of a kept run that have any files, measured or not."""
        return sorted(known_runs.plain(path.name for path in (run_folder(run) / "cells").glob("*")))

    def where(self, run: str) -> str:
        return f"{run_folder(run)}/"

    def put_documents(self, run: str, documents: Mapping[str, object]) -> None:
        """Store documents that were not measured here by their names, so that commands read them as a run."""
        for name, document in documents.items():
            body = json.dumps(document, indent=1, ensure_ascii=False).encode()
            write_whole(run_folder(run) / name, body, workdir(), is_lasting=False)

    def baselines(self) -> list[str]:
        """Return the names of the baselines, in order."""
        return sorted(path.parent.name for path in (workdir() / BASELINES).glob("*/baseline.json"))

    def baseline(self, name: str) -> bytes | None:
        """Return the document of a baseline; None if there is none."""
        path = workdir() / baseline_key(name)
        # This project never writes links, so a link is from somebody else.
        return path.read_bytes() if path.is_file() and not path.is_symlink() else None

    def put_baseline(self, name: str, body: bytes) -> None:
        """Store the document of a baseline; a running local cloud gets it too, for its functions."""
        write_whole(workdir() / baseline_key(name), body, workdir(), is_lasting=True)
        if deployment.is_local_cloud_running():
            Service(deployment.running_local_cloud()).put_baseline(name, body)

    def delete_baseline(self, name: str) -> None:
        """Delete a baseline, also in a running local cloud."""
        shutil.rmtree((workdir() / baseline_key(name)).parent)
        if deployment.is_local_cloud_running():
            Service(deployment.running_local_cloud()).delete_baseline(name)


# A place that holds runs: folders of this machine, or a deployment. A running local cloud is a deployment too: its
# content is also in the folders, which outlast it.
RunStore: TypeAlias = RunFolders | Service


def lasting(store: RunStore) -> RunStore:
    """Return the lasting place for a store's content: a local cloud's bucket ends with it, but the folders do not."""
    return RunFolders() if store.is_here else store


def restore(service: Service, run: str) -> list[str]:
    """Copy a run, and the runs whose results it has taken over, back into a new local cloud's bucket, to be resumed.

    Other unreadable documents are not copied, and their cells are measured again; returns their paths. Raises
    UnreadableRun, before anything is copied, if a damaged document decides which parts are measured again.
    """
    folders, folder = RunFolders(), run_folder(run)
    damaged: list[str] = []
    if not folder.is_dir() or next(service.names(run), None) is not None:
        return damaged
    for path in folder.rglob("*"):
        if path.name in DECIDING:
            folders.document(run, path.relative_to(folder).as_posix())
    for name, path in runs.objects_of(folder):
        try:
            if path.suffix == ".json":
                folders.document(run, name)
        except UnreadableRun:
            damaged.append(str(path))
        else:
            service.upload(path, f"runs/{run}/{name}")
    planned = RunDocuments(folders, run).plan()
    sources = {cell["taken_from"]["run"] for cell in (planned["cells"] if planned else []) if "taken_from" in cell}
    return damaged + [path for source in sorted(sources) for path in restore(service, source)]


def refuse_loaded(run: str) -> None:
    """Refuse loaded figures, which are kept as a run, for actions that need a started run."""
    if is_loaded(run):
        raise CommandError(
            f"{run} was never started here: its figures were loaded", f"look at them: `matrix results {run}`"
        )


def is_loaded(run: str) -> bool:
    """Return whether a kept run was never started: its figures were published or imported, and loaded."""
    summary = readable(RunDocuments(RunFolders(), run).written_summary)
    return summary is not None and summary.get("environment") in LOADED


def _advice(run: str) -> str:
    return f"fix the file; or remove the folder {run_folder(run)}/ and measure again"
