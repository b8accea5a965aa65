"""The notification of a run's end: at most fifteen lines of plain text."""

from dataclasses import dataclass

from matrix.input.storage_names import candidate_names, cell_names
from matrix.terms.documents.compared import ComparisonDocument
from matrix.terms.documents.receipt import ReceiptDocument
from matrix.terms.documents.summary import SummaryDocument
from matrix.terms.quantities import money
from matrix.terms.sentences import error_text, receipt_sentence, still_there_line
from matrix.text.comparisons import comparison_lines, count_lost, describe_comparison_briefly
from matrix.text.endings import describe_failed, describe_state, shortened
from matrix.text.headlines import caveats, headline

MAX_LINES = 15
MAX_CAVEATS, MAX_LEFT = 2, 3
# SNS takes 100 characters of ASCII.
LONGEST_SUBJECT = 100
ENDS = {
    "SUCCEEDED": "has ended",
    "FAILED": "failed",
    "TIMED_OUT": "ran into its time limit",
    "ABORTED": "was stopped",
}
# Nothing is made by a run that ended with these.
BEFORE_ANYTHING = ("InvalidMatrix", "ScheduleRefused", "QuotaExceeded", "NotGranted", "PlanDiffers")


@dataclass(frozen=True)
class Ended:
    run: str
    status: str
    """Of its execution: SUCCEEDED, FAILED, TIMED_OUT or ABORTED."""
    error: str
    cause: str
    """Of an execution that did not succeed; else empty."""
    options: str
    """Command-line options that choose its deployment."""
    page: str
    """Address of its report or, without one, of its execution."""


def subject(ended: Ended, summary: SummaryDocument | None, comparison: ComparisonDocument | None = None) -> str:
    how = ENDS[ended.status] if summary is None or ended.status != "SUCCEEDED" else summary["status"]
    about_base = f", {describe_comparison_briefly(comparison)}" if comparison else ""
    lost = f"{count_lost(comparison['lost'])}: " if comparison and comparison["lost"] else ""
    return f"Storage Matrix: {lost}{ended.run} {how}{about_base}"[:LONGEST_SUBJECT]


def lines(
    ended: Ended,
    summary: SummaryDocument | None,
    receipt: ReceiptDocument | None,
    comparison: ComparisonDocument | None = None,
) -> list[str]:
    """Return the message: the run's end, its comparison with another run, the answer, and its remaining resources.

    Without a summary the run ended before its analysis; without a receipt no sweep has run after it yet.
    """
    written = [
        f"Run {ended.run} {ENDS[ended.status]}.",
        *(_without_summary(ended, receipt) if summary is None else _answer(summary, comparison)),
        *_left(receipt, ended),
    ]
    command = f"matrix results {ended.run} {ended.options}"
    goes_on = (
        f"; measure the rest: matrix run --resume {ended.run} {ended.options}" if _has_rest(ended, summary) else ""
    )
    return [*written[: MAX_LINES - 2], f"All: {command}{goes_on}", ended.page]


def _has_rest(ended: Ended, summary: SummaryDocument | None) -> bool:
    if summary is None:
        return ended.status != "SUCCEEDED" and ended.error not in BEFORE_ANYTHING
    return any(cell["state"] != "measured" for cell in summary["cells"])


def _answer(summary: SummaryDocument, comparison: ComparisonDocument | None) -> list[str]:
    decision = summary.get("decision")
    about_base = comparison_lines(comparison) if comparison else []
    lines = [describe_state(summary), *about_base]
    if decision:
        name = candidate_names(summary)
        lines += [headline(decision, name), *[*caveats(decision, name)][: MAX_CAVEATS - bool(about_base)]]
    return lines + describe_failed(summary, cell_names(summary["cells"]))[:1]


def _without_summary(ended: Ended, receipt: ReceiptDocument | None) -> list[str]:
    if ended.status == "SUCCEEDED":
        return ["It was only planned (dryRun)."]
    reason = error_text({"name": ended.error, "message": shortened(ended.cause)})
    return [*([reason] if reason else []), *([f"Cost: {money(receipt['totals']['cost_usd'])}"] if receipt else [])]


def _left(receipt: ReceiptDocument | None, ended: Ended) -> list[str]:
    if receipt is None:
        if ended.error in BEFORE_ANYTHING:
            return ["Receipt: nothing was created."]
        return [f"Receipt: none yet, so something may be left: matrix reap --run {ended.run} {ended.options}"]
    left = [each for each in receipt["resources"] if each["gone_at"] is None and not each.get("kept")]
    more = [f"and {len(left) - MAX_LEFT} more"] if len(left) > MAX_LEFT else []
    return [f"Receipt: {receipt_sentence(receipt)}", *map(still_there_line, left[:MAX_LEFT]), *more]
