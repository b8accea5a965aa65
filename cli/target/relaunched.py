"""Results of cells that were launched several times, joined here from the results of their launches.

Analyse run joins them too; a run that ended before has none, and late metrics change the results of launches.
"""

from collections.abc import Callable, Sequence

from cli.target.documents import readable
from cli.target.run_documents import RunDocuments
from matrix.terms.documents.result import ResultDocument

Results = dict[str, ResultDocument]


def joined(
    run: RunDocuments, cells: Sequence[ResultDocument], refresh: Callable[[Results], Results] | None = None
) -> Results:
    """Return the results of these cells by their ids; none without a readable plan.

    `refresh` gets the results of their launches, and returns them with current metrics.
    """
    plan = readable(run.plan) if cells else None
    if not plan:
        return {}
    # numpy takes a tenth of a second to import, which a run of single launches must not wait for.
    from matrix.answer.launches import join

    names = {cell["id"] for cell in cells}
    launches = [cell for cell in plan["cells"] if cell.get("joined") in names]
    results = {cell["id"]: result for cell in launches if (result := readable(run.result, cell["id"]))}
    whole = join({**plan, "cells": launches}, refresh(results) if refresh else results)
    return {name: result for name, result in whole.items() if name in names}
