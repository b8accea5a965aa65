"""The document of an existing storage's use, for readers and programs."""

from collections.abc import Iterator, Sequence

import numpy as np
from pydantic import TypeAdapter

from matrix.answer.observed.asking import FSX, VOLUME, Subject, Window
from matrix.answer.observed.tracks import MIB, Use, Values, described, gridded, use
from matrix.input.storage_names import whole_names
from matrix.price.book import Cost, PriceBook, file_system_cost, volumes_cost
from matrix.samples.cloudwatch import Query
from matrix.storages.base import Demand, Storage
from matrix.storages.metrics import Burst
from matrix.storages.models import MODELS, AnyStorage
from matrix.terms.charges import MONTH_S, Amount, Usage
from matrix.terms.documents.observed import Carrier, ObservedDocument, ObservedMetric

# Percentiles of the load over the periods (the maximum, and P99): configurations are sized for both.
SIZED_FOR = (100.0, 99.0)


def carriers(asked: Use, gib: float, window_s: float, book: PriceBook, *, only_shared: bool) -> list[Carrier]:
    """Return candidate storages: first those that can serve the whole load, each group cheapest first.

    `gib` is the data to store. `only_shared` leaves out volumes, which only one instance can use.
    """
    sized: dict[str, Storage] = {}
    for level in SIZED_FOR:
        demand = Demand(gib, _percentile(asked.iops, level), _percentile(asked.bytes_per_s, level))
        for model in MODELS.values():
            if model.traits.is_shared or not only_shared:
                sized |= {storage.fingerprint: storage for storage in model.fitting(demand)}
    names = whole_names((key, storage.document) for key, storage in sized.items())
    judged = [_carrier(storage, names[key], asked, gib, window_s, book) for key, storage in sized.items()]
    # Users who accept no waiting reject a little of it too, so the price decides only among the storages of one grade,
    # such as all storages that serve every period.
    return sorted(judged, key=lambda carrier: (_grade(carrier), carrier["usd_month"]["expected"]))


def _grade(carrier: Carrier) -> int:
    return sum(carrier["share_within"] < least for least in (1.0, 0.99, 0.9))


def _percentile(values: Values, level: float) -> float:
    known = values[~np.isnan(values)]
    return float(np.percentile(known, level)) if len(known) else 0.0


def _carrier(storage: Storage, name: str, asked: Use, gib: float, window_s: float, book: PriceBook) -> Carrier:
    period_s = window_s / len(asked.iops)
    is_over = _over(storage, gib, asked, period_s)
    observed = np.count_nonzero(~np.isnan(asked.iops) | ~np.isnan(asked.bytes_per_s))
    over = int(np.count_nonzero(is_over))
    return {
        "name": name,
        "storage": dict(storage.document),
        "iops": storage.effective_iops,
        "mibps": storage.bandwidth_bytes_per_s / MIB,
        "hours_over": over * period_s / 3_600,
        "share_within": 1 - over / max(1, int(observed)),
        "usd_month": month_cost(storage, asked, gib, window_s, book).to_document(),
    }


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


def _over(storage: Storage, gib: float, asked: Use, period_s: float) -> Values:
    """Return for each period whether the load was above the storage's limit with its credits at that time."""
    bursts: dict[str, Burst] = {burst.counts: burst for burst in storage.bursts_keeping(gib)}
    rates = {"IOPS": asked.iops, "bytes/s": asked.bytes_per_s}
    limits = {"IOPS": float(storage.effective_iops), "bytes/s": storage.bandwidth_bytes_per_s}
    over = np.zeros(len(asked.iops), dtype=bool)
    for counts, values in rates.items():
        known = np.nan_to_num(values)
        burst = bursts.get(counts)
        over |= list(_beyond_credits(burst, known, period_s)) if burst else known > limits[counts]
    return over


def _beyond_credits(burst: Burst, rates: Values, period_s: float) -> Iterator[bool]:
    """Yield for each rate whether credits are used up. The balance is full at first; unknown credits count as 0."""
    most = burst.credits or 0.0
    balance = most
    for rate in rates:
        allowed = min(burst.most, burst.sustained + balance / period_s)
        yield bool(rate > allowed)
        balance = min(most, balance + (burst.sustained - min(float(rate), allowed)) * period_s)


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
