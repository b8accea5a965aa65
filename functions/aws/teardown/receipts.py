"""The receipt of a run: created resources, whether services still list them, and the cost by the plan's prices."""

from collections.abc import Callable, Mapping
from typing import Any

from aws.fleet import baking
from aws.records import bucket, table
from aws.records.plans import plan_of
from aws.run import creations
from aws.stack.clock import now
from aws.teardown import copies, inventory, recycle_bin
from contract.keys import DONE, FAILED, instance_of
from matrix.run import receipt as documents
from matrix.storages.models import existing_id
from matrix.tables import receipt_text
from matrix.terms.documents.receipt import NotOurs, ReceiptDocument, Sweep
from matrix.terms.documents.summary import LeftBehind, SummaryDocument
from matrix.terms.keys import Board, run_key

# Last object of an agent, after a measurement or a failure.
VERDICTS = (f"/{DONE}", f"/{FAILED}")
# Sweeps ask again for this time after a run's end where AWS refused. Later it will go on refusing, and each open
# receipt makes each sweep longer. A sweep of one run asks at any time.
ASKED_AGAIN_FOR_S = 7 * 86_400.0


def make(run: str, *, sweep: Sweep | None) -> ReceiptDocument:
    """Write the receipt of a run to table and bucket and return it.

    Analyse run makes it first, with `sweep` None. A sweep follows the end of every run and makes the receipt again from
    the resources that remain; only that receipt can be complete.
    """
    table.record_receipt(run, _look_up(run, sweep))
    return _write_current(run, lambda receipt: bucket.put(run_key(run, "receipt.json"), receipt))


def _look_up(run: str, sweep: Sweep | None) -> ReceiptDocument:
    """Ask AWS for all resources of a run and update their rows; delete copies, if `sweep`. Return the receipt."""
    inventory.record(run)
    inventory.verify(run)
    # Read unfinished creations before the rows: a creation is noted as over only after its row was written.
    unfinished = creations.unfinished(run, sweep["at"] if sweep else now())
    rows = table.resources(run)
    seen = copies.find(run, rows)
    copies.note(run, seen, rows)
    if sweep is not None:
        copies.delete(seen.copies)
    unasked = [f"{kind}: {reason}" for kind, reason in seen.unasked.items()] + recycle_bin.note(run, rows)
    return _receipt(run, at=now(), sweep=sweep, unasked=unasked, unfinished=unfinished)


def _receipt(run: str, *, at: float, sweep: Sweep | None, unasked: list[str], unfinished: list[str]) -> ReceiptDocument:
    metered_usd = float((table.run_row(run) or {}).get("metered_usd", 0))
    return documents.receipt(
        run=run, plan=plan_of(run), rows=table.resources(run), metered_usd=metered_usd, now=at, sweep=sweep,
        unasked=unasked, unfinished=unfinished, not_ours=_not_ours(run),
    )  # fmt: skip


def _not_ours(run: str) -> list[NotOurs]:
    """Return the storages that existed before the run; the boards show which instances have left them."""
    plan = plan_of(run)
    existing = [planned for planned in plan["file_systems"] if existing_id(planned["storage"])]
    boards = [Board.of_cell(run, cell) for planned in existing for cell in planned["cells"]]
    keys = (key for board in boards for key, _ in bucket.listing(board.instances))
    # …/instances/<role id>:<instance id>/<verdict>, written after everything else.
    ended = {instance_of(key.split("/")[-2]) for key in keys if key.endswith(VERDICTS)}
    return documents.not_ours(plan, run, table.resources(run), ended) if existing else []


def _write_current(run: str, write: Callable[[ReceiptDocument], None]) -> ReceiptDocument:
    """Write documents of the current receipt in the table; return it.

    Another sweep may record a later receipt meanwhile and write its documents first. So this reads the table again
    afterwards, and the last writer has written the current receipt.
    """
    while True:
        row = table.receipt_row(run)
        reasons: dict[str, list[str]] = {name: row.get(name, []) for name in ("unasked", "unfinished")}
        receipt = _receipt(run, at=float(row["at"]), sweep=_sweep_of(row), **reasons)
        write(receipt)
        if is_current(receipt):
            return receipt


def is_current(receipt: ReceiptDocument) -> bool:
    """Return whether no later sweep has recorded another receipt."""
    return _sweep_of(table.receipt_row(receipt["run"])) == receipt["sweep"]


def _sweep_of(row: Mapping[str, Any]) -> Sweep | None:
    sweep = row["sweep"]
    return {"at": float(sweep["at"]), "remaining": int(sweep["remaining"])} if sweep else None


def still_there(receipt: ReceiptDocument) -> list[LeftBehind]:
    """Return the resources of a receipt that are not known to be gone and not kept on purpose."""
    remaining = (resource for resource in receipt["resources"] if resource["gone_at"] is None and not resource["kept"])
    return [{"kind": resource["kind"], "id": resource["id"]} for resource in remaining]


def after_sweep(run: str, sweep: Sweep) -> None:
    """Make the receipt of an ended run again, and update its summary and report where they exist."""
    baking.settle(plan_of(run))
    make(run, sweep=sweep)
    receipt = settle(run)
    swept_at = (receipt["sweep"] or sweep)["at"]  # of the sweep that began last
    (table.reopen_receipt if _is_asked_again(receipt, swept_at) else table.close_receipt)(run, swept_at)


def _is_asked_again(receipt: ReceiptDocument, swept_at: float) -> bool:
    """Return whether the next sweep may find more than this receipt's."""
    if receipt["is_complete"] or still_there(receipt):
        return not receipt["is_complete"]
    return swept_at - (table.ended_at(receipt["run"]) or swept_at) < ASKED_AGAIN_FOR_S


def settle(run: str) -> ReceiptDocument:
    """Put the current receipt into the run's summary and report, if they exist; return it."""

    key = run_key(run, "summary.json")

    def write(receipt: ReceiptDocument) -> None:
        summary = bucket.read(key, SummaryDocument)
        if summary is None:
            return
        summary["receipt"], summary["left_behind"] = receipt, still_there(receipt)
        bucket.put(key, summary)
        _rewrite(run_key(run, "summary.md"), "text/markdown", receipt_text.settled_markdown, summary)
        _rewrite(run_key(run, "report.html"), "text/html; charset=utf-8", receipt_text.settled_page, summary)

    return _write_current(run, write)


def _rewrite(
    key: str, content_type: str, settled: Callable[[str, SummaryDocument], str], summary: SummaryDocument
) -> None:
    """Put the receipt of a summary into one of the run's texts, if it exists."""
    content = bucket.get_bytes(key)
    if content is not None:
        bucket.put_text(key, settled(content.decode(), summary), content_type)
