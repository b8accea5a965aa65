"""`matrix run`: plan, ask, start, follow, and show the result."""

import re
import signal
import subprocess
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from cli.commands.plan import report_problems
from cli.console import opening
from cli.follow import running
from cli.follow.running import RunOptions
from cli.inputs import completing, options, planning, resuming, this_machine
from cli.inputs.planning import Planned
from cli.messages import terminal
from cli.messages.errors import CommandError, ExitCode, UnknownRun
from cli.tables import plan_tables
from cli.target import deployment, known_runs, local_cloud
from cli.target.place import Place
from cli.target.run_documents import RunDocuments
from cli.target.service import Service
from cli.target.workdir import run_folder
from matrix.terms.keys import RUN_PATTERN
from matrix.terms.quantities import count_of, rough_duration

# Suffix of a run's name if the user agreed to a second plan; a name has 80 characters at most.
AGAIN = "-again"
LONGEST_NAME_AGAIN = 80 - len(AGAIN)


def run(
    file: Annotated[
        Path | None,
        typer.Argument(
            metavar="FILE", help="The matrix: a JSON file, or - for standard input; with --resume, that run's own."
        ),
    ] = None,
    local: options.Local = False,
    stack: options.Stack = None,
    region: options.Region = None,
    name: Annotated[
        str | None, typer.Option("--name", metavar="RUN", help="Name of the run (default: made up).")
    ] = None,
    resume: Annotated[
        str | None,
        typer.Option(
            "--resume",
            metavar="RUN",
            help="Measure only what this earlier run has not.",
            autocompletion=completing.runs,
        ),
    ] = None,
    as_json: options.AsJson = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Agree to the expected cost without being asked.")] = False,
    detach: Annotated[
        bool, typer.Option("--detach", help="Start the run and return; look with `matrix watch`.")
    ] = False,
    web: options.Web = False,
    verbose: options.Verbose = False,
) -> None:
    """Measure a matrix, on this machine or on AWS.

    --local measures on this machine, with its disk as the storage. Otherwise it runs on AWS, after showing the cost
    and asking you. Ctrl-C stops the run, deletes what it created, and shows what was measured so far.

    Exit codes: 0 every cell measured, 1 some failed, 2 the matrix has mistakes, 3 interrupted, 4 every cell measured,
    but for some workload, point and fleet no storage reaches the matrix's objective.

    Example: matrix run events/local/first.json --local
    """
    place = Place(local, stack, region)
    if name is not None and not re.fullmatch(RUN_PATTERN, name):
        advice = "write 1 to 80 of A-Z, a-z, 0-9, _ and -, not beginning with -"
        raise CommandError(f"{name!r} cannot be the name of a run", advice, ExitCode.BAD_INPUT)
    if file is None and resume is None:
        raise CommandError("no matrix to measure", "give a matrix FILE, or --resume RUN", ExitCode.BAD_INPUT)
    if web and detach:
        advice = "choose one; later: `matrix watch RUN --web`"
        raise CommandError(
            "--web shows the run as long as the command goes on, --detach ends it", advice, ExitCode.BAD_INPUT
        )
    # Until a run has started, SIGTERM is treated as Ctrl-C.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        chosen = RunOptions(name or "", as_json, detach, web=web, verbose=verbose)
        if resume is not None:
            _resume(resume, file, place, chosen, yes=yes)
            return
        with local_cloud.prepared(is_wanted=local) as child:
            # The agreed cost must be the one in the region of the run.
            here = region if local else deployment.chosen_region(region)
            planned = planning.read_and_plan(file or planning.STDIN, here)
            chosen = _named(chosen, planned)
            _refuse_over_budget(planned)
            if not local:
                _refuse_emulation(planned)
            if local:
                _run_here(planned, chosen, child)
                return
    except planning.BadMatrix as bad:
        report_problems(file or Path(f"the matrix of {resume}"), bad, as_json)
        raise typer.Exit(ExitCode.BAD_INPUT) from None
    service = _agree(planned, place.service, asked_from_pipe=file == planning.STDIN, yes=yes)
    _as_agreed(service, _with_agreement(planned, here), chosen, yes=yes)


def _with_agreement(planned: Planned, region: str | None) -> Planned:
    """Put the agreed plan into the matrix that the run starts with, unless the matrix already has one."""
    from matrix.plan.agreement import agreed_to

    return replace(planned, matrix={"agreed": agreed_to(planned.plan, region)} | planned.matrix)


def _as_agreed(service: Service, planned: Planned, chosen: RunOptions, *, yes: bool) -> None:
    """Run the agreed plan; if Plan matrix has planned something else, ask whether to run that instead."""
    from matrix.plan.agreement import agreed_to

    try:
        _to_end(service, planned, chosen)
    except running.PlanDiffered as differed:
        theirs = None if yes or chosen.as_json or not terminal.can_ask() else RunDocuments(service, chosen.run).plan()
        if theirs is None:
            raise
        terminal.print_wrapped(terminal.stderr(), str(differed))
        again = Planned({key: value for key, value in planned.matrix.items() if key != "agreed"}, theirs)
        _agree(again, lambda: service, asked_from_pipe=False, yes=False)
        # A name belongs to one run, and the refused run has it.
        agreed = replace(again, matrix={"agreed": agreed_to(theirs)} | again.matrix)
        _to_end(service, agreed, replace(chosen, run=f"{chosen.run[:LONGEST_NAME_AGAIN]}{AGAIN}"))


def _to_end(service: Service, planned: Planned, chosen: RunOptions) -> None:
    """Start a run and follow it to its end, also in the browser if requested."""
    with opening.following(service, chosen.run, is_wanted=chosen.web, is_own=True, plan=planned.plan):
        running.run_to_end(service, planned, chosen)


