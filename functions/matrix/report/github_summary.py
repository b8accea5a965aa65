"""A run as the Markdown that GitHub Actions shows on the page of a workflow ($GITHUB_STEP_SUMMARY)."""

from collections.abc import Iterator

from matrix.input.storage_names import candidate_names, cell_names
from matrix.tables.markdown_table import markdown_table
from matrix.tables.table import Table, figures
from matrix.terms.documents.summary import SummaryDocument
from matrix.terms.figures import figure, interval, sample_count
from matrix.terms.markdown_text import code, inline
from matrix.terms.measured import Measured, judged_metrics
from matrix.terms.names import (
    describe_fleet,
    describe_launch,
    reading_order,
)
from matrix.terms.objectives import describe_limit, missed_questions, misses_objective, unshown_questions
from matrix.terms.quantities import ABSENT, count_of
from matrix.terms.sentences import (
    ENVIRONMENT_NOTES,
    left_behind_lines,
    receipt_sentence,
)
from matrix.text.decisions import describe_question
from matrix.text.endings import describe_failed
from matrix.text.headlines import opening
from matrix.text.rankings import describe_comparison
from matrix.text.warnings import warning_lines

# GitHub refuses a summary of more than 1 MiB. A row has some 200 bytes, so these are a tenth of it.
# https://docs.github.com/en/actions/reference/workflows-and-actions/workflow-commands#adding-a-job-summary
MAX_ROWS = 500
MAX_REASONS = 20
MAX_WARNINGS = 5
LONGEST_TEXT = 500
HEADS = ("Storage", "Fleet", "Point", "Metric", *figures("P50", "P50, 95 % interval", "n"))
# Of comparisons that are not shown to reach the objective.
MARKS, DONE = {"missed": ":x:", "by-value": ":grey_question:"}, ":white_check_mark:"


def to_github(summary: SummaryDocument) -> str:
    """Return the verdict, the objective, the failures, the figures, the worst warnings and the receipt."""
    parts = [
        _head(summary),
        *_answer(summary),
        *_objective(summary),
        *_failed(summary),
        *_figures(summary),
        *_warnings(summary),
    ]
    if summary.get("receipt"):
        parts.append(inline(receipt_sentence(summary["receipt"])))
    return "\n\n".join(parts) + "\n"


def _head(summary: SummaryDocument) -> str:
    measured = sum(cell["state"] == "measured" for cell in summary["cells"])
    is_whole = measured == len(summary["cells"])
    is_published = summary.get("environment") == "published"
    state = (
        "missed"
        if not (is_whole or is_published) or misses_objective(summary)
        else "by-value"
        if unshown_questions(summary)
        else ""
    )
    mark = MARKS.get(state, DONE)
    what = "published" if is_published else "cells measured"
    line = f"## {mark} {inline(summary['name'])}: {measured} of {len(summary['cells'])} {what}"
    note = ENVIRONMENT_NOTES.get(str(summary.get("environment")))
    return "\n\n".join(filter(None, [line, f"Run {code(summary['run'])}", f"**{note}**" if note else ""]))


def _answer(summary: SummaryDocument) -> Iterator[str]:
    """Yield the sentences with which page and terminal begin, too."""
    if decision := summary.get("decision"):
        first, *others = opening(decision, candidate_names(summary))
        yield f"**{inline(first)}**"
        yield from map(inline, others)


def _objective(summary: SummaryDocument) -> Iterator[str]:
    decision = summary.get("decision")
    if not decision or not decision.get("objective"):
        return
    missed, unshown = len(missed_questions(summary)), len(unshown_questions(summary))
    limit = inline(describe_limit(summary))
    if not decision["questions"]:
        yield f"**Objective missed**: {limit}. Nothing measured it."
        return
    verdict = f"missed in {missed} of {len(decision['questions'])}" if missed else "reached"
    if unshown:
        verdict += f", by values only in {unshown} of {len(decision['questions'])}"
    rows = [
        (
            describe_comparison(question),
            MARKS.get(question.get("state", ""), DONE),
            _cut(describe_question(question, decision)),
        )
        for question in decision["questions"]
    ]
    table = Table.of("", ("Workload, point, fleet", " ", "Answer"), rows)
    yield f"**Objective {verdict}**: {limit}\n\n{markdown_table(table, MAX_ROWS)}"


def _failed(summary: SummaryDocument) -> Iterator[str]:
    if failed := describe_failed(summary, cell_names(summary["cells"]), MAX_REASONS):
        yield "\n".join(["**Not measured**", "", *(f"- {inline(line)}" for line in failed)])


def _figures(summary: SummaryDocument) -> Iterator[str]:
    cells = reading_order(summary["cells"])
    names = cell_names(cells)
    rows = [(names[each.cell["id"]], *_row(each)) for each in judged_metrics(cells)]
    if rows:
        table = markdown_table(Table.of("Figures", HEADS, rows), MAX_ROWS)
        yield f"<details><summary>Figures</summary>\n\n{table}\n\n</details>"


def _row(each: Measured) -> tuple[str, ...]:
    fleet = ", ".join(filter(None, [describe_fleet(each.cell["fleet"]), describe_launch(each.cell)]))
    title = f"{each.workload}: {each.quantity}"
    shown = (figure(each.metric, "p50").strip() or ABSENT, interval(each.metric), sample_count(each.metric))
    return (fleet, each.label, title, *shown)


def _warnings(summary: SummaryDocument) -> Iterator[str]:
    warnings = [*left_behind_lines(summary), *warning_lines(summary)]
    if not warnings:
        return
    more = len(warnings) - MAX_WARNINGS
    report = f"`matrix results {summary['run']} --format markdown`"
    rest = [f"- and {count_of(more, 'more kind')}: {report}"] if more > 0 else []
    yield "\n".join(["**Warnings**", "", *(f"- {inline(_cut(each))}" for each in warnings[:MAX_WARNINGS]), *rest])


def _cut(text: str) -> str:
    return text if len(text) <= LONGEST_TEXT else f"{text[: LONGEST_TEXT - 2]} …"
