"""Find the remaining resources of a run by tag, delete those that it no longer needs, complete the receipt."""

import os
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from itertools import chain, repeat
from typing import Any

from aws_lambda_powertools import Logger
from botocore.exceptions import BotoCoreError, ClientError, EndpointConnectionError

from aws.account.recycle_bin import rules as rules_of_bin
from aws.ec2 import images, instances
from aws.records import table
from aws.run import executions
from aws.stack import tags
from aws.stack.clients import DENIED
from aws.stack.clock import now as clock
from aws.storages.base import Existing, FileSystem
from aws.storages.clouds import FILE_SYSTEMS
from aws.teardown import copies, receipts
from matrix.plan import recycle_bin
from matrix.plan.recycle_bin import BinRule
from matrix.terms.errors import StorageMatrixError

# Between the sweeps of an ended run. The first ones find what its functions have begun to delete.
PAUSES_S = (5.0, 10.0, 20.0)
DAY_S = 86_400.0
# A sweep of an ended run leaves this much of the function's time.
SPARE_S = 30.0


@dataclass(frozen=True)
class Leftover:
    """A resource with a run's tags."""

    kind: str
    id: str
    tags: dict[str, str]
    delete: Callable[[], object]


@dataclass(frozen=True)
class Selection:
    """The runs that a sweep covers: all, unless a field limits them."""

    run: str | None = None
    owner: str | None = None
    started_before: float | None = None
    """Epoch seconds; a run that the table does not know counts as older."""

    def takes(self, run: str, resource_tags: Mapping[str, str] | None = None) -> bool:
        """Return whether the sweep covers a run; `resource_tags` name its owner if the table does not."""
        if self.run is not None and run != self.run:
            return False
        if self.owner is None and self.started_before is None:
            return True
        row = table.run_row(run) or {}
        owner = row.get("owner") or (resource_tags or {}).get(tags.OWNER)
        is_old = self.started_before is None or float(row.get("created_at", 0)) < self.started_before
        return is_old and self.owner in (None, owner)

    def takes_image(self, image: images.Baked) -> bool:
        """Return whether the sweep covers a baked image, by its own creation time."""
        return self.owner in (None, image.owner) and (
            self.started_before is None or image.created_at < self.started_before
        )


def sweep(*, of: Selection, is_dry_run: bool, now: float, has_ended: bool = False) -> dict[str, Any]:
    """Delete resources that no running execution needs; return the `deleted` and the `remaining` ones.

    A resource is needed while its run's execution is RUNNING and its deadline tag is in the future. `of` restricts the
    sweep to some runs; if an event reports that its only run `has_ended`, Step Functions is not asked. Instances are
    deleted at once; a volume or file system may have to wait for them: it stays in `remaining`, and a later sweep
    deletes it. Copies that AWS made are deleted with the receipt of their run, which records `now`, the time at which
    this sweep began. What cannot be searched is named in `unasked`, with the reason; everything else is swept.
    """
    is_running = _RunningRuns({of.run} if of.run and has_ended else set(), now)
    # Before any search for resources: see aws.run.creations.
    refusal = None if is_dry_run else _note_ends(of.run, is_running)
    deleted: list[dict[str, str]] = []
    remaining: list[dict[str, str]] = []
    unasked: dict[str, str] = {}
    for leftover in _all_tagged(unasked):
        run = leftover.tags[tags.RUN]
        if not of.takes(run, leftover.tags):
            continue
        if is_running(run) and not _is_overdue(leftover.tags, now):
            continue
        entry = {"kind": leftover.kind, "id": leftover.id, "run": run}
        is_gone = not is_dry_run and _delete(leftover)
        (deleted if is_gone else remaining).append(entry)
    runs: list[str] = []
    with _refusals_logged():
        if refusal:
            raise refusal
        runs = _runs_to_settle(of, [*deleted, *remaining], is_running)
    for run in runs:
        with _refusals_logged(run):
            seen = copies.find(run, table.resources(run))
            unasked |= seen.unasked
            remaining += [{"kind": copy.kind, "id": copy.id, "run": run} for copy in seen.copies]
            if not is_dry_run:
                left = sum(entry["run"] == run for entry in remaining)
                receipts.after_sweep(run, {"at": now, "remaining": left})
    swept = {"deleted": deleted, "remaining": remaining, "dry_run": is_dry_run}
    return swept | {"unasked": unasked} if unasked else swept


