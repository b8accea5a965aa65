"""The document of an existing storage's use, for readers and programs."""

from collections.abc import Sequence

import numpy as np
from pydantic import TypeAdapter

from matrix.answer.observed.asking import FSX, VOLUME, Subject, Window
from matrix.answer.observed.carrying import carriers, month_cost
from matrix.answer.observed.tracks import Use, described, gridded, use
from matrix.input.storage_names import whole_names
from matrix.price.book import PriceBook
from matrix.samples.cloudwatch import Query
from matrix.terms.charges import MONTH_S
from matrix.terms.documents.observed import ObservedDocument, ObservedMetric
from storages.contracts.model import Storage
from storages.models import AnyStorage

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
    """Return the subject's use in the window, and storages that could serve it. `book` has the prices of its region.

    Raises NothingObserved if neither throughput nor operations have a value.
    """
    storage = _STORAGE.validate_python(subject.storage) if subject.storage else None
    asked = use(subject.namespace, gridded(answers, window), storage, window.period_s)
    if np.all(np.isnan(asked.bytes_per_s)) and np.all(np.isnan(asked.iops)):
        raise NothingObserved(subject.id)
    metrics = list(described(asked.tracks, window))
    months = (window.ended - window.begun) / MONTH_S
    today = month_cost(storage, asked, subject.gib, window.ended - window.begun, book) if storage else None
    others = carriers(asked, subject.gib, window.ended - window.begun, book, only_shared=subject.namespace != VOLUME)
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
        "carriers": others,
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
            doubts.append(f"no {counted} were counted: whether a storage carries them is not known")
    at_limit = [metric["name"] for metric in metrics if metric["hours_at_limit"]]
    if at_limit:
        doubts.append(
            f"it stood at a limit ({', '.join(at_limit)}): what it would have asked beyond that nobody knows, so a "
            "storage that is only as fast may be too slow as well"
        )
    if subject.namespace == FSX:
        doubts.append(
            "its cache answers some of that; another storage, and a smaller one, may have to do all by itself"
        )
    doubts.append(
        "limits were compared and latencies were not: an operation takes longer over NFS than on a volume, and a small "
        "FSx server may do fewer IOPS than its disks have. Measure before you move: `matrix new`"
    )
    return doubts
