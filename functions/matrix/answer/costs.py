"""Cost of a result in US dollars per build, TB moved, million files or million operations, from the actual run.

Two figures, for two questions:

- `usd`: cost of the work alone. The hourly rates of the fleet, its volumes and the whole file system, times the seconds
  from the first start to the last end, plus charges by the byte and request and for traffic between Availability
  Zones: sums over all instances and repetitions, as the mounts counted them. Instances that do other work in between
  pay this much, so storages are compared by it.
- `usd_billed`: cost of this run, with boot, barriers and waiting, from the receipt (or, without one, from the plan). A
  short measurement is mostly boot, so this is the cost of measuring and not of working.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import TypeAdapter, ValidationError

from matrix.input.workloads import AnyWorkload, Workload
from matrix.input.workloads.contract import Clients
from matrix.input.workloads.sweeps import Footprint
from matrix.plan import placing
from matrix.price.book import Cost, PriceBook, file_system_cost, machine_rates, published_prices, volume_hours
from matrix.run.receipt import CACHE, SERVER
from matrix.samples.moved import WORKED, moved_bytes
from matrix.storages.base import Storage
from matrix.storages.models import AnyStorage, how_many
from matrix.terms.charges import HOUR_S, NOTHING, Amount, Usage
from matrix.terms.documents import summary as documents
from matrix.terms.documents.parts import CostRange, MachineRates, StorageFields
from matrix.terms.documents.plan import PlanCell, PlanDocument, PlanFileSystem
from matrix.terms.documents.receipt import ReceiptDocument, ReceiptResource
from matrix.terms.documents.result import FleetRate, PointResult, ResultDocument
from matrix.terms.names import ran_of

# Work that samples report: the unit that its price is quoted in, and how many pieces of work make one such unit.
SOLD_BY = {
    "builds": ("build", 1.0),
    "runs": ("run", 1.0),
    "files": ("million files", 1e6),
    "bytes": ("TB moved", 1e12),
    "read_bytes": ("TB moved", 1e12),
    "write_bytes": ("TB moved", 1e12),
}
PLAN, RECEIPT = "the plan", "the receipt"
BY_USE = "what is billed by the byte or request"
# A cost with a smaller assumed share is as certain as its prices.
MIN_ASSUMED = 0.05
NO_COST = Cost()
# Workloads whose requests have sizes that nobody plans.
OWN_PROGRAMS = {"build", "command", "yocto"}
_STORAGE: TypeAdapter[Storage] = TypeAdapter(AnyStorage)
_WORKLOAD: TypeAdapter[Workload] = TypeAdapter(AnyWorkload)


@dataclass(frozen=True)
class PointCost:
    """Cost of one result of a point, and its source."""

    per: str
    usd: float
    basis: str
    missing: str | None = None  # charges left out, so that `usd` is a lower bound
    is_assumed: bool = False  # whether more than 5 % of it is for bytes that were not counted
    is_of_median: bool = False  # of the median time, as published tables have no single values
    usd_billed: float | None = None
    billed_basis: str | None = None
    filling: documents.Filling | None = None  # cost of filling the cache, not included in `usd`
    low_usd: float | None = None  # ends of its 95 % interval, if it is known
    high_usd: float | None = None
    by_use: Cost = NO_COST  # part of `usd` for bytes, requests and traffic between zones, and not for hours

    def to_document(self) -> documents.PointCost:
        """The form in summary.json."""
        document: documents.PointCost = {
            "per": self.per,
            "usd": self.usd,
            "basis": self.basis,
            "missing": self.missing,
            "usd_billed": self.usd_billed,
            "billed_basis": self.billed_basis,
        }
        if self.low_usd is not None and self.high_usd is not None:
            document["low_usd"], document["high_usd"] = self.low_usd, self.high_usd
        if self.is_assumed:
            document["is_assumed"] = True
        if self.is_of_median:
            document["is_of_median"] = True
        if self.filling:
            document["filling"] = self.filling
        return document


@dataclass(frozen=True)
class Bill:
    """Plan and receipt of a run, if they exist, and prices to replace missing ones."""

    plan: PlanDocument | None
    receipt: ReceiptDocument | None
    book: PriceBook

    @classmethod
    def of(cls, plan: PlanDocument | None, receipt: ReceiptDocument | None) -> "Bill":
        """Return the bill of a run."""
        return cls(plan, receipt, published_prices())

    def point_cost(self, cell: ResultDocument, point: PointResult) -> PointCost | None:
        """Return the cost of one result of a point. None if work, time or prices are unknown."""
        work, span_s, steps = _worked(cell, point)
        sold = _sold(work)
        rates = self._rates(cell)
        if sold is None or rates is None or span_s <= 0:
            return None
        per, amount = sold
        instance_usd, system_usd, basis = rates
        by_use, is_counted = self._by_use(cell, point, work, steps)
        used = by_use or Cost()
        usd = (instance_usd * _instances_s(cell, point, span_s) + system_usd * span_s) / HOUR_S + used.expected
        is_assumed = not is_counted and used.expected > MIN_ASSUMED * usd
        billed = self._billed(cell, point)
        return PointCost(
            per=per,
            usd=usd / amount,
            basis=basis,
            missing=BY_USE if by_use is None else None,
            is_assumed=is_assumed,
            is_of_median=not _repetitions(point),
            usd_billed=billed[0] / amount if billed else None,
            billed_basis=billed[1] if billed else None,
            filling=self._filling(cell, point),
            by_use=Cost(used.low / amount, used.expected / amount, used.high / amount),
        )

    def _filling(self, cell: ResultDocument, point: PointResult) -> documents.Filling | None:
        """Return the cost of filling the cache: billed or measured, else from the matrix's expected seconds."""
        rates, expected_s = self._rates(cell), _populate_seconds(cell)
        storage = storage_of(cell["storage"])
        if rates is None or storage is None or not expected_s:
            return None
        instance_usd, system_usd, _ = rates
        count = ran_of(cell)
        document: documents.Filling = {
            "seconds": expected_s, "instances": count, "builds": count, "usd": 0.0, "basis": "as its matrix expects",
        }  # fmt: skip
        if not storage.traits.is_shared:
            fetched = point["metrics"].get("fetch_s")
            measured = fetched["p50"] if fetched else None
            seconds = float(measured or expected_s)
            document |= {"seconds": seconds, "usd": count * instance_usd * seconds / HOUR_S}
            return document | {"basis": "as measured"} if measured else document | {"is_assumed": True}
        lines = [
            line
            for line in (self.receipt["resources"] if self.receipt else [])
            if (line["cell"], line["file_system"]) == (CACHE, cell["file_system"])
        ]
        hours = max((line["hours"] for line in lines if line["kind"] == "instance"), default=None)
        document["instances"] = fillers = how_many(cell["storage"])
        if hours is None:
            usd = (fillers * instance_usd + system_usd) * expected_s / HOUR_S
            return document | {"usd": usd, "is_assumed": True}
        usd = sum(line["cost_usd"] or 0.0 for line in lines) + system_usd * hours
        return document | {"seconds": hours * HOUR_S, "usd": usd, "basis": RECEIPT}

    def _rates(self, cell: ResultDocument) -> tuple[float, float, str] | None:
        """Return US dollars per hour of an instance with its volumes and of the file system, and the price source."""
        planned = next(iter(self._planned(cell)), None)
        system = _by_id(self.plan, planned["file_system"] if planned else cell["file_system"])
        storage = storage_of(cell["storage"])
        if planned and "rates_usd" in planned and system and "rates_usd" in system:
            shared = system["rates_usd"]["hour"]
            return _instance_usd(planned["rates_usd"], storage), shared, "the plan's prices"
        if storage is None or not cell["fleet"].get("instanceType"):
            return None
        is_spot = bool(cell["fleet"].get("spot"))
        rates = machine_rates(
            self.book, cell["fleet"]["instanceType"], volume_hours(self.book, storage), is_spot=is_spot
        )
        hour = Usage(Amount.exactly(HOUR_S), NOTHING, NOTHING, NOTHING)
        shared = file_system_cost(self.book, storage, hour).expected
        basis = f"list prices of {self.book.region}, {prices_read(self.book)}"
        return _instance_usd(rates.to_document(), storage), shared, basis

    def _by_use(
        self, cell: ResultDocument, point: PointResult, work: Mapping[str, float], steps: int
    ) -> tuple[Cost | None, bool]:
        """Return (charges for bytes and requests of all complete repetitions, whether bytes were counted).

        From the bytes that the mounts counted, else from those that the workload reported, else from the plan's
        estimate. None: unknown.
        """
        storage = storage_of(cell["storage"])
        if storage is None:
            return Cost(), True
        crossed = _crossed(point) if placing.pays_between_zones(storage) else 0.0
        cross_zone = _cross_zone_share(cell, storage) if crossed is None else 0.0
        if not (storage.is_billed_by_use or crossed or cross_zone):
            return Cost(), True
        mounts = _counted(point)
        planned = footprint_of(cell, point, storage, steps)
        is_reported = any(name in work for name in WORKED)
        if is_reported:
            read, written = work.get("read_bytes", 0.0), work.get("write_bytes", 0.0) + work.get("bytes", 0.0)
        elif planned:
            read, written = planned.read_bytes, planned.written_bytes
        elif not mounts:
            return None, True
        else:
            read = written = 0.0
        # The storage's requests are counted nowhere: as many for each byte as planned.
        got = planned.read_requests * _times(read, planned.read_bytes) if planned else 0.0
        put = planned.put_requests * _times(written, planned.written_bytes) if planned else 0.0
        if crossed is None:
            crossed = cross_zone * (moved_bytes(mounts) if mounts else read + written)
        metered = storage.metered_bytes(mounts, metered_of_a_byte(cell, planned))
        if metered is None:
            moved, padding = (Amount.exactly(read), Amount.exactly(written)), _padding(planned, read, written)
        else:
            moved, padding = metered, (NOTHING, NOTHING)
        usage = Usage(NOTHING, *moved, NOTHING, Amount.exactly(got), Amount.exactly(put), *padding)
        crossing_usd = crossed / 2**30 * self.book.price("between_zones_gib").usd
        # At the expected prices, which are the same in all parts of a run.
        ends = (
            crossing_usd + sum(self.book.price(name).usd * amount[end] for name, amount in storage.charges(usage))
            for end in range(3)
        )
        return Cost(*ends), bool(mounts) or is_reported

    def _billed(self, cell: ResultDocument, point: PointResult) -> tuple[float, str] | None:
        """Return a point's share of its cell's bill: its share of the time in which the cell's fleet worked."""
        billed = self.cell_usd(cell)
        spans = [_worked(cell, other)[1] for other in cell["points"]]
        if billed is None or sum(spans) <= 0:
            return None
        return billed[0] * _worked(cell, point)[1] / sum(spans), billed[1]

    def cell_usd(self, cell: ResultDocument) -> tuple[float, str] | None:
        """Return the bill of a cell, with its share of the file system, and the source.

        For a cell with several launches: all launches; None if an earlier run has paid for some of them.
        """
        launches = self._planned(cell)
        if len(launches) > 1 and any("taken_from" in planned for planned in launches):
            return None
        metered = {of["cell"]: of.get("metered_usd") for of in cell.get("launches", [])}
        metered[cell["id"]] = cell.get("metered_usd")
        billed = [bill for planned in launches if (bill := self._launch_usd(planned, metered.get(planned["id"])))]
        return (sum(usd for usd, _ in billed), billed[0][1]) if billed else None

    def _planned(self, cell: ResultDocument) -> list[PlanCell]:
        """The cell in the plan, or each of its launches."""
        return [
            planned
            for planned in (self.plan["cells"] if self.plan else [])
            if cell["id"] in (planned["id"], planned.get("joined"))
        ]

    def _launch_usd(self, planned: PlanCell, metered: CostRange | None) -> tuple[float, str] | None:
        system = _by_id(self.plan, planned["file_system"])
        own, of_system, basis = planned["cost_usd"]["expected"], system["cost_usd"]["expected"] if system else 0.0, PLAN
        if self.receipt:
            lines = [line for line in self.receipt["resources"] if line["file_system"] == planned["file_system"]]
            # The cell was taken over from an earlier run, or was never started.
            if not any(line["cell"] == planned["id"] for line in lines):
                return None
            own = _sum_usd(lines, planned["id"]) + (metered or planned["metered_usd"])["expected"]
            of_system, basis = _sum_usd(lines, None, CACHE, SERVER), RECEIPT
        return own + of_system * self._share(planned), basis

    def _share(self, cell: PlanCell) -> float:
        """Return a cell's share of its file system's cost: its share of the time in which cells used it."""
        used_s = {
            sibling["id"]: self._used_s(sibling)
            for sibling in (self.plan["cells"] if self.plan else [])
            if sibling["file_system"] == cell["file_system"]
        }
        whole_s = sum(used_s.values())
        return used_s[cell["id"]] / whole_s if whole_s else 0.0

    def _used_s(self, cell: PlanCell) -> float:
        """Return the seconds from a cell's first instance to the end of its last one, as planned without a receipt."""
        if not self.receipt:
            return 0.0 if "taken_from" in cell else cell["expected_s"]
        lines = [line for line in self.receipt["resources"] if line["cell"] == cell["id"]]
        ends = [line["created_at"] + line["hours"] * HOUR_S for line in lines]
        return max(ends) - min(line["created_at"] for line in lines) if lines else 0.0


