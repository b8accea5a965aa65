"""Results of cells that were launched several times, joined here from those of their launches.

Analyse run joins them too; a run that ended before has none, and metrics that arrive later change those of launches.
"""

from collections.abc import Callable, Sequence
from typing import cast

from cli.target.documents import readable
from cli.target.unfinished import Read
from matrix.terms.documents.plan import PlanDocument
from matrix.terms.documents.result import ResultDocument

Results = dict[str, ResultDocument]


def joined(read: Read, cells: Sequence[ResultDocument], refresh: Callable[[Results], Results] | None = None) -> Results:
    """Return the results of these cells by their ids; none without a plan that can be read.

    `refresh` is given the results of their launches, and returns them as they are now.
    """
    plan = cast("PlanDocument | None", readable(read, "plan.json")) if cells else None
    if not plan:
        return {}
    # numpy takes a tenth of a second to import, which a run of single launches need not wait for.
    from matrix.answer.launches import join

    names = {cell["id"] for cell in cells}
    launches = [cell for cell in plan["cells"] if cell.get("joined") in names]
    results = {
        cell["id"]: cast("ResultDocument", result)
        for cell in launches
        if (result := readable(read, f"cells/{cell['id']}/result.json"))
    }
    whole = join({**plan, "cells": launches}, refresh(results) if refresh else results)
    return {name: result for name, result in whole.items() if name in names}
