"""Make the receipt of a run: rows of what was created, what the services say of it now, and its cost by the plan."""

from typing import Any

from aws.fleet import baking
from aws.inventory import copies, resources
from aws.records import bucket, table
from aws.records.plans import plan_of
from aws.stack.clock import now
from matrix.report import markdown, page
from matrix.run import receipt as receipts
from matrix.terms.keys import run_key


def make(run: str, *, sweep: dict[str, Any] | None) -> dict[str, Any]:
    """Write the receipt of a run to table and bucket and return it.

    Analyse run makes it first, with `sweep` None. The sweep that follows the end of every run, however it ended, makes
    it again with what was left then; complete is only that one.
    """
    resources.record(run)
    resources.verify(run)
    rows = table.resources(run)
    found = copies.look(run, rows)
    copies.note(run, found, rows)
    if sweep is not None:
        copies.delete(found.copies)
    receipt = receipts.receipt(
        run=run,
        plan=plan_of(run),
        rows=table.resources(run),
        metered_usd=float((table.run_row(run) or {}).get("metered_usd", 0)),
        now=now(),
        sweep=sweep,
        unasked=[f"{kind}: {reason}" for kind, reason in found.unasked.items()],
    )
    table.record_receipt(run, receipt)
    bucket.put(run_key(run, "receipt.json"), receipt)
    return receipt


def still_there(receipt: dict[str, Any]) -> list[dict[str, str]]:
    """Return the resources of a receipt that are not known to be gone and not kept on purpose."""
    open_ones = (one for one in receipt["resources"] if one["gone_at"] is None and not one["kept"])
    return [{"kind": one["kind"], "id": one["id"]} for one in open_ones]


def after_sweep(run: str, remaining: int) -> None:
    """Make the receipt of an ended run again, and put it into its summary and report if it has them."""
    baking.note_kept(plan_of(run))
    receipt = make(run, sweep={"at": now(), "remaining": remaining})
    summary = bucket.get(run_key(run, "summary.json"))
    if summary is not None:
        summary |= {"receipt": receipt, "left_behind": still_there(receipt)}
        bucket.put(run_key(run, "summary.json"), summary)
        bucket.put_text(run_key(run, "summary.md"), markdown.to_markdown(summary), "text/markdown")
        _settle_report(run, summary)
    if receipt["is_complete"]:
        table.close_receipt(run)


def _settle_report(run: str, summary: dict[str, Any]) -> None:
    key = run_key(run, "report.html")
    html = bucket.get_bytes(key)
    if html is not None:
        bucket.put_text(key, page.settled(html.decode(), summary), "text/html; charset=utf-8")
