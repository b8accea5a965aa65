"""One run from start to end: start, follow, clean up when interrupted, show results."""

import json
import re
import secrets
import time
from contextlib import suppress
from dataclasses import dataclass

import typer

from cli.follow import following, interruption, progress
from cli.follow.following import View
from cli.follow.interruption import CleanUp, InterruptCounter, Interrupted, Retry
from cli.follow.progress import RunProgress
from cli.inputs.planning import Planned
from cli.messages import terminal
from cli.messages.errors import CommandError, ExitCode
from cli.tables import verdict_table
from cli.target import summaries
from cli.target.documents import readable
from cli.target.run_documents import RunDocuments
from cli.target.run_folders import RunFolders, RunStore, lasting
from cli.target.service import Execution, Service
from cli.target.unfinished import resume_line
from cli.target.workdir import run_folder, workdir
from local.keeping.disk_space import DISK_FULL
from local.keeping.runs import how_far
from local.programs import claims
from matrix.terms.documents.plan import PlanDocument
from matrix.terms.documents.receipt import ReceiptDocument
from matrix.terms.documents.summary import SummaryDocument
from matrix.terms.objectives import describe_limit, missed_questions, misses_objective, unshown_questions

# Deleting an FSx file system takes up to ten minutes, one pass of Reap at most fifteen.
AWS_RETRY = Retry(pause_s=10.0, at_most_s=1800.0)
# The local cloud deletes at once, and the rest when it ends.
LOCAL_RETRY = Retry(pause_s=0.5, at_most_s=60.0)
# A sweep takes a second on two idle processors. Stop waiting after this time: it may not run, or it may fail.
SWEPT_WITHIN_S = 15.0
# An execution's name has at most 80 characters; the time and three random ones take 19 of them.
LONGEST_STEM = 60


# Error with which Plan matrix ends a run whose plan differs from the confirmed one.
PLAN_DIFFERS = "PlanDiffers"
# Error of a run that a user has stopped.
INTERRUPTED = "Interrupted"
ELSEWHERE = "is running already: another command has started it with the same matrix"


class PlanDiffered(CommandError):
    """A run planned something other than the confirmed plan, and created nothing."""


@dataclass(frozen=True)
class RunOptions:
    """How the user wants a run."""

    run: str
    as_json: bool = False
    detach: bool = False
    ends_cloud: bool = False  # the command started the local cloud for this run and ends it with the run
    web: bool = False
    verbose: bool = False  # a line for each change of state


def made_up_name(matrix: str) -> str:
    """Name a run by its matrix and the time, so that names sort by time; a random byte keeps two at once apart."""
    stem = re.sub(r"[^A-Za-z0-9-]+", "-", matrix).strip("-")[:LONGEST_STEM] or "run"
    return f"{stem}-{time.strftime('%Y%m%d-%H%M%S', time.gmtime())}-{secrets.token_hex(1)}"


def run_to_end(service: Service, planned: Planned, chosen: RunOptions) -> None:
    """Start a run and, unless detached, follow it to its end; exits with the code of its outcome."""
    if chosen.detach:
        _say_detached(service, chosen, is_own=service.start(chosen.run, planned.matrix))
        return
    finish(service, follow_to_end(service, planned, chosen), as_json=chosen.as_json)


def follow_to_end(service: Service, planned: Planned, chosen: RunOptions) -> RunProgress:
    """Start a run, show how it goes on, and return how it ended."""
    with InterruptCounter() as closing:
        is_own = service.start(chosen.run, planned.matrix)
        look = f"matrix watch {chosen.run} {service.deployment.flag}"
        if chosen.web and not is_own:
            raise CommandError(f"run {chosen.run} {ELSEWHERE}", f"look at it: `{look} --web`")
        console = terminal.stderr() if chosen.as_json else terminal.stdout()
        environment = service.deployment.environment
        heartbeats = following.FleetHeartbeats(service, chosen.run, planned.plan)
        with following.view(console, environment, heartbeats, plain=chosen.as_json, verbose=chosen.verbose) as shown:
            how = f"started; from elsewhere: {look}" if is_own else f"{ELSEWHERE}; Ctrl-C ends only this view of it"
            shown.say(f"run {chosen.run} {how}")
            try:
                return following.follow(service, chosen.run, planned.plan, shown, closing)
            except Interrupted:
                if not is_own:
                    raise following.stopped_looking(service, chosen.run) from None
                raise _interrupted(service, planned, chosen, shown, closing) from None


def _say_detached(service: Service, chosen: RunOptions, *, is_own: bool) -> None:
    if chosen.as_json:
        typer.echo(json.dumps({"run": chosen.run, "environment": service.deployment.environment}))
    else:
        how = "started" if is_own else ELSEWHERE
        terminal.stdout().print(f"run {chosen.run} {how}; look: matrix watch {chosen.run} {service.deployment.flag}")


