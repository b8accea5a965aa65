"""The shell of every page: one file that loads nothing, with its style, its script and the figures of its charts.

The policy in its head forbids the network and runs only the scripts whose hashes it names.
"""

import base64
import hashlib
from collections.abc import Iterable, Sequence
from pathlib import Path

from matrix.report.charts.chart import Chart
from matrix.report.drawing import svg
from matrix.report.drawing.points import points
from matrix.report.facets import Facets
from matrix.report.html import Markup, data, details, join, large_data, tag
from matrix.report.html_table import html_table
from matrix.tables.table import Table

# More notes below a chart than this are folded away.
MAX_NOTES = 3
FOLDER = Path(__file__).parent


def whole(
    title: str, body: Iterable[Markup], *, charts: Sequence[Chart], facets: Facets, islands: Iterable[Markup] = ()
) -> str:
    """Return a page as one HTML document; `body` is its header and its main part."""
    script, style = _own("page.js"), f"{_own('page.css')}{svg.rules(charts)}"
    inner = join([
        tag("a", "Skip to the tables", href="#tables", class_="skip"),
        # First, so that paper has no last page for it.
        svg.shapes(),
        *body,
        large_data({chart.id: points(chart) for chart in charts}, "charts"),
        data(facets.to_document(), "facets"),
        *islands,
        Markup(f"<script>{script}</script>"),
    ])  # fmt: skip
    head = (
        '<meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">'
        f'<meta http-equiv="Content-Security-Policy" content="{_policy(script, svg.LOOK, style)}">'
        '<meta name="color-scheme" content="light dark"><meta name="referrer" content="no-referrer">'
        f'{tag("title", title).text}<style id="look">{svg.LOOK}</style><style>{style}</style>'
    )
    return f'<!DOCTYPE html>\n<html lang="en"><head>{head}</head><body>{inner.text}</body></html>\n'


def contents(names: Iterable[tuple[str, str]]) -> Markup:
    """Return the links of a page to its sections, by their ids."""
    links = [tag("li", tag("a", title, href=f"#{id_}")) for id_, title in names]
    return tag("nav", tag("ul", *links), aria_label="Contents")


def figure(chart: Chart) -> Markup:
    """Return a chart with its title, how it is read, its legend, its notes and its figures as a table."""
    notes = [tag("ul", *(tag("li", note) for note in chart.notes), class_="quiet")] if chart.notes else []
    if len(chart.notes) > MAX_NOTES:
        notes = [details(f"{len(chart.notes)} notes", *notes)]
    numbers = Table.of(chart.title, chart.heads, chart.rows)
    shown = [details("Figures", html_table(numbers, is_captioned=False))] if chart.rows else []
    keys = (tag("span", svg.swatch(mark), series.legend, **series.of) for series, mark in svg.legend(chart))
    return tag(
        "figure",
        tag("figcaption", tag("h3", chart.title), tag("p", chart.reads)),
        tag("div", *keys, class_="legend", role="group", aria_label="Shown in the chart"),
        tag(
            "div",
            svg.drawing(chart),
            class_="chart",
            role="img",
            tabindex="0",
            aria_label=chart.title,
        ),
        tag("div", *notes, *shown),
        id=chart.id,
        class_="drawn",
        **chart.of,
    )


def _policy(script: str, *styles: str) -> str:
    """Return the Content-Security-Policy: nothing is loaded, and only these texts run and apply, by their SHA-256."""
    scripts, allowed = _hash(script), " ".join(map(_hash, styles))
    # The only images are the charts that the script draws for saving.
    return (
        f"default-src 'none'; script-src {scripts}; style-src {allowed}; img-src blob:; base-uri 'none'; "
        "form-action 'none'"
    )


def _hash(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def _own(name: str) -> str:
    """Read a file of this package without indents and comment lines."""
    lines = map(str.strip, (FOLDER / name).read_text(encoding="utf-8").splitlines())
    return "".join(f"{line}\n" for line in lines if line and not line.startswith(("//", "/*")))