def sweep_ended(run: str, left_s: Callable[[], float]) -> dict[str, Any]:
    """Sweep a run that has ended until nothing of it remains, or this function's time (`left_s`) is nearly over.

    A file system takes several steps with minutes between them; a run that nobody waits for would have one step in each
    sweep, which are 15 minutes apart. No sweep begins that could not end in time by what the longest one has taken.
    """
    deleted: list[dict[str, str]] = []
    longest_s = 0.0
    for pause_s in chain(PAUSES_S, repeat(PAUSES_S[-1])):
        began_with_s = left_s()
        swept = sweep(of=Selection(run), is_dry_run=False, now=clock(), has_ended=True)
        deleted += swept["deleted"]
        longest_s = max(longest_s, began_with_s - left_s())
        if not swept["remaining"] or left_s() < pause_s + 2 * longest_s + SPARE_S:
            return swept | {"deleted": deleted}
        time.sleep(pause_s)
    raise AssertionError("the pauses do not end")


@contextmanager
def _refusals_logged(run: str | None = None) -> Iterator[None]:
    """Log a refusal of AWS: the next sweep writes the receipt; deletions of this one, and other receipts, are kept."""
    try:
        yield
    except (ClientError, BotoCoreError, LookupError) as error:
        Logger().exception("no receipt yet", run=run, reason=str(error))


def _note_ends(only_run: str | None, is_running: Callable[[str], bool]) -> ClientError | None:
    """Note the end of ended runs, after which their functions create nothing; return the error, if any."""
    try:
        for run in [only_run] if only_run else table.open_receipts():
            if not is_running(run):
                table.end_run(run)
    except ClientError as error:
        return error
    return None


def sweep_images(*, of: Selection, is_dry_run: bool) -> dict[str, Any]:
    """Delete baked images and their snapshots, but only while no run is running: it may launch from them.

    Snapshots that a rule of the account's Recycle Bin keeps have the end of that time as `binned_until`: EC2's list of
    the bin may show them minutes later. If its rules cannot be asked for, `unasked` has the reason.
    """
    rules, unasked = _rules_of_bin()
    is_any_running = bool(executions.running(os.environ["STATE_MACHINE_ARN"]))
    deleted: list[dict[str, Any]] = []
    remaining: list[dict[str, Any]] = []
    for image in filter(of.takes_image, images.all_baked()):
        is_gone = not is_dry_run and not is_any_running and _delete(_leftover_of(image))
        parts = [("image", image.id)] * bool(image.id) + [("image-snapshot", each) for each in image.snapshots]
        rule = recycle_bin.keeping(rules, image.tags) if is_gone else None
        until = {"binned_until": clock() + rule.days * DAY_S} if rule else {}
        (deleted if is_gone else remaining).extend(
            {"kind": kind, "id": resource_id, "run": image.made_by} | (until if kind != "image" else {})
            for kind, resource_id in parts
        )
    swept = {"deleted": deleted, "remaining": remaining, "dry_run": is_dry_run, "waits_for_runs": is_any_running}
    return swept | ({"unasked": unasked} if unasked and deleted else {})


def _rules_of_bin() -> tuple[list[BinRule], dict[str, str]]:
    """Return the rules by which the Recycle Bin keeps snapshots, and why they could not be asked for."""
    try:
        return list(rules_of_bin(recycle_bin.SNAPSHOT)), {}
    except (ClientError, BotoCoreError) as error:
        return [], {recycle_bin.PATH: str(error)}


