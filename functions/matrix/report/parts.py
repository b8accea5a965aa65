"""The parts of the page that are words and tables: the answer, all figures, warnings, provenance."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from matrix.answer.costs import prices_read
from matrix.input.storage_names import storage_label
from matrix.price.book import published_prices
from matrix.report.html import Markup, details, join, tag
from matrix.report.html_table import html_table
from matrix.report.origin import origin
from matrix.report.ranking import rankings
from matrix.report.view import View
from matrix.samples.provenance import lines
from matrix.tables.directories_table import directories_table
from matrix.tables.earlier_runs import earlier_runs_table
from matrix.tables.failed_table import failed_table
from matrix.tables.fleet_rates_table import fleet_rates_table
from matrix.tables.highest_rates import highest_rates_table
from matrix.tables.percentiles import has_refused, other_metrics_table, percentile_tables
from matrix.tables.service_times_table import service_times_table
from matrix.tables.table import Table, TableCell
from matrix.terms.figures import NOT_CARRIED_NOTE
from matrix.terms.grouping import grouped
from matrix.terms.measured import measured
from matrix.terms.metrics import metric_title
from matrix.terms.quantities import ABSENT, count_of, quantity
from matrix.terms.verdicts import leading
from matrix.text.decisions import NEAR, sale_note
from matrix.text.glossary import GLOSSARY
from matrix.text.headlines import doubts, headline, question_headline
from matrix.text.rankings import OPEN
from matrix.text.warnings import every_warning, kinds_of, of_run

# Longer tables of percentiles are folded away, and of what has no figures.
MAX_ROWS = 500
MAX_OPEN_ROWS = 12
ONLY_IN_CSV = "This browser cannot show these figures: they are in summary.csv, beside this page."
# A matrix of so many columns stands beside the bars.
BESIDE_COLUMNS = 6
# Lines of the answer with caveats.
MAX_DOUBTS = 5
# Kinds of warnings that are shown, the others are folded away.
MAX_WARNINGS = 5
# Rows of metrics that are not primary, and of fleets. With 200 cells they were 9,600 rows, 29 % of the page.
MAX_OTHERS = 2_000
# --- the answer -------------------------------------------------------------------------------------------------------


def answer(view: View, matrix: Markup) -> Markup:
    """The verdict as the page's title, its evidence as bars and matrix, its caveats in a line that unfolds."""
    is_for_sale = view.decision.get("is_recommendation", True)
    note, first = sale_note(view.summary), leading(view.questions)
    whole = headline(view.decision, view.called)
    title = whole if first is None else question_headline(view.questions[first], view.decision, view.called)
    of_all = [tag("p", whole, class_="why")] if len(view.questions) > 1 else []
    is_narrow = first is not None and len(view.questions) <= BESIDE_COLUMNS
    return tag(
        "section",
        tag("h1", title),
        *([tag("p", note, class_="note")] if note else []),
        *of_all,
        *_doubts(view),
        tag("div", rankings(view), matrix, class_="first beside" if is_narrow and matrix.text else "first"),
        origin(view),
        tag("p", *_how(view), class_="quiet"),
        id="answer",
        class_=None if is_for_sale else "unsold",
    )


def _doubts(view: View) -> Iterator[Markup]:
    """The worst caveats of the answer, and a link to all warnings."""
    if lines := doubts(view.summary, view.decision, view.called, MAX_DOUBTS):
        has_more = any(True for _ in every_warning(view.summary))
        more = [tag("p", tag("a", "All warnings", href="#warnings"), class_="quiet")] if has_more else []
        count = f"{len(lines)} caveat{'s' if len(lines) > 1 else ''}"
        rest = [_list(lines[1:])] if lines[1:] else []
        yield tag("div", details(f"{count}: {lines[0]}", *rest, *more), class_="doubts")


def _how(view: View) -> Iterator[object]:
    """Explain the ranking in one or two sentences, with a link to the glossary."""
    objective = view.decision.get("objective")
    percent = view.decision.get("percentile", 90)
    yield f"Ranked by P{percent:g} of durations and P{100 - percent:g} of rates: {percent:g} % of the samples are at "
    yield "least that good. With too few samples for that, the median ranks. "
    if objective:
        is_upper = objective.get("atMost") is not None
        value = objective["atMost" if is_upper else "atLeast"]
        title = metric_title(str(objective.get("metric")), view.only_workload)
        limit = f"at {'most' if is_upper else 'least'} {value:g}"
        yield f"Objective: {title} {limit}; of the storages that meet it the cheapest is named. "
    elif view.decision.get("is_recommendation", True):
        yield f"Best value: the cheapest within {NEAR} of the fastest. "
    if view.summary.get("environment") == "published":
        yield "No difference was tested, as single values are not published. "
        if any(candidate["cost"] for question in view.questions for candidate in question["candidates"]):
            yield "Costs are those of the median time. "
    else:
        yield f"{OPEN}: the interval leaves open whether it is within {NEAR} of the fastest. "
    yield tag("a", "What the words mean", href="#words")


