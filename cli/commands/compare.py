"""`matrix compare`: two runs cell by cell, and an exit code for CI."""

import json
import re
from collections import Counter
from operator import attrgetter
from typing import Annotated

import typer
from rich.console import Console
from rich.text import Text

from cli.inputs import baseline_options, completing, options
from cli.messages import terminal
from cli.messages.errors import CommandError, ExitCode, UnknownRun
from cli.tables import rich_tables
from cli.target import past, run_folders, summaries
from cli.target.place import Place
from matrix.tables.compared_table import compared_table
from matrix.terms.documents.compared import ComparedPair, ComparedRuns
from matrix.text.comparisons import describe_compared, describe_lost

DEFAULT_THRESHOLD = "5%"
LARGEST_PERCENT = 1000
# If more points exist than fit on a page, those without a difference are only counted.
MAX_LISTED = 40
UNJUDGED = "cannot tell"
MAX_REASONS = 5


def compare(
    base: Annotated[
        str | None,
        typer.Argument(
            metavar="BASE", help="The run to compare with, or `baseline:NAME`.", autocompletion=completing.compared
        ),
    ] = None,
    run: Annotated[
        str | None,
        typer.Argument(
            metavar="RUN",
            help="The run that is judged, `baseline:NAME`, or `latest` (default): the newest of BASE's matrix.",
            autocompletion=completing.compared,
        ),
    ] = None,
    threshold: Annotated[
        list[str] | None,
        typer.Option(
            "--threshold",
            metavar="[METRIC=]PERCENT",
            help=f"How much slower a cell may become (default: {DEFAULT_THRESHOLD}); iops=10%: of one metric.",
        ),
    ] = None,
    all_: Annotated[bool, typer.Option("--all", help="List those that show no difference too.")] = False,
    require_verdict: Annotated[
        bool, typer.Option("--require-verdict", help="Also end with 1 if too little was measured to judge a point.")
    ] = False,
    set_baseline: baseline_options.SetBaseline = None,
    list_baselines: baseline_options.ListBaselines = False,
    delete_baseline: baseline_options.DeleteBaseline = None,
    local: options.Local = False,
    stack: options.Stack = None,
    region: options.Region = None,
    as_json: options.AsJson = False,
) -> None:
    """Compare two runs cell by cell.

    Cells match by storage, workload, fleet and parameters. For each point you see the medians, their ratio with a 95 %
    interval, and the verdict, corrected for the number of cells. From five earlier runs on, each of a night of its own,
    the interval holds what nights differ by. With more than 40 points, those without a difference are only counted,
    unless you add --all; --json has all. The exit code is 1 when RUN has not measured a cell or point of BASE, or when
    one is slower by more than chance explains, and by more than the threshold also at the better end of its interval.

    `baseline:NAME` is the run that --set-baseline has named so, in the stack's results bucket, or for runs of this
    machine in .local/baselines/.

    Example: matrix compare baseline:nightly latest --threshold 10%
    """
    place = Place(local, stack, region)
    asked = baseline_options.Asked(set_baseline, list_baselines, delete_baseline)
    if asked.options:
        if threshold or all_ or require_verdict:
            rule, advice = f"{asked.options[0]} compares nothing", "leave out --threshold, --all and --require-verdict"
            raise CommandError(rule, advice, ExitCode.BAD_INPUT)
        asked.answer([each for each in (base, run) if each is not None], place, as_json=as_json)
        return
    if base is None:
        raise CommandError("BASE is missing, the run to compare with", "`matrix runs` lists them", ExitCode.BAD_INPUT)
    share, shares = _shares(threshold or [])
    both = _both(base, summaries.LATEST if run is None else run, place)
    earlier = past.earlier(*both)
    # numpy takes a tenth of a second to import, so `matrix --help` must not import it.
    from matrix.answer import comparing

    try:
        of_both = (each.values for each in both)
        document = comparing.compare(*of_both, threshold=share, thresholds=shares, earlier=earlier)
    except comparing.NotComparable as mixed:
        advice = "compare emulated runs with emulated ones, measured with measured ones"
        raise CommandError(str(mixed), advice, ExitCode.BAD_INPUT) from mixed
    judged_by = {pair["metric"] for pair in document["compared"]}
    if judged_by and (unknown := sorted(shares.keys() - judged_by)):
        advice = f"write one of {', '.join(sorted(judged_by))}"
        raise CommandError(f"threshold of {unknown[0]}: no point is judged by it", advice, ExitCode.BAD_INPUT)
    if as_json:
        typer.echo(json.dumps(document, indent=2, ensure_ascii=False))
    else:
        _show(document, is_all=all_)
    if not document["compared"]:
        # A check that compared nothing must not pass.
        advice = "a matrix that was changed needs a new base: run it, and compare with that"
        raise CommandError("nothing was compared: the two runs have no measured cell in common", advice)
    if document["lost"] or document["regressions"] or (require_verdict and _unjudged(document["compared"])):
        raise typer.Exit(ExitCode.FAILED)


