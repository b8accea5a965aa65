"""The section of the page on the share of one layer's work that the next layer saw."""

from matrix.report.html import Markup, details, tag
from matrix.report.page_table import page_table
from matrix.report.view import View
from matrix.tables.layers_table import all_layers_table, far_layers_table

MOST_SENTENCES = 12
READS = (
    "Programs ask their mount, a mount its volume or its server, a server its disks. A ratio below 1 is what a cache"
    " answered or what is not written yet; above 1 it is amplification. Both sides were counted: by the kernels of the"
    " instances, the volumes themselves and CloudWatch."
)


def layers(view: View) -> Markup | None:
    """Sentences on ratios far from 1, and a table of all; None if no layer below the programs has counts."""
    built, far = all_layers_table(view.summary), far_layers_table(view.summary)
    if not built.rows:
        return None
    first = list(far.texts())[:MOST_SENTENCES]
    sentences = [tag("li", f"{cell}, {label}: {sentence}.") for cell, label, sentence in first]
    return tag(
        "section",
        tag("h2", far.title),
        tag("p", READS, class_="quiet"),
        tag("ul", *sentences) if sentences else tag("p", "Nowhere was more or less seen than was asked for."),
        details(f"All {len(built.rows)} ratios", page_table(built)),
        id="layers",
    )
