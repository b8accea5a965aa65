"""One run from start to end: start, follow, clean up when interrupted, keep what a local run leaves, show results."""

import json
import re
import secrets
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import typer
from rich.console import Console

from cli.follow import following, interruption
from cli.follow.following import View
from cli.follow.interruption import ClosingDown, Interrupted, Patience
from cli.follow.progress import RunProgress
from cli.inputs.planning import Planned
from cli.messages import terminal
from cli.messages.errors import CommandError, ExitCode
from cli.tables import result_tables
from cli.target import mirror
from cli.target.service import Service
from matrix.terms.sentences import receipt_sentence

# Deleting an FSx file system takes up to ten minutes, one pass of Reap at most fifteen.
AWS_PATIENCE = Patience(pause_s=10.0, at_most_s=1800.0)
# The local cloud deletes at once; what is left goes when it ends.
LOCAL_PATIENCE = Patience(pause_s=0.5, at_most_s=60.0)
# An execution's name has at most 80 characters; the time and three random ones take 19 of them.
LONGEST_STEM = 60


@dataclass(frozen=True)
class Wish:
    """How the user wants a run."""

    run: str
    as_json: bool = False
    detach: bool = False
    ends_cloud: bool = False  # the local cloud was started for this run, and ends with it


def made_up_name(matrix: str) -> str:
    """Name a run by its matrix and the time, so that names sort by time; a random byte keeps two at once apart."""
    stem = re.sub(r"[^A-Za-z0-9-]+", "-", matrix).strip("-")[:LONGEST_STEM] or "run"
    return f"{stem}-{time.strftime('%Y%m%d-%H%M%S', time.gmtime())}-{secrets.token_hex(1)}"


def run_to_end(service: Service, planned: Planned, wish: Wish) -> None:
    """Start a run and, unless detached, follow it to its end; exits with the code of its outcome."""
    with ClosingDown() as closing:
        service.start(wish.run, planned.matrix)
        if wish.detach:
            _say_detached(service, wish)
            return
        console = terminal.stderr() if wish.as_json else terminal.stdout()
        with following.view(console, service.deployment.environment, plain=wish.as_json) as shown:
            shown.say(f"run {wish.run} started; from elsewhere: matrix watch {wish.run} {service.deployment.flag}")
            try:
                ended = following.follow(service, wish.run, planned.plan, shown, closing)
            except Interrupted:
                raise _interrupted(service, planned, wish, shown, closing) from None
    finish(service, ended, as_json=wish.as_json)


def _say_detached(service: Service, wish: Wish) -> None:
    if wish.as_json:
        typer.echo(json.dumps({"run": wish.run, "environment": service.deployment.environment}))
    else:
        terminal.stdout().print(f"run {wish.run} started; look: matrix watch {wish.run} {service.deployment.flag}")


def _interrupted(service: Service, planned: Planned, wish: Wish, shown: View, closing: ClosingDown) -> CommandError:
    """Stop the run, clean up and keep what was measured; return the message."""
    patience = LOCAL_PATIENCE if service.deployment.environment == "local" else AWS_PATIENCE
    clean = interruption.stop_and_clean(service, wish.run, shown.say, closing, patience)
    last = following.look(service, wish.run, planned.plan)
    shown.show(last)
    by_hand = f"finish by hand: matrix reap --run {wish.run} {service.deployment.flag}"
    if wish.ends_cloud:
        by_hand = "nothing: the local cloud ends now, and everything in it"
    return interruption.interrupted(last, clean, where=keep(service, wish.run), by_hand=by_hand)


def keep(service: Service, run: str) -> str:
    """Keep a local run's files before the cloud goes; return where the results of a run are."""
    if service.deployment.environment == "local":
        return f"{mirror.keep(service, run)}/"
    return service.where(run)


def finish(service: Service, ended: RunProgress, *, as_json: bool) -> None:
    """Show the results of a run that has ended, and exit with the code of its outcome."""
    run = ended.execution.run
    _complete_receipt(service, run)
    where = keep(service, run)
    summary = service.document(run, "summary.json")
    if summary is None:
        _finish_without_summary(ended, where, as_json)
        return
    if as_json:
        typer.echo(json.dumps(summary, indent=2, ensure_ascii=False))
    else:
        console = terminal.stdout()
        console.print()
        result_tables.show(console, summary)
        for line in _file_system_errors(ended):
            console.print(line, soft_wrap=not console.is_terminal)
        if summary.get("receipt"):
            console.print(f"Receipt: {receipt_sentence(summary['receipt'])}", soft_wrap=True)
        _say_where(console, service, run, where)
    all_measured = all(cell["state"] == "measured" for cell in summary["cells"])
    is_good = all_measured and ended.execution.status == "SUCCEEDED"
    if all_measured and not is_good:
        raise CommandError(f"{_reason(ended)}\nall cells were measured all the same: {where}")
    raise typer.Exit(ExitCode.MEASURED if is_good else ExitCode.FAILED)


def _complete_receipt(service: Service, run: str) -> None:
    """Let a sweep complete a local run's receipt before its files are kept; on AWS a schedule does that."""
    # botocore takes a quarter of a second to import, so `matrix --help` must not import it.
    from botocore.exceptions import ClientError

    if service.deployment.environment == "local":
        # The results are shown even if the receipt stays incomplete.
        with suppress(CommandError, ClientError):
            service.reap(run)


def _say_where(console: Console, service: Service, run: str, where: str) -> None:
    console.print(f"Results: {where}", soft_wrap=True)
    console.print("         summary.md, .csv, .json; samples, raw output and log of each instance")
    # A local report may be missing, since a run stands without it; on AWS that is not checked.
    if service.deployment.environment != "local" or Path(where, "report.html").exists():
        console.print(f"Report:  {where}report.html", soft_wrap=True)
    flag = "--local" if service.deployment.environment == "local" else service.deployment.flag
    console.print(f"Again:   matrix results {run} {flag} --format markdown", soft_wrap=True)


def _finish_without_summary(ended: RunProgress, where: str, as_json: bool) -> None:
    """Explain a run that ended before its analysis: only planned, over budget, or broken."""
    execution = ended.execution
    if execution.status == "SUCCEEDED":
        if as_json:
            typer.echo(json.dumps({"run": execution.run, "status": "planned"}))
        else:
            terminal.stdout().print(f"run {execution.run} was only planned (dryRun): nothing was created")
        return
    if as_json:
        reason = {"error": execution.error, "cause": readable_cause(execution.cause)}
        typer.echo(json.dumps({"run": execution.run, "status": execution.status, **reason}, ensure_ascii=False))
    failed = [f"  {cell.id}: {cell.error}" for cell in ended.cells if cell.error]
    raise CommandError("\n".join([_reason(ended), *failed, *_file_system_errors(ended), f"what there is: {where}"]))


def _file_system_errors(ended: RunProgress) -> list[str]:
    return [f"  file system {system.id}: {system.error}" for system in ended.file_systems if system.error]


def _reason(ended: RunProgress) -> str:
    execution = ended.execution
    reason = ": ".join(word for word in (execution.error, readable_cause(execution.cause)) if word)
    return f"run {execution.run} ended {execution.status}{f': {reason}' if reason else ''}"


def readable_cause(cause: str) -> str:
    """Take the message out of a Lambda error's JSON; leave other causes as they are."""
    with suppress(json.JSONDecodeError, AttributeError):
        return str(json.loads(cause).get("errorMessage", cause))
    return cause
