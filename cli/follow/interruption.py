"""Ctrl-C and SIGTERM: the first stops a run and cleans up after it, the second gives up the clean-up."""

import signal
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from types import FrameType
from typing import Any

from cli.follow.progress import RunProgress
from cli.messages.errors import CommandError, ExitCode, UnknownRun
from cli.messages.explain import explain
from cli.target.run_folders import RunStore, lasting
from cli.target.service import Service
from cli.target.unfinished import resume_line
from contract import retryable
from matrix.terms.documents.receipt import ReceiptDocument
from matrix.terms.quantities import count_of
from matrix.terms.sentences import first_of, why_incomplete

GIVE_UP_AT = 2
SHOWN_RESOURCES = 12

Say = Callable[[str], None]


class Interrupted(Exception):
    """The user wants the run to end."""


class InterruptCounter:
    """Counts interruptions instead of raising them, since a library's call may swallow an exception."""

    def __init__(self) -> None:
        self.count = 0
        self._previous: dict[signal.Signals, Any] = {}

    def __enter__(self) -> "InterruptCounter":
        """Take over Ctrl-C and SIGTERM."""
        for kind in (signal.SIGINT, signal.SIGTERM):
            self._previous[kind] = signal.signal(kind, self._seen)
        return self

    def __exit__(self, *_: object) -> None:
        """Restore the former handlers."""
        for kind, handler in self._previous.items():
            signal.signal(kind, handler)

    def _seen(self, _signal: int, _frame: FrameType | None) -> None:
        self.count += 1
        if self.count > GIVE_UP_AT:
            raise KeyboardInterrupt

    @property
    def is_wanted(self) -> bool:
        """Return whether the user wants the run to end."""
        return self.count > 0

    def sleep(self, seconds: float, *, until: int = 1, is_over: Callable[[], bool] = lambda: False) -> None:
        """Sleep, but no longer than until the given number of interruptions, or until the wait is over."""
        deadline = time.monotonic() + seconds
        while self.count < until and not is_over() and (left := deadline - time.monotonic()) > 0:
            time.sleep(min(0.1, left))


@dataclass
class CleanUp:
    """Result of a run's clean-up: deleted and remaining resources."""

    deleted: list[dict[str, Any]] = field(default_factory=list)
    remaining: list[dict[str, Any]] = field(default_factory=list)
    problem: str = ""
    is_refused: bool = False  # retries cannot help
    is_with_cloud: bool = False  # the local cloud ends with the command, and deletes everything
    receipt: ReceiptDocument | None = None

    @property
    def is_complete(self) -> bool:
        """Return whether Reap found nothing in its last passes, or nothing can remain."""
        return self.is_with_cloud or (not self.remaining and not self.problem)


@dataclass(frozen=True)
class Retry:
    """The pause between two passes of Reap, and the time after which to give up."""

    pause_s: float
    at_most_s: float


def stop_and_clean(service: Service, run: str, say: Say, closing: InterruptCounter, patience: Retry) -> CleanUp:
    """Stop the run, then invoke Reap until nothing of the run remains."""
    say("stopping the execution")
    if _may_be_running(service, run):
        service.stop(run, "matrix run was interrupted")
    say("deleting everything that belongs to this run (Ctrl-C again: give up, and finish by hand)")
    return _reap_until_empty(service, run, say, closing, patience)


def _may_be_running(service: Service, run: str) -> bool:
    try:
        return service.execution(run).is_running
    except UnknownRun:  # DescribeExecution lags behind StartExecution
        return True


def _reap_until_empty(service: Service, run: str, say: Say, closing: InterruptCounter, patience: Retry) -> CleanUp:
    done = CleanUp()
    deadline = time.monotonic() + patience.at_most_s
    # A function that was running when the execution stopped may create a resource after Reap has listed them. Two
    # passes in a row must find nothing, with a pause in between.
    empty_in_a_row = 0
    while empty_in_a_row < 2:  # noqa: PLR2004
        # The command that has started the run ends its own cloud as soon as the run has ended.
        if service.deployment.has_ended:
            return CleanUp(done.deleted, is_with_cloud=True)
        if closing.count >= GIVE_UP_AT:
            done.problem = done.problem or "given up"
            return done
        if time.monotonic() > deadline:
            done.problem = done.problem or f"not finished after {patience.at_most_s / 60:.0f} minutes"
            return done
        has_found = _reap_once(service, run, say, done)
        if done.is_refused and not service.deployment.has_ended:
            return done
        empty_in_a_row = 0 if has_found else empty_in_a_row + 1
        closing.sleep(patience.pause_s, until=GIVE_UP_AT)
    return done


