"""`matrix verify`: check a new account and stack by one command."""

import json
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer
from rich.console import Console

from cli.inputs import options
from cli.messages import terminal
from cli.messages.errors import CommandError, ExitCode, NoDeployment
from cli.target import deployment, local_cloud
from cli.target.deployment import Deployment
from cli.target.place import Place

if TYPE_CHECKING:
    from cli.verify.steps import Outcome, Step

PAGE, DOCUMENT = "verification.md", "verification.json"


def verify(
    local: options.Local = False,
    stack: options.Stack = None,
    region: options.Region = None,
    with_: Annotated[
        Literal["fsx", "mountpoint"] | None,
        typer.Option("--with", help="Measure also on FSx for OpenZFS, or on your bucket (ExistingBucket), read-only."),
    ] = None,
    as_json: options.AsJson = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Agree to the expected cost without being asked.")] = False,
) -> None:
    """Check the stack and the account, step by step.

    The free steps come first. It stops at the first step that fails and says what to do. It writes verification.md and
    verification.json to the current folder. --local shows the steps on this machine.

    Exit codes: 0 everything works, 1 a step failed, 3 not started or interrupted.

    Example: matrix verify --stack storage-matrix
    """
    with _target(Place(local, stack, region)) as target:
        document = _verified(target, also=with_, yes=yes or local)
    if as_json:
        terminal.print_json(document)
    else:
        terminal.stdout().print(f"What was compared: {PAGE}, {DOCUMENT}")
    raise typer.Exit(ExitCode.MEASURED if document["is_good"] else ExitCode.FAILED)


@contextmanager
def _target(place: Place) -> Iterator[Deployment]:
    """Yield the deployment; one without outputs if the stack does not exist, because the first step needs none."""
    if not place.local:
        try:
            yield place.service().deployment
        except NoDeployment:
            name = place.stack or deployment.DEFAULT_STACK
            yield Deployment("aws", name, deployment.chosen_region(place.region), endpoint=None)
    else:
        with local_cloud.running_or_started() as cloud:
            yield cloud


def _verified(target: Deployment, *, also: str | None, yes: bool) -> dict[str, object]:
    # These import numpy, pydantic and boto3, for which `matrix --help` must not wait.
    from cli.verify import pages, steps
    from cli.verify.stack import Stack

    planned = steps.steps_of(Stack(target), also)
    console = terminal.stderr()
    _agree(console, planned, yes=yes)
    outcomes = list(
        steps.take(
            planned,
            lambda step: terminal.print_wrapped(console, f"{step.name}: {step.proves} …"),
            lambda outcome: _show(console, outcome),
        )
    )
    document = pages.to_document(target, outcomes, time.time())
    Path(DOCUMENT).write_text(json.dumps(document, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    Path(PAGE).write_text(pages.to_markdown(document), encoding="utf-8")
    return document


def _agree(console: Console, planned: Sequence["Step"], *, yes: bool) -> None:
    """Show the cost of each step; continue only if the user agrees to it."""
    for step in planned:
        cost = f"{step.usd:.3f} USD" if step.usd else "free"
        terminal.print_wrapped(console, f"  {step.name:<12} {cost:>10}  {step.proves}")
    console.print(f"  together     {sum(step.usd for step in planned):>6.3f} USD")
    if yes:
        return
    if not terminal.can_ask():
        raise CommandError("the last steps cost money and nobody can be asked here", "add --yes", ExitCode.BAD_INPUT)
    terminal.confirm_start()


def _show(console: Console, outcome: "Outcome") -> None:
    from cli.verify import pages
    from cli.verify.checks import Verdict

    terminal.print_wrapped(console, f"{outcome.step.name}: {outcome.verdict}, {outcome.seconds or 0:.0f} s")
    for check in outcome.checks:
        if check.verdict is not Verdict.AS_ASSUMED:
            terminal.print_wrapped(console, pages.line_of(check))
