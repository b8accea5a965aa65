"""The working folder `.local/`: the running cloud's address, its logs, and the folder of each local run."""

import os
from pathlib import Path

from cli.messages.errors import CommandError, ExitCode


def workdir() -> Path:
    """Return the folder of the local cloud and its results: MATRIX_WORKDIR, else `.local` here."""
    return Path(os.environ.get("MATRIX_WORKDIR", ".local"))


# Leads to the console if one runs.
CONSOLE_PAGE = "console.html"


def cloud_file() -> Path:
    """Return the file with the running local cloud's address."""
    return workdir() / "cloud.json"


def cloud_log() -> Path:
    """Return the log file of a local cloud that a command started."""
    return workdir() / "logs" / "cloud.log"


def local_log(function: str) -> Path:
    """Return the log file of a function of the local cloud."""
    return workdir() / "logs" / f"{function}.log"


def runs_folder() -> Path:
    return workdir() / "runs"


def run_folder(run: str) -> Path:
    """Return the folder of one run. Only the last part of a path is used, so that no name leads out of that folder."""
    name = Path(run).name
    if name in ("", ".."):
        raise CommandError(f"{run!r} cannot be the name of a run", "names: `matrix runs`", ExitCode.BAD_INPUT)
    return runs_folder() / name
