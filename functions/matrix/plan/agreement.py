"""Whether a plan is still the one that a person agreed to: the same cells, for about the same money.

Who starts a run sees a plan by the prices and the code of this machine; Plan matrix plans again by those of the stack.
"""

import hashlib
import json

from matrix.input.matrix import Agreed
from matrix.price.book import BOOK_REGION, OTHER_REGION
from matrix.terms.documents.plan import PlanDocument

# Differences of cents are nobody's question.
LEAST_USD = 0.01


def agreed_to(plan: PlanDocument, priced_for: str | None = None) -> dict[str, object]:
    """Return what is agreed to with a plan, as the field `agreed` of a matrix has it.

    `priced_for` is the region for which the price book made the plan; None where AWS's price list did. The book has the
    prices of one region and shows a wider range for others, so a cost within that range was agreed to.
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
    """Return a text that is equal for plans of the same cells, in whatever order they and their points are."""
    cells = sorted(
        json.dumps(
            [cell["id"], cell["fleet"]["count"], cell["points"], len(cell["steps"]), "taken_from" in cell],
            sort_keys=True,
        )
        for cell in plan["cells"]
    )
    return hashlib.sha256(json.dumps(cells).encode()).hexdigest()[:16]


def difference(agreed: Agreed, plan: PlanDocument) -> str | None:
    """Say how a plan differs from what was agreed to, with both figures and the way out; None where it does not."""
    usd, count = plan["totals"]["cost_usd"]["expected"], plan["totals"]["cells"]
    parts = []
    if abs(usd - agreed.usd) > max(agreed.most_off * agreed.usd, LEAST_USD):
        parts.append(f"it is expected to cost {usd:,.2f} USD, agreed to were {agreed.usd:,.2f}")
    if agreed.cells is not None and agreed.cells != count:
        parts.append(f"it has {count:,} cells, agreed to were {agreed.cells:,}")
    elif agreed.digest is not None and agreed.digest != digest(plan):
        parts.append(f"its {count:,} cells are others than those that were agreed to")
    if not parts:
        return None
    way_out = f'write "agreed": {{"usd": {usd:.2f}}} into the matrix to agree, or answer `matrix run` without --yes'
    return f"this plan is not the one that was agreed to: {'; '.join(parts)}. Nothing was created; {way_out}"
