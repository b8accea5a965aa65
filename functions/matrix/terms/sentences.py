"""A run's decision, errors, warnings and receipt, written as sentences."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import TYPE_CHECKING

from matrix.terms.documents.parts import Failure, Part
from matrix.terms.quantities import count_of, instant

if TYPE_CHECKING:
    from matrix.terms.documents.receipt import NotOurs, ReceiptDocument, ReceiptResource, ReceiptTotals
    from matrix.terms.documents.result import ResultDocument
    from matrix.terms.documents.summary import LeftBehind, SummaryDocument

# Each begins with the origin of the figures, so that a banner has it once.
LOCAL_NOTE = "Local disk, not AWS. The local cloud measured this machine: these figures say nothing about AWS."
VM_NOTE = "Emulated machines, not AWS. The run proves mounts and boots: its figures say nothing about any storage."
EMULATED_NOTE = (
    "Emulated, not AWS. This machine imitates the storages by the limits that AWS documents: these figures test the "
    "analysis, and say nothing about AWS."
)
# The environment of a run with storages that this machine emulated.
EMULATED = "emulated"
# The key of the number by which all limits are divided, in the mark of an emulated storage.
SLOWDOWN = "slowdown"
# The name of the error of a published cell that its source leaves empty.
NOT_PUBLISHED = "not published"
ENVIRONMENT_NOTES = {"local": LOCAL_NOTE, "local-vm": VM_NOTE, EMULATED: EMULATED_NOTE}
# Names in a list that may be as long as a fleet.
MAX_NAMED = 5


def listed(names: Iterable[str]) -> str:
    """Write `1, 10 and 50`."""
    *first, last = names
    return f"{', '.join(first)} and {last}" if first else last


def why_taken(objective: Part | None) -> str:
    """Return in words why a storage is recommended."""
    return (
        "shown to reach the objective, for least"
        if objective
        else "shown to be the fastest, or within 5 % of it for less"
    )


def error_text(error: Failure | None) -> str:
    """Write an error as `Name: subject: message`. The message of failed instances begins with the name of their own."""
    if not error:
        return ""
    name = "" if error.get("name") == "InstanceFailed" and error.get("message") else error.get("name")
    return ": ".join(filter(None, [name, error.get("subject"), error.get("message")]))


def reason_of(cell: ResultDocument) -> str:
    """Write why a cell has no result: its error, else its state. A name that repeats the state is left out."""
    error = cell.get("error")
    return error["message"] if error and error["name"] == NOT_PUBLISHED else error_text(error) or cell["state"]


def message_of(cause: str) -> str:
    """Return the message in the cause of a failed state: of a Lambda function it is the runtime's JSON."""
    try:
        return str(json.loads(cause)["errorMessage"])
    except (ValueError, TypeError, KeyError):
        return cause


def receipt_sentence(receipt: ReceiptDocument) -> str:
    """Return sentences: the created resources, whether all are deleted, and their cost by the price book."""
    totals = receipt["totals"]
    state = "; ".join(why_incomplete(receipt)) or "the sweep after the run found nothing more"
    sentences = [
        f"{_describe_created(totals)}; {state}.",
        f"By the price book: {totals['resources_usd']:.4f} USD by the hour and {totals['metered_usd']:.4f} USD by use.",
    ]
    if receipt.get("unasked"):
        sentences.append(f"Allow what was refused, then run `matrix reap --run {receipt['run']}`.")
    if totals.get("kept"):
        sentences.append(_kept_sentence(totals))
    if binned := what_is_binned(receipt):
        sentences.append(f"{binned[0].upper()}{binned[1:]}; docs/company.md says how to exclude them from its rules.")
    return " ".join([*sentences, *map(_not_ours_sentence, receipt.get("not_ours") or [])])