def _both(base: str, run: str, place: Place) -> list[summaries.FoundRun]:
    """Return the two runs; `latest` beside another name is the newest other run of the same matrix."""
    need: summaries.Need = attrgetter("values")
    first = summaries.find(base, place, need)
    # A comparison of two given names reads no summary, which may be damaged.
    is_open = run == summaries.LATEST and base != summaries.LATEST
    if not is_open or first.summary["environment"] in run_folders.LOADED:
        return [first, summaries.find(run, place, need)]
    known = first.summary

    def of_same_matrix(found: summaries.FoundRun) -> None:
        summary = found.summary
        if summary["name"] != known["name"] or summary["run"] == known["run"]:
            raise summaries.NoResults
        need(found)

    try:
        return [first, summaries.find(run, place, of_same_matrix)]
    except UnknownRun as none:
        rule = f"no other run of the matrix {known['name']} has results, to be compared with {known['run']}"
        raise UnknownRun(rule, "start one: `matrix run FILE`; or name the RUN: `matrix runs`") from none


def _shares(thresholds: list[str]) -> tuple[float, dict[str, float]]:
    """Return the share of all metrics, and those of single metrics."""
    named = dict(each.rpartition("=")[::2] for each in [DEFAULT_THRESHOLD, *thresholds])
    shares = {metric.strip(): _share(percent) for metric, percent in named.items()}
    return shares.pop(""), shares


def _share(threshold: str) -> float:
    percent = re.fullmatch(r"([0-9]+(?:\.[0-9]+)?)\s*%?", threshold.strip())
    if not percent or float(percent[1]) > LARGEST_PERCENT:
        raise CommandError(f"threshold {threshold!r} is not a percentage", "write it as 5%", ExitCode.BAD_INPUT)
    return float(percent[1]) / 100


def _show(document: ComparedRuns, *, is_all: bool) -> None:
    console = terminal.stdout()
    console.print(Text.assemble(("Base ", "bold"), document["base"], ("  Run ", "bold"), document["run"]))
    for lost in document["lost"]:
        console.print(Text(describe_lost(lost), "bold red"))
    if document["compared"]:
        console.print()
        _show_compared(console, document["compared"], is_all=is_all)
        console.print()
    for name in document["only_in_run"]:
        console.print(f"only in {document['run']}: {name}")
    for warning in document["warnings"]:
        console.print(Text.assemble(("Warning: ", "yellow"), warning))
    if document["power"]:
        console.print(document["power"]["words"])
    is_worse, is_unjudged = bool(document["lost"] or document["regressions"]), bool(_unjudged(document["compared"]))
    style = "bold red" if is_worse else "yellow" if is_unjudged else "green"
    console.print(Text(describe_compared(document), style))


def _unjudged(compared: list[ComparedPair]) -> list[ComparedPair]:
    return [pair for pair in compared if pair["verdict"] == UNJUDGED]


def _show_compared(console: Console, compared: list[ComparedPair], *, is_all: bool) -> None:
    is_long = len(compared) > MAX_LISTED and not is_all
    if not is_all and len(_unjudged(compared)) == len(compared):
        _show_unjudged(console, compared)
        return
    listed = [pair for pair in compared if not is_long or pair["verdict"] != "no difference shown"]
    if listed:
        rich_tables.show(console, compared_table(listed))
    if alike := len(compared) - len(listed):
        console.print(f"{alike:,} of {len(compared):,} points show no difference: --all lists them too")


def _show_unjudged(console: Console, compared: list[ComparedPair]) -> None:
    """Print once each reason why points cannot be judged, with the number of its points."""
    console.print(Text(f"{len(compared):,} of {len(compared):,} cannot be judged: --all lists them", "yellow"))
    reasons = Counter(pair["reason"] for pair in compared)
    for reason, count in reasons.most_common(MAX_REASONS):
        console.print(f"{count:,} × {reason}")
