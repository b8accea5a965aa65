"""`matrix report`: the page for the decision, drawn again from a run's documents."""

from pathlib import Path
from typing import Annotated, TypedDict

import typer

from cli.inputs import options
from cli.messages import terminal
from cli.messages.errors import CommandError, ExitCode
from cli.target import metrics, page_seal
from cli.target.baselines import run_named
from cli.target.documents import is_anything_damaged, readable
from cli.target.known_runs import kept_runs
from cli.target.pages import print_page, show_page, write_page
from cli.target.place import Place
from cli.target.run_folders import RunFolders
from cli.target.summaries import LATEST, FoundRun, find
from cli.target.workdir import run_folder
from local.keeping.runs import EXECUTION
from matrix.terms.documents.parts import Part
from matrix.terms.documents.plan import PlanDocument
from matrix.terms.documents.receipt import ReceiptDocument
from matrix.terms.documents.result import ResultDocument
from matrix.terms.documents.summary import SummaryDocument

NAME = page_seal.PAGE


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
    pdf: Annotated[
        Path | None, typer.Option("--pdf", metavar="FILE", help="Also print it into FILE, by this machine's Chromium.")
    ] = None,
    open_: Annotated[bool, typer.Option("--open", help="Open it in the browser.")] = False,
    local: options.Local = False,
    stack: options.Stack = None,
    region: options.Region = None,
    as_json: options.AsJson = False,
) -> None:
    """Write the report of a run as one HTML page.

    The page works offline. It has the answer with its cost and its certainty, then charts and tables of all figures. It
    is drawn from the run's documents, because a page in the run's folder may come from a stranger; drawn once, a local
    run's page is shown again as long as neither it nor a document has changed. On AWS each run already has its page in
    the bucket; use this for older and for published runs. --json prints the paths of page and charts.

    Example: matrix report latest --open
    """
    place = Place(local, stack, region)
    if output is None and charts is None and pdf is None and not as_json and (kept := _drawn_before(run, place)):
        show_page(kept, is_opened=open_)
        return
    reported = find(run, place)
    is_kept_here = isinstance(reported.store, RunFolders)
    drawn_from = page_seal.digest_of_documents(run_folder(reported.run)) if is_kept_here else b""
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
    if is_kept_here and output is None and not is_anything_damaged():
        page_seal.seal(path.parent, drawn_from)
    if pdf is not None:
        print_page(path, pdf)
    drawn = _write_charts(summary, known, charts) if charts is not None else []
    if as_json:
        printed = {"pdf": str(pdf)} if pdf else {}
        charts_drawn = [str(chart) for chart in drawn]
        terminal.print_json({"run": summary["run"], "page": str(path), "charts": charts_drawn, **printed})


def _drawn_before(run: str, place: Place) -> Path | None:
    """Return the page of a run of this machine that this user has drawn before, of the same documents."""
    if place.is_on_aws:
        return None
    name = run_named(run, place)
    if name == LATEST:
        newest = kept_runs()[:1]
        # A run that was never started, such as a published one, is not the latest.
        name = next((each for each in newest if (run_folder(each) / EXECUTION).exists()), "")
    folder = run_folder(name) if name else None
    return folder / NAME if folder and page_seal.is_sealed(folder) else None


def _place(run: FoundRun) -> Path:
    """Return the path of the page: in the folder of a run that is kept here, else in the working directory.

    A kept summary may name another run than its folder. Its page stays in its own folder.
    """
    folder = run_folder(run.run)
    return folder / NAME if folder.is_dir() else Path(f"{folder.name}-{NAME}")


def documents(run: FoundRun) -> Documents:
    """Return the documents of a report besides the summary: plan, receipt, objective, each cell's single values."""
    return {
        "results": metrics.with_late_metrics(run.store, run.summary, run.results()),
        "plan": readable(run.plan),
        "receipt": readable(run.receipt),
        "objective": (readable(run.matrix) or {}).get("objective"),
    }


def _write_charts(summary: SummaryDocument, known: Documents, folder: Path) -> list[Path]:
    from matrix.report.charts import sections
    from matrix.report.drawing.svg import document
    from matrix.report.origin import describe_origin
    from matrix.report.page import view_of

    if folder.exists() and not folder.is_dir():
        raise CommandError(f"{folder} is not a folder", "name another one: --charts DIR", ExitCode.BAD_INPUT)
    charts = [chart for section in sections(view_of(summary, **known), is_page=False) for chart in section.charts]
    folder.mkdir(parents=True, exist_ok=True)
    paths = [folder / f"{chart.id}.svg" for chart in charts]
    for chart, path in zip(charts, paths, strict=True):
        path.write_text(document(chart, describe_origin(summary)), encoding="utf-8")
    terminal.stderr().print(f"{len(charts)} charts as .svg in {folder}/")
    return paths