# --- all figures ------------------------------------------------------------------------------------------------------


def figures(view: View) -> tuple[list[Markup], int]:
    """Return tables of every percentile: first the metrics that workloads are judged by, then all others.

    With them comes how many columns the widest of the first has.
    """
    primary = list(percentile_tables(view.entries, lambda each: view.curve(each.cell)))
    others = _other_metrics(view)
    notes = [tag("p", NOT_CARRIED_NOTE)] if has_refused(view.entries) else []
    far_off = _far_off(view)
    rates = highest_rates_table(view.cells)
    blocks = [
        *([html_table(rates, class_="many")] if rates.rows else []),
        *(_percentiles(view, built) for built in primary),
        *notes,
        *([far_off] if far_off else []),
        *_of_fleets(view),
        *([details("All other metrics", others, elsewhere=ONLY_IN_CSV)] if others else []),
    ]
    return blocks, max((len(built.shown(has_details=True).columns) for built in primary), default=0)


def _percentiles(view: View, built: Table) -> Markup:
    """Return a table of percentiles, folded if it is long, and the reasons for missing figures."""
    shown = html_table(built.without_constants(), class_="many", marks=view.marks)
    if len(built.rows) > MAX_ROWS:
        shown = details(f"{built.title}: {len(built.rows):,} rows", shown, elsewhere=ONLY_IN_CSV)
    return join([shown, *(tag("p", note.text, class_="quiet", **view.marks(note.about)) for note in built.notes)])


def _far_off(view: View) -> Markup | None:
    """List outliers by instance and repetition; they are marked here and still count in every figure."""
    rows: list[Sequence[object]] = []
    count = 0
    for entry in view.entries:
        outliers = entry.metric.get("outliers")
        if outliers is None:
            continue
        count += outliers["count"]
        rows += [
            (
                *(entry.storage, entry.fleet, entry.label, outlier["instance"], outlier["repetition"]),
                TableCell(quantity(outlier["value"], entry.unit), outlier["value"]),
                f"{outlier['kind']}, {outlier['side']}",
            )
            for outlier in outliers["listed"]
        ]
    if not rows:
        return None
    heads = ("Storage", "Instances", "Point", "Instance", "Repetition", "Value", "How far")
    rule = "Outside: more than 1.5 times the interquartile range from the quartiles; far out: 3 times. All count."
    rule += f" Of {count} the farthest of each point are shown." if count > len(rows) else ""
    listed = html_table(Table.of("Values far from the others", heads, rows), class_="many")
    return details(f"Values far from the others: {count}, none left out", tag("p", rule, class_="quiet"), listed)


def _of_fleets(view: View) -> Iterator[Markup]:
    count = sum(len(entry.point.get("fleet") or []) for entry in view.entries)
    if count > MAX_OTHERS:
        yield tag("p", f"The rates of whole fleets, {count:,} rows, are in summary.json.", class_="quiet")
    elif count:
        built = fleet_rates_table(view.entries, lambda each: view.curve(each.cell))
        yield details(built.title, html_table(built, class_="many", is_captioned=False))


def _other_metrics(view: View) -> Markup | None:
    others = [each for each in measured(view.cells) if not each.is_judged]
    if len(others) > MAX_OTHERS:
        command = tag("code", f"matrix results {view.summary.get('run', '')} --format csv")
        return tag(
            "p",
            f"{len(others):,} rows, too many for a page that is opened and read. They are in summary.csv, and ",
            command,
            " prints them.",
        )
    return html_table(other_metrics_table(others), class_="many", marks=view.marks) if others else None


# --- caveats ----------------------------------------------------------------------------------------------------------


def warnings(view: View) -> Markup:
    """Every warning of the run and of its cells by its kind; the receipt has the remaining resources.

    The run's own come first, because they affect every figure, then the most severe kinds; within a kind the worst.
    """
    about_run = of_run(view.summary)
    kinds = kinds_of(view.summary)
    count = len(about_run) + sum(len(kind.warnings) for kind in kinds)
    rows = [tag("li", warning) for warning in about_run]
    rows += [tag("li", first, *_alike(others)) for kind in kinds for first, *others in [kind.lines]]
    shown, rest = rows[:MAX_WARNINGS], rows[MAX_WARNINGS:]
    more = [details(f"{count_of(len(rest), 'more kind')} of warnings", tag("ul", *rest))] if rest else []
    title = f"Warnings ({count}" + (f", {len(rows)} kinds)" if len(rows) < count else ")")
    body = [tag("ul", *shown), *more] if rows else [tag("p", "None.")]
    return tag("section", tag("h2", title), *body, id="warnings")


