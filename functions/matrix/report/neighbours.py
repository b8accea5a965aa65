"""Storages that were not measured at a size of fleet, and what they did at the nearest smaller and larger one."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from matrix.report.view import View

Document = Mapping[str, Any]
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


def absences(view: View, question: Document) -> list[Absent]:
    """Return who was not there, as the decision's sentences say it too (`matrix.answer.decision.absences`)."""
    here = {storage for storage, _ in _figures(view, question, question)}
    elsewhere: dict[str, list[Neighbour]] = {}
    for other in sorted(_family(view, question), key=lambda other: int(other["instances"])):
        for storage, value in _figures(view, other, question):
            if storage not in here:
                elsewhere.setdefault(storage, []).append((int(other["instances"]), value))
    return [_absent(view, question, storage, known) for storage, known in elsewhere.items()]


def _absent(view: View, question: Document, storage: str, known: list[Neighbour]) -> Absent:
    smaller = [neighbour for neighbour in known if neighbour[0] < question["instances"]]
    larger = [neighbour for neighbour in known if neighbour[0] > question["instances"]]
    if not smaller or not larger:
        return Absent(storage, None, is_ahead=False)
    between = (smaller[-1], larger[0])
    return Absent(storage, between, all(_is_ahead(view, question, value) for _, value in between))


def _is_ahead(view: View, question: Document, value: float) -> bool:
    objective = view.decision.get("objective") or {}
    if objective.get("atMost") is not None:
        return bool(value <= objective["atMost"])
    if objective.get("atLeast") is not None:
        return bool(value >= objective["atLeast"])
    known = [figure for _, figure in _figures(view, question, question)]
    if not known:
        return False
    return value > max(known) if question["higher_is_better"] else value < min(known)


def _family(view: View, question: Document) -> Iterator[Document]:
    """Yield the comparisons that differ from one in the size of the fleet only."""
    for other in view.decision.get("questions") or []:
        if other is not question and all(other[name] == question[name] for name in ("workload", "label", "metric")):
            yield other


def _figures(view: View, other: Document, question: Document) -> Iterator[tuple[str, float]]:
    """Yield the figures of one comparison at the percentile by which another one ranks."""
    for candidate in other["candidates"]:
        if candidate["value"] is not None and not candidate["lost"]:
            entry = view.points.get((candidate["cell"], candidate["point"], other["metric"]))
            median = entry.metric.get("p50") if entry and question.get("why_median") else None
            yield view.called(candidate), float(candidate["value"] if median is None else median)
