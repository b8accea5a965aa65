"""The steps of `matrix verify`, from free to cheap: claim, cost and next step of each."""

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

from botocore.exceptions import BotoCoreError, ClientError

from cli.messages.errors import CommandError, ExitCode
from cli.messages.explain import explain
from cli.verify import deployed, limits, measurements, permissions
from cli.verify.checks import Check, Verdict, is_broken, required
from cli.verify.measurements import Measurement
from cli.verify.stack import Stack
from matrix.terms.documents.plan import PlanDocument

MEASUREMENTS = (measurements.ONE_INSTANCE, measurements.FLEET, measurements.ON_EFS, measurements.ON_S3)


@dataclass(frozen=True)
class Step:
    name: str
    proves: str
    take: Callable[[], Iterable[Check]]
    usd: float = 0.0
    """Its expected cost."""


@dataclass(frozen=True)
class Outcome:
    step: Step
    checks: tuple[Check, ...] = ()
    seconds: float | None = None
    """Duration; None if the step was skipped."""

    @property
    def verdict(self) -> Verdict | None:
        """The worst of the checks; None if the step was skipped."""
        verdicts = [Verdict.AS_ASSUMED, *(check.verdict for check in self.checks)]
        return None if self.seconds is None else max(verdicts, key=list(Verdict).index)


def steps_of(stack: Stack, also: str | None = None) -> list[Step]:
    """Return all steps in their order, with one of the optional ones."""
    options = {"fsx": lambda: measurements.ON_FSX, "mountpoint": lambda: measurements.on_mountpoint(stack)}
    chosen = [*MEASUREMENTS, *([options[also]()] if also else [])]
    plans = [each.planned(stack.deployment.region).plan for each in chosen]
    return [
        Step("definition", "AWS would create this state machine", partial(deployed.definition, stack)),
        Step("deployed", "what is deployed is this tree", partial(deployed.checks, stack)),
        Step("limits", "quotas and zones are enough for what follows", partial(limits.checks, stack, plans)),
        *([] if stack.deployment.environment == "local" else [_permissions(stack)]),
        Step("launches", "EC2 would launch these instances", partial(limits.launches, stack, plans[0])),
        Step(
            "plan", "the state machine runs, plans like this tree, and prices are near the book's",
            partial(measurements.plan_only, stack, measurements.ONE_INSTANCE),
        ),
        *(_measuring(stack, each, plan) for each, plan in zip(chosen, plans, strict=True)),
    ]  # fmt: skip


def _permissions(stack: Stack) -> Step:
    """Return the step of the roles, which the local cloud does not judge."""
    return Step(
        "permissions", "each role may make every call that runs make, and use the stack's key",
        lambda: (*permissions.checks(stack), *permissions.key_checks(stack)),
    )  # fmt: skip


def _measuring(stack: Stack, measurement: Measurement, plan: PlanDocument) -> Step:
    usd = plan["totals"]["cost_usd"]["expected"]
    return Step(measurement.name, measurement.proves, partial(measurements.measure, stack, measurement), usd)


def take(steps: Sequence[Step], begins: Callable[[Step], None], ends: Callable[[Outcome], None]) -> Iterator[Outcome]:
    """Take one step after another until one is broken; the remaining steps are yielded as skipped."""
    goes_on = True
    for step in steps:
        if not goes_on:
            yield Outcome(step)
            continue
        begins(step)
        began = time.monotonic()
        outcome = Outcome(step, tuple(_checks(step)), time.monotonic() - began)
        ends(outcome)
        goes_on = not is_broken(outcome.checks)
        yield outcome


def _checks(step: Step) -> Iterator[Check]:
    """Yield a step's checks. An AWS error counts as a failed check."""
    try:
        yield from step.take()
    except (ClientError, BotoCoreError, CommandError) as error:
        failure = explain(error)
        if failure.code == ExitCode.INTERRUPTED:
            raise
        yield required(f"step {step.name}", "answers", failure.message, is_so=False, fix=failure.advice)
