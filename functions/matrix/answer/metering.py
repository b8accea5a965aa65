"""What AWS bills of a cell by use: as planned, but with the bytes that the mounts of its instances counted."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from matrix.answer.costs import footprint_of, metered_of_a_byte, storage_of
from matrix.price.book import Cost, PriceBook
from matrix.samples.file import SampleFile, by_point
from matrix.samples.moved import of_mount
from matrix.storages.base import Storage
from matrix.terms.charges import NOTHING, Amount, Charge, Usage
from matrix.terms.documents.parts import CostRange
from matrix.terms.documents.plan import PlanCell
from matrix.terms.documents.result import ResultDocument

# What mounts have exchanged with their servers, by counter.
Moved = Mapping[str, float]
UNKNOWN_SIZES = (None, None)


def metered_usd(
    planned: PlanCell, result: ResultDocument, files: Sequence[SampleFile], moved: Sequence[Moved] | None,
    book: PriceBook,
) -> CostRange:  # fmt: skip
    """Return the charges of a cell that do not grow with its hours.

    `moved` is of the mount of each launched instance in all. None: one of them did not report it, and the cell is
    billed as planned. Without any instance nothing was moved. `book` has prices that the plan lacks.
    """
    as_planned, uses = planned["metered_usd"], {use["charge"]: use for use in planned.get("by_use", [])}
    storage = storage_of(planned["storage"])
    if moved is None or storage is None or not uses:
        return as_planned
    charges = _charges(result, storage, files, moved) if moved else [Charge(name, NOTHING) for name in uses]
    instead_of, counted, least_usd = Cost(), Cost(), 0.0
    for name, amount in charges:
        instead_of += Cost(**uses[name]["cost_usd"]) if name in uses else Cost()
        usd = uses[name]["unit_usd"] if name in uses else book.price(name).unit_usd
        counted += Cost(amount.low * usd["low"], amount.expected * usd["expected"], amount.high * usd["high"])
        least_usd += amount.expected * usd["high"]
    # Mounts count no sizes, but the plan knows them: its highest figure holds, unless the cell certainly moved more.
    high = min(counted.high, max(least_usd, instead_of.high))
    return (Cost(**as_planned) - instead_of + replace(counted, high=high)).to_document()


def _charges(
    result: ResultDocument, storage: Storage, files: Sequence[SampleFile], moved: Sequence[Moved]
) -> list[Charge]:
    """Return the charges by bytes; none if the mounts do not count what this storage bills."""
    in_all = _sum(moved)
    bounds = storage.metered_bytes(in_all, UNKNOWN_SIZES)
    if bounds is None:
        return []
    samples, sums, beside = by_point(files), [0.0, 0.0], in_all
    for point in result["points"]:
        steps = _sum(of_mount(sample) for _, sample in samples.get(point["id"], ()))
        beside = {name: max(0.0, amount - steps.get(name, 0.0)) for name, amount in beside.items()}
        sizes = metered_of_a_byte(result, footprint_of(result, point, storage, 1))
        sums = _plus(sums, storage.metered_bytes(steps, sizes))
    # Beside its steps a cell lays out files and removes them, by requests of sizes that nobody knows.
    sums = _plus(sums, storage.metered_bytes(beside, UNKNOWN_SIZES))
    read, written = (way._replace(expected=expected) for way, expected in zip(bounds, sums, strict=True))
    usage = Usage(NOTHING, read, written, NOTHING, Amount.exactly(in_all.get("nfs_read_operations", 0.0)))
    # Mounts count no requests to S3, so these stay as planned.
    return [charge for charge in storage.charges(usage) if charge.name.endswith("_gib")]


def _sum(counters: Iterable[Moved]) -> dict[str, float]:
    together: Counter[str] = Counter()
    for counted in counters:
        together.update(counted)
    return dict(together)


def _plus(sums: Sequence[float], metered: tuple[Amount, Amount] | None) -> list[float]:
    return [total + way.expected for total, way in zip(sums, metered or (NOTHING, NOTHING), strict=True)]
