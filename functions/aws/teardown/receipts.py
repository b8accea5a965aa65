"""The receipt of a run: what was created, whether the services still list it, and its cost by the plan's prices."""

from aws.fleet import baking
from aws.inventory import copies
from aws.records import bucket, table
from aws.records.plans import plan_of
from aws.stack.clock import now
from aws.teardown import inventory
from matrix.report import markdown, page
from matrix.run import receipt as receipts
from matrix.terms.documents.receipt import ReceiptDocument, Sweep
from matrix.terms.documents.summary import LeftBehind, SummaryDocument
from matrix.terms.keys import run_key


def make(run: str, *, sweep: Sweep | None) -> ReceiptDocument:
    """Write the receipt of a run to table and bucket and return it.

    Analyse run makes it first, with `sweep` None. A sweep follows the end of every run, however it ended, and makes the
    receipt again with what was left then: only that receipt can be complete.
    """
    inventory.record(run)
    inventory.verify(run)
    rows = table.resources(run)
    seen = copies.look(run, rows)
    copies.note(run, seen, rows)
    if sweep is not None:
        copies.delete(seen.copies)
    receipt = receipts.receipt(
        run=run,
        plan=plan_of(run),
        rows=table.resources(run),
        metered_usd=float((table.run_row(run) or {}).get("metered_usd", 0)),
        now=now(),
        sweep=sweep,
        unasked=[f"{kind}: {reason}" for kind, reason in seen.unasked.items()],
    )
    table.record_receipt(run, receipt)
    bucket.put(run_key(run, "receipt.json"), receipt)
    return receipt


def still_there(receipt: ReceiptDocument) -> list[LeftBehind]:
    """Return the resources of a receipt that are not known to be gone and not kept on purpose."""
    remaining = (resource for resource in receipt["resources"] if resource["gone_at"] is None and not resource["kept"])
    return [{"kind": resource["kind"], "id": resource["id"]} for resource in remaining]


def after_sweep(run: str, remaining: int) -> None:
    """Make the receipt of an ended run again, and update its summary and report where they exist."""
    baking.note_kept(plan_of(run))
    receipt = make(run, sweep={"at": now(), "remaining": remaining})
    summary = bucket.read(run_key(run, "summary.json"), SummaryDocument)
    if summary is not None:
        summary["receipt"], summary["left_behind"] = receipt, still_there(receipt)
        bucket.put(run_key(run, "summary.json"), summary)
        bucket.put_text(run_key(run, "summary.md"), markdown.to_markdown(summary), "text/markdown")
        _settle_report(run, summary)
    if receipt["is_complete"]:
        table.close_receipt(run)


def _settle_report(run: str, summary: SummaryDocument) -> None:
    key = run_key(run, "report.html")
    html = bucket.get_bytes(key)
    if html is not None:
        bucket.put_text(key, page.settled(html.decode(), summary), "text/html; charset=utf-8")