def _reap_once(service: Service, run: str, say: Say, done: CleanUp) -> bool:
    """Invoke Reap once and return whether it found anything."""
    # Giving up leaves resources that cost money, so stop only at errors that a retry cannot fix.
    try:
        answer = service.reap(run)
    except Exception as error:
        problem = retryable.reason_of(explain(error))
        done.is_refused = not retryable.verdict(error).is_retryable
        # The first failure is no news: the command that started a local run may be ending its cloud just now.
        if problem == done.problem and not done.is_refused and not service.deployment.has_ended:
            say(f"clean-up will be tried again: {problem}")
        done.problem = problem
        return True
    remaining = answer.get("remaining", [])
    still, known = {_key(resource) for resource in remaining}, {_key(resource) for resource in done.deleted}
    # A file system takes minutes to delete: one that remained in an earlier pass and is no longer listed counts as
    # deleted.
    gone = {_key(resource): resource for resource in [*done.remaining, *answer.get("deleted", [])]}
    new = [resource for key, resource in gone.items() if key not in known and key not in still]
    done.deleted, done.remaining, done.problem = [*done.deleted, *new], remaining, ""
    if new or done.remaining:
        say(f"deleted {words(new) or 'nothing yet'}; remaining: {words(done.remaining) or 'nothing'}")
    return bool(new or done.remaining)


def _key(resource: dict[str, Any]) -> tuple[object, object]:
    return resource.get("kind"), resource.get("id")


def words(resources: list[dict[str, Any]]) -> str:
    """Name resources: `instance i-1, volume vol-2 and 5 more`."""
    names = [f"{resource.get('kind', 'resource')} {resource.get('id', '?')}" for resource in resources]
    return first_of(names, SHOWN_RESOURCES)


def interrupted(last: RunProgress, clean: CleanUp, store: RunStore) -> CommandError:
    """Return the error for an interrupted run: the deleted resources, the measured cells and the place of their
    results."""
    run = last.execution.run
    lines = [f"run {run} interrupted", *what_became(last, clean, store)]
    by_hand = f"finish by hand: matrix reap --run {run} {store.flag}"
    advice = resume_line(run, store.flag) if clean.is_complete else by_hand
    return CommandError("\n".join(lines), advice, ExitCode.INTERRUPTED)


def what_became(last: RunProgress, clean: CleanUp, store: RunStore) -> list[str]:
    """Return lines about a stopped run: deleted resources, measured cells, the place of their results, remaining
    resources."""
    run = last.execution.run
    lines = [
        f"  deleted: {_deleted(clean)}",
        f"  measured before: {last.count('measured')} of {len(last.cells)} cells",
        f"  results so far: `matrix results {run} {store.flag}`, in {lasting(store).where(run)}",
    ]
    if clean.receipt and (reasons := why_incomplete(clean.receipt)):
        lines.append(f"  not certain that nothing is left: {'; '.join(reasons)}")
    if not clean.is_complete:
        still = f"still there: {words(clean.remaining)}" if clean.remaining else "it is not known what is still there"
        lines.append(f"  CLEAN-UP NOT FINISHED ({clean.problem or 'resources remain'}): {still}")
    return lines


def stopped_document(last: RunProgress, clean: CleanUp, store: RunStore) -> dict[str, Any]:
    """Return the same for a program."""
    return {
        "run": last.execution.run,
        "status": last.execution.status,
        "measured": [cell.id for cell in last.cells if cell.state == "measured"],
        "cells": len(last.cells),
        "is_clean": clean.is_complete,
        "deleted": clean.deleted,
        "remaining": clean.remaining,
        "problem": clean.problem,
        "receipt": clean.receipt,
        "results": lasting(store).where(last.execution.run),
    }


def _deleted(clean: CleanUp) -> str:
    """Describe the deleted resources, including those of the sweep that starts when a run ends and may be faster."""
    if clean.is_with_cloud:
        rest = f"{words(clean.deleted)}; the rest goes" if clean.deleted else "everything goes"
        return f"{rest} with the local cloud"
    if clean.receipt:
        totals = clean.receipt["totals"]
        return f"{totals['gone']} of {count_of(totals['resources'], 'resource')} that it had created"
    return words(clean.deleted) or ("nothing (nothing was left)" if clean.is_complete else "nothing yet")