def _leftover_of(image: images.Baked) -> Leftover:
    return Leftover("image", image.id, {tags.RUN: image.made_by}, lambda: images.deregister(image) is None)


def _delete(leftover: Leftover) -> bool:
    """Delete a resource; return whether it is gone. A failure is logged, so that the others are still deleted."""
    try:
        return bool(leftover.delete())
    except (ClientError, StorageMatrixError) as error:
        run = leftover.tags[tags.RUN]
        Logger().exception("not deleted", run=run, kind=leftover.kind, id=leftover.id, reason=str(error))
        return False


def _runs_to_settle(of: Selection, entries: list[dict[str, str]], is_running: Callable[[str], bool]) -> list[str]:
    """Return the ended runs whose receipt is incomplete, or was complete before this sweep found `entries`.

    Only runs of this sweep: it did not look for resources of other runs, so it must not write their receipts.
    """
    incomplete = [run for run in table.open_receipts() if of.takes(run)]
    swept = [entry["run"] for entry in entries]
    named = [of.run] if of.run else []
    runs = dict.fromkeys([*incomplete, *swept, *named])
    return [run for run in runs if table.run_row(run) and not is_running(run)]


def _all_tagged(unasked: dict[str, str]) -> Iterator[Leftover]:
    for instance, instance_tags in list(instances.tagged()):
        yield Leftover("instance", instance, instance_tags, lambda i=instance: instances.terminate([i]) is None)
    for volume, state, volume_tags in list(instances.tagged_volumes()):
        # A volume in use goes with its instance; EC2 refuses to delete it earlier.
        is_free = state == "available"
        yield Leftover(
            "volume", volume, volume_tags, lambda v=volume, free=is_free: free and instances.delete_volume(v) is None
        )
    for kind, storage in FILE_SYSTEMS.items():
        for existing in _existing(kind, storage, unasked):
            resource_tags = tags.as_mapping(existing.tags)
            if tags.is_ours(resource_tags):
                yield Leftover(kind, existing.id, resource_tags, partial(storage.delete, existing.id))


def _existing(kind: str, storage: FileSystem, unasked: dict[str, str]) -> list[Existing]:
    """Return the account's file systems; an empty list, with the reason in `unasked`, if the service cannot be asked.

    That happens if an account forbids the service, or a region has no endpoint for it. Any other error ends the sweep,
    and Lambda retries it. The receipt of a run that uses the service stays incomplete until the service has been asked.
    """
    try:
        return list(storage.existing())
    except EndpointConnectionError as error:
        reason = str(error)
    except ClientError as error:
        if error.response["Error"]["Code"] not in DENIED:
            raise
        reason = str(error)
    Logger().error("not swept", kind=kind, reason=reason)
    unasked[kind] = reason
    return []


class _RunningRuns:
    """Callable that returns whether a run still runs; asks Step Functions once, unless the end is known."""

    def __init__(self, ended: set[str], now: float) -> None:
        self._known = dict.fromkeys(ended, False)
        self._now = now

    def __call__(self, run: str) -> bool:
        if run not in self._known:
            status = self._ask(run)
            self._known[run] = self._is_young(run) if status is None else status == "RUNNING"
        return self._known[run]

    @staticmethod
    def _ask(run: str) -> str | None:
        arn = os.environ["STATE_MACHINE_ARN"].replace(":stateMachine:", ":execution:")
        return executions.status(f"{arn}:{run}")

    def _is_young(self, run: str) -> bool:
        """Return whether a run may be too new for Step Functions to list it."""
        row = table.run_row(run)
        return row is not None and self._now - float(row["created_at"]) < executions.UNHEARD_OF_S


def _is_overdue(resource_tags: dict[str, str], now: float) -> bool:
    """Return whether the deadline tag is in the past; a missing or unreadable one counts as past."""
    try:
        deadline = datetime.strptime(resource_tags[tags.DEADLINE], "%Y-%m-%dT%H:%M:%SZ").replace(tzinfo=UTC)
    except (KeyError, ValueError):
        return True
    return now > deadline.timestamp()
