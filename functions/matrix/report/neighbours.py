"""Storages that were not measured at a fleet size, with their figures at the nearest smaller and larger size."""

from dataclasses import dataclass

from matrix.report.view import View
from matrix.terms.documents.summary import Question

Neighbour = tuple[int, float]


@dataclass(frozen=True)
class Absent:
    """A storage without a figure in a comparison."""

    storage: str  # as the page calls it
    between: tuple[Neighbour, Neighbour] | None  # instances and figure, smaller first; None: not measured on both sides
    is_ahead: bool  # both are better than the best that was measured here, or reach the objective

    @property
    def middle(self) -> float:
        """The figure halfway between its neighbours."""
        return sum(value for _, value in self.between) / 2 if self.between else 0.0


def absences(view: View, question: Question) -> list[Absent]:
    """Return the storages that were not measured in a comparison; none for a decision of an earlier version."""
    absent = []
    for absence in question.get("absences") or []:
        known = [(each["instances"], each["value"]) for each in absence["neighbours"]]
        smaller = [neighbour for neighbour in known if neighbour[0] < question["instances"]]
        larger = [neighbour for neighbour in known if neighbour[0] > question["instances"]]
        between = (smaller[-1], larger[0]) if smaller and larger else None
        absent.append(Absent(view.called_by_name(absence["storage"]), between, absence["is_expected_ahead"]))
    return absent
