"""Warnings of a run by their kinds: a line for each, the worst first."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from matrix.terms.documents.summary import SummaryDocument
from matrix.terms.findings.warnings import CellWarning
from matrix.terms.metrics import readable
from matrix.terms.names import fleet_label


@dataclass
class Kind:
    """Warnings of one kind, the worst first."""

    names: Mapping[str, str]  # of cells by their ids; others are called by their ids
    warnings: list[tuple[str, CellWarning]] = field(default_factory=list)  # each with the id of its cell

    @property
    def line(self) -> str:
        """All of them in one line: how many there are, and the worst."""
        worst, *others = self.lines
        if not others:
            return worst
        points = sum(len(warning.points or [cell]) for cell, warning in self.warnings)
        cells = len({cell for cell, _ in self.warnings})
        return f"{points} points of {cells} cell{'s' if cells > 1 else ''}, the worst is {worst}"

    @property
    def lines(self) -> list[str]:
        """Each in a separate line."""
        return [warning.line(self.names.get(cell, cell)) for cell, warning in self.warnings]


def kinds_of(summary: SummaryDocument, names: Mapping[str, str] | None = None) -> list[Kind]:
    """Return the warnings of all cells by their kind, the most severe kind first, of a kind the worst first.

    `names` has the names of cells by id; without it they are called by their ids, or by the names of a source.
    """
    kinds: dict[tuple[str, str], Kind] = {}
    names = _names_of_rows(summary) if names is None else names
    for cell in summary.get("cells", []):
        for warning in map(CellWarning.read, cell.get("warnings") or []):
            kinds.setdefault(warning.kind, Kind(names)).warnings.append((cell["id"], warning))
    for kind in kinds.values():
        kind.warnings.sort(key=lambda pair: -pair[1].size)
    return sorted(kinds.values(), key=lambda kind: kind.warnings[0][1].severity)


def _names_of_rows(summary: SummaryDocument) -> dict[str, str]:
    """Return storage and fleet of each row of a source, by its id, which no command takes; none of a run's cells."""
    decision = summary.get("decision")
    if summary.get("environment") != "published" or not decision:
        return {}
    candidates = [each for question in decision["questions"] for each in question["candidates"]]
    storages = {each["cell"]: each["storage"] for each in candidates}
    cells = [cell for cell in summary.get("cells", []) if cell["id"] in storages]
    return {cell["id"]: f"{storages[cell['id']]} at {fleet_label(cell['fleet'])}" for cell in cells}


def of_run(summary: SummaryDocument) -> list[str]:
    """List the warnings that are about the whole run."""
    return [readable(warning) for warning in summary.get("warnings") or []]


def warning_lines(summary: SummaryDocument) -> list[str]:
    """List the warnings of the run, then a line for each kind of its cells' warnings."""
    return [*of_run(summary), *(kind.line for kind in kinds_of(summary))]


def every_warning(summary: SummaryDocument) -> Iterator[str]:
    """Yield each warning of the run and of its cells."""
    yield from of_run(summary)
    for kind in kinds_of(summary):
        yield from kind.lines
