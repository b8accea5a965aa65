"""The page: the answer, then each chart with its figures as a table, then the warnings, the receipt and the origin.

It loads nothing from the network: the policy in its head forbids it and runs only the scripts whose hashes it names.
"""

import base64
import hashlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from matrix.answer.costs import Bill
from matrix.answer.decision import decide
from matrix.report import parts, receipt_island
from matrix.report.built import built
from matrix.report.ceilings import ceilings
from matrix.report.charts import Section, sections
from matrix.report.charts.chart import Chart
from matrix.report.drawing import svg
from matrix.report.drawing.points import points
from matrix.report.grids import grids
from matrix.report.heat_map import heat_map
from matrix.report.html import Markup, data, details, figure_of, join, table, tag, with_data
from matrix.report.layers import layers
from matrix.report.view import View
from matrix.terms.documents.parts import Part
from matrix.terms.documents.plan import PlanDocument
from matrix.terms.documents.receipt import ReceiptDocument
from matrix.terms.documents.result import ResultDocument
from matrix.terms.documents.summary import SummaryDocument
from matrix.terms.figures import ABSENT, instant, rough_duration
from matrix.terms.sentences import ENVIRONMENT_NOTES

Document = Mapping[str, Any]

FOLDER = Path(__file__).parent
# More charts than this in one section are folded away, and unfolded in print.
MOST_OPEN = 4


def render(
    summary: SummaryDocument,
    *,
    results: Mapping[str, ResultDocument] | None = None,
    plan: PlanDocument | None = None,
    receipt: ReceiptDocument | None = None,
    objective: Part | None = None,
) -> str:
    """Return the report of a run as one HTML document.

    `results` are the cells' result.json by id; without them, as for published runs, there are no charts of single
    values. A summary of an older version, which has no decision, is decided now.
    """
    paid = receipt or summary.get("receipt")
    view = view_of(summary, results=results, plan=plan, receipt=paid, objective=objective)
    shown, hit, passed, heat = sections(view), ceilings(view), layers(view), heat_map(view)
    crossed, drawn = grids(view), built(view)
    charts = [chart for section in shown for chart in section.charts]
    island = receipt_island.island(summary, paid)
    script, style = _own("page.js"), f"{_own('page.css')}{svg.rules(charts)}"
    body = join([
        tag("a", "Skip to the tables", href="#tables", class_="skip"),
        tag("header", *_head(view)),
        tag(
            "main",
            parts.answer(view),
            heat,
            _contents(
                shown, has_matrix=bool(heat.text), has_ceilings=hit is not None, has_layers=passed is not None,
                has_grids=bool(crossed.text), has_built=bool(drawn.text),
            ),
            parts.comparisons(view),
            *([hit] if hit else []),
            *_sections(shown, crossed),
            *([passed] if passed else []),
            tag("section", tag("h2", "All figures"), *parts.figures(view), id="tables"),
            parts.warnings(view),
            parts.failed(view),
            drawn,
            receipt_island.section(island),
            parts.provenance(view),
        ),
        svg.shapes(),
        data({chart.id: points(chart) for chart in charts}, "charts"),
        data(view.facets.to_document(), "facets"),
        data(island, receipt_island.ISLAND),
        Markup(f"<script>{script}</script>"),
    ])  # fmt: skip
    title = tag("title", f"{summary.get('name') or summary.get('run')}: report")
    head = (
        '<meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">'
        f'<meta http-equiv="Content-Security-Policy" content="{_policy(script, svg.LOOK, style)}">'
        '<meta name="color-scheme" content="light dark"><meta name="referrer" content="no-referrer">'
        f'{title.text}<style id="look">{svg.LOOK}</style><style>{style}</style>'
    )
    return f'<!DOCTYPE html>\n<html lang="en"><head>{head}</head><body>{body.text}</body></html>\n'


def settled(page: str, summary: SummaryDocument) -> str:
    """Return a report's page with the receipt of its summary now, which is all that the sweep after a run changes.

    To draw the page anew takes the results of all cells. A page of an older version has no island and stays as it is.
    """
    return with_data(page, receipt_island.ISLAND, receipt_island.island(summary, summary.get("receipt")))


def view_of(
    summary: SummaryDocument,
    *,
    results: Mapping[str, ResultDocument] | None = None,
    plan: PlanDocument | None = None,
    receipt: ReceiptDocument | None = None,
    objective: Part | None = None,
) -> View:
    """Return what charts and tables are drawn from; a summary without a decision is decided here."""
    known = {name: result for name, result in (results or {}).items() if result}
    bill = Bill.of(plan, receipt or summary.get("receipt"))
    decision = summary.get("decision") or decide(summary, results=known, objective=objective, bill=bill)
    return View(summary, known, plan, decision)


