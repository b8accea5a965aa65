"""Which storage to take: the cheapest that is fast enough, what it is ahead by, how sure that is, why the others lost.

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
from matrix.answer.decision.sentences import sentences
from matrix.terms.documents.parts import Part
from matrix.terms.documents.result import ResultDocument
from matrix.terms.documents.summary import Decision, SummaryDocument

SCHEMA = 1
# Environments whose figures recommend no purchase, because what was measured there is not what AWS sells.
NOT_FOR_SALE = {
    "local": "No storage is recommended: this run ranks folders of one disk (local cloud), not AWS storages.",
    "local-vm": "No storage is recommended: this run proves mounts and machines in emulation, it ranks no storages.",
    "emulated": "No storage is recommended: this run ranks emulated storages, not those of AWS.",
}


def decide(
    summary: SummaryDocument,
    *,
    results: Mapping[str, ResultDocument] | None = None,
    objective: Part | None = None,
    bill: Bill | None = None,
) -> Decision:
    """Return the decision of a run, from its summary and, where they are known, its cells' single values.

    `results` are the cells' result.json by id, `objective` that of the matrix. Local and emulated runs are ranked all
    the same, so that one can try it, but recommend nothing.
    """
    wanted = Objective.of(objective)
    not_for_sale = NOT_FOR_SALE.get(str(summary.get("environment")))
    questions = list(questions_of(summary, results or {}, wanted, bill or Bill.of(None, None)))
    for question in questions:
        answer(question, wanted, for_sale=not_for_sale is None)
    return {
        "schema": SCHEMA,
        "objective": dict(objective) if objective else None,
        "percentile": wanted.percent,
        "reads": f"percentile {wanted.percent:g}: {wanted.percent:g} % of the samples are at least this good",
        "is_recommendation": not_for_sale is None,
        "note": not_for_sale,
        "sentences": sentences(questions, wanted, not_for_sale),
        "questions": [question.to_document() for question in questions],
    }
