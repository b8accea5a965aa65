"""`matrix import-published`: the published benchmarks as runs for results, compare and report."""

from typing import Annotated

import typer

from cli.inputs import options
from cli.messages import terminal
from cli.messages.errors import CommandError, ExitCode
from cli.target.known_runs import PUBLISHED
from cli.target.run_documents import RunDocuments
from cli.target.run_folders import RunFolders

PREFIX = PUBLISHED


def import_published(
    prefix: Annotated[
        str, typer.Option("--prefix", metavar="NAME", help="What the names of the runs begin with.")
    ] = PREFIX,
    as_json: options.AsJson = False,
) -> None:
    """Load the published benchmarks as runs.

    Yocto builds on EBS, EFS and FSx with 1 to 200 instances, and what their authors measured later, by month; fio on
    EBS; the EFS tutorial and workshop; zero-byte files; reads of S3, EBS and a file server; Mountpoint's own charts;
    fio on EBS with AMD processors; downloads by S3 clients; mdtest on EFS; files on EFS, FSx for Lustre and EBS.
    Written to .local/runs/, marked as published; loading again changes nothing. Calls no AWS.

    Example: matrix import-published && matrix report published-yocto --open
    """
    runs = load(prefix)
    if as_json:
        terminal.print_json({"runs": runs})
    terminal.stderr().print(f"loaded {', '.join(runs)}; look at one: matrix results {next(iter(runs))}")


def load(prefix: str) -> list[str]:
    """Write the published benchmarks as runs; return their names."""
    from matrix.answer.decision import decide
    from matrix.published.runs import published_runs
    from matrix.terms.ids import cut

    runs = published_runs(prefix)
    if any(cut(name, 80) != name for name in runs) or not prefix.strip("."):
        advice = "use letters, digits, dots, dashes and underscores"
        raise CommandError(f"{prefix!r} cannot begin the name of a run", advice, ExitCode.BAD_INPUT)
    folders = RunFolders()
    for name in runs:
        kept = RunDocuments(folders, name).written_summary()
        if kept is not None and kept.get("environment") != "published":
            advice = "choose another beginning: --prefix"
            raise CommandError(f"{name} is a run that was measured here", advice, ExitCode.BAD_INPUT)
    for name, published in runs.items():
        published["decision"] = decide(published)
        folders.put_documents(name, {"summary.json": published})
    return list(runs)
