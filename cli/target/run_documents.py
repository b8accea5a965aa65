"""A run's documents with their checked types. Only this module maps a document's name to its type."""

from dataclasses import dataclass
from typing import Protocol, TypeVar, cast

from cli.target.documents import JsonObject
from matrix.terms.documents.plan import PlanDocument
from matrix.terms.documents.receipt import ReceiptDocument
from matrix.terms.documents.result import ResultDocument
from matrix.terms.documents.summary import SummaryDocument

T = TypeVar("T")


class Shelf(Protocol):
    """A source of documents: a `RunStore`, or a part of one."""

    def document(self, run: str, name: str, /) -> JsonObject | None:
        """Return a document of a run, checked to have the type of its name; None if it does not exist.

        Raises UnreadableRun.
        """


@dataclass(frozen=True)
class RunDocuments:
    """Reads the documents of a run.

    Each is None if it does not exist, and raises UnreadableRun if it is damaged; `readable` notes that instead.
    """

    store: Shelf
    run: str

    def document(self, _kind: type[T], name: str) -> T | None:
        """Return the document with this name; `_kind` gives its type to mypy."""
        # A cast, because `parsed` has checked that the document has the type that DOCUMENTS has for its name.
        return cast("T | None", self.store.document(self.run, name))

    def plan(self) -> PlanDocument | None:
        """Return the plan: cells, file systems, prices."""
        return self.document(PlanDocument, "plan.json")

    def receipt(self) -> ReceiptDocument | None:
        """Return the receipt: the resources used and their cost, as far as a sweep has recorded them."""
        return self.document(ReceiptDocument, "receipt.json")

    def result(self, cell: str) -> ResultDocument | None:
        return self.document(ResultDocument, f"cells/{cell}/result.json")

    def written_summary(self) -> SummaryDocument | None:
        """Return the summary that Analyse run has written."""
        return self.document(SummaryDocument, "summary.json")

    def matrix(self) -> JsonObject | None:
        """Return the matrix as its user wrote it, which has no type before it is planned."""
        return self.store.document(self.run, "matrix.json")
