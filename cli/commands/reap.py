"""`matrix reap`: delete the leftovers of runs."""

import re
import shlex
from typing import Annotated, Any

import typer

from cli.inputs import options
from cli.messages import terminal
from cli.messages.errors import CommandError, ExitCode
from cli.tables import rich_tables
from cli.target import deployment
from cli.target.place import Place
from cli.target.service import Service
from cli.target.workdir import workdir
from local import sweeping
from local.programs import claims
from matrix.tables.table import Table, TableColumn
from matrix.terms.quantities import instant

# Of the newest runs; one lasts at most 31 days.
MAX_RUNNING = 1_000
SECONDS = {"d": 86_400.0, "h": 3_600.0, "m": 60.0}


def reap(
    run: Annotated[
        str | None, typer.Option("--run", metavar="RUN", help="Only what belongs to this run (stopped or not).")
    ] = None,
    images: Annotated[
        bool, typer.Option("--images", help="Baked machine images and their snapshots, which no other sweep touches.")
    ] = False,
    owner: Annotated[
        str | None, typer.Option("--owner", metavar="OWNER", help="Only what belongs to runs of this owner.")
    ] = None,
    older_than: Annotated[
        str | None,
        typer.Option("--older-than", metavar="AGE", help="Only of runs, or images, older than this: 3d, 12h or 90m."),
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only list what would be deleted.")] = False,
    local: options.Local = False,
    stack: options.Stack = None,
    region: options.Region = None,
    as_json: options.AsJson = False,
) -> None:
    """Delete what runs left behind, and list it.

    That is instances, volumes and file systems that belong to no running run or are past their deadline. The stack does
    this by itself after each run and on a schedule. The exit code is 1 if something remains. --images deletes baked
    machine images and their snapshots instead, if no run is running. --local without a running local cloud removes
    what a killed one left on this machine.

    --owner is the `owner` of the matrix, with which all created resources are tagged. Resources of a running run stay
    until its deadline in any case.

    Example: matrix reap --run builds-20261120-101500-4f
    """
    if images and run:
        raise CommandError("--images takes away the images of all runs", "leave out --run", ExitCode.BAD_INPUT)
    older_than_s = None if older_than is None else _seconds(older_than)
    if run and (owner or older_than):
        raise CommandError("--run names one run already", "leave out --owner and --older-than", ExitCode.BAD_INPUT)
    # The deployment is never guessed: the local cloud must not answer someone who wants to end a bill on AWS.
    # Only the name of a run that was started here says that it is here.
    place = Place(local, stack, region).of_run(run) if run else Place(local, stack, region)
    if local and not (run or images or owner or older_than) and not deployment.is_local_cloud_running():
        _finish(_remove(dry_run=dry_run), "--local", dry_run=dry_run, as_json=as_json)
        return
    service = place.service()
    answer = service.reap(run, dry_run=dry_run, images=images, owner=owner, older_than_s=older_than_s)
    if run and not answer.get("deleted") and not answer.get("remaining"):
        _refuse_what_cannot_be_reaped(service, run)
    if owner and not answer.get("deleted") and not answer.get("remaining"):
        note = f"Warning: nothing has the owner {owner!r}, which is the `owner` of a matrix, letter for letter"
        terminal.print_wrapped(terminal.stderr(), note)
    if not (run or images or owner or older_than):
        _name_what_runs(service)
    given = [
        "--images" if images else "",
        f"--run {run}" if run else "",
        f"--owner {shlex.quote(owner)}" if owner else "",
        f"--older-than {older_than}" if older_than else "",
    ]
    what = "".join(f"{each} " for each in given if each)
    _finish(answer, f"{what}{service.deployment.flag}", dry_run=dry_run, as_json=as_json)


def _seconds(age: str) -> float:
    written = re.fullmatch(r"([0-9]{1,5})(d|h|m)", age.strip())
    if not written:
        raise CommandError(f"--older-than {age!r} is not an age", "write 3d, 12h or 90m", ExitCode.BAD_INPUT)
    return int(written[1]) * SECONDS[written[2]]


def _finish(answer: dict[str, Any], options_again: str, *, dry_run: bool, as_json: bool) -> None:
    if as_json:
        terminal.print_json(answer)
    else:
        _show(answer, dry_run)
    for kind, reason in answer.get("unasked", {}).items():
        note = f"Warning: {kind} was not searched for, which matters only if runs have made some: {reason}"
        terminal.print_wrapped(terminal.stderr(), note)
    # In a dry run everything remains on purpose, so that is not a failure.
    if answer.get("remaining") and not dry_run:
        if as_json:
            raise typer.Exit(ExitCode.FAILED)
        when = "when no run is running" if answer.get("waits_for_runs") else "in a minute"
        again = f"{when} again: `matrix reap {options_again}`"
        raise CommandError(f"{len(answer['remaining'])} of them remain", again)


def _refuse_what_cannot_be_reaped(service: Service, run: str) -> None:
    """Refuse an unknown run, where "nothing is left" would mislead, and a running one, which needs its resources."""
    execution = service.execution(run)
    if execution.is_running:
        advice = f"stop it, which also deletes: `matrix stop {run} {service.deployment.flag}`; or wait for its end"
        raise CommandError(f"{run} is still running, so it needs what it has", advice)


def _name_what_runs(service: Service) -> None:
    """Warn of runs that go on: who reaps before removing the stack would leave what they have."""
    for execution in service.executions(MAX_RUNNING):
        if execution.is_running:
            note = f"Warning: {execution.run} is still running and needs what it has. Before `sam delete` stop it:"
            terminal.print_wrapped(terminal.stderr(), f"{note} `matrix stop {execution.run} {service.deployment.flag}`")


def _show(answer: dict[str, Any], dry_run: bool) -> None:
    console = terminal.stdout()
    deleted, remaining = answer.get("deleted", []), answer.get("remaining", [])
    if not deleted and not remaining:
        console.print("nothing to delete")
        return
    left = "would be deleted" if dry_run else "remains"
    rows = [(resource, _deletion(resource)) for resource in deleted] + [(resource, left) for resource in remaining]
    heads = ("Resource", TableColumn("Id", "id"), TableColumn("Run", "id"), " ")
    rich_tables.show(console, Table.of("", heads, [(*_names(resource), state) for resource, state in rows]))


def _deletion(resource: dict[str, Any]) -> str:
    until = resource.get("binned_until")
    return f"in the Recycle Bin until {instant(until)}, and billed" if until else "deleted"


def _names(resource: dict[str, Any]) -> list[str]:
    return [str(resource.get(name, "–")) for name in ("kind", "id", "run")]


def _remove(*, dry_run: bool) -> dict[str, Any]:
    """Delete the leftovers, or only list them; return the deleted and the remaining ones, as Reap does."""
    folder = workdir()
    if not folder.is_dir():
        return {"deleted": [], "remaining": []}
    try:
        claim = claims.own(folder)
    except OSError as error:
        raise CommandError(
            f"{folder} cannot be used: {error.strerror}", "choose another one: MATRIX_WORKDIR", ExitCode.BAD_INPUT
        ) from error
    if claim is None:
        raise CommandError(f"a local cloud is starting or ending in {folder}", "in a minute again")
    with claim:
        before = sweeping.left(folder)
        if not dry_run:
            for sentence in sweeping.sweep(folder):
                terminal.print_wrapped(terminal.stderr(), f"Found: {sentence}")
        remaining = sweeping.left(folder)
    gone = [left for left in before if left not in remaining]
    return {"deleted": list(map(_resource, gone)), "remaining": list(map(_resource, remaining))}


def _resource(left: sweeping.Left) -> dict[str, str]:
    return {"kind": left.kind, "id": left.name}