def _refuse_emulation(planned: Planned) -> None:
    """Refuse emulated storages on AWS before anything is started, as Plan matrix does."""
    if planned.plan.get("emulated"):
        raise CommandError(
            "on AWS storages are measured, this matrix wants them emulated",
            "add --local, or leave out emulate",
            ExitCode.BAD_INPUT,
        )


def _refuse_over_budget(planned: Planned) -> None:
    """Refuse what Plan matrix would refuse, unless it may know other prices than this plan."""
    plan = planned.plan
    is_sure = not plan.get("doubtful_prices")
    is_spot = any(cell["fleet"].get("spot") for cell in plan["cells"])
    if is_sure and not is_spot and (refused := plan_tables.refusal(plan)):
        raise refused


def _named(chosen: RunOptions, planned: Planned) -> RunOptions:
    return replace(chosen, run=chosen.run or running.made_up_name(planned.plan["name"]))


def _resume(run: str, file: Path | None, place: Place, chosen: RunOptions, *, yes: bool) -> None:
    """Plan the rest of a run in the deployment where it ran, then run that like any other plan."""
    place = place.of_run(run)
    if not place.local:
        service = place.service()
        planned = resuming.plan_rest(service, run, file, service.deployment.region)
        _agree(planned, lambda: service, asked_from_pipe=file == planning.STDIN, yes=yes)
        _as_agreed(service, _with_agreement(planned, service.deployment.region), _named(chosen, planned), yes=yes)
        return
    _refuse_kept_name(chosen)
    if not (run_folder(run).is_dir() or deployment.is_local_cloud_running()):
        raise known_runs.unknown_run(f"no local run {run}", run, known_runs.kept_runs())
    with local_cloud.running_or_started() as cloud:
        service = Service(cloud)
        planned = resuming.plan_rest(service, run, file, place.region)
        terminal.stderr().print(_taken_over(planned))
        own = replace(chosen, ends_cloud=cloud.ends_with_command)
        _to_end(service, _one_at_a_time(planned), _named(own, planned))


def _taken_over(planned: Planned) -> str:
    totals = planned.plan["totals"]
    reused = totals.get("taken_over", 0)
    return f"{reused} of {totals['cells']} cells are taken over, {totals['cells'] - reused} are measured."


def _run_here(planned: Planned, chosen: RunOptions, child: subprocess.Popen[bytes] | None) -> None:
    console = terminal.stderr()
    for line in this_machine.missing_tools(planned.plan):
        terminal.print_wrapped(console, f"Note: {line}")
    expected = rough_duration(planned.plan["totals"]["expected_s"])
    console.print(f"On this machine, free: it {_does_here(planned)}")
    if not planned.plan.get("emulated"):
        console.print(f"On AWS it would take about {expected} and cost {plan_tables.cost_sentence(planned.plan)}.")
    if note := this_machine.refuse_full_disk(planned):
        terminal.print_wrapped(console, f"Note: {note}")
    if chosen.detach and not deployment.is_local_cloud_running():
        raise CommandError(
            "--detach with --local needs a local cloud that stays", "start one in another terminal: `matrix local up`"
        )
    _refuse_kept_name(chosen)
    with local_cloud.running_or_started(child) as cloud:
        own = replace(chosen, ends_cloud=cloud.ends_with_command)
        _to_end(Service(cloud), _one_at_a_time(planned), own)


def _refuse_kept_name(chosen: RunOptions) -> None:
    """Refuse a name whose folder exists: its files and those of the new run would be mixed. A run that goes on has it
    already: if it is the same, it is followed."""
    if chosen.run and run_folder(chosen.run).exists() and not _goes_on(chosen.run):
        raise CommandError(
            f"a run {chosen.run} is kept in {run_folder(chosen.run)}/",
            "choose another --name, or remove the folder",
            ExitCode.BAD_INPUT,
        )


def _goes_on(run: str) -> bool:
    if not deployment.is_local_cloud_running():
        return False
    try:
        return Place(local=True).running_service().execution(run).is_running
    except UnknownRun:
        return False


def _does_here(planned: Planned) -> str:
    if planned.plan.get("emulated"):
        return "imitates the storages by the limits that AWS documents. Its figures say nothing about AWS."
    return "measures this disk. Its figures say nothing about AWS."


def _one_at_a_time(planned: Planned) -> Planned:
    """Measure one file system at a time: here all are folders of one disk and would disturb each other."""
    return replace(planned, matrix=planned.matrix | {"maxConcurrentFileSystems": 1})


def _agree(planned: Planned, ready: Callable[[], Service], *, asked_from_pipe: bool, yes: bool) -> Service:
    """Show the cost, connect by `ready`, which says what AWS lacks here, and continue only if the user agrees."""
    console = terminal.stderr()
    sentence = plan_tables.cost_sentence(planned.plan)
    cells = count_of(planned.plan["totals"]["cells"], "cell")
    console.print(f"{planned.plan['name']}: {cells}, cost {sentence}")
    for warning in planned.plan["warnings"]:
        if warning["path"] == "prices":
            terminal.print_wrapped(console, f"Note: {warning['message']}")
    if "resume" in planned.matrix:
        console.print(_taken_over(planned))
    is_agreed = yes or planned.plan["totals"]["cost_usd"]["expected"] <= 0
    if not is_agreed and (asked_from_pipe or not terminal.can_ask()):
        raise CommandError(
            "this run costs money and nobody can be asked here",
            "look at it with `matrix plan FILE`, then add --yes; or try it without AWS: --local",
            ExitCode.BAD_INPUT,
        )
    service = ready()
    if not is_agreed:
        terminal.confirm_start()
    return service
