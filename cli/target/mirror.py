"""The mirror of local runs, `.local/runs/<run>/`: a copy of their bucket that outlives the local cloud."""

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

from cli.messages.errors import UnreadableRun
from cli.target.documents import checked
from cli.target.service import Service
from cli.target.workdir import run_folder, runs_folder

# The outcome of the execution, which is not in the bucket.
EXECUTION = "execution.json"


def keep(service: Service, run: str) -> Path:
    """Copy everything that the bucket holds of a run into its folder, and return the folder."""
    folder = run_folder(run).resolve()
    for key in service.keys(run):
        path = (folder / key.removeprefix(f"runs/{run}/")).resolve()
        # Instances choose the ends of keys, so a key may try to leave the run's folder.
        if path.is_relative_to(folder) and path != folder:
            service.download(key, path)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / EXECUTION).write_text(json.dumps(asdict(service.execution(run)), indent=2))
    return run_folder(run)


def restore(service: Service, run: str) -> None:
    """Put a mirrored run back into the bucket of a new local cloud, so that another run can resume it."""
    folder = runs_folder() / Path(run).name
    if next(service.keys(run), None) is not None or not folder.is_dir():
        return
    for path in folder.rglob("*"):
        if path.is_file() and path.name != EXECUTION:
            service.upload(path, f"runs/{run}/{path.relative_to(folder).as_posix()}")


def mirrored_runs() -> list[str]:
    """Return the names of the runs that are mirrored here, newest first."""
    folders = [folder for folder in runs_folder().glob("*") if folder.is_dir()]
    return [folder.name for folder in sorted(folders, key=_ended_at, reverse=True)]


def _ended_at(folder: Path) -> float:
    summary = folder / "summary.json"
    return (summary if summary.exists() else folder).stat().st_mtime


def document(run: str, name: str) -> dict[str, Any] | None:
    """Return a document of a mirrored run, such as summary.json; None when it is not there.

    Raises UnreadableRun where it is no JSON object, as when a copy was cut off.
    """
    # Only the last part of the name is used, so that no name leads out of the folder of runs.
    path = runs_folder() / Path(run).name / name
    if not path.is_file():
        return None
    advice = f"remove the folder {runs_folder() / Path(run).name}/, or mend the file"
    try:
        content = json.loads(path.read_text())
    except ValueError as error:
        content = error
    if not isinstance(content, dict):
        why = str(content) if isinstance(content, ValueError) else "it holds no JSON object"
        raise UnreadableRun(f"{path} cannot be read: {why}", advice)
    return checked(content, name, str(path), advice)
