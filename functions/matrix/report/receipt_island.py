"""The receipt in the page: a JSON island that the page's script draws, since the sweep after a run changes it."""

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from matrix.answer.decision.words import money
from matrix.report.html import Figure, Markup, details, figure_of, table, tag
from matrix.terms.documents.receipt import ReceiptDocument
from matrix.terms.documents.summary import SummaryDocument
from matrix.terms.figures import ABSENT, instant
from matrix.terms.sentences import ENVIRONMENT_NOTES, gone_text, left_behind_lines, receipt_sentence

Document = Mapping[str, Any]

ISLAND = "receipt"
# A fleet of 200 instances with two volumes each lists 600 resources; receipt.json has them all.
MOST_ROWS = 100
HEADS = ("Resource", "Id", "For", "Created", "Gone", "Seen by", "Hours", "USD")


def island(summary: SummaryDocument, receipt: ReceiptDocument | None) -> dict[str, Any]:
    """Return what the page's script draws: `sentences`, and a table of `heads` and `rows`.

    A cell of a row is a text, or an object of `text` and exact `value`.
    """
    left = [f"{line[0].upper()}{line[1:]}." for line in left_behind_lines(summary)]
    if not receipt:
        cost_usd = summary.get("cost_usd")
        planned = cost_usd["expected"] if cost_usd else None
        absence = "There is no receipt." + (f" The plan expected {money(planned)}." if planned is not None else "")
        return {"sentences": [absence, *left], "heads": HEADS, "rows": []}
    resources = sorted(receipt["resources"], key=lambda each: (each["gone_at"] is not None, -(each["cost_usd"] or 0.0)))
    rows = [_row(resource) for resource in resources[:MOST_ROWS]]
    more = len(resources) - len(rows)
    notes = [f"{more} more are in receipt.json."] if more else []
    notes += [f"Could not be asked: {reason}." for reason in receipt.get("unasked") or []]
    # The receipt of a local run also sums up AWS prices, though nobody paid them.
    if summary.get("environment") in ENVIRONMENT_NOTES:
        notes.append("Nothing was paid: these are the prices that AWS would have asked for such resources.")
    sentences = [receipt_sentence(dict(receipt)), *left, *notes]
    cells = [[asdict(cell) if isinstance(cell, Figure) else cell for cell in row] for row in rows]
    return {"sentences": sentences, "heads": HEADS, "rows": cells}


def _row(resource: Document) -> list[Figure | str]:
    return [
        resource["kind"],
        resource["id"],
        resource["cell"] or resource["file_system"] or ABSENT,
        instant(resource["created_at"]),
        gone_text(dict(resource)),
        resource["verified"] or ABSENT,
        figure_of(resource["hours"]),
        figure_of(resource["cost_usd"]),
    ]


def section(drawn: Document) -> Markup:
    """Draw an island as it is now: the page's script draws it again, readers without JavaScript keep this."""
    rows = [[Figure(**cell) if isinstance(cell, dict) else cell for cell in row] for row in drawn["rows"]]
    note = "As of when this page was drawn; the sweep after a run completes the receipt in receipt.json."
    return tag(
        "section",
        tag("h2", "Receipt"),
        tag("noscript", tag("p", note, class_="quiet")),
        tag(
            "div",
            *(tag("p", sentence) for sentence in drawn["sentences"]),
            *([details("Each resource", table(drawn["heads"], rows, caption="Resources"))] if rows else []),
            id="receipt-drawn",
        ),
        id="receipt-section",
    )