def _interrupted(
    service: Service, planned: Planned, chosen: RunOptions, shown: View, closing: InterruptCounter
) -> CommandError:
    """Stop the run and clean up; return the message."""
    following.refuse_dead_cloud(service, chosen.run)
    last, clean = stop(service, chosen.run, planned.plan, shown, closing)
    if chosen.ends_cloud and not clean.is_complete and not claims.is_used(workdir()):
        clean.is_with_cloud = True
    return interruption.interrupted(last, clean, service)


def stop(
    service: Service, run: str, plan: PlanDocument | None, shown: View, closing: InterruptCounter
) -> tuple[RunProgress, CleanUp]:
    """Stop a run and delete its resources; return its last progress and the result of the clean-up."""
    patience = LOCAL_RETRY if service.deployment.environment == "local" else AWS_RETRY
    with suppress(Exception):  # the run is stopped even if it is not seen
        shown.show(progress.stopping(following.look(service, run, plan)))
    clean = interruption.stop_and_clean(service, run, shown.say, closing, patience)
    last = _last_seen(run, plan) if clean.is_with_cloud else following.look(service, run, plan)
    if not clean.is_with_cloud:
        with suppress(Exception):  # the receipt is optional here
            clean.receipt = RunDocuments(service, run).receipt()
    shown.show(last)
    return last, clean


def _last_seen(run: str, plan: PlanDocument | None) -> RunProgress:
    """Return the last progress of a run whose local cloud has ended."""
    folders = RunFolders()
    execution = readable(folders.execution, run) or Execution(run, "ABORTED", time.time())
    return progress.read(folders.progress_rows(run), plan, execution)


def stop_on_request(service: Service, run: str, plan: PlanDocument | None, *, as_json: bool) -> None:
    """Stop a run from any terminal and report the clean-up; raises CommandError if resources remain."""
    console = terminal.stderr() if as_json else terminal.stdout()
    with InterruptCounter() as closing:
        last, clean = stop(service, run, plan, following.PlainLines(console), closing)
    lines = interruption.what_became(last, clean, service)
    if as_json:
        terminal.print_json(interruption.stopped_document(last, clean, service))
    if not clean.is_complete:
        again = f"in a minute: matrix reap --run {run} {service.flag}"
        raise CommandError("\n".join([f"run {run} was stopped", *lines]), again)
    terminal.print_wrapped(console, "\n".join([f"run {run} was stopped", *lines]))
    console.print(f"  {resume_line(run, service.flag)}", soft_wrap=True)


def finish(service: Service, ended: RunProgress, *, as_json: bool) -> None:
    """Show the results of a run that has ended, and exit with the code of its outcome."""
    run = ended.execution.run
    try:
        # Nothing can be invoked on a full disk: each call would be retried for a minute.
        if ended.execution.error != DISK_FULL:
            _complete_receipt(service, run)
        if ended.execution.error == INTERRUPTED:
            # A cell whose analysis was under way when the run was stopped is measured after that.
            ended = following.look(service, run, readable(RunDocuments(service, run).plan))
        results = _with_results(service, run)
        summary = summaries.analysed(results, run, lambda: ended.execution)
        receipt = readable(RunDocuments(results, run).receipt)
    except Exception:
        if not service.deployment.has_ended:
            raise
        finish_kept(ended, as_json=as_json)
        return
    show_outcome(ended, service, summary, receipt, as_json=as_json)


def finish_kept(ended: RunProgress, *, as_json: bool) -> None:
    """Do the same for a local run whose cloud is no more."""
    run, folders = ended.execution.run, RunFolders()
    summary = summaries.analysed(folders, run, lambda: ended.execution)
    show_outcome(ended, folders, summary, None, as_json=as_json)


def show_outcome(
    ended: RunProgress,
    store: RunStore,
    summary: SummaryDocument | None,
    receipt: ReceiptDocument | None,
    *,
    as_json: bool,
) -> None:
    """Show the results of a run, and exit with the code of its outcome."""
    if summary is None:
        _finish_without_summary(ended, store, receipt, as_json)
        return
    run = ended.execution.run
    parts = [part for cell in summary["cells"] for part in (cell, *cell.get("launches", []))]
    all_measured = all(part["state"] == "measured" for part in parts)
    if as_json:
        typer.echo(json.dumps(summary, indent=2, ensure_ascii=False))
    else:
        console = terminal.stdout()
        console.print()
        verdict_table.show(console, summary, flag=store.flag)
        for line in _file_system_errors(ended):
            console.print(line, soft_wrap=not console.is_terminal)
    is_good = all_measured and ended.execution.status == "SUCCEEDED"
    if all_measured and not is_good:
        raise CommandError(f"{_reason(ended)}\nall cells were measured all the same: {lasting(store).where(run)}")
    if is_good:
        _check_objective(summary, f"which: `matrix results {run} {store.flag}`")
    raise typer.Exit(ExitCode.MEASURED if is_good else ExitCode.FAILED)


