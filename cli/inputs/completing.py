"""Shell completion: names of the local runs and their cells. It never calls AWS, because a key press must not wait."""

from typing import Any

from cli.target.run_folders import RunFolders
from matrix.terms.keys import BASELINE_PREFIX

LATEST = "latest"


def runs(incomplete: str) -> list[str]:
    """Return the local runs whose names start with `incomplete`, newest first, and `latest`."""
    return [name for name in (LATEST, *RunFolders().runs()) if name.startswith(incomplete)]


def cells(ctx: Any, incomplete: str) -> list[str]:
    """Return the cells of the run that the command line names, or of all runs if it names none."""
    chosen = ctx.params.get("run")
    names = {name for run in ([chosen] if chosen else RunFolders().runs()) for name in RunFolders().known_cells(run)}
    return sorted(name for name in names if name.startswith(incomplete))


def baseline_names(incomplete: str) -> list[str]:
    """Return the names of this machine's baselines that start with `incomplete`."""
    return [name for name in RunFolders().baselines() if name.startswith(incomplete)]


def compared(incomplete: str) -> list[str]:
    """Return the names that commands on results accept: local runs, `latest` and this machine's baselines."""
    named = (f"{BASELINE_PREFIX}{name}" for name in baseline_names(""))
    return [*runs(incomplete), *(name for name in named if name.startswith(incomplete))]
