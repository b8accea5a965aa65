"""Which storage to take: the cheapest that is fast enough, by what margin, at what risk, and how the others came out.

"Fast enough" looks at the slow end. `percentile` 90 means that 90 % of the samples are at least this good: of durations
that is P90, of rates P10, since of rates P0 is the slowest. Where single values are not known, as in published tables,
a rate's slow end can only be its P0; that is said. Without an objective, storages are ranked by their medians where so
few values do not carry the slow end of one of them. What ranks them is what is tested.

One question per workload, point and fleet: which storage? Storages are compared where everything else is the same.
"""

from collections.abc import Mapping

from matrix.answer.costs import Bill
from matrix.answer.decision.answers import answer
from matrix.answer.decision.objective import Objective
from matrix.answer.decision.questions import questions_of
from matrix.terms.documents.parts import Part
from matrix.terms.documents.result import ResultDocument
from matrix.terms.documents.summary import Decision, SummaryDocument

# Environments whose figures recommend no purchase, because what was measured there is not what AWS sells.
NOT_FOR_SALE = frozenset({"local", "local-vm", "emulated", "imported"})
# 1: verdicts, risks and answers were sentences.
SCHEMA = 2


def decide(
    summary: SummaryDocument,
    *,
    results: Mapping[str, ResultDocument] | None = None,
    objective: Part | None = None,
    bill: Bill | None = None,
) -> Decision:
    """Return the decision of a run, from its summary and, where they are known, its cells' single values.

    `results` are the cells' result.json by id, `objective` that of the matrix. Local and emulated runs are ranked all
    the same, so that one can try it, but recommend nothing. `matrix.text.decisions` writes it as words.
    """
    wanted = Objective.of(objective)
    is_for_sale = summary.get("environment") not in NOT_FOR_SALE
    questions = list(questions_of(summary, results or {}, wanted, bill or Bill.of(None, None)))
    for question in questions:
        answer(question, wanted, for_sale=is_for_sale)
    return {
        "schema": SCHEMA,
        "objective": dict(objective) if objective else None,
        "percentile": wanted.percent,
        "is_recommendation": is_for_sale,
        "questions": [question.to_document(wanted) for question in questions],
    }
