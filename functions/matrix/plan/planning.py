"""Make a plan from a matrix: cells, durations, deadlines and cost."""

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import cast

from matrix.check.cells import Combination
from matrix.check.read import CheckedMatrix
from matrix.input.emulation import marked, marked_slug, quirks_of, truth
from matrix.input.image import Image
from matrix.input.matrix import MAX_HOURS, Matrix
from matrix.input.pace import (
    BOOT_ALLOWANCE_S,
    EARLY_POLLS,
    MAX_POLL_S,
    PREPARE_S,
    WORK_FACTOR,
    Work,
    least_poll_s,
    makespan_s,
)
from matrix.input.storage_names import brief_names
from matrix.input.workloads import Workload
from matrix.plan import budget, images, instance_limits, near_limits, placing
from matrix.plan.assumptions import assumptions, of_order
from matrix.plan.cell_work import CellWork, cell_work
from matrix.plan.document import Plan, PlannedCell, PlannedFileSystem, apart, warning_of
from matrix.plan.images import PlannedImage
from matrix.plan.instance_limits import Reach, StorageVolumes
from matrix.plan.near_limits import PlannedRates
from matrix.plan.order import derived_seed, file_systems_in_order, step_rows, steps_in_order
from matrix.plan.resume import Earlier, fingerprint
from matrix.price.book import (
    Cost,
    PriceBook,
    charges_cost,
    file_system_cost,
    instances_cost,
    machine_rates,
    orchestration_cost,
    published_prices,
    volume_hours,
    volumes_cost,
)
from matrix.storages.base import Storage
from matrix.storages.models import how_many
from matrix.terms.charges import HOUR_S, NOTHING, Amount, Charge, Usage
from matrix.terms.documents.parts import Fleet, Part, Point
from matrix.terms.documents.plan import PlanUse, PlanWarning, Populate
from matrix.terms.grouping import grouped
from matrix.terms.ids import cell_id, launch_id, unique_slugs
from matrix.terms.names import canonical, fleet_label, tell_apart, workload_names
from matrix.terms.problems import InvalidMatrix, Weight

# Plan, analysis of the run, and a moment for the last clean-up: at most. A thirtieth of it is expected.
RUN_OVERHEAD_S = 900.0
SHUTDOWN_S = 30.0
# By a service of S3 (`gateway_service`): the book's name of the price of a GiB, in each of the stack's subnets.
Tolls = Mapping[str, Sequence[str | None]]
_UNKNOWN = Earlier(None)