def why_incomplete(receipt: ReceiptDocument) -> list[str]:
    """Return the reasons why a receipt does not prove that nothing is left; empty for a complete one."""
    totals, sweep, reasons = receipt["totals"], receipt["sweep"], []
    left = totals["resources"] - totals["gone"] - totals.get("kept", 0)
    if left:
        reasons.append(f"{count_of(left, 'resource')} still there")
    elif sweep and sweep["remaining"]:
        reasons.append(f"the sweep at {instant(sweep['at'])} found {sweep['remaining']} more; the next one looks again")
    if unfinished := receipt.get("unfinished"):
        reasons.append(f"a creation was cut short, so these may still appear: {first_of(unfinished, MAX_NAMED)}")
    if unasked := receipt.get("unasked"):
        reasons.append(f"not searched: {', '.join(unasked)}")
    if until := receipt.get("binning_until"):
        reasons.append(f"what was deleted may appear in the Recycle Bin until {instant(until)}")
    if sweep is None or not (reasons or receipt["is_complete"]):
        reasons.append("the sweep has not ended")
    return reasons


def what_is_binned(receipt: ReceiptDocument) -> str:
    """Write what the account's Recycle Bin keeps, and until when AWS bills it; empty if it keeps nothing."""
    totals = receipt["totals"]
    if not totals.get("binned"):
        return ""
    last = max(resource.get("binned_until") or 0.0 for resource in receipt["resources"])
    kept = count_of(totals["binned"], "resource")
    return f"{kept} kept in the Recycle Bin until {instant(last)}, billed {totals['binned_usd']:.2f} USD by then"


def _describe_created(totals: ReceiptTotals) -> str:
    """Write `9 resources were created, 6 gone, 1 in the Recycle Bin, 2 kept`."""
    binned = totals.get("binned") or 0
    count, gone, kept = totals["resources"], totals["gone"] - binned, totals.get("kept")
    if not count:
        return "No resources were created"
    all_gone = "now gone" if count == 1 else "all gone"
    created = f"{count_of(count, 'resource')} {'was' if count == 1 else 'were'} created"
    others = [f"{binned} in the Recycle Bin"] if binned else []
    others += [f"{kept} kept"] if kept else []
    return ", ".join([created, all_gone if gone == count else f"{gone} gone", *others])


def _not_ours_sentence(storage: NotOurs) -> str:
    """Return a sentence about a storage that existed before the run, and about data of the run left on it."""
    if storage["folder"]:
        return (
            f"{storage['id']} is not ours and still there, but an instance ended without a word: look for the folder "
            f"{storage['folder']} on it, and remove it."
        )
    return f"{storage['id']} is not ours: left as it was."


def _kept_sentence(totals: ReceiptTotals) -> str:
    """Return a sentence about kept resources, their price and how to delete them."""
    month = totals["kept_usd_month"]
    price = f", for {month['low']:.2f} to {month['high']:.2f} USD a month" if month else ""
    return f"Baked images and their snapshots are kept for later runs{price}; `matrix reap --images` deletes them."


def deleted_text(resource: ReceiptResource) -> str:
    """Write when a resource of a receipt was deleted, or that it is kept or still exists."""
    if binned_until := resource.get("binned_until"):
        return f"Recycle Bin until {instant(binned_until)}"
    if resource["gone_at"] is not None:
        return instant(resource["gone_at"])
    return "kept" if resource.get("kept") else "still there"


def left_behind_lines(summary: SummaryDocument) -> list[str]:
    """List the resources that may still exist and cost money."""
    return [still_there_line(left) for left in summary.get("left_behind") or []]


def still_there_line(left: LeftBehind) -> str:
    """Name a resource that may still exist and cost money."""
    return f"still there: {left['kind']} {left['id']}"


def of_fleet(instances: list[str], of: int, what: str) -> str:
    """Write what is true of some instances: `3 of 200 instances failed (i-1, i-2, i-3)`, with at most five names."""
    return f"{len(instances)} of {count_of(of, 'instance')} {what} ({first_of(instances, MAX_NAMED)})"


def first_of(names: list[str], most: int) -> str:
    """Write the first `most` names, and how many more there are: `a, b and 3 more`."""
    more = len(names) - most
    return f"{', '.join(names[:most])}{f' and {more} more' if more > 0 else ''}"
