"""Two runs side by side as a page: slower and faster points, by how much, and changed provenance."""

from collections.abc import Sequence

from matrix.answer.history import KeptRun, describe_change, what_changed
from matrix.report import shell
from matrix.report.charts.chart import Chart, Series
from matrix.report.facets import Facets, Marks
from matrix.report.html import Markup, tag
from matrix.report.html_table import html_table
from matrix.tables.compared_table import compared_table
from matrix.terms.documents.compared import ComparedPair, ComparedRuns
from matrix.terms.quantities import ABSENT, instant, number
from matrix.text.comparisons import describe_compared

# Marks of verdicts: colour and shape by style, hollow without a verdict.
LOOKS = {"slower": (1, False), "faster": (2, False), "no difference shown": (0, False), "cannot tell": (6, True)}
MAX_ROWS = 60


def render_comparison(document: ComparedRuns, base: KeptRun, run: KeptRun) -> str:
    """Return the page of the result of `matrix.answer.comparing.compare` for two runs."""
    pairs = document["compared"]
    storages = [pair["storage"] for pair in pairs]
    facets = Facets.of(
        storages, [(pair["workload"], pair["point"]) for pair in pairs], [pair["fleet"] for pair in pairs]
    )
    rows = list(zip(pairs, storages, strict=True))
    marks = [_marks(facets, pair, storage) for pair, storage in rows]
    charts = [_chart(document, rows[at : at + MAX_ROWS], marks[at : at + MAX_ROWS], number_)
              for number_, at in enumerate(range(0, len(rows), MAX_ROWS), start=1)]  # fmt: skip
    main = tag(
        "main",
        tag("section", tag("h2", "Answer"), *_answer(document), id="answer"),
        shell.contents([("ratios", "Each cell"), ("changed", "What was different"), ("tables", "All figures")]),
        tag("section", tag("h2", "Each cell"), *map(shell.figure, charts), id="ratios"),
        _changed(base, run),
        tag("section", tag("h2", "All figures"), _figures(document, facets), *_alone(document), id="tables"),
    )  # fmt: skip
    title = f"{run.name} beside {base.name}"
    return shell.whole(title, [_head(title, document, base, run), main], charts=charts, facets=facets)


def _marks(facets: Facets, pair: ComparedPair, storage: str) -> Marks:
    return facets.marks(storage=storage, workload=pair["workload"], label=pair["point"], fleet=pair["fleet"])


def _head(title: str, document: ComparedRuns, base: KeptRun, run: KeptRun) -> Markup:
    known = [
        ("Base", f"{base.name}, {base.environment}, {instant(base.summary.get('started_at'))}"),
        ("Run", f"{run.name}, {run.environment}, {instant(run.summary.get('started_at'))}"),
        ("Threshold", f"{100 * document['threshold']:g} %"),
        ("Cells and points in both", str(len(document["compared"]))),
    ]
    warnings = [tag("p", warning, class_="note") for warning in document["warnings"]]
    return tag("header", tag("p", "Storage Matrix comparison", class_="kicker"), tag("h1", title), shell.facts(known),
               *warnings)  # fmt: skip


def _answer(document: ComparedRuns) -> list[Markup]:
    pairs, headline = document["compared"], describe_compared(document)
    counts = {verdict: sum(pair["verdict"] == verdict for pair in pairs) for verdict in LOOKS}
    tally = ", ".join(f"{count} {verdict}" for verdict, count in counts.items() if count)
    worst = [pair for pair in pairs if pair["is_regression"]][:5]
    lines = [tag("li", f"{_name(pair, pair['storage'])}: {pair['words']}.")
             for pair in worst]  # fmt: skip
    return [
        tag("div", tag("p", headline, class_="headline"), tag("p", f"{tally}." if tally else ""), class_="rankings"),
        *([tag("ul", *lines, class_="answer unsold")] if lines else []),
    ]


def _name(pair: ComparedPair, storage: str) -> str:
    return f"{storage}, {pair['fleet']} · {pair['workload']}, {pair['point']}"


def _factor(pair: ComparedPair, ratio: float | None) -> float | None:
    """The factor of slowness: for durations the ratio itself, for rates one over it."""
    if not ratio:
        return None
    return 1 / ratio if pair["higher_is_better"] else ratio


def _ends(pair: ComparedPair) -> tuple[float | None, float | None]:
    """The ends of the interval of `_factor`, the lower one first; one of 0 is left out, as its factor has no end."""
    interval = pair["interval"]
    if not interval:
        return None, None
    low, high = sorted(_factor(pair, end) or 0.0 for end in (interval["low"], interval["high"]))
    return low or None, high or None


def _chart(
    document: ComparedRuns, rows: Sequence[tuple[ComparedPair, str]], marks: Sequence[Marks], number_: int
) -> Chart:
    names = [f"{_name(pair, storage)}{chr(0x200B) * index}" for index, (pair, storage) in enumerate(rows)]
    series = []
    for verdict, (style, is_hollow) in LOOKS.items():
        mine = [(name, pair) for name, (pair, _) in zip(names, rows, strict=True) if pair["verdict"] == verdict]
        if mine:
            ends = [_ends(pair) for _, pair in mine]
            series.append(
                Series(verdict, [_factor(pair, pair["ratio"]) for _, pair in mine], [name for name, _ in mine], "dots",
                       style, low=[low for low, _ in ends], high=[high for _, high in ends],
                       hover=[pair["words"] for _, pair in mine], is_hollow=is_hollow)
            )  # fmt: skip
    factors = [_factor(pair, pair["ratio"]) for pair, _ in rows]
    return Chart(
        id=f"ratio-{number_}",
        title=f"How many times as slow as in {document['base']}",
        reads="Mark: the median of the run beside that of the base, with its 95 % interval where there is one. 1 is "
        "equal, right of the line is slower by more than the threshold. Hollow: nothing can be told.",
        x_title="times as slow",
        y_title="",
        series=series,
        categories=names,
        rows_of=marks,
        figures=[ABSENT if factor is None else f"×{number(factor)}" for factor in factors],
        figures_head="times as slow",
        limit=(1 + document["threshold"], f"{100 * document['threshold']:g} % slower"),
        metric="ratio of times",
    )


def _changed(base: KeptRun, run: KeptRun) -> Markup:
    """Return the differences in the provenance that the instances of the two runs reported."""
    facts = what_changed(
        *([result.get("provenance") or {} for result in each.results.values()] for each in (base, run))
    )
    lines = [tag("li", describe_change(changed, most=300)) for changed in facts]
    known = all(any(result.get("provenance") for result in each.results.values()) for each in (base, run))
    nothing = "No recorded difference: agent, kernel, mount, tools." if known else (
        "Not known: one of the two has no results of single cells.")  # fmt: skip
    return tag("section", tag("h2", "What was different"),
               tag("ul", *lines) if lines else tag("p", nothing), id="changed")  # fmt: skip


def _figures(document: ComparedRuns, facets: Facets) -> Markup:
    built = compared_table(document["compared"])
    return html_table(built, class_="many", marks=lambda pair: _marks(facets, pair, pair["storage"]))


def _alone(document: ComparedRuns) -> list[Markup]:
    only = ((document["base"], document["only_in_base"]), (document["run"], document["only_in_run"]))
    return [tag("p", f"Only in {run}: {'; '.join(names)}.", class_="quiet") for run, names in only if names]
