"""`matrix explore`: all runs as one page, each cell over time."""

from pathlib import Path
from typing import Annotated

import typer

from cli.commands.history import track_document
from cli.inputs import options
from cli.messages import terminal
from cli.target import past
from cli.target.pages import write_page
from cli.target.place import Place

NAME = Path("explore.html")
PUBLISHED = "published-yocto"


def explore(
    output: Annotated[Path, typer.Option("--output", "-o", metavar="FILE", help="Where to write the page.")] = NAME,
    open_: Annotated[bool, typer.Option("--open", help="Open it in the browser.")] = False,
    local: options.Local = False,
    stack: options.Stack = None,
    region: options.Region = None,
    as_json: options.AsJson = False,
) -> None:
    """Write all runs as one page.

    Each cell over time, where it changed, and what else changed then. It reads the runs of this machine and the
    published builds; with --stack or --region the newest runs on AWS. A change is a difference that `matrix compare`
    shows between two consecutive runs. The page works offline, and its address keeps your choice. --json
    prints the runs, and each cell like `matrix history --json`.

    Example: matrix explore --open
    """
    runs = past.runs(Place(local, stack, region))
    # scipy takes half a second to import, so `matrix --help` must not import it.
    from matrix.answer.history import KeptRun
    from matrix.answer.history import history as history_of
    from matrix.published.runs import published_runs
    from matrix.report.explore import render_explore

    known = {run.name for run in runs}
    builds = [run for name, run in published_runs().items() if name.startswith(PUBLISHED) and name not in known]
    runs = [*(KeptRun(run, {}) for run in builds), *runs]
    write_page(output, render_explore(runs), is_opened=open_, is_silent=as_json)
    if as_json:
        cells = [track_document(track, runs) for track in history_of(runs)]
        terminal.print_json({"page": str(output), "runs": [run.name for run in runs], "cells": cells})