def plan(
    checked: CheckedMatrix,
    *,
    region: str = "us-east-1",
    prices: PriceBook | None = None,
    earlier: Mapping[str, Earlier] | None = None,
    run: str = "",
    tolls: Tolls | None = None,
) -> Plan:
    """Return the plan of a matrix in `region` for the run of this name. The same matrix and seed give the same plan.

    `earlier` has the cells of the resumed run by `fingerprint`. Cells that were measured stay in the plan with their
    ids and in their order, but take no time and cost nothing. Raises InvalidMatrix if AWS refuses a storage in this
    region.
    """
    matrix = checked.matrix
    if refused := list(placing.of_region(matrix, region)):
        raise InvalidMatrix(refused)
    book = (prices or published_prices()).for_region(region)
    seed = derived_seed(matrix, run) if matrix.seed is None else matrix.seed
    planner = Planner(checked, book, seed, earlier or {}, tolls or {})
    cells: list[PlannedCell] = []
    file_systems: list[PlannedFileSystem] = []
    for launch, group in file_systems_in_order(checked.cells, matrix.launches, seed, is_random=planner.is_random):
        planned, file_system = planner.plan_file_system(launch, group)
        cells += planned
        file_systems.append(file_system)
    unmeasured = [cell for cell in cells if not cell.reused_from]
    planned_images = planner.plan_images()
    priced: list[PlannedCell | PlannedFileSystem | PlannedImage] = [*cells, *file_systems, *planned_images]
    cost = sum((part.cost for part in priced), Cost())
    baking_s = max((images.BAKE_S.expected for image in planned_images if image.is_baked), default=0.0)
    expected_s = _makespan_s(matrix, file_systems, lambda file_system: file_system.expected_s) + baking_s
    deadline_s = _deadline_s(matrix, file_systems)
    volumes = list(planner.attached_volumes())
    storages = brief_names((canonical(each.storage), each.storage) for each in file_systems)
    storage_of = {each.id: storages[canonical(each.storage)] for each in file_systems}

    def name_of(cell: PlannedCell) -> str:
        workloads = workload_names(each.workload for each in cells)
        parts = storage_of[cell.file_system], workloads[canonical(cell.workload)], fleet_label(cell.fleet)
        return ", ".join(parts)

    warnings = [
        *budget.warnings(matrix.budget_usd, cost, cells, name_of),
        *budget.unbounded(() if matrix.emulate else planner.unbounded),
        *map(warning_of, checked.warnings),
        *map(warning_of, near_limits.problems(planner.planned_rates())),
        *_warnings_of_time(
            matrix, ((storage_of[cell.file_system], cell.poll_s) for cell in cells), expected_s, deadline_s
        ),
        *book.warnings(),
        *instance_limits.warnings(volumes, instance_limits.known_limits()),
        *instance_limits.unknown(volumes),
    ]
    if not matrix.emulate:
        helped = [cell.fleet["count"] for cell in unmeasured if "mount.efs" in images.tools_of_storage(cell.storage)]
        warnings += images.warnings(planned_images, max(helped, default=0))
    warnings, intended = apart(warnings, matrix.intended)
    return Plan(
        name=matrix.name,
        seed=seed,
        cells=cells,
        file_systems=file_systems,
        images=planned_images,
        instances=sum(cell.fleet["count"] for cell in unmeasured),
        instance_hours=sum(cell.fleet["count"] * cell.expected_s for cell in unmeasured) / 3600,
        expected_s=expected_s + RUN_OVERHEAD_S / 30,
        deadline_s=deadline_s,
        cost=cost,
        is_emulated=bool(matrix.emulate),
        assumptions=[
            *assumptions(matrix, book, {file_system.storage["type"] for file_system in file_systems}, planned_images),
            *of_order(matrix, len(file_systems), expected_s),
            *instance_limits.describe_block(volumes),
            *budget.assumptions(matrix.budget_usd, cost),
            *intended,
        ],
        warnings=warnings,
        doubtful_prices=book.doubtful,
    )


@dataclass(frozen=True)
class CellGroupCost:
    """Times and costs that cells of one file system with the same workload, time and placement share.

    Only the machines are missing, whose price depends on the instance type.
    """

    poll_s: int
    instance_s: Amount  # how long each instance exists
    orchestration: Cost  # Step Functions, Lambda and S3
    transit: Cost
    volumes: Cost
    volume_hours_usd: tuple[float, float]  # one measured volume, one work volume
    file_system: Cost  # while the cell runs
    charges_by_use: tuple[Charge, ...]  # the part of `file_system` that grows with bytes and requests
    by_use: Cost  # their cost


