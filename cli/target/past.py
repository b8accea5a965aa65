"""Runs with results, oldest first: the kept ones, or a deployment's newest ones and all that measured a cell.

And the earlier runs whose scatter a comparison counts.
"""

from collections.abc import Iterator
from itertools import islice
from typing import TYPE_CHECKING

from cli.messages import terminal
from cli.messages.errors import CommandError
from cli.target import over_runs, summaries
from cli.target.documents import readable
from cli.target.place import Place
from cli.target.run_folders import RunFolders

if TYPE_CHECKING:
    from matrix.answer.history import KeptRun
    from matrix.terms.documents.values import ValuesDocument

# So many of this machine's newest runs are read to find those that measured the same.
MOST_READ = 60


def runs(place: Place, cell: str | None = None) -> "list[KeptRun]":
    """Return the runs that have results; report why others are left out.

    For a deployment these are its newest runs, and with `cell` also all runs that measured that cell, however old.
    """
    known = list(_read(_names(place, cell), place))
    # scipy takes half a second to import, so `matrix --help` must not import it.
    from matrix.answer.history import KeptRun
    from matrix.published.published_comparisons import compared_rows

    read = [KeptRun(each.summary, each.results(), compared_rows(each.summary)) for each in known]
    return sorted(read, key=lambda run: run.summary.get("started_at") or 0.0)


def earlier(base: summaries.FoundRun, run: summaries.FoundRun) -> "list[ValuesDocument]":
    """Return the values of runs before `run` that measured the same, from which a comparison chooses."""
    store = run.store
    if isinstance(store, RunFolders):
        others = (name for name in store.runs() if name not in (base.run, run.run))
        return [values for name in islice(others, MOST_READ) if (values := _values(run, name))]
    from matrix.answer import nights

    key = nights.index_key(base.values, run.values)
    begun = over_runs.begun(store.rows, key) if key else []
    names = nights.chosen_of_rows(begun, base.values, run.values)
    return [values for name in names if (values := _values(run, name))]


def _values(run: summaries.FoundRun, name: str) -> "ValuesDocument | None":
    """Return the values of another run at the same place; None if it has none, or if they are damaged."""
    try:
        return readable(lambda: summaries.FoundRun(run.store, name).values)
    except summaries.NoResults:
        return None


def _names(place: Place, cell: str | None) -> list[str]:
    return place.service().past(cell) if place.is_on_aws else RunFolders().runs()


def _read(names: list[str], place: Place) -> Iterator[summaries.FoundRun]:
    for name in names:
        try:
            yield summaries.find(name, place)
        except CommandError as error:
            terminal.print_wrapped(terminal.stderr(), f"left out: {error}")
