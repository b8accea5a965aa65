"""Compare a run's plan with the plan that the user confirmed: the same cells at about the same cost.

`matrix run` plans with the prices and the code of the user's machine, Plan matrix with the stack's.
"""

import hashlib
import json

from matrix.input.matrix import Agreed
from matrix.price.book import BOOK_REGION, OTHER_REGION
from matrix.terms.documents.plan import PlanDocument
from matrix.terms.quantities import count_of

# A difference of less than a cent does not matter.
MIN_USD = 0.01


def agreed_to(plan: PlanDocument, priced_for: str | None = None) -> dict[str, object]:
    """Return the matrix's field `agreed` for a plan.

    `priced_for` is the region if the price book priced the plan, None if AWS's price list did. The book has prices of
    one region only and shows a wider range for others, so any cost within that range counts as agreed.
    """
    agreed: dict[str, object] = {
        "usd": plan["totals"]["cost_usd"]["expected"],
        "cells": plan["totals"]["cells"],
        "digest": digest(plan),
    }
    if priced_for not in (None, BOOK_REGION):
        agreed["mostOff"] = round(max(abs(times - 1) for times in OTHER_REGION), 3)
    return agreed


def digest(plan: PlanDocument) -> str:
    """Return a fingerprint of a plan's cells: ids, fleet sizes, points and steps. The order of the cells is ignored."""
    cells = sorted(
        json.dumps(
            [cell["id"], cell["fleet"]["count"], cell["points"], len(cell["steps"]), "taken_from" in cell],
            sort_keys=True,
        )
        for cell in plan["cells"]
    )
    return hashlib.sha256(json.dumps(cells).encode()).hexdigest()[:16]


def difference(agreed: Agreed, plan: PlanDocument) -> str | None:
    """Return how a plan differs from the agreed one, with both figures and a fix. None if it does not differ."""
    usd, count = plan["totals"]["cost_usd"]["expected"], plan["totals"]["cells"]
    parts = []
    if abs(usd - agreed.usd) > max(agreed.most_off * agreed.usd, MIN_USD):
        parts.append(f"it is expected to cost {usd:,.2f} USD, agreed to were {agreed.usd:,.2f}")
    if agreed.cells is not None and agreed.cells != count:
        parts.append(f"it has {count_of(count, 'cell')}, agreed to were {agreed.cells:,}")
    elif agreed.digest is not None and agreed.digest != digest(plan):
        several = f"its {count:,} cells are others than those that were agreed to"
        parts.append(several if count > 1 else "its cell is another than the one that was agreed to")
    if not parts:
        return None
    fix = f'write "agreed": {{"usd": {usd:.2f}}} into the matrix to agree, or answer `matrix run` without --yes'
    return f"this plan is not the one that was agreed to: {'; '.join(parts)}. Nothing was created; {fix}"
