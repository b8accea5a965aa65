"""`matrix explore`: all runs as one page, each cell over time."""

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import typer

from cli.inputs import options
from cli.messages import terminal
from cli.messages.errors import CommandError
from cli.target import deployment, mirror, summaries
from cli.target.pages import write_page
from cli.target.service import SHOWN_RUNS, Service

NAME = Path("explore.html")
PUBLISHED = "published-yocto"


def explore(
    output: Annotated[Path, typer.Option("--output", "-o", metavar="FILE", help="Where to write the page.")] = NAME,
    open_: Annotated[bool, typer.Option("--open", help="Open it in the browser.")] = False,
    local: options.Local = False,
    stack: options.Stack = None,
    region: options.Region = None,
) -> None:
    """Write all runs as one page: each cell over time, where it changed, and what was different then.

    The runs that are kept here and the published builds; with --stack or --region the newest ones of AWS. A change is
    what `matrix compare` shows of two runs that follow each other. The page works offline, and its address keeps
    what is chosen.

    Example: matrix explore --open
    """
    deployment.refuse_two_places(local=local, stack=stack)
    on_aws = not local and (stack is not None or region is not None)
    names = _on_aws(stack, region) if on_aws else mirror.kept_runs()
    read = list(_read(names, local=not on_aws, stack=stack, region=region))
    # scipy takes half a second to import, so `matrix --help` must not import it.
    from matrix.answer.history import KeptRun
    from matrix.published.beside import beside
    from matrix.published.yocto_run import yocto_run
    from matrix.report.explore import render_explore

    runs = [KeptRun(each.with_samples(), each.results(), beside(each.summary)) for each in read]
    if PUBLISHED not in {run.name for run in runs}:
        runs.append(KeptRun(yocto_run(PUBLISHED), {}))
    runs.sort(key=lambda run: run.summary.get("started_at") or 0.0)
    write_page(output, render_explore(runs), is_opened=open_)


def _on_aws(stack: str | None, region: str | None) -> list[str]:
    service = Service(deployment.find(local=False, stack=stack, region=region))
    return [execution.run for execution in service.executions(SHOWN_RUNS)]


def _read(names: list[str], *, local: bool, stack: str | None, region: str | None) -> Iterator[summaries.FoundRun]:
    """Yield the runs that have results; of the others it is said why they are left out."""
    for name in names:
        try:
            yield summaries.find(name, local=local, stack=stack, region=region)
        except CommandError as error:
            terminal.stderr().print(f"left out: {error}", soft_wrap=True)
