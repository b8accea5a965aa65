"""Runs with results, oldest first: the kept ones, or a deployment's newest ones and all that measured a cell."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from cli.messages import terminal
from cli.messages.errors import CommandError
from cli.target import summaries
from cli.target.place import Place
from cli.target.run_folders import RunFolders

if TYPE_CHECKING:
    from matrix.answer.history import KeptRun


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


def _names(place: Place, cell: str | None) -> list[str]:
    return place.service().past(cell) if place.is_on_aws else RunFolders().runs()


def _read(names: list[str], place: Place) -> Iterator[summaries.FoundRun]:
    for name in names:
        try:
            yield summaries.find(name, place)
        except CommandError as error:
            terminal.print_wrapped(terminal.stderr(), f"left out: {error}")
