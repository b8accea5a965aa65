"""The section of the page that says what one directory for all workers costs."""

from matrix.report.html import Markup, tag
from matrix.report.view import View
from matrix.terms.directories import TITLE, shared_directories


def directories(view: View) -> Markup | None:
    """Return a sentence for each point that was measured both ways; None where there is none."""
    sentences = [tag("li", f"{each.cell}: {each.sentence}.") for each in shared_directories(view.summary)]
    return tag("section", tag("h2", TITLE), tag("ul", *sentences), id="directories") if sentences else None
