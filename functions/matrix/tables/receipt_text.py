"""The receipt for people: a section of the Markdown summary, and JSON for the report's script.

The sweep after a run replaces both. This module imports nothing of the report, so that a failing import of a chart
cannot stop the function that deletes remaining resources.
"""

from collections.abc import Mapping
from typing import Any

from matrix.tables.markdown_table import markdown_table
from matrix.tables.table import Table, TableCell, TableColumn, TableNote, TableRow, figures, row
from matrix.terms.documents.receipt import ReceiptDocument, ReceiptResource
from matrix.terms.documents.summary import SummaryDocument
from matrix.terms.embedded import with_embedded
from matrix.terms.markdown_text import inline
from matrix.terms.quantities import ABSENT, instant, number
from matrix.terms.sentences import ENVIRONMENT_NOTES, deleted_text, left_behind_lines, receipt_sentence

# The element of the page that holds the receipt.
ISLAND = "receipt"
COLUMNS = (
    *(TableColumn("Resource"), TableColumn("Id", "id")),
    *map(TableColumn, ("For", "Created", "Gone", "Seen by")),
    *figures("Hours", "USD"),
)
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
        return {"sentences": [f"There is no receipt.{planned}", *left], "heads": [], "rows": []}
    table = receipt_table(receipt, MAX_ROWS["page"])
    notes = table.sentences
    # The receipt of a local run also sums up AWS prices, which were not paid.
    if summary.get("environment") in ENVIRONMENT_NOTES:
        notes.append("Nothing was paid: these are the prices that AWS would have asked for such resources.")
    return {"sentences": [receipt_sentence(receipt), *left, *notes],
            "heads": [column.head for column in table.columns],
            "rows": [list(map(_on_page, row.cells)) for row in table.rows]}  # fmt: skip


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
    table = receipt_table(receipt, MAX_ROWS["markdown"])
    parts = [TITLE, inline(receipt_sentence(receipt)), *map(inline, left), markdown_table(table) if table.rows else ""]
    return "\n\n".join(filter(None, [*parts, "\n".join(map(inline, table.sentences))]))


def settled_markdown(text: str, summary: SummaryDocument) -> str:
    """Return a Markdown summary with the receipt that its summary has now, in place of the one at its end."""
    before = text.rpartition(f"\n\n{TITLE}\n")[0] or text
    section = markdown_section(summary)
    return f"{before.rstrip()}\n\n{section}\n" if section else text


def _left_behind(summary: SummaryDocument) -> list[str]:
    return [f"{left[0].upper()}{left[1:]}." for left in left_behind_lines(summary)]


def receipt_table(receipt: ReceiptDocument, most_rows: int) -> Table:
    """Return a row for each of the first resources: those that still exist or cost money, then by cost."""
    resources = receipt["resources"]
    listed = sorted(resources, key=lambda each: (not _is_paid(each), -(each["cost_usd"] or 0.0)))[:most_rows]
    notes = [f"{len(resources) - len(listed)} more are in receipt.json."] if len(resources) > len(listed) else []
    return Table("Resources", COLUMNS, list(map(_row, listed)), list(map(TableNote, notes)))


def _is_paid(resource: ReceiptResource) -> bool:
    return resource["gone_at"] is None or bool(resource.get("binned_until"))


def _row(resource: ReceiptResource) -> TableRow:
    contents = (
        resource["kind"],
        resource["id"],
        resource["cell"] or resource["file_system"] or ABSENT,
        instant(resource["created_at"]),
        TableCell(deleted_text(resource), tone="bad" if _is_paid(resource) else ""),
        resource["verified"] or ABSENT,
        resource["hours"],
        resource["cost_usd"],
    )
    return row(contents)


def _on_page(cell: TableCell) -> Mapping[str, Any] | str:
    return cell.text if cell.value is None else {"text": cell.text, "value": cell.value}


def _dollars(usd: float) -> str:
    return f"${usd:,.2f}" if usd >= 1 else f"${number(usd)}"
