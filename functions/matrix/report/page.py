"""The page: the answer, then each chart with its figures as a table, then the warnings, the receipt and the origin."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby

from matrix.answer.costs import Bill
from matrix.answer.decision import decide
from matrix.report import parts, shell
from matrix.report.built import built
from matrix.report.ceilings import ceilings
from matrix.report.charts import Section, sections
from matrix.report.charts.chart import Chart
from matrix.report.grids import grids
from matrix.report.heat_map import heat_map
from matrix.report.html import Markup, data, details, tag
from matrix.report.origin import describe_origin
from matrix.report.view import View
from matrix.run import receipt_text
from matrix.tables.directories_table import TITLE
from matrix.terms.documents.parts import Part
from matrix.terms.documents.plan import PlanDocument
from matrix.terms.documents.receipt import ReceiptDocument
from matrix.terms.documents.result import ResultDocument
from matrix.terms.documents.summary import SummaryDocument
from matrix.terms.quantities import ABSENT, instant, rough_duration

# More charts than this in one section are folded away, and unfolded in print.
MAX_OPEN = 4
# Portrait paper has room for this many columns of figures; landscape would leave a part of a page empty.
PORTRAIT_COLUMNS = 11


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
    shown, hit, passed, heat = sections(view), ceilings(view), parts.layers(view), heat_map(view)
    crossed, drawn, shared = grids(view), built(view), parts.directories(view)
    figures, columns = parts.figures(view)
    turned = "wide" if columns > PORTRAIT_COLUMNS else None
    charts = [chart for section in shown for chart in section.charts]
    island = receipt_text.island(summary, paid)
    # Figures of others, or of files, created no resources.
    has_receipt = summary.get("environment") not in ("published", "imported")
    header = tag("header", *_head(view), data_of=describe_origin(summary))
    main = tag(
        "main",
        _contents(
            shown, has_matrix=bool(heat.text), has_ceilings=hit is not None, has_layers=passed is not None,
            has_directories=shared is not None, has_grids=bool(crossed.text), has_built=bool(drawn.text),
            has_receipt=has_receipt,
        ),
        parts.answer(view),
        heat,
        *([hit] if hit else []),
        *_sections(shown, crossed),
        *([shared] if shared else []),
        *([passed] if passed else []),
        tag("section", tag("h2", "All figures"), *figures, id="tables", class_=turned),
        parts.warnings(view),
        parts.failed(view),
        parts.earlier_runs(view),
        drawn,
        *([parts.receipt(island)] if has_receipt else []),
        parts.provenance(view),
        parts.words(),
    )  # fmt: skip
    title = f"{summary.get('name') or summary.get('run')}: report"
    islands = [data(island, receipt_text.ISLAND)] if has_receipt else []
    return shell.whole(title, [header, main], charts=charts, facets=view.facets, islands=islands)


def view_of(
    summary: SummaryDocument,
    *,
    results: Mapping[str, ResultDocument] | None = None,
    plan: PlanDocument | None = None,
    receipt: ReceiptDocument | None = None,
    objective: Part | None = None,
) -> View:
    """Return the data of charts and tables; a summary without a decision is decided here."""
    known = {name: result for name, result in (results or {}).items() if result}
    bill = Bill.of(plan, receipt or summary.get("receipt"))
    decision = summary.get("decision") or decide(summary, results=known, objective=objective, bill=bill)
    return View(summary, known, plan, decision)


def _head(view: View) -> list[Markup]:
    summary = view.summary
    begun, ended = summary.get("started_at"), summary.get("finished_at")
    facts = [
        ("Run", summary.get("run", ABSENT)),
        ("Environment", summary.get("environment", ABSENT)),
        ("State", summary.get("status", ABSENT)),
        *(
            [("Published", instant(begun).partition(" ")[0])]
            if summary.get("environment") == "published"
            else [
                ("Cells measured", _measured(summary)),
                ("Started", instant(begun)),
                ("Took", rough_duration(ended - begun) if begun is not None and ended is not None else ABSENT),
            ]
        ),
    ]
    listed = [(name, value) for name, value in facts if value != ABSENT]
    return [
        tag("p", "Storage Matrix report", class_="kicker"),
        tag("h1", summary.get("name") or summary.get("run") or "run"),
        shell.facts(listed),
    ]


def _measured(summary: SummaryDocument) -> str:
    totals = summary.get("totals")
    return f"{totals['measured']} of {totals['cells']}" if totals else ABSENT


def _contents(
    shown: list[Section],
    *,
    has_matrix: bool,
    has_ceilings: bool,
    has_directories: bool,
    has_layers: bool,
    has_grids: bool,
    has_built: bool,
    has_receipt: bool,
) -> Markup:
    names = [("matrix", "The matrix")] if has_matrix else []
    names += [("ceilings", "Bottlenecks")] if has_ceilings else []
    for section in shown:
        names += [(section.id, section.title)]
        names += [("grids", "Block size against threads")] if has_grids and section.id == "sweeps" else []
    names += [("directories", TITLE)] if has_directories else []
    names += [("layers", "What each layer saw")] if has_layers else []
    names += [
        ("tables", "All figures"),
        ("warnings", "Warnings"),
        *([("built", "Topology")] if has_built else []),
        *([("receipt-section", "Receipt")] if has_receipt else []),
        ("provenance", "Provenance"),
        ("words", "Words"),
    ]
    return shell.contents(names)


def _sections(shown: list[Section], crossed: Markup) -> Iterator[Markup]:
    """Yield the sections of charts; the grids of two parameters follow the curves over one."""
    for section in shown:
        yield _section(section)
        if section.id == "sweeps":
            yield crossed


def _section(section: Section) -> Markup:
    shown, rest = section.charts[:MAX_OPEN], section.charts[MAX_OPEN:]
    elsewhere = "This browser cannot show these charts: their figures are in the table All figures, and in summary.csv."
    more = [details(f"{len(rest)} more charts", *_side_by_side(rest), elsewhere=elsewhere)] if rest else []
    note = [tag("p", section.note, class_="quiet")] if section.note else []
    return tag("section", tag("h2", section.title), *note, *_side_by_side(shown), *more, id=section.id)


def _side_by_side(charts: Sequence[Chart]) -> Iterator[Markup]:
    """Yield charts in pairs; those with rows or steps need the whole width for the names in them."""
    for is_wide, group in groupby(charts, key=lambda chart: bool(chart.categories or chart.spans)):
        blocks = [shell.figure(chart) for chart in group]
        yield tag("div", *blocks, class_=None if is_wide or len(blocks) == 1 else "pairs")
