"""The end of a run in twelve lines: how it ended, what to take, what may be wrong with that, what to do next."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from rich.console import Console
from rich.text import Text

from cli.messages import terminal
from cli.tables import result_tables
from cli.tables.text_table import TextTable
from cli.target.unfinished import STATUS as INTERRUPTED
from matrix.input.storage_names import brief_names
from matrix.terms.documents.summary import Candidate, Decision, Question, SummaryDocument
from matrix.terms.figures import ABSENT, Column, cost_words, interval_words, money, quantity
from matrix.terms.sentences import error_text, left_behind_lines
from matrix.terms.verdicts import best_of, is_open, judged, ranked_of, taken
from matrix.text.headlines import caveats, headline

# With the state, the answer, the heads of the table and what to do next these are twelve lines.
MOST_ROWS, MOST_CAVEATS = 5, 2
# Where sentences take two lines.
MOST_ROWS_NARROW, MOST_CAVEATS_NARROW = 4, 1
LONGEST_REASON = 240
# From so many columns on there is room for intervals and bottlenecks beside many comparisons.
WIDE = 100
PLACES = {
    "local": "local disk, not AWS: no storage is recommended",
    "local-vm": "emulated machines, not AWS: no storage is recommended",
    "emulated": "emulated, not AWS: no storage is recommended",
}
OPEN, TAKE = "≈", "★"


def show(console: Console, summary: SummaryDocument, *, flag: str, where: str | None = None) -> None:
    """Print the verdict of a run.

    `flag` is the option that chooses its deployment in the commands to type next, `where` has the files of its results.
    """
    decision = summary.get("decision")
    if decision and "as_written" not in decision:
        _show_answer(console, summary, decision)
    else:  # of an older version, or too damaged to be judged
        result_tables.show(console, summary)
    run = " ".join(filter(None, [summary["run"], flag]))
    console.print(f"Next: matrix report {run} --open", soft_wrap=True)
    files = f"; files: {where}" if where else ""
    console.print(f"All:  matrix results {run} --all{files}", soft_wrap=True)


def _show_answer(console: Console, summary: SummaryDocument, decision: Decision) -> None:
    names = brief_names((cell["file_system"], cell["storage"]) for cell in summary["cells"])
    is_wide = console.width >= WIDE
    terminal.print_wrapped(console, _state(summary))
    terminal.print_wrapped(console, Text(headline(decision, names), "bold"))
    _show_ranking(console, summary, decision, names, is_wide=is_wide)
    failed = _failed(summary)
    most = (MOST_CAVEATS if is_wide else MOST_CAVEATS_NARROW) - bool(failed)
    for caveat in caveats(summary)[:most]:
        terminal.print_wrapped(console, Text(caveat, "yellow"))
    for line in [*left_behind_lines(summary), *([failed] if failed else [])]:
        terminal.print_wrapped(console, Text(line, "red"))


def _failed(summary: SummaryDocument) -> str:
    """Write how many cells failed, and why the first one did, or that the run was interrupted; else nothing."""
    if summary["status"] == INTERRUPTED:
        return summary["warnings"][0]  # how many were measured, and how to go on
    failed = [cell for cell in summary["cells"] if cell["state"] == "failed"]
    # What others published has gaps, not failures.
    if not failed or summary["environment"] == "published":
        return ""
    reason = error_text(failed[0].get("error")).removeprefix(f"{failed[0]['id']}: ")
    cut = f"{reason[:LONGEST_REASON]} …" if len(reason) > LONGEST_REASON else reason
    count = f"{len(failed)} cells failed, the first is " if len(failed) > 1 else "Failed: "
    return f"{count}{failed[0]['id']}: {cut}"


def _state(summary: SummaryDocument) -> Text:
    """Write how a run ended, where it ran, what it cost and whether anything is left of it."""
    if summary["environment"] == "published":
        return Text(f"{summary['status']}, not measured here", "yellow")
    totals = summary.get("totals") or {"measured": 0, "cells": 0}
    is_whole = summary["status"] == "measured"
    parts = [f"{totals['measured']} of {totals['cells']} cells measured"]
    if not is_whole:
        parts.append(summary["status"])
    if place := PLACES.get(summary["environment"]):
        parts.append(place)
    if receipt := summary.get("receipt"):
        cost = receipt["totals"]["cost_usd"]
        parts.append(f"on AWS: {money(cost)}" if summary["environment"] in PLACES else money(cost))
        parts.append("nothing is left running" if receipt["is_complete"] else "the sweep has not ended")
    mark = ("✓ ", "green") if is_whole else ("✗ ", "red")
    return Text.assemble(mark, (" · ".join(parts), "green" if is_whole else "red"))


def _show_ranking(
    console: Console, summary: SummaryDocument, decision: Decision, names: Mapping[str, str], *, is_wide: bool
) -> None:
    questions = [question for question in decision["questions"] if judged(question)]
    if len(questions) == 1:
        console.print(_of_one(summary, decision, questions[0], names))
    elif questions:
        shown = _largest(questions, MOST_ROWS if is_wide else MOST_ROWS_NARROW)
        console.print(_of_many(summary, decision, shown, len(questions), names, is_wide=is_wide))


def _of_one(summary: SummaryDocument, decision: Decision, question: Question, names: Mapping[str, str]) -> TextTable:
    """Rank the storages of the only comparison."""
    ranked = judged(question)
    column = Column.of([ranked_of(each)["value"] for each in ranked], question["unit"])
    per = next((each["cost"]["per"] for each in ranked if each["cost"]), "")
    # Local figures at AWS's prices would be nobody's costs.
    has_costs = bool(per) and decision["is_recommendation"]
    table = TextTable()
    table.add_column("Storage")
    table.add_column(column.head(_level(question)), justify="right", no_wrap=True)
    table.add_column(interval_words(ranked), justify="right", no_wrap=True)
    if has_costs:
        table.add_column(f"USD per {per}", justify="right", no_wrap=True)
    table.add_column("Bottleneck")
    for each in ranked[:MOST_ROWS]:
        table.add_row(
            Text(f"{_mark(each, question, decision)}{names[each['file_system']]}"),
            f"{column.write(ranked_of(each)['value'])}{_unclear(each)}",
            _interval(each, column),
            *([cost_words(each["cost"]).replace("$", "") if each["cost"] else ABSENT] if has_costs else []),
            Text(_bottleneck(summary, each)),
        )
    return table


def _of_many(
    summary: SummaryDocument, decision: Decision, questions: Sequence[Question], count: int,
    names: Mapping[str, str], *, is_wide: bool,
) -> TextTable:  # fmt: skip
    """Name the best storage of each comparison, and how far the next one is behind."""
    table = TextTable(gap=2 if is_wide else 1)
    has_costs = decision["is_recommendation"]
    named = [_parts(question) for question in questions]
    shared = [part for part, *others in zip(*named, strict=True) if all(other == part for other in others)]
    of = f" ({len(questions)} of {count})" if len(questions) < count else ""
    table.add_column(f"{_joined(shared) or 'Comparison'}{of}")
    table.add_column("Best value" if not decision["objective"] else "Cheapest that meets it")
    table.add_figures("Figure", *(["Interval"] if is_wide else []), *(["Cost"] if has_costs else []))
    if is_wide:
        table.add_column("Bottleneck")
    table.add_column("Next (× as slow)")
    for question in questions:
        best = best_of(question)
        column = Column.of([ranked_of(each)["value"] for each in judged(question)], question["unit"])
        where = _joined(part for part in _parts(question) if part not in shared)
        if best is None:
            table.add_row(Text(where), Text("none"), *([ABSENT] * (len(table.columns) - 3)), Text(""))
            continue
        figure = f"{_level(question)} {quantity(ranked_of(best)['value'], question['unit'])}"
        table.add_row(
            Text(where),
            Text(f"{_mark(best, question, decision)}{names[best['file_system']]}"),
            figure,
            *([_interval(best, column)] if is_wide else []),
            *([cost_words(best["cost"]) if best["cost"] else ABSENT] if has_costs else []),
            *([Text(_bottleneck(summary, best))] if is_wide else []),
            Text(_next(question, best, names)),
        )
    return table


def _largest(questions: Sequence[Question], most: int) -> list[Question]:
    """Return as many comparisons as have room: of each kind of work first the one with the most instances."""
    kinds: Counter[tuple[str, str]] = Counter()
    turns: dict[int, int] = {}  # by place: how many of its kind come before it
    for place in sorted(range(len(questions)), key=lambda place: -questions[place]["instances"]):
        kind = questions[place]["workload"], questions[place]["label"]
        turns[place] = kinds[kind]
        kinds[kind] += 1
    chosen = sorted(turns, key=lambda place: turns[place])[:most]
    return [questions[place] for place in sorted(chosen)]


def _next(question: Question, best: Candidate, names: Mapping[str, str]) -> str:
    """Write how many times as slow the next storage is as the best: `EFS ×1.72`, `EFS ×1.03 ≈`."""
    others = [each for each in judged(question) if each is not best]
    if not others:
        return "nothing to compare"
    other = others[0]
    mine, theirs = ranked_of(best)["value"], ranked_of(other)["value"]
    top, bottom = (mine, theirs) if question["higher_is_better"] else (theirs, mine)
    ratio = f" ×{top / bottom:.2f}" if top > 0 and bottom > 0 else ""
    # What stands in brackets tells storages of one kind apart, which the table with --all does.
    return f"{names[other['file_system']].partition(' (')[0]}{ratio}{_unclear(other) or _unclear(best)}"


def _parts(question: Question) -> tuple[str, str, str]:
    return question["workload"], question["label"], question["fleet"]


def _joined(parts: Iterable[str]) -> str:
    return ", ".join(filter(None, parts))


def _level(question: Question) -> str:
    return f"P{question.get('ranked_level', question['level']):g}"


def _unclear(candidate: Candidate) -> str:
    return f" {OPEN}" if is_open(candidate) else ""


def _mark(candidate: Candidate, question: Question, decision: Decision) -> str:
    """Mark what to take; nothing where the figures do not tell, or the run recommends nothing."""
    is_taken = decision["is_recommendation"] and candidate["cell"] == taken(question)
    return f"{TAKE} " if is_taken else ""


def _interval(candidate: Candidate, column: Column) -> str:
    ranked = ranked_of(candidate)
    low, high = ranked["low"], ranked["high"]
    return ABSENT if low is None or high is None else f"{column.write(low)} – {column.write(high)}"


def _bottleneck(summary: SummaryDocument, candidate: Candidate) -> str:
    cell = next((cell for cell in summary["cells"] if cell["id"] == candidate["cell"]), None)
    bottleneck = cell.get("bottleneck") if cell else None
    return bottleneck["points"].get(candidate["point"], bottleneck["name"]) if bottleneck else ABSENT
