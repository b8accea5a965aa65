"""`matrix report`: the page that decides, drawn again from what a run has left."""

import webbrowser
from pathlib import Path
from typing import Annotated, Any

import typer

from cli.inputs import options
from cli.messages import terminal
from cli.messages.errors import CommandError, ExitCode
from cli.target import deployment, metrics, mirror
from cli.target.service import Service
from cli.target.summaries import LATEST, find_summary
from cli.target.workdir import run_folder
from matrix.terms.sentences import ENVIRONMENT_NOTES

NAME = "report.html"
Documents = dict[str, Any]


def report(
    run: Annotated[str, typer.Argument(metavar="RUN", help="The run's name, or `latest`.")] = LATEST,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", metavar="FILE", help="Where to write the page.")
    ] = None,
    charts: Annotated[
        Path | None, typer.Option("--charts", metavar="DIR", help="Also write each chart as SVG and PNG into DIR.")
    ] = None,
    open_: Annotated[bool, typer.Option("--open", help="Open it in the browser.")] = False,
    local: options.Local = False,
    stack: options.Stack = None,
    region: options.Region = None,
) -> None:
    """Write the report of a run: one HTML page that works offline.

    Which storage to take, by how much, at what cost and how sure that is; then charts and tables of all figures.
    On AWS each run has its page in the bucket already; this draws it anew, also of older and of published runs.

    Example: matrix report latest --open
    """
    summary = find_summary(run, local=local, stack=stack, region=region)
    known = documents(summary, local=local, stack=stack, region=region)
    summary = metrics.with_bottlenecks(summary, known.get("results", {}))
    # The report imports numpy, so other commands must not import it.
    from matrix.report.page import render

    page = render(summary, **known)
    path = output or _place(summary)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(page, encoding="utf-8")
    typer.echo(str(path))
    if charts is not None:
        _write_charts(summary, known, charts)
    if open_ and not webbrowser.open(path.resolve().as_uri()):
        raise CommandError("no browser could be started", f"open it yourself: {path.resolve().as_uri()}")


def _place(summary: Documents) -> Path:
    """Return the path of the page: in the folder of a run that is kept here, else in the working directory."""
    folder = run_folder(Path(summary["run"]).name)
    return folder / NAME if folder.is_dir() else Path(f"{Path(summary['run']).name}-{NAME}")


def documents(summary: Documents, *, local: bool, stack: str | None, region: str | None) -> Documents:
    """Return what a report needs besides the summary: plan, receipt, objective and each cell's single values."""
    run = summary["run"]

    def kept(name: str) -> Documents | None:
        return mirror.document(run, name)

    service = None
    if kept("summary.json") is not None and not (stack or region):
        read = kept
    elif summary.get("environment") == "published":
        return {}
    else:
        is_local = local or summary.get("environment") in ENVIRONMENT_NOTES
        service = Service(deployment.find(local=is_local, stack=stack, region=region))

        def read(name: str) -> Documents | None:
            return service.document(run, name)

    cells = [cell["id"] for cell in summary.get("cells", [])]
    results = {cell: result for cell in cells if (result := read(f"cells/{cell}/result.json"))}
    return {
        "results": metrics.refreshed(service, results, str(summary.get("environment"))) if service else results,
        "plan": read("plan.json"),
        "receipt": read("receipt.json"),
        "objective": (read("matrix.json") or {}).get("objective"),
    }


def _write_charts(summary: Documents, known: Documents, folder: Path) -> None:
    from cli.tables import chart_images

    if folder.exists() and not folder.is_dir():
        raise CommandError(f"{folder} is no folder", "name another one: --charts DIR", ExitCode.BAD_INPUT)
    count = chart_images.write(summary, known, folder)
    terminal.stderr().print(f"{count} charts, each as .svg and .png, in {folder}/")