class Planner:
    """Plans the cells of one matrix. What several cells share is computed once."""

    def __init__(
        self, checked: CheckedMatrix, book: PriceBook, seed: int, earlier: Mapping[str, Earlier],
        tolls: Tolls,
    ) -> None:  # fmt: skip
        """`earlier` has the cells of the resumed run by `fingerprint`."""
        self.tolls = tolls
        self.matrix, self.cells, self.book, self.seed, self.earlier = checked.matrix, checked.cells, book, seed, earlier
        self.image = self.matrix.image or Image()
        self.is_random = self.matrix.order == "random"
        self.storage_ids = _ids([cell.storage for cell in self.cells], marked_slug if self.matrix.emulate else str)
        self.workload_ids = _ids([cell.workload for cell in self.cells])
        workloads = {cell.workload.fingerprint: cell.workload for cell in self.cells}
        self.points: dict[str, list[Point]] = {
            key: [{"id": f"p{i:02d}", "params": params} for i, params in enumerate(workload.points(), start=1)]
            for key, workload in workloads.items()
        }
        tell_apart((workload.document, self.points[key]) for key, workload in workloads.items())
        self._rows = {
            key: step_rows(self.points[key], workload.points_in_a_row, self.matrix.repetitions)
            for key, workload in workloads.items()
        }
        self._works: dict[tuple[str, str, int, Reach | None], CellWork] = {}
        self._reaches: dict[tuple[str, str, str | None], Reach | None] = {}
        self.unbounded: list[tuple[Combination, Cost]] = []
        """Cells that nobody knows the bytes of, and what these cost."""

    def work_of(self, cell: Combination) -> CellWork:
        """Return what a cell does: the same in all launches, and for instance types with the same limits."""
        key = cell.workload.fingerprint, cell.storage.fingerprint, cell.fleet.count, self._reach_of(cell)
        if key not in self._works:
            self._works[key] = cell_work(cell, self.points[key[0]], self.matrix.repetitions, key[3])
        return self._works[key]

    def _reach_of(self, cell: Combination) -> Reach | None:
        """Return the limits of each instance; None for emulated storages."""
        storage, fleet = cell.storage, cell.fleet
        key = storage.fingerprint, fleet.instance_type, fleet.bandwidth_weighting
        if key not in self._reaches:
            self._reaches[key] = None if self.matrix.emulate else instance_limits.reach_of(*key[1:], storage)
        return self._reaches[key]

    def plan_file_system(
        self, launch: int, cells: Sequence[Combination]
    ) -> tuple[list[PlannedCell], PlannedFileSystem]:
        """Plan the cells of one storage in a launch, and its file system for those that are not yet measured."""
        storage = cells[0].storage
        earlier = [self._earlier_of(cell, launch) for cell in cells]
        unmeasured = [cell for cell, known in zip(cells, earlier, strict=True) if not known.reused_from]
        works = [self.work_of(cell) for cell in cells]
        timed = [work for work, known in zip(works, earlier, strict=True) if not known.reused_from] or works
        shortest_poll_s = least_poll_s([work.time for work in timed])
        if shortest_poll_s is None:  # the rules have refused it already
            raise AssertionError(f"{cells[0].storage_path} cannot be polled often enough")
        stored_bytes = max(work.use.stored_bytes for work in timed)
        costs: dict[tuple[str, Work, str], CellGroupCost] = {}
        planned = []
        for cell, known, work in zip(cells, earlier, works, strict=True):
            key = cell.workload.fingerprint, work.time, str(cell.fleet.placement)
            if (group := costs.get(key)) is None:
                group = costs[key] = self._group_cost(cell, work, shortest_poll_s, stored_bytes)
            planned.append(self._plan_cell(cell, work.time, launch, group, known))
            if cell.workload.assumed_bytes_per_s and group.charges_by_use and not known.reused_from:
                self.unbounded.append((cell, group.by_use))
        measured = [cell for cell in planned if not cell.reused_from]
        filling, filling_s, cost = populate(self.book, zip(measured, unmeasured, strict=True))
        creation_s, max_creation_s = _creation_s(storage)
        # All prices are per second or per byte, so the costs add up: before and after the cells, and while each runs.
        unused_s = creation_s + filling_s.expected
        kept = Usage(
            Amount(unused_s / 2, unused_s, max_creation_s + 3 * filling_s.expected), NOTHING, NOTHING, stored_bytes
        )
        cost = file_system_cost(self.book, storage, kept) + cost
        hour = kept._replace(seconds=Amount.exactly(HOUR_S))
        file_system = PlannedFileSystem(
            id=planned[0].file_system,
            launch=planned[0].launch,
            storage=planned[0].storage,
            cells=[cell.id for cell in measured],
            populate=filling,
            expected_s=unused_s + sum(cell.expected_s for cell in measured),
            most_s=max_creation_s + max(filling_s.high, BOOT_ALLOWANCE_S) + sum(cell.deadline_s for cell in measured),
            cost=sum((cell.shared_cost for cell in measured), cost),
            hour_usd=file_system_cost(self.book, storage, hour).expected,
            reserve_usd=cost.high,
            assumed_bytes_per_s=max(
                (cell.workload.assumed_bytes_per_s for cell, made in zip(cells, planned, strict=True) if made.by_use),
                default=0.0,
            ),
        )
        if not measured:
            file_system = replace(file_system, expected_s=0.0, most_s=0.0, cost=Cost(), reserve_usd=0.0)
        return planned, file_system

    def plan_images(self) -> list[PlannedImage]:
        """Return the images of the cells that are not yet measured: one for each architecture."""
        by_architecture = grouped((cell.fleet.architecture, cell) for cell in self._unmeasured())
        planned_images = []
        for architecture, cells in by_architecture.items():
            tools: set[str] = set()
            # Each storage with each workload once, for any number of fleets.
            pairs = {(cell.storage.fingerprint, cell.workload.fingerprint): cell for cell in cells}
            for (_, of_workload), cell in pairs.items():
                params = [point["params"] for point in self.points[of_workload]]
                tools |= images.tools_of_cell(cell.storage.document, cell.workload.document, params)
                tools |= images.tools_of_work_volume() if cell.workload.work_volume(cell.storage) else set()
            containers = [name for cell in cells for name in cell.workload.containers]
            recipe = images.recipe(self.image, architecture, tools, containers)
            planned_images.append(images.planned(recipe, self.image, self.book))
        return planned_images

    def attached_volumes(self) -> Iterator[StorageVolumes]:
        """Yield the volumes of an instance of each type on each storage, for any number of workloads and sizes."""
        cells = [] if self.matrix.emulate else self._unmeasured()
        pairs = grouped(((cell.storage.fingerprint, cell.fleet.instance_type), cell) for cell in cells)
        for (_, instance_type), alike in pairs.items():
            cell = alike[0]
            weighting = cell.fleet.bandwidth_weighting
            if not (
                volumes := instance_limits.storage_volumes(cell.storage_name, cell.storage, instance_type, weighting)
            ):
                continue
            if not cell.storage.traits.is_shared:
                asked = [self.work_of(each) for each in alike if each.workload.moves_data]
                volumes = volumes._replace(
                    asked_iops=max((work.rates.operations for work in asked), default=0.0),
                    asked_bytes_per_s=max((work.rates.bytes for work in asked), default=0.0),
                    credits_used=max((work.credits_used for work in asked), default=0.0),
                )
            yield volumes

    def planned_rates(self) -> Iterator[PlannedRates]:
        """Yield what the instances of each cell that is not yet measured do in a second; of emulated storages none."""
        has_job_hours = bool(self.matrix.objective and self.matrix.objective.job_hours)
        for cell in self._unmeasured():
            if self._reach_of(cell) is not None:
                points = self.points[cell.workload.fingerprint]
                work = self.work_of(cell)
                yield PlannedRates(cell, points, work.rates, work.credits_used, has_job_hours)

    def _unmeasured(self) -> list[Combination]:
        """Return the cells that at least one launch still has to measure."""
        launches = range(1, self.matrix.launches + 1)
        return [
            cell
            for cell in self.cells
            if not self.earlier or not all(self._earlier_of(cell, launch).reused_from for launch in launches)
        ]

    def _earlier_of(self, cell: Combination, launch: int) -> Earlier:
        if not self.earlier:
            return _UNKNOWN
        points, storage = self.points[cell.workload.fingerprint], self._storage_document(cell)
        fleet, image = _fleet_document(cell), self._image(cell)
        same = fingerprint(storage, cell.workload.document, fleet, points, self.matrix.repetitions, image, launch)
        return self.earlier.get(same, _UNKNOWN)

    def _storage_document(self, cell: Combination) -> Part:
        """Return the document of a cell's storage for plan and results; an emulated one never equals a measured one."""
        document, emulate = cell.storage.document, self.matrix.emulate
        return marked(document, quirks_of(cell.storage, emulate)) if emulate else document

    def _image(self, cell: Combination) -> str:
        """Return the id of the image that a cell's instances boot."""
        return f"{self.image.os}-{cell.fleet.architecture}"

    def _group_cost(
        self, cell: Combination, work: CellWork, shortest_poll_s: int, stored_bytes: Amount
    ) -> CellGroupCost:
        book, fleet, storage, time = self.book, cell.fleet, cell.storage, work.time
        cell_s = Amount(time.least_s, time.expected_s, math.ceil(time.deadline_s))
        instance_s, poll_s = cell_s.plus(SHUTDOWN_S), time.poll_s(shortest_poll_s)
        polls = instance_s.times(1 / poll_s)
        if time.syncs_between_points:
            polls = Amount(polls.low, polls.expected + 1, polls.high + EARLY_POLLS)
        use = work.use._replace(stored_bytes=stored_bytes)
        charges_by_use = tuple(charge for charge in storage.charges(use) if charge.amount.high)
        return CellGroupCost(
            poll_s=poll_s,
            instance_s=instance_s,
            orchestration=orchestration_cost(
                book, poll_turns=polls, steps=time.steps, instances=fleet.count, each_s=instance_s
            ),
            transit=self._cross_zone_cost(cell, work.use) + self._toll_cost(cell, work.use),
            volumes=volumes_cost(book, storage, fleet.count * storage.volumes, instance_s),
            volume_hours_usd=volume_hours(book, storage, cell.workload.work_volume(storage)),
            file_system=file_system_cost(book, storage, use._replace(seconds=cell_s)),
            charges_by_use=charges_by_use,
            by_use=charges_cost(book, charges_by_use),
        )

    def _cross_zone_cost(self, cell: Combination, use: Usage) -> Cost:
        """Return the cost of traffic between Availability Zones, for instances outside of the file system's zone."""
        share = placing.cross_zone_share(cell.fleet.placement, cell.storage, cell.fleet.count)
        if not share.high:
            return Cost()
        gib = use.read_bytes.and_also(use.written_bytes).times(1 / 2**30)
        crossed_gib = Amount(gib.low * share.low, gib.expected * share.expected, gib.high * share.high)
        return self.book.price("between_zones_gib").of(crossed_gib)

    def _toll_cost(self, cell: Combination, use: Usage) -> Cost:
        """Return the cost of what bytes to S3 pass on their way, by the subnets that the fleet is placed in.

        Where one zone has too few instances, `spread` takes more of another one, so the ends are those of one subnet.
        """
        names = self.tolls.get(cell.storage.gateway_service, ())
        if not any(names):
            return Cost()
        gib = cell.storage.gateway_bytes(use).times(1 / 2**30)
        of_all = [self.book.price(name).of(gib) if name else Cost() for name in names]
        where = placing.resolved(cell.fleet.placement, cell.storage.document)
        count = cell.fleet.count
        by_subnet = [
            cost.times(number / count)
            for cost, number in zip(of_all, placing.shares(where, count, len(names)), strict=False)
        ]
        placed = sum(by_subnet, Cost())
        if where != "spread":
            return placed
        return Cost(min(cost.low for cost in of_all), placed.expected, max(cost.high for cost in of_all))

    def _plan_cell(
        self, cell: Combination, time: Work, launch: int, group: CellGroupCost, earlier: Earlier
    ) -> PlannedCell:
        storage, workload, fleet = cell.storage, cell.workload, cell.fleet
        storage_id, workload_id = self.storage_ids[storage.fingerprint], self.workload_ids[workload.fingerprint]
        is_relaunched = self.matrix.launches > 1
        file_system = launch_id(storage_id, launch) if is_relaunched else storage_id
        id_ = cell_id(file_system, workload_id, fleet.slug)
        work_volume = workload.work_volume(storage)
        machines = instances_cost(
            self.book, fleet.instance_type, fleet.count, group.instance_s, is_spot=fleet.spot, work_volume=work_volume
        )
        planned = PlannedCell(
            id=id_,
            file_system=file_system,
            storage=self._storage_document(cell),
            workload=workload.document,
            fleet=_fleet_document(cell),
            image=self._image(cell),
            points=self.points[workload.fingerprint],
            steps=steps_in_order(self._rows[workload.fingerprint], f"{self.seed}/{id_}", is_random=self.is_random),
            expected_s=time.expected_s,
            ready_within_s=time.ready_within_s,
            deadline_s=math.ceil(time.deadline_s),
            poll_s=group.poll_s,
            cost=machines + (group.orchestration + group.transit) + group.volumes,
            rates=machine_rates(self.book, fleet.instance_type, group.volume_hours_usd, is_spot=fleet.spot),
            work_volume=work_volume,
            shared_cost=group.file_system,
            metered_cost=group.orchestration + group.by_use + group.transit,
            by_use=[self._use(charge) for charge in group.charges_by_use],
            launch=launch if is_relaunched else None,
            joined=cell_id(storage_id, workload_id, fleet.slug) if is_relaunched else None,
            attempts=earlier.attempts,
            emulation=truth(storage, self.matrix.emulate) if self.matrix.emulate else None,
        )
        if not earlier.reused_from:
            return planned
        free = Cost()
        return replace(
            planned, cost=free, shared_cost=free, metered_cost=free, by_use=[], reused_from=earlier.reused_from
        )

    def _use(self, charge: Charge) -> PlanUse:
        """Return a storage's charge by bytes or requests as JSON."""
        price = self.book.price(charge.name)
        return {
            "charge": charge.name,
            "unit": price.unit,
            "amount": round(charge.amount.expected, 4),
            "unit_usd": price.unit_usd,
            "cost_usd": charges_cost(self.book, [charge]).to_document(),
        }