def _sum_usd(lines: Iterable[ReceiptResource], *purposes: str | None) -> float:
    return sum(line["cost_usd"] or 0.0 for line in lines if line["cell"] in purposes)


def prices_read(book: PriceBook) -> str:
    """Return the month in which the newest of the prices were read."""
    return max(price.read for price in book.prices.values())


def _worked(cell: ResultDocument, point: PointResult) -> tuple[dict[str, float], float, int]:
    """Return (work, seconds from first start to last end, steps of all instances) of all complete repetitions."""
    work: dict[str, float] = {}
    repetitions = _repetitions(point)
    for repetition in repetitions:
        rates: Mapping[str, Any] = repetition
        for name in SOLD_BY:
            if f"{name}_per_s" in rates:
                work[name] = work.get(name, 0.0) + rates[f"{name}_per_s"] * repetition["span_s"]
    span_s = sum(repetition["span_s"] for repetition in repetitions)
    # Published builds have no samples: count one build for each instance, each as long as the median.
    duration = point["metrics"].get("duration_s")
    median = duration["p50"] if duration else None
    if not repetitions and median and cell["workload"]["type"] in {"build", "yocto"}:
        return {"builds": float(ran_of(cell))}, float(median), ran_of(cell)
    return work, span_s, sum(ran_of(cell, repetition.get("launch")) for repetition in repetitions)