def _alike(warnings: Sequence[str]) -> list[Markup]:
    return [details(f"{len(warnings)} more like this", _list(warnings))] if warnings else []


def _list(texts: Iterable[str]) -> Markup:
    return tag("ul", *(tag("li", text) for text in texts))


def failed(view: View) -> Markup:
    """Cells without a result, with the reason."""
    built = failed_table(view.summary, view.curve)
    alike = grouped(
        (tuple(what), fleet) for (*what, fleet) in built.texts("Storage", "Workload", "State", "Why", "Fleet")
    )
    rows = [(storage, ", ".join(fleets), *rest) for (storage, *rest), fleets in alike.items()]
    heads = ("Storage", "Fleets", "Workload", "State", "Why")
    return _section(Table.of(built.title, heads, rows).without_constants(), "failed")


def earlier_runs(view: View) -> Markup:
    """Cells with an earlier run's result, or with unused samples of one; nothing for a run without `resume`."""
    return _section(earlier_runs_table(view.summary), "earlier")


def _section(built: Table, id_: str) -> Markup:
    """Return a table as a section, folded if it is long; nothing without rows."""
    if not built.rows:
        return Markup("")
    shown = html_table(built, class_="prose", is_captioned=False)
    if len(built.rows) > MAX_OPEN_ROWS:
        shown = details(f"{len(built.rows):,} rows", shown)
    return tag("section", tag("h2", built.title), shown, id=id_)


# --- sections on the side ---------------------------------------------------------------------------------------------


def directories(view: View) -> Markup:
    """Compare one directory for all workers with own ones, for points measured both ways; empty if there are none."""
    return _sentences(directories_table(view.summary), "directories")


def service_times(view: View) -> Markup:
    """Write how long AWS took for each storage; empty if nothing is known."""
    return _sentences(service_times_table(view.summary), "service-times")


def _sentences(built: Table, name: str) -> Markup:
    sentences = [tag("li", f"{subject}: {sentence}.") for subject, sentence in built.texts()]
    return tag("section", tag("h2", built.title), tag("ul", *sentences), id=name) if sentences else Markup("")


def receipt(drawn: Mapping[str, Any]) -> Markup:
    """Draw the result of `receipt_text.island`; the page's script draws it again, readers without it keep this."""
    rows = [[TableCell(**cell) if isinstance(cell, dict) else cell for cell in row] for row in drawn["rows"]]
    note = "As of when this page was drawn. The clean-up after a run completes the receipt in receipt.json."
    return tag(
        "section",
        tag("h2", "Receipt"),
        tag("noscript", tag("p", note, class_="quiet")),
        tag(
            "div",
            *(tag("p", sentence) for sentence in drawn["sentences"]),
            *([details("Each resource", html_table(Table.of("Resources", drawn["heads"], rows)))] if rows else []),
            id="receipt-drawn",
        ),
        id="receipt-section",
    )


# --- origin -----------------------------------------------------------------------------------------------------------


def provenance(view: View) -> Markup:
    """Return the provenance of the run: its place, agents, tools and prices."""
    rows = [(cell["id"], *line) for cell in view.cells for line in lines(cell.get("provenance") or {})]
    book = published_prices()
    plan: Mapping[str, Any] = view.plan or {}
    facts: list[tuple[str, object]] = [
        ("Run", view.summary.get("run", ABSENT)),
        ("Environment", view.summary.get("environment", ABSENT)),
        ("Source", view.summary.get("source")),
        ("Region", plan.get("region")),
        ("Agent", plan.get("agent_key")),
        ("Seed of the order", plan.get("seed")),
        ("Prices", f"{book.region}, read {prices_read(book)}, on demand"),
        *((f"Storage {name}", label) for name, label in _storages(view).items()),
    ]
    listed = [(name, str(value)) for name, value in facts if value is not None]
    blocks = [html_table(Table.of("Provenance of the run", ("What", "Which"), listed))]
    if rows:
        heads = ("Cell", "What", "Which (of how many instances or samples)")
        cells = html_table(Table.of("Provenance of the cells", heads, rows))
        blocks.append(details("Instances, kernels, mount options, tools of each cell", cells))
    assumed = plan.get("assumptions") or []
    if assumed:
        blocks.append(details("Assumptions of the plan", tag("ul", *(tag("li", assumption) for assumption in assumed))))
    return tag("section", tag("h2", "Provenance"), *blocks, id="provenance")


def words() -> Markup:
    listed = [tag("div", tag("dt", word), tag("dd", meaning)) for word, meaning in GLOSSARY.items()]
    return tag("section", tag("h2", "Words"), tag("dl", *listed, class_="words"), id="words")


def _storages(view: View) -> dict[str, str]:
    return {str(cell.get("file_system")): storage_label(dict(cell["storage"])) for cell in view.cells}