def _check_objective(summary: SummaryDocument, advice: str) -> None:
    """Fail if no storage reaches the objective, or if none is shown to."""
    if misses_objective(summary):
        some, verb, code = missed_questions(summary), "reaches", ExitCode.OBJECTIVE_MISSED
    elif some := unshown_questions(summary):
        verb, code = "is shown to reach", ExitCode.OBJECTIVE_NOT_SHOWN
    else:
        return
    asked = len(summary["decision"]["questions"])
    where = f" in {len(some)} of {asked} comparisons" if asked > 1 else ""
    raise CommandError(f"no storage {verb} {describe_limit(summary)}{where}", advice, code)


def _complete_receipt(service: Service, run: str) -> None:
    """Have a sweep complete a local run's receipt before its cloud ends; on AWS a schedule does that."""
    # botocore takes a quarter of a second to import, so `matrix --help` must not import it.
    from botocore.exceptions import ClientError

    if service.deployment.environment == "local":
        # The results are shown even if the receipt stays incomplete.
        with suppress(CommandError, ClientError):
            if not _is_completed(service, run):
                service.reap(run)


def _is_completed(service: Service, run: str) -> bool:
    """Wait for the sweep that starts when a run ends; return whether it has completed the receipt."""
    deadline = time.monotonic() + SWEPT_WITHIN_S
    while service.has_open_receipt(run):
        receipt = readable(RunDocuments(RunFolders(), run).receipt)
        has_fallen_short = receipt and receipt.get("sweep") and not receipt["is_complete"]
        if has_fallen_short or time.monotonic() > deadline:
            return False
        time.sleep(0.1)
    return True


def _with_results(service: Service, run: str) -> RunStore:
    """Return where the results of a run are read: a local run's in its folder, which takes no client of S3."""
    is_kept = service.is_here and (run_folder(run) / "summary.json").is_file()
    return lasting(service) if is_kept else service


def _finish_without_summary(
    ended: RunProgress, store: RunStore, receipt: ReceiptDocument | None, as_json: bool
) -> None:
    """Explain a run that ended before its analysis: only planned, over budget, or broken."""
    execution = ended.execution
    if execution.status == "SUCCEEDED":
        if as_json:
            typer.echo(json.dumps({"run": execution.run, "status": "planned"}))
        else:
            terminal.stdout().print(f"run {execution.run} was only planned (dryRun): nothing was created")
        return
    if as_json:
        reason = {"error": execution.error, "cause": execution.cause}
        typer.echo(json.dumps({"run": execution.run, "status": execution.status, **reason}, ensure_ascii=False))
    failed = [f"  {cell.id}: {cell.error}" for cell in ended.cells if cell.error]
    again = f"matrix results {execution.run} {store.flag}"
    count = ended.count("measured")
    measured = f"  {count} of {len(ended.cells)} cells were measured: `{again}`" if count else ""
    advice = resume_line(execution.run, store.flag) if count else ""
    if execution.error == DISK_FULL:
        # The row of a cell may not have fitted any more, though its result did.
        measured, advice = "", f"{how_far(run_folder(execution.run))}; look: `{again}`"
    if execution.error == PLAN_DIFFERS:
        raise PlanDiffered(_reason(ended))
    if execution.error == INTERRUPTED:
        raise _stopped_elsewhere(ended, store, receipt)
    where = lasting(store).where(execution.run)
    lines = [_reason(ended), *failed, *_file_system_errors(ended), measured, f"what there is: {where}"]
    raise CommandError("\n".join(filter(None, lines)), advice)


def _stopped_elsewhere(ended: RunProgress, store: RunStore, receipt: ReceiptDocument | None) -> CommandError:
    """Return what the command that stopped this run says of it, too."""
    run = ended.execution.run
    clean = CleanUp(receipt=receipt, problem="" if receipt else "the command that stopped it cleans up")
    lines = interruption.what_became(ended, clean, store)
    return CommandError("\n".join([f"run {run} was stopped", *lines]), resume_line(run, store.flag))


def _file_system_errors(ended: RunProgress) -> list[str]:
    failed = [system for system in ended.file_systems if system.error]
    return [f"  storage {ended.name_of_storage(system.id)}: {system.error}" for system in failed]


def _reason(ended: RunProgress) -> str:
    execution = ended.execution
    reason = f": {execution.reason}" if execution.reason else ""
    return f"run {execution.run} ended {execution.status}{reason}"