def _instances_s(cell: ResultDocument, point: PointResult, span_s: float) -> float:
    """Return the seconds of all instances that ran, which may differ between launches."""
    spans = [(repetition.get("launch"), repetition["span_s"]) for repetition in _repetitions(point)]
    return sum(ran_of(cell, launch) * each_s for launch, each_s in spans or [(None, span_s)])


def _repetitions(point: PointResult) -> list[FleetRate]:
    """Return the repetitions of a fleet whose time is known."""
    return [repetition for repetition in point.get("fleet", []) if repetition.get("span_s")]


def _sold(work: Mapping[str, float]) -> tuple[str, float] | None:
    """Return the unit of the work, such as TB moved, and its amount. Reads and writes of one job are added."""
    for name, amount in work.items():
        per, scale = SOLD_BY[name]
        total = sum(amount_of_other for other, amount_of_other in work.items() if SOLD_BY[other][0] == per)
        if amount > 0:
            return per, total / scale
    return None


def _instance_usd(rates: MachineRates, storage: Storage | None) -> float:
    """Return US dollars per hour of one instance with all its volumes. `data_volume_hour` is one volume of a stripe."""
    volumes = storage.volumes if storage and storage.volumes else 1
    one_volume_each = rates["instance_hour"] + rates["root_volume_hour"] + rates["data_volume_hour"]
    one_volume_each += rates.get("work_volume_hour", 0.0)
    return one_volume_each + (volumes - 1) * rates["data_volume_hour"]


