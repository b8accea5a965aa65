"""`matrix import-published`: the published Yocto builds as a run, so that results, compare and report work on them."""

import json
from typing import Annotated

import typer

from cli.messages import terminal
from cli.messages.errors import CommandError, ExitCode
from cli.target import mirror
from cli.target.workdir import run_folder

NAME = "published-yocto"


def import_published(
    name: Annotated[str, typer.Option("--name", metavar="RUN", help="The name of the run it becomes.")] = NAME,
) -> None:
    """Load the published Yocto builds as a run.

    Durations of builds on EBS, EFS and FSx for OpenZFS with 1 to 200 instances, as percentiles, marked as published.
    Written to .local/runs/RUN/; loading again changes nothing. Calls no AWS.

    Example: matrix import-published
    """
    from matrix.answer.decision import decide
    from matrix.published.yocto_run import yocto_run
    from matrix.terms.ids import cut

    if cut(name, 80) != name or set(name) <= {"."}:
        advice = "use letters, digits, dots, dashes and underscores"
        raise CommandError(f"{name!r} cannot be the name of a run", advice, ExitCode.BAD_INPUT)
    folder = run_folder(name)
    summary = folder / "summary.json"
    kept = mirror.document(name, "summary.json")
    if kept is not None and kept.get("environment") != "published":
        raise CommandError(f"{name} is a run that was measured here", "choose another name: --name", ExitCode.BAD_INPUT)
    folder.mkdir(parents=True, exist_ok=True)
    published = yocto_run(name)
    published["decision"] = decide(published)
    summary.write_text(json.dumps(published, indent=1, ensure_ascii=False))
    terminal.stderr().print(f"loaded into {folder}/; look at it: matrix results {name}")
