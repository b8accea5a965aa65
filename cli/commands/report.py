"""`matrix report`: the page for the decision, drawn again from a run's documents."""

from pathlib import Path
from typing import Annotated, TypedDict

import typer

from cli.inputs import options
from cli.messages import terminal
from cli.messages.errors import CommandError, ExitCode
from cli.target import metrics
from cli.target.documents import readable
from cli.target.pages import write_page
from cli.target.place import Place
from cli.target.summaries import LATEST, FoundRun, find
from cli.target.workdir import run_folder
from matrix.terms.documents.parts import Part
from matrix.terms.documents.plan import PlanDocument
from matrix.terms.documents.receipt import ReceiptDocument
from matrix.terms.documents.result import ResultDocument
from matrix.terms.documents.summary import SummaryDocument

NAME = "report.html"


class Documents(TypedDict):
    """The documents of a report besides the summary."""

    results: dict[str, ResultDocument]
    plan: PlanDocument | None
    receipt: ReceiptDocument | None
    objective: Part | None


def report(
    run: options.RunOrLatest = LATEST,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", metavar="FILE", help="Where to write the page.")
    ] = None,
    charts: Annotated[
        Path | None, typer.Option("--charts", metavar="DIR", help="Also write each chart as SVG into DIR.")
    ] = None,
    open_: Annotated[bool, typer.Option("--open", help="Open it in the browser.")] = False,
    local: options.Local = False,
    stack: options.Stack = None,
    region: options.Region = None,
    as_json: options.AsJson = False,
) -> None:
    """Write the report of a run as one HTML page.

    The page works offline. It has the answer with its cost and its certainty, then charts and tables of all figures. It
    is drawn anew from the run's documents each time, because a page in the run's folder may come from a stranger. On
    AWS each run already has its page in the bucket; use this for older and for published runs. --json prints the paths
    of page and charts.

    Example: matrix report latest --open
    """
    reported = find(run, Place(local, stack, region))
    known = documents(reported)
    summary = metrics.with_bottlenecks(reported.summary, known["results"])
    # The report imports numpy, so other commands must not import it.
    from matrix.report.page import render

    page = render(summary, **known)
    path = output or _place(reported)
    if output is None:
        # A file in its place may be a link to any file of this machine, which must not be overwritten.
        path.unlink(missing_ok=True)
    write_page(path, page, is_opened=open_, is_silent=as_json)
    drawn = _write_charts(summary, known, charts) if charts is not None else []
    if as_json:
        terminal.print_json({"run": summary["run"], "page": str(path), "charts": [str(chart) for chart in drawn]})


def _place(run: FoundRun) -> Path:
    """Return the path of the page: in the folder of a run that is kept here, else in the working directory.

    A kept summary may name another run than its folder. Its page stays in its own folder.
    """
    folder = run_folder(run.run)
    return folder / NAME if folder.is_dir() else Path(f"{folder.name}-{NAME}")


def documents(run: FoundRun) -> Documents:
    """Return the documents of a report besides the summary: plan, receipt, objective, each cell's single values."""
    return {
        "results": metrics.refreshed(run.store, run.summary, run.results()),
        "plan": readable(run.plan),
        "receipt": readable(run.receipt),
        "objective": (readable(run.matrix) or {}).get("objective"),
    }


def _write_charts(summary: SummaryDocument, known: Documents, folder: Path) -> list[Path]:
    """Write each chart into the folder; return their paths."""
    from matrix.report.charts import sections
    from matrix.report.drawing.svg import document
    from matrix.report.origin import origin_words
    from matrix.report.page import view_of

    if folder.exists() and not folder.is_dir():
        raise CommandError(f"{folder} is no folder", "name another one: --charts DIR", ExitCode.BAD_INPUT)
    charts = [chart for section in sections(view_of(summary, **known), is_page=False) for chart in section.charts]
    folder.mkdir(parents=True, exist_ok=True)
    paths = [folder / f"{chart.id}.svg" for chart in charts]
    for chart, path in zip(charts, paths, strict=True):
        path.write_text(document(chart, origin_words(summary)), encoding="utf-8")
    terminal.stderr().print(f"{len(charts)} charts as .svg in {folder}/")
    return paths