def _populate_seconds(cell: ResultDocument) -> float:
    """Return the matrix's expected seconds to fill the cache. 0: no cache, or an imported workload."""
    try:
        return _WORKLOAD.validate_python(dict(cell["workload"])).populate_seconds
    except ValidationError:
        return 0.0


def _counted(point: PointResult) -> dict[str, float]:
    """Return what the mounts of all instances counted in all complete repetitions. Empty if one did not count."""
    repetitions = [repetition.get("counted", {}) for repetition in _repetitions(point)]
    names = set.intersection(*map(set, repetitions)) if repetitions else set()
    return {name: sum(counted[name] for counted in repetitions) for name in sorted(names)}


def footprint_of(cell: ResultDocument, point: PointResult, storage: Storage, steps: int) -> Footprint | None:
    """Return the planned use of so many steps of a point, in which each launch makes once what it reads.

    None: an imported or published workload.
    """
    try:
        workload = _WORKLOAD.validate_python(dict(cell["workload"]))
        footprint = workload.footprint(dict(point.get("params") or {}), storage, Clients(ran_of(cell)))
    except (ValidationError, KeyError, TypeError, ValueError):
        return None
    repetitions = _repetitions(point)
    launches = len({repetition.get("launch") for repetition in repetitions})
    each = footprint.spread(len(repetitions) / launches if launches else 1)
    return each._replace(
        read_bytes=each.read_bytes * steps,
        written_bytes=each.written_bytes * steps,
        read_requests=each.read_requests * steps,
        write_requests=each.put_requests * steps,
        read_padding=each.read_padding * steps,
        written_padding=each.written_padding * steps,
    )