def populate(book: PriceBook, cells: Iterable[tuple[PlannedCell, Combination]]) -> tuple[Populate | None, Amount, Cost]:
    """Return how the cache of a shared file system is filled, the seconds, and what the instances for it cost."""
    for planned, cell in cells:
        work_s = cell.workload.populate_seconds
        if cell.storage.traits.is_shared and work_s:
            each_s = Amount((PREPARE_S + work_s) / 2, PREPARE_S + work_s, BOOT_ALLOWANCE_S + WORK_FACTOR * work_s)
            count, work_volume = how_many(cell.storage.document), planned.work_volume
            cost = instances_cost(book, cell.fleet.instance_type, count, each_s, work_volume=work_volume)
            return {"cell": planned.id, "workload": planned.workload}, each_s, cost
    return None, NOTHING, Cost()


def _ids(parts: Sequence[Storage] | Sequence[Workload], mark: Callable[[str], str] = str) -> dict[str, str]:
    """Return a readable unique id for each storage or workload, by its fingerprint."""
    different = {part.fingerprint: part for part in parts}
    return unique_slugs({fingerprint: mark(part.name or part.slug) for fingerprint, part in different.items()})


def _fleet_document(cell: Combination) -> Fleet:
    """Return the document of a cell's fleet for plan and results."""
    return cast("Fleet", {**cell.fleet.document, "architecture": cell.fleet.architecture})


