"""Completions for the Tab key: the runs stored here, and their cells. AWS is not asked, because a key must not wait."""

from typing import Any

from cli.target.run_folders import RunFolders
from matrix.terms.keys import BASELINE_PREFIX

LATEST = "latest"


def runs(incomplete: str) -> list[str]:
    """Return the runs kept here whose names begin so, newest first, and `latest`."""
    return [name for name in (LATEST, *RunFolders().runs()) if name.startswith(incomplete)]


def cells(ctx: Any, incomplete: str) -> list[str]:
    """Return the cells of the run that stands before, of any run where none does."""
    chosen = ctx.params.get("run")
    names = {name for run in ([chosen] if chosen else RunFolders().runs()) for name in RunFolders().known_cells(run)}
    return sorted(name for name in names if name.startswith(incomplete))


def baseline_names(incomplete: str) -> list[str]:
    """Return the names of this machine's baselines that begin so."""
    return [name for name in RunFolders().baselines() if name.startswith(incomplete)]


def compared(incomplete: str) -> list[str]:
    """Return what commands take that read results: the runs kept here, `latest`, and this machine's baselines."""
    named = (f"{BASELINE_PREFIX}{name}" for name in baseline_names(""))
    return [*runs(incomplete), *(name for name in named if name.startswith(incomplete))]