def _padding(planned: Footprint | None, read: float, written: float) -> tuple[Amount, Amount]:
    """Return what EFS meters beyond these bytes, which no mount counted: in the planned proportion."""
    if planned is None:
        return NOTHING, NOTHING
    return (
        Amount.exactly(planned.read_padding * _times(read, planned.read_bytes)),
        Amount.exactly(planned.written_padding * _times(written, planned.written_bytes)),
    )


def metered_of_a_byte(cell: ResultDocument, planned: Footprint | None) -> tuple[float | None, float | None]:
    """Return as how many bytes EFS meters one that is read, and written; None if only a program knows its requests."""
    if planned is None or cell["workload"]["type"] in OWN_PROGRAMS:
        return None, None
    ways = (planned.read_bytes, planned.read_padding), (planned.written_bytes, planned.written_padding)
    read, written = (1 + padding / moved if moved else None for moved, padding in ways)
    return read, written


def _times(measured: float, planned: float) -> float:
    """Return how many times as much was moved as planned: 1 if no bytes were planned."""
    return measured / planned if planned else 1.0


def _crossed(point: PointResult) -> float | None:
    """Return the bytes that passed between Availability Zones in all complete repetitions. None: not known."""
    every = [repetition.get("crossed_bytes") for repetition in _repetitions(point)]
    known = [crossed for crossed in every if crossed is not None]
    return sum(known) if known and len(known) == len(every) else None


def _cross_zone_share(cell: ResultDocument, storage: Storage) -> float:
    """Return the share of a fleet's instances outside the storage's zone: of older results, which do not name it."""
    zones = len(cell.get("provenance", {}).get("Availability Zone", ()))
    return placing.cross_zone_share(cell["fleet"].get("placement"), storage, ran_of(cell), zones).expected


def storage_of(document: StorageFields) -> Storage | None:
    """Return the model of a storage. None if the type is not ours, such as a published RAID."""
    try:
        return _STORAGE.validate_python({key: value for key, value in document.items() if key != "placement"})
    except ValidationError:
        return None


def storage_limits(document: StorageFields) -> dict[str, tuple[float, str]]:
    """Return the limits of a volume, or of a shared storage, by unit of a chart: (rate, `IOPS of the volume`)."""
    storage = storage_of(document)
    if storage is None or not storage.traits.are_limits_published:
        return {}
    several = how_many(document)
    of_shared = f"of its {several} file systems" if several > 1 else "of the file system"
    whose = (of_shared if storage.traits.is_shared else "of the volume") + storage.traits.limits_count
    operations = {"IOPS": (float(storage.effective_iops), f"IOPS {whose}")}
    if not storage.is_throughput_published:
        return operations
    return operations | {"MB/s": (storage.bandwidth_bytes_per_s / 1e6, f"throughput {whose}")}


def _by_id(plan: PlanDocument | None, file_system: str) -> PlanFileSystem | None:
    return next((entry for entry in plan["file_systems"] if entry["id"] == file_system), None) if plan else None
