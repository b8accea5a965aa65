"""Worlds with known truths as AWS would sell them: environment `aws`, the plan's prices and a decision.

Each world draws the results of a plan many times and counts verdicts. `test_decisions.py` judges the ★ by them, and
`test_costs.py` the money.
"""

from collections.abc import Sequence
from typing import cast

from simulations.fleets import BEGUN_AT, FILES, RUN, THREADS

from matrix.answer import launches
from matrix.answer.costs import Bill
from matrix.answer.decision import decide
from matrix.answer.results import run_summary
from matrix.check.read import check_matrix
from matrix.plan.planning import plan
from matrix.terms.documents.parts import Part
from matrix.terms.documents.plan import PlanDocument
from matrix.terms.documents.receipt import ReceiptDocument
from matrix.terms.documents.result import ResultDocument
from matrix.terms.documents.summary import SummaryDocument

REGION = "us-east-1"
WORKLOAD = {"type": "touch", "files": FILES, "threads": THREADS, "directories": "own", "sync": "each"}


def plan_of_world(
    storages: Sequence[Part], *, fleet: Part, workload: Part = WORKLOAD, **fields: object
) -> PlanDocument:
    """Return the plan of a run on AWS; `fields` are others of the matrix, such as repetitions or an objective."""
    named = [{"name": f"s{number}", **storage} for number, storage in enumerate(storages)]
    document = {
        "name": RUN,
        "storage": named,
        "workload": [workload],
        "fleet": [fleet],
        "order": "as-written",
        **fields,
    }
    checked = check_matrix(document)
    objective = checked.matrix.objective
    # As Plan matrix adds it.
    return {**plan(checked, region=REGION).to_document(), "objective": objective.to_document() if objective else None}


def decided(
    planned: PlanDocument, results: Sequence[ResultDocument], receipt: ReceiptDocument | None = None
) -> SummaryDocument:
    """Return the summary of a run on AWS with its decision, as Analyse run makes it."""
    by_cell = launches.join(planned, {result["id"]: result for result in results})
    summary = run_summary(
        run=RUN, plan=planned, environment="aws", started_at=BEGUN_AT, finished_at=BEGUN_AT + 1000, results=by_cell,
        left_behind=[],
    )  # fmt: skip
    bill = Bill.of(planned, receipt)
    decision = decide(summary, results=by_cell, objective=planned.get("objective"), bill=bill)
    return cast("SummaryDocument", {**summary, "decision": decision})
