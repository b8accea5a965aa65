"""The receipt in the page, as it is when the page is drawn. The page's script draws it again from its JSON."""

from collections.abc import Mapping
from typing import Any

from matrix.report.html import Figure, Markup, details, table, tag


def section(drawn: Mapping[str, Any]) -> Markup:
    """Draw the result of `receipt_text.island`; readers without JavaScript keep this."""
    rows = [[Figure(**cell) if isinstance(cell, dict) else cell for cell in row] for row in drawn["rows"]]
    note = "As of when this page was drawn. The clean-up after a run completes the receipt in receipt.json."
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
