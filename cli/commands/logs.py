"""`matrix logs`: the instance logs of a cell."""

import json
from typing import Annotated

import typer

from cli.inputs import options
from cli.messages import terminal
from cli.messages.errors import UnknownRun
from cli.target import known_runs
from cli.target import logs as stored
from cli.target.deployment import DEFAULT_STACK
from cli.target.place import Place
from matrix.terms.sentences import MAX_NAMED, first_of


def logs(
    run: options.RunName,
    cell: options.Cell,
    instance: Annotated[str | None, typer.Argument(metavar="INSTANCE", help="Only this instance's.")] = None,
    follow: Annotated[
        bool, typer.Option("--follow", "-f", help="Go on until the cell ends, with each instance's heartbeat.")
    ] = False,
    local: options.Local = False,
    stack: options.Stack = None,
    region: options.Region = None,
    as_json: options.AsJson = False,
) -> None:
    """Print the instance logs of a cell.

    Failed instances come first. An instance uploads its log when it ends. If one never got that far, its console output
    may say why (`aws ec2 get-console-output`). --follow continues until the cell ends: it shows each instance's
    heartbeat, in brackets, and each log when it arrives. --json prints the lines by instance; with --follow it prints
    one JSON document per line.

    Example: matrix logs builds-20261120-101500-4f ebs.build.m6i.large-x4 | less
    """
    place = Place(local, stack, region)
    store = place.store_of(run)
    if follow:
        for name, line in stored.follow(store, run, cell):
            if instance not in (None, name):
                continue
            if as_json:
                print(json.dumps({"instance": name, "line": line}, ensure_ascii=False), flush=True)
            else:
                print(f"{name} {line}" if instance is None else line, flush=True)
        return
    by_instance = stored.of_cell(store, run, cell)
    chosen = {name: lines for name, lines in by_instance.items() if instance in (None, name)}
    if not chosen:
        with place.naming_kept_runs(run):
            cells = stored.cells_of(store, run)
        if cells and cell not in cells:
            listed = f"the cells are {first_of(cells, MAX_NAMED)}"
            near = known_runs.meant(cell, cells)
            raise UnknownRun(f"run {run} has no cell {cell}", f"{near} {listed}".strip())
        names = f"instances with a log: {', '.join(by_instance)}" if by_instance else "no instance of it has a log"
        elsewhere = "" if place != Place() else f"; on AWS: add --stack {DEFAULT_STACK}"
        raise UnknownRun(f"no log of {instance or cell} in run {run}", f"{names}{elsewhere}")
    if as_json:
        instances = [{"instance": name, "lines": list(lines)} for name, lines in chosen.items()]
        terminal.print_json({"run": run, "cell": cell, "instances": instances})
        return
    for name, lines in chosen.items():
        for line in lines:
            typer.echo(line if len(chosen) == 1 else f"{name} {line}")