def _creation_s(storage: Storage) -> tuple[float, float]:
    """Return (expected, most) seconds for creating and deleting a storage. An existing one takes none."""
    return (
        (0.0, 0.0)
        if storage.existing_id
        else (storage.traits.create_and_delete_s, storage.traits.create_and_delete_most_s)
    )


def _makespan_s(
    matrix: Matrix, file_systems: Sequence[PlannedFileSystem], seconds_of: Callable[[PlannedFileSystem], float]
) -> float:
    """Return the end of the last file system in seconds. Launches run in turn."""
    launches = grouped((file_system.launch, seconds_of(file_system)) for file_system in file_systems)
    return sum(makespan_s(durations_s, matrix.max_concurrent_file_systems) for durations_s in launches.values())


def _deadline_s(matrix: Matrix, file_systems: Sequence[PlannedFileSystem]) -> int:
    """Return the seconds after which the run is ended: `deadlineHours`, or when every cell has reached its deadline.

    At most MAX_HOURS, which is before the execution times out and the data expires.
    """
    if matrix.deadline_hours is not None:
        return math.ceil(matrix.deadline_hours * 3600)
    is_baked = matrix.image and matrix.image.bake and any(file_system.cells for file_system in file_systems)
    baking_s = images.BAKE_S.high if is_baked else 0.0
    needed_s = _makespan_s(matrix, file_systems, lambda file_system: file_system.most_s) + baking_s + RUN_OVERHEAD_S
    return math.ceil(min(needed_s, MAX_HOURS * 3600))


def _warnings_of_time(
    matrix: Matrix, polls_s: Iterable[tuple[str, int]], expected_s: float, deadline_s: int
) -> Iterator[PlanWarning]:
    """Yield a warning for each storage whose cells are polled rarely, and for a run that is longer than its deadline.

    `polls_s` has the name of each cell's storage, and the seconds between two polls of the cell.
    """
    for storage, each_s in grouped(polls_s).items():
        if (poll_s := max(each_s)) > MAX_POLL_S:
            polled = f"they are polled every {poll_s} s only"
            message = f"cells of {storage} fill the history of an execution, so {polled}"
            yield {"path": "repetitions", "value": matrix.repetitions, "message": message, "weight": Weight.NOTE}
    if deadline_s < expected_s:
        message = f"the run is expected to take {expected_s / 3600:.1f} h; what is not measured by then is given up"
        yield {"path": "deadlineHours", "value": matrix.deadline_hours, "message": message, "weight": Weight.NOTE}
