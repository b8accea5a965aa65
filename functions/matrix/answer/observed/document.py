"""The document of an existing storage's use, for readers and programs."""

from collections.abc import Sequence

import numpy as np
from pydantic import TypeAdapter

from matrix.answer.observed.asking import FSX, Subject, Window
from matrix.answer.observed.tracks import Use, described, gridded, use
from matrix.input.storage_names import whole_names
from matrix.price.book import Cost, PriceBook, file_system_cost, volumes_cost
from matrix.samples.cloudwatch import Query
from matrix.storages.base import Storage
from matrix.storages.models import AnyStorage
from matrix.terms.charges import MONTH_S, Amount, Usage
from matrix.terms.documents.observed import ObservedDocument, ObservedMetric


def month_cost(storage: Storage, asked: Use, gib: float, window_s: float, book: PriceBook) -> Cost:
    """Return the cost of a storage for a month of 730 hours with the traffic of the window."""
    months = MONTH_S / window_s
    usage = Usage(
        seconds=Amount.exactly(MONTH_S),
        read_bytes=Amount.exactly(asked.read_bytes * months),
        written_bytes=Amount.exactly(asked.written_bytes * months),
        stored_bytes=Amount.exactly(gib * 2**30),
        is_steady=True,
    )
    return volumes_cost(book, storage, 1, Amount.exactly(MONTH_S)) + file_system_cost(book, storage, usage)


SCHEMA = 1
_STORAGE: TypeAdapter[Storage] = TypeAdapter(AnyStorage)
MINUTE_S = 60
# If less than this share of the window has values, the document has a warning with the share.
WHOLE = 0.999


class NothingObserved(ValueError):
    """CloudWatch has no value for the queries."""


def document(
    subject: Subject, window: Window, answers: Sequence[tuple[Query, Sequence[tuple[float, float]]]], book: PriceBook
) -> ObservedDocument:
    """Return the subject's use in the window, and its cost. `book` has the prices of its region.

    Raises NothingObserved if neither throughput nor operations have a value.
    """
    storage = _STORAGE.validate_python(subject.storage) if subject.storage else None
    asked = use(subject.namespace, gridded(answers, window), storage, window.period_s)
    if np.all(np.isnan(asked.bytes_per_s)) and np.all(np.isnan(asked.iops)):
        raise NothingObserved(subject.id)
    metrics = list(described(asked.tracks, window))
    months = (window.ended - window.begun) / MONTH_S
    today = month_cost(storage, asked, subject.gib, window.ended - window.begun, book) if storage else None
    return {
        "schema": SCHEMA,
        "id": subject.id,
        "region": book.region,
        "name": whole_names([("", subject.storage)])[""] if subject.storage else subject.words,
        "storage": subject.storage,
        "begun": window.begun,
        "ended": window.ended,
        "period_s": window.period_s,
        "metrics": metrics,
        "read_gib_month": asked.read_bytes / 2**30 / months,
        "written_gib_month": asked.written_bytes / 2**30 / months,
        "usd_month": today.to_document() if today else None,
        "warnings": [*_doubts(subject, window, asked, metrics), *(warning["message"] for warning in book.warnings())],
    }


def _doubts(subject: Subject, window: Window, asked: Use, metrics: Sequence[ObservedMetric]) -> list[str]:
    doubts = []
    if window.period_s > MINUTE_S:
        minutes = window.period_s // MINUTE_S
        doubts.append(f"figures are means of {minutes} minutes: shorter peaks were higher; up to 14 days have minutes")
    covered = float(np.mean(~np.isnan(asked.iops) | ~np.isnan(asked.bytes_per_s)))
    if covered < WHOLE:
        doubts.append(
            f"{100 * covered:.0f} % of the window has values: it was not attached, or not used, for the rest, "
            "which counts as no traffic"
        )
    for counted, values in (("operations", asked.iops), ("bytes", asked.bytes_per_s)):
        if np.all(np.isnan(values)):
            doubts.append(f"no {counted} were counted")
    at_limit = [metric["name"] for metric in metrics if metric["hours_at_limit"]]
    if at_limit:
        doubts.append(f"it was at a limit ({', '.join(at_limit)}): its users may want more than they got")
    if subject.namespace == FSX:
        doubts.append("its cache answers some of that; a smaller one may have to read more from its disks")
    return doubts
