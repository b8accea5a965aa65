"""Whether a result reaches the matrix's objective."""

from matrix.terms.documents.summary import Question, SummaryDocument
from matrix.terms.quantities import quantity

# A difference below 5 % is not worth paying for: the same matrix measured on another day hardly repeats it.
BEST_VALUE_WITHIN = 0.05


def missed_questions(summary: SummaryDocument) -> list[Question]:
    """Return each workload, point and fleet for which no storage reaches the objective."""
    return _in_state(summary, "missed")


def unshown_questions(summary: SummaryDocument) -> list[Question]:
    """Return each workload, point and fleet for which a storage reaches the objective by its value only."""
    return _in_state(summary, "by-value")


def _in_state(summary: SummaryDocument, state: str) -> list[Question]:
    decision = summary.get("decision")
    if not decision or not decision.get("objective"):
        return []
    return [question for question in decision["questions"] if question.get("state") == state]


def misses_objective(summary: SummaryDocument) -> bool:
    """Whether the matrix has an objective that no storage reaches for some workload, point and fleet.

    An objective for a metric that nothing has measured is missed too.
    """
    decision = summary.get("decision")
    if not decision or not decision.get("objective"):
        return False
    return not decision["questions"] or bool(missed_questions(summary))


def describe_limit(summary: SummaryDocument) -> str:
    """Return the objective in words: `P90 of duration_s at most 6,600 s`."""
    decision = summary["decision"]
    objective = decision["objective"] or {}
    questions = decision["questions"]
    unit = questions[0]["unit"] if questions else ""
    is_upper = objective.get("atMost") is not None
    limit = objective.get("atMost") if is_upper else objective.get("atLeast")
    level = questions[0]["level"] if questions else decision["percentile"]
    name = f"P{level:g} of {objective.get('metric')}"
    return f"{name} {'at most' if is_upper else 'at least'} {quantity(limit, unit).strip()}"
