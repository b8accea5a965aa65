"""The end of a run in words: its cells, place and cost, its remaining resources, and its failures."""

from collections.abc import Mapping

from matrix.terms.documents.result import ResultDocument
from matrix.terms.documents.summary import SummaryDocument
from matrix.terms.grouping import grouped
from matrix.terms.names import describe_tools, fleet_label, workload_names_of
from matrix.terms.quantities import money
from matrix.terms.sentences import EMULATED, SLOWDOWN, reason_of, what_is_binned, why_incomplete

LONGEST_REASON = 500
# Reasons of failures, and cells of one reason, that are named.
MAX_REASONS, MAX_CELLS = 3, 2
# The status of a run that ended before it was analysed.
INTERRUPTED = "interrupted"
PLACES = {
    "local": "local disk, not AWS: no storage is recommended",
    "local-vm": "emulated machines, not AWS: no storage is recommended",
    "emulated": "emulated{slowdown}, not AWS: no storage is recommended",
    "imported": "files of {tools}, measured elsewhere: no storage is recommended",
}


def describe_state(summary: SummaryDocument) -> str:
    """Write the end of a run: its state, place and cost, and whether resources are left."""
    totals = summary.get("totals") or {"measured": 0, "cells": 0}
    parts = [f"{totals['measured']} of {totals['cells']} cells measured"]
    is_whole = summary["status"] == "measured"
    if not is_whole:
        parts.append(summary["status"])
    if place := PLACES.get(summary["environment"]):
        parts.append(place.format(tools=describe_tools(summary), slowdown=_describe_slowdown(summary)))
    if receipt := summary.get("receipt"):
        cost = receipt["totals"]["cost_usd"]
        parts.append(f"would cost {money(cost)} on AWS" if summary["environment"] in PLACES else money(cost))
        left = [*why_incomplete(receipt), what_is_binned(receipt)]
        parts.append("; ".join(filter(None, left)) or "nothing is left running")
    return f"{'✓' if is_whole else '✗'} {' · '.join(parts)}"


def _describe_slowdown(summary: SummaryDocument) -> str:
    """Write by what the limits of emulated storages were divided: ` (all limits ÷ 8)`; empty for AWS's own."""
    marks = [(cell.get("storage") or {}).get(EMULATED) for cell in summary["cells"]]
    slowdown = next((mark[SLOWDOWN] for mark in marks if isinstance(mark, dict) and SLOWDOWN in mark), None)
    return f" (all limits ÷ {slowdown})" if slowdown else ""


def describe_failed(summary: SummaryDocument, storages: Mapping[str, str], most: int = MAX_REASONS) -> list[str]:
    """Write why cells have no result, a line for each of the `most` commonest reasons, or that the run was interrupted.

    `storages` names the storage of a cell by the cell's id.
    """
    if summary["status"] == INTERRUPTED:
        return summary["warnings"][:1]  # how many were measured, and how to go on
    missing = [cell for cell in summary["cells"] if cell["state"] != "measured"]
    # Published results have gaps, not failures.
    if not missing or summary["environment"] == "published":
        return []
    of = len(summary["cells"])
    reasons = grouped((reason_of(cell), cell) for cell in missing)
    if len(reasons) == 1 and len(missing) == of > 1:
        return [f"All {of} cells {_end(missing[0])} for the same reason: {shortened(next(iter(reasons)))}"]
    lines, workloads = [], workload_names_of(summary["cells"])
    for reason, cells in sorted(reasons.items(), key=lambda each: -len(each[1]))[:most]:
        names = [
            f"{storages[cell['id']]}, {workloads[cell['id']]}, {fleet_label(cell['fleet'])}"
            for cell in cells[:MAX_CELLS]
        ]
        more = [f"{len(cells) - MAX_CELLS} more"] if len(cells) > MAX_CELLS else []
        lines.append(f"{len(cells)} of {of} cells {_end(cells[0])} ({'; '.join([*names, *more])}): {shortened(reason)}")
    return [*lines, *([f"other reasons: {len(reasons) - most}"] if len(reasons) > most else [])]


def _end(cell: ResultDocument) -> str:
    return "failed" if cell["state"] == "failed" else "not measured"


def shortened(reason: str) -> str:
    """Return the beginning of a reason that may be as long as AWS likes."""
    line = " ".join(reason.split())
    return f"{line[:LONGEST_REASON]} …" if len(line) > LONGEST_REASON else line
