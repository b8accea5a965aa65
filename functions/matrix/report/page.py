"""The page: the answer, then each chart with its figures as a table, then the warnings, the receipt and the origin."""

from collections.abc import Iterator, Mapping, Sequence

from matrix.answer.costs import Bill
from matrix.answer.decision import decide
from matrix.report import parts, shell
from matrix.report.ceilings import ceilings
from matrix.report.charts import Section, sections
from matrix.report.charts.chart import Chart
from matrix.report.grids import grids
from matrix.report.heat_map import heat_map
from matrix.report.html import Markup, data, details, tag
from matrix.report.origin import NOT_AWS, describe_origin
from matrix.report.view import View
from matrix.tables import receipt_text
from matrix.terms.documents.parts import Part
from matrix.terms.documents.plan import PlanDocument
from matrix.terms.documents.receipt import ReceiptDocument
from matrix.terms.documents.result import ResultDocument
from matrix.terms.documents.summary import SummaryDocument
from matrix.terms.quantities import day, rough_duration

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
    shown, hit, heat = sections(view), ceilings(view), heat_map(view)
    crossed, shared = grids(view), parts.directories(view)
    times = parts.service_times(view)
    figures, columns = parts.figures(view)
    turned = "wide" if columns > PORTRAIT_COLUMNS else None
    charts = [chart for section in shown for chart in section.charts]
    island = receipt_text.island(summary, paid)
    # Figures of others, or of files, created no resources.
    has_receipt = summary.get("environment") not in ("published", "imported")
    entries = shell.contents(_entries(shown, has_matrix=bool(heat.text)))
    header = tag("header", _head(view), entries, data_of=describe_origin(summary))
    main = tag(
        "main",
        parts.answer(view, heat),
        hit,
        *_sections(shown, crossed),
        shared,
        tag("section", tag("h2", "All figures"), *figures, id="tables", class_=turned),
        parts.warnings(view),
        parts.failed(view),
        parts.earlier_runs(view),
        times,
        *([parts.receipt(island)] if has_receipt else []),
        parts.provenance(view),
        parts.words(),
    )
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


def _head(view: View) -> Markup:
    """Return the run in a line: its name, how it was measured, its cells, place, day and time."""
    summary = view.summary
    begun, ended = summary.get("started_at"), summary.get("finished_at")
    environment, totals = summary.get("environment"), summary.get("totals")
    is_foreign = environment in ("published", "imported")
    types = {str(cell["fleet"].get("instanceType")) for cell in view.cells}
    facts = [
        f"{environment} figures" if is_foreign else NOT_AWS.get(str(environment), "on AWS"),
        f"{totals['measured']} of {totals['cells']} cells" if totals else str(summary.get("status") or ""),
        f"{totals['failed']} failed" if totals and totals["failed"] and not is_foreign else "",
        types.pop() if len(types) == 1 else "",
        str(view.plan.get("region") or "") if view.plan else "",
        day(begun) if begun is not None else "",
        rough_duration(ended - begun) if not is_foreign and begun is not None and ended is not None else "",
    ]
    name = summary.get("name") or summary.get("run") or "run"
    return tag("p", tag("b", name), f" {' · '.join(filter(None, facts))}", class_="run")


def _entries(shown: list[Section], *, has_matrix: bool) -> list[tuple[str, str]]:
    """Return the places that the head of the page leads to."""
    return [
        ("answer", "Answer"),
        *([("matrix", "Matrix")] if has_matrix else []),
        *([(shown[0].id, "Charts")] if shown else []),
        ("tables", "Figures"),
        ("provenance", "Provenance"),
    ]


def _sections(shown: list[Section], crossed: Markup) -> Iterator[Markup]:
    """Yield the sections of charts; the grids of two parameters follow the curves over one."""
    for section in shown:
        yield _section(section)
        if section.id == "sweeps":
            yield crossed


def _section(section: Section) -> Markup:
    shown, rest = section.charts[:MAX_OPEN], section.charts[MAX_OPEN:]
    elsewhere = "This browser cannot show these charts: their figures are in the table All figures, and in summary.csv."
    more = [details(f"{len(rest)} more charts", _side_by_side(rest), elsewhere=elsewhere)] if rest else []
    note = [tag("p", section.note, class_="quiet")] if section.note else []
    return tag("section", tag("h2", section.title), *note, _side_by_side(shown), *more, id=section.id)


def _side_by_side(charts: Sequence[Chart]) -> Markup:
    """Return charts in pairs."""
    blocks = [shell.figure(chart) for chart in charts]
    return tag("div", *blocks, class_="pairs" if len(blocks) > 1 else None)
