"""The receipt for people: a section of the Markdown summary, and JSON for the report's script.

The sweep after a run replaces both. This module imports nothing of the report, so that a failing import of a chart
cannot stop the function that deletes remaining resources.
"""

from collections.abc import Mapping
from typing import Any

from matrix.terms.documents.receipt import ReceiptDocument, ReceiptResource
from matrix.terms.documents.summary import SummaryDocument
from matrix.terms.embedded import with_embedded
from matrix.terms.markdown_text import code, inline, table_line
from matrix.terms.quantities import ABSENT, instant, number
from matrix.terms.sentences import ENVIRONMENT_NOTES, gone_text, left_behind_lines, receipt_sentence

# The element of the page that holds the receipt.
ISLAND = "receipt"
HEADS = ("Resource", "Id", "For", "Created", "Gone", "Seen by", "Hours", "USD")
TITLE = "## Receipt"
# A fleet of 200 instances with two volumes each lists 600 resources; receipt.json has them all.
MAX_ROWS = {"page": 100, "markdown": 50}


def island(summary: SummaryDocument, receipt: ReceiptDocument | None) -> dict[str, Any]:
    """Return the JSON for the page's script: `sentences`, and a table of `heads` and `rows`.

    A cell of a row is a text, or an object of `text` and exact `value`.
    """
    left = _left_behind(summary)
    if not receipt:
        cost_usd = summary.get("cost_usd")
        planned = f" The plan expected {_dollars(cost_usd['expected'])}." if cost_usd else ""
        return {"sentences": [f"There is no receipt.{planned}", *left], "heads": HEADS, "rows": []}
    listed = _listed(receipt)
    rows = [_page_row(resource) for resource in listed[: MAX_ROWS["page"]]]
    notes = [f"{len(listed) - len(rows)} more are in receipt.json."] if len(listed) > len(rows) else []
    notes += [f"Could not be asked: {reason}." for reason in receipt.get("unasked") or []]
    # The receipt of a local run also sums up AWS prices, which were not paid.
    if summary.get("environment") in ENVIRONMENT_NOTES:
        notes.append("Nothing was paid: these are the prices that AWS would have asked for such resources.")
    return {"sentences": [receipt_sentence(receipt), *left, *notes], "heads": HEADS, "rows": rows}


def settled_page(page: str, summary: SummaryDocument) -> str:
    """Return a report's page with the receipt that its summary has now. A page without the element is unchanged."""
    return with_embedded(page, ISLAND, island(summary, summary.get("receipt")))


def markdown_section(summary: SummaryDocument) -> str:
    """List the created resources with deletion time and proof: first resources that still exist, then by cost.

    It is the last section of the summary, and empty without a receipt.
    """
    receipt = summary.get("receipt")
    left = _left_behind(summary)
    if not receipt:
        return "\n\n".join([TITLE, *map(inline, left)]) if left else ""
    listed = _listed(receipt)
    rows = [table_line(_markdown_row(resource)) for resource in listed[: MAX_ROWS["markdown"]]]
    notes = [f"{len(listed) - len(rows)} more are in `receipt.json`."] if len(listed) > len(rows) else []
    notes += [f"Could not be asked: {inline(reason)}." for reason in receipt["unasked"]]
    rules = [*("---" for _ in HEADS[:-2]), "---:", "---:"]
    table = "\n".join([table_line(HEADS), table_line(rules), *rows]) if rows else ""
    parts = [TITLE, receipt_sentence(receipt), *map(inline, left), table, "\n".join(notes)]
    return "\n\n".join(part for part in parts if part)


def settled_markdown(text: str, summary: SummaryDocument) -> str:
    """Return a Markdown summary with the receipt that its summary has now, in place of the one at its end."""
    before = text.rpartition(f"\n\n{TITLE}\n")[0] or text
    section = markdown_section(summary)
    return f"{before.rstrip()}\n\n{section}\n" if section else text


def _left_behind(summary: SummaryDocument) -> list[str]:
    return [f"{left[0].upper()}{left[1:]}." for left in left_behind_lines(summary)]


def _listed(receipt: ReceiptDocument) -> list[ReceiptResource]:
    return sorted(receipt["resources"], key=lambda each: (each["gone_at"] is not None, -(each["cost_usd"] or 0.0)))


def _page_row(resource: ReceiptResource) -> list[Mapping[str, Any] | str]:
    return [
        resource["kind"],
        resource["id"],
        resource["cell"] or resource["file_system"] or ABSENT,
        instant(resource["created_at"]),
        gone_text(resource),
        resource["verified"] or ABSENT,
        _figure(resource["hours"]),
        _figure(resource["cost_usd"]),
    ]


def _markdown_row(resource: ReceiptResource) -> list[str]:
    return [
        resource["kind"],
        code(resource["id"]),
        inline(resource["cell"] or resource["file_system"] or ABSENT),
        instant(resource["created_at"]),
        f"**{gone_text(resource)}**" if resource["gone_at"] is None else gone_text(resource),
        inline(resource["verified"] or ABSENT),
        number(resource["hours"]),
        ABSENT if resource["cost_usd"] is None else f"{resource['cost_usd']:.4f}",
    ]


def _figure(value: float | None) -> Mapping[str, Any] | str:
    return ABSENT if value is None else {"text": number(value), "value": value}


def _dollars(usd: float) -> str:
    return f"${usd:,.2f}" if usd >= 1 else f"${number(usd)}"
