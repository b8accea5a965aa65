"""A run's documents, each by the type that it was seen to have. Only here a name of a document stands for its type."""

from dataclasses import dataclass
from typing import Protocol, TypeVar, cast

from cli.target.documents import JsonObject
from matrix.terms.documents.plan import PlanDocument
from matrix.terms.documents.receipt import ReceiptDocument
from matrix.terms.documents.result import ResultDocument
from matrix.terms.documents.summary import SummaryDocument

T = TypeVar("T")


class Shelf(Protocol):
    """What documents are read from: a `RunStore`, or less than one."""

    def document(self, run: str, name: str, /) -> JsonObject | None:
        """Return a document of a run that is seen to be of the type of its name; None where it is not there.

        Raises UnreadableRun.
        """


@dataclass(frozen=True)
class RunDocuments:
    """Reads the documents that a run has left.

    Each is None where it is not there. Each raises UnreadableRun where it is damaged; `readable` notes that instead.
    """

    store: Shelf
    run: str

    def document(self, _kind: type[T], name: str) -> T | None:
        """Return the document of a name, whose type `_kind` tells to mypy."""
        # A cast, because `parsed` has seen that the document is of the type that DOCUMENTS has for its name.
        return cast("T | None", self.store.document(self.run, name))

    def plan(self) -> PlanDocument | None:
        """Return what was planned: cells, file systems, prices."""
        return self.document(PlanDocument, "plan.json")

    def receipt(self) -> ReceiptDocument | None:
        """Return what it has used, and what that costs, as far as a sweep has seen."""
        return self.document(ReceiptDocument, "receipt.json")

    def result(self, cell: str) -> ResultDocument | None:
        """Return the result of a cell, by its id."""
        return self.document(ResultDocument, f"cells/{cell}/result.json")

    def written_summary(self) -> SummaryDocument | None:
        """Return the summary as its analysis has written it."""
        return self.document(SummaryDocument, "summary.json")

    def matrix(self) -> JsonObject | None:
        """Return the matrix as its user wrote it, which has no type before it is planned."""
        return self.store.document(self.run, "matrix.json")
