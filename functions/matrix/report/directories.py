"""The section of the page that says what one directory for all workers costs."""

from matrix.report.html import Markup, tag
from matrix.report.view import View
from matrix.tables.directories_table import directories_table


def directories(view: View) -> Markup | None:
    """Return a sentence for each point that was measured both ways; None where there is none."""
    built = directories_table(view.summary)
    sentences = [tag("li", f"{cell}: {sentence}.") for cell, sentence in built.texts()]
    return tag("section", tag("h2", built.title), tag("ul", *sentences), id="directories") if sentences else None