def _policy(script: str, *styles: str) -> str:
    """Return the Content-Security-Policy: nothing is loaded, and only these texts run and apply, by their SHA-256."""
    scripts, allowed = _hash(script), " ".join(map(_hash, styles))
    return f"default-src 'none'; script-src {scripts}; style-src {allowed}; base-uri 'none'; form-action 'none'"


def _hash(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def _own(name: str) -> str:
    return (FOLDER / name).read_text(encoding="utf-8")


def _head(view: View) -> list[Markup]:
    summary = view.summary
    begun, ended = summary.get("started_at"), summary.get("finished_at")
    facts = [
        ("Run", summary.get("run", ABSENT)),
        ("Environment", summary.get("environment", ABSENT)),
        ("State", summary.get("status", ABSENT)),
        ("Cells measured", ABSENT if summary.get("environment") == "published" else _measured(summary)),
        ("Begun", instant(begun)),
        ("Took", rough_duration(ended - begun) if begun is not None and ended is not None else ABSENT),
    ]
    listed = [tag("div", tag("dt", name), tag("dd", value)) for name, value in facts if value != ABSENT]
    note = ENVIRONMENT_NOTES.get(str(summary.get("environment")))
    return [
        tag("p", "Storage Matrix report", class_="kicker"),
        tag("h1", summary.get("name") or summary.get("run") or "run"),
        tag("dl", *listed, class_="facts"),
        *([tag("p", note, class_="note")] if note else []),
    ]


def _measured(summary: Document) -> str:
    totals = summary.get("totals") or {}
    return f"{totals['measured']} of {totals['cells']}" if "measured" in totals and "cells" in totals else ABSENT


def _contents(
    shown: list[Section], *, has_matrix: bool, has_ceilings: bool, has_layers: bool, has_grids: bool, has_built: bool
) -> Markup:
    names = [("matrix", "The matrix")] if has_matrix else []
    names += [("comparisons", "Each comparison")]
    names += [("ceilings", "Which ceiling was hit")] if has_ceilings else []
    for section in shown:
        names += [(section.id, section.title)]
        names += [("grids", "Block size against threads")] if has_grids and section.id == "sweeps" else []
    names += [("layers", "What each layer saw")] if has_layers else []
    names += [
        ("tables", "All figures"),
        ("warnings", "Warnings"),
        *([("built", "What was built")] if has_built else []),
        ("receipt-section", "Receipt"),
        ("provenance", "Provenance"),
    ]
    return tag(
        "nav", tag("ul", *(tag("li", tag("a", title, href=f"#{id_}")) for id_, title in names)), aria_label="Contents"
    )


def _sections(shown: list[Section], crossed: Markup) -> Iterator[Markup]:
    """Yield the sections of charts; the grids of two parameters follow the curves over one."""
    for section in shown:
        yield _section(section)
        if section.id == "sweeps":
            yield crossed


def _section(section: Section) -> Markup:
    blocks = [_chart(chart) for chart in section.charts]
    shown, rest = blocks[:MOST_OPEN], blocks[MOST_OPEN:]
    # Charts with rows need the whole width for the rows' names; the others stand in pairs.
    is_wide = len(shown) == 1 or any(chart.categories or chart.spans for chart in section.charts)
    class_ = None if is_wide else "pairs"
    more = [details(f"{len(rest)} more charts", tag("div", *rest, class_=class_))] if rest else []
    return tag("section", tag("h2", section.title), tag("div", *shown, class_=class_), *more, id=section.id)


def _chart(chart: Chart) -> Markup:
    rows = [[figure_of(value) for value in row] for row in chart.rows]
    notes = [tag("ul", *(tag("li", note) for note in chart.notes), class_="quiet")] if chart.notes else []
    numbers = [details("Figures", table(chart.heads, rows, caption=chart.title))] if rows else []
    keys = (
        tag("span", svg.swatch(mark), series.legend, class_="unseen" if series.is_off else None, **series.of)
        for series, mark in svg.legend(chart)
    )
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
            aria_label=f"{chart.title}. {chart.reads}",
        ),
        tag("div", *notes, *numbers),
        id=chart.id,
        class_="drawn",
        **chart.of,
    )
