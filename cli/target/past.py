"""Runs that have results, oldest first: those kept here; of a deployment the newest, and all that measured a cell."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from cli.messages import terminal
from cli.messages.errors import CommandError
from cli.target import summaries
from cli.target.place import Place

if TYPE_CHECKING:
    from matrix.answer.history import KeptRun


def runs(place: Place, cell: str | None = None) -> "list[KeptRun]":
    """Return the runs that have results; of the others it is said why they are left out.

    Of a deployment these are its newest, and with `cell` also all that have measured that cell, whenever it was.
    """
    known = list(_read(place.store().past(cell), place))
    # scipy takes half a second to import, so `matrix --help` must not import it.
    from matrix.answer.history import KeptRun
    from matrix.published.beside import beside

    read = [KeptRun(each.summary, each.results(), beside(each.summary)) for each in known]
    return sorted(read, key=lambda run: run.summary.get("started_at") or 0.0)


def _read(names: list[str], place: Place) -> Iterator[summaries.FoundRun]:
    for name in names:
        try:
            yield summaries.find(name, place)
        except CommandError as error:
            terminal.print_wrapped(terminal.stderr(), f"left out: {error}")
