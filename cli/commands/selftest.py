"""`matrix selftest`: data with known truths through the whole system, to check that the report finds them."""

import json
import os
import platform
from collections.abc import Sequence
from typing import Annotated, Any

import typer
from rich.text import Text

from agent import VERSION
from cli.inputs import options
from cli.messages import terminal
from cli.messages.errors import ExitCode
from cli.tables.rich_tables import new_table
from cli.target import local_cloud
from cli.target.service import Service

TRIALS, QUICK_TRIALS = 150, 25
HOW = (
    "drawn: fleets of known truths in the agent's own documents, through the real analysis, {trials} of each; rates "
    "with their 95 % intervals. A claim (5 % at most, 92 % at least) is WRONG where chance does not explain the miss.",
    "live: emulated storages on the local cloud, through the real state machine, agents and I/O; one draw of each.",
)


def selftest(
    quick: Annotated[
        bool, typer.Option("--quick", help="Only draw, a sixth as often: half a minute, no I/O, no local cloud.")
    ] = False,
    as_json: options.AsJson = False,
    as_markdown: Annotated[bool, typer.Option("--markdown", help="Print the result as Markdown.")] = False,
) -> None:
    """Test the report with cases whose truth is known.

    Equal storages must not be called different in more than 5 %. A storage that is 20 % slower must be found. Intervals
    must hold the truth as often as they say. Limits, tails, stalls, credits and slow instances must be found. The exit
    code is 1 if a verdict is wrong. It takes about four minutes on two quiet cores.

    Example: matrix selftest --quick
    """
    # scipy takes half a second to import, so `matrix --help` must not import it.
    from cli.selftest import live, trials
    from cli.selftest.judging import Row

    draws = QUICK_TRIALS if quick else TRIALS
    console = terminal.stderr()
    measured: list[Row] = []
    # The live layer first: it needs the processors for itself, and reports missing requirements early.
    if not quick:
        with local_cloud.running_or_started() as cloud:
            measured += live.rows(live.measure(Service(cloud)))
    console.print(f"Drawing {draws} fleets of each truth …")
    drawn = []
    for row in trials.rows(draws):
        console.print(f"  {row.subject}: {row.truth}: {row.verdict}")
        drawn.append(row)
    documents = [row.to_document() for row in [*drawn, *measured]]
    wrong = sum(not row["is_right"] for row in documents)
    if as_json:
        report = {"schema": 1, "version": VERSION, "trials": draws, "wrong": wrong, "rows": documents}
        typer.echo(json.dumps(report, indent=2, ensure_ascii=False))
    elif as_markdown:
        typer.echo(_page(documents, draws, wrong))
    else:
        _show(documents, draws, wrong)
    if wrong:
        raise typer.Exit(ExitCode.FAILED)


def _outcome(documents: Sequence[dict[str, Any]], wrong: int) -> str:
    limits = sum(not row["is_promised"] for row in documents)
    promised = len(documents) - limits
    outcome = f"{wrong} of {promised} verdicts are wrong" if wrong else f"all {promised} truths are told again"
    return f"{outcome}; {limits} limits are shown" if limits > 1 else f"{outcome}; one limit is shown"


def _show(documents: Sequence[dict[str, Any]], draws: int, wrong: int) -> None:
    console = terminal.stdout()
    table = new_table("Layer", "Of", "Truth", "The report says", "Verdict")
    for row in documents:
        verdict = Text(row["verdict"], "green" if row["is_right"] else "bold red")
        table.add_row(row["layer"], row["subject"], row["truth"], row["reported"], verdict)
    console.print(table)
    console.print()
    for line in HOW:
        console.print(line.format(trials=draws))
    console.print(Text(_outcome(documents, wrong), "bold red" if wrong else "green"))


def _page(documents: Sequence[dict[str, Any]], draws: int, wrong: int) -> str:
    """Return the result as a page."""
    lines = [
        "# Self-proof",
        "",
        "Known truths through the whole system, and what the report says of each: `make selftest` writes this page.",
        "",
        *(f"- {line.format(trials=draws)}" for line in HOW),
        "",
        f"Version {VERSION}, Python {platform.python_version()}, {os.cpu_count()} processors: "
        f"{_outcome(documents, wrong)}.",
        "",
        "| layer | of | truth | the report says | verdict |",
        "|---|---|---|---|---|",
        *(
            f"| {row['layer']} | {row['subject']} | {row['truth']} | {row['reported']} | {row['verdict']} |"
            for row in documents
        ),
    ]
    return "\n".join(lines)
