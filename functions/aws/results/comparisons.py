"""Compare a run with the baseline or run that its matrix names, by the metrics that both have."""

from aws.records import bucket, table
from matrix.answer import nights
from matrix.answer.comparing import comparison_of, not_compared
from matrix.answer.values import values_of
from matrix.terms.documents.compared import BaselineDocument, ComparisonDocument
from matrix.terms.documents.result import ResultDocument
from matrix.terms.documents.summary import SummaryDocument
from matrix.terms.documents.values import ValuesDocument
from matrix.terms.keys import BASELINE_PREFIX, BASELINES, baseline_key, run_key


def compared(summary: SummaryDocument, results: dict[str, ResultDocument], asked: str) -> ComparisonDocument:
    """Return the comparison of a run with `asked`: the name of a run, or baseline:NAME. Each reason includes advice."""
    run, base = summary["run"], asked
    if asked.startswith(BASELINE_PREFIX):
        name = asked.removeprefix(BASELINE_PREFIX)
        baseline = bucket.read(baseline_key(name), BaselineDocument)
        if baseline is None:
            known = ", ".join(bucket.folders(BASELINES)) or "none"
            reason = (
                f"there is no baseline {name} (there is: {known}); set it by matrix compare {run} --set-baseline {name}"
            )
            return not_compared(run, asked, reason)
        base = baseline["run"]
    if base == run:
        return not_compared(run, asked, "it is this run itself", base)
    values = _values(base)
    if values is None:
        return not_compared(run, asked, f"the run {base} has no summary.values.json: it was not analysed", base)
    judged = values_of(summary, results)
    return comparison_of(values, judged, asked, _earlier(values, judged))


def _earlier(base: ValuesDocument, run: ValuesDocument) -> list[ValuesDocument]:
    """Return the values of the earlier runs whose scatter counts."""
    key = nights.index_key(base, run)
    begun = table.runs_of_cell(key) if key else []
    names = nights.chosen_of_rows(begun, base, run)
    return [values for name in names if (values := _values(name)) is not None]


def _values(run: str) -> ValuesDocument | None:
    return bucket.read(run_key(run, "summary.values.json"), ValuesDocument)
