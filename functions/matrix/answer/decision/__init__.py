"""Recommend a storage: the cheapest that is fast enough, with margin, risks and the results of the others.

"Fast enough" uses the tail. `percentile` 90 means that 90 % of the samples are at least this good: P90 of durations,
P10 of rates. If single values are unknown, as in published tables, the tail of a rate is its P0; the answer shows that.
Without an objective, storages are ranked by medians if one of them has too few samples for its tail. The significance
test uses the same percentile as the ranking.

There is one question for each workload, point and fleet. Storages are compared only if everything else is equal.
"""

from collections.abc import Mapping

from matrix.answer.costs import Bill
from matrix.answer.decision.answers import answer
from matrix.answer.decision.objective import Objective
from matrix.answer.decision.questions import questions_of
from matrix.terms.documents.parts import Part
from matrix.terms.documents.result import ResultDocument
from matrix.terms.documents.summary import Decision, SummaryDocument

# Environments without recommendations, because their figures are not of storages that AWS sells.
NOT_FOR_SALE = frozenset({"local", "local-vm", "emulated", "imported"})
SCHEMA = 3


def decide(
    summary: SummaryDocument,
    *,
    results: Mapping[str, ResultDocument] | None = None,
    objective: Part | None = None,
    bill: Bill | None = None,
) -> Decision:
    """Return the decision of a run, from its summary and, if known, its cells' single values.

    `results` are the cells' result.json by id, `objective` is the matrix's. Local and emulated runs are ranked too, so
    that users can try it, but recommend nothing. `matrix.text.decisions` writes the decision as words.
    """
    wanted = Objective.of(objective)
    is_for_sale = summary.get("environment") not in NOT_FOR_SALE
    questions = list(questions_of(summary, results or {}, wanted, bill or Bill.of(None, None)))
    for question in questions:
        answer(question, wanted, for_sale=is_for_sale)
    return {
        "schema": SCHEMA,
        "objective": dict(objective) if objective and wanted.limit is not None else None,
        "percentile": wanted.percent,
        "is_recommendation": is_for_sale,
        "questions": [question.to_document() for question in questions],
    }
