"""The section of the page on the slowdown by one directory for all workers."""

from matrix.report.html import Markup, tag
from matrix.report.view import View
from matrix.tables.directories_table import directories_table


def directories(view: View) -> Markup | None:
    """Return a sentence for each point that was measured both ways; None if there is none."""
    built = directories_table(view.summary)
    sentences = [tag("li", f"{cell}: {sentence}.") for cell, sentence in built.texts()]
    return tag("section", tag("h2", built.title), tag("ul", *sentences), id="directories") if sentences else None
