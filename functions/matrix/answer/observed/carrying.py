"""Storages that could serve the load of an observed one, with their monthly cost."""

from collections.abc import Iterator

import numpy as np

from matrix.answer.observed.tracks import MIB, Use, Values
from matrix.input.storage_names import whole_names
from matrix.price.book import Cost, PriceBook, file_system_cost, volumes_cost
from matrix.terms.charges import MONTH_S, Amount, Usage
from matrix.terms.documents.observed import Carrier
from storages.contracts.bursts import Burst
from storages.contracts.demand import Demand
from storages.contracts.model import Storage
from storages.models import MODELS

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
            if model.is_shared or not only_shared:
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
