"""Make a plan from a matrix: cells, order, durations, deadlines and cost."""

import hashlib
import json
import math
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from operator import itemgetter
from typing import Any, NamedTuple, cast

from matrix.check.cells import Combination
from matrix.check.read import CheckedMatrix
from matrix.input.emulation import Quirks, marked, marked_slug, quirks_of, truth
from matrix.input.image import Image
from matrix.input.matrix import MAX_HOURS, Matrix
from matrix.input.pace import EARLY_LOOKS, MAX_POLL_S, PREPARE_S, WORK_FACTOR, Work, least_poll_s, makespan_s
from matrix.input.workloads import Workload
from matrix.input.workloads.sweeps import Footprint
from matrix.plan import budget, images, instance_ebs, needed_tools, placing
from matrix.plan.assumptions import UNMEASURED, assumptions, of_order
from matrix.plan.document import Plan, PlannedCell, PlannedFileSystem, warning_of
from matrix.plan.images import PlannedImage
from matrix.plan.instance_ebs import StorageVolumes
from matrix.plan.resume import Earlier, fingerprint
from matrix.price.book import (
    Cost,
    PriceBook,
    charge_cost,
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
from matrix.terms.documents.parts import Fleet, Part, Point, Step, Volume
from matrix.terms.documents.plan import PlanUse, Populate
from matrix.terms.ids import cell_id, launch_id, unique_slugs, without_launch

# Plan, analysis of the run, and a moment for the last clean-up.
AROUND_THE_RUN_S = 900.0
SHUTDOWN_S = 30.0
# A step that moves at least this share of the bytes that its storage allows is limited by them.
HELD = 0.99
# Seeded anew for each order: to make a generator costs as much as to seed it, and a plan has thousands of orders.
_CHANCE = random.Random(0)  # noqa: S311 - an order of measuring is no secret


@dataclass
class _Cell:
    """A cell before its duration and cost are known."""

    combination: Combination
    id: str
    file_system: str
    workload: str  # id of its workload
    points: list[Point]
    repetitions: int
    rows: list[list[list[Step]]]  # groups of steps of each repetition that stay together; immutable, cells share them
    footprint: Footprint  # of one instance for all points once; stored bytes: maximum over the points
    work: Work
    os: str
    launch: int
    joined: str | None  # the cell in which its launches are joined, if there are several
    emulate: bool | Mapping[str, Quirks]
    earlier: Earlier = field(default_factory=lambda: Earlier(None))

    @property
    def storage(self) -> Part:
        """Document of its storage for plan and results."""
        document = self.combination.storage.document
        return marked(document, quirks_of(self.combination.storage, self.emulate)) if self.emulate else document

    @property
    def fingerprint(self) -> str:
        """Fingerprint by which `resume` recognises the same cell in an earlier run."""
        workload = self.combination.workload.document
        return fingerprint(self.storage, workload, self.fleet, self.points, self.repetitions, self.image, self.launch)

    @property
    def fleet(self) -> Fleet:
        """Document of its fleet for plan and results."""
        fleet = self.combination.fleet
        return cast("Fleet", {**fleet.document, "architecture": fleet.architecture})

    @property
    def work_and_fleet(self) -> tuple[str, str]:
        """Workload and fleet. Cells of different storages that share them are compared."""
        return self.workload, self.combination.fleet.slug

    @property
    def image(self) -> str:
        """Id of the image that its instances boot."""
        return f"{self.os}-{self.combination.fleet.architecture}"

    @property
    def attached(self) -> Iterator[StorageVolumes]:
        """Yield the volumes of an instance, or of the storage's file server."""
        combination = self.combination
        volumes = combination.storage.attached(combination.fleet.instance_type)
        if volumes:
            # A file server is no instance of the fleet.
            weighting = None if combination.storage.is_shared else combination.fleet.bandwidth_weighting
            yield StorageVolumes(without_launch(self.file_system, self.launch), volumes, weighting)

    @cached_property
    def work_volume(self) -> Volume | None:
        """Extra volume of each instance for data that is not on the storage, such as a build or files to copy."""
        return self.combination.workload.work_volume(self.combination.storage)

    def steps(self, seed: int, *, is_random: bool) -> list[Step]:
        """Return the steps: all points of a repetition before the next one, so drift affects all points equally."""
        steps: list[Step] = []
        order = list(range(len(self.rows[0])))
        for repetition, rows in enumerate(self.rows, start=1):
            if is_random and len(rows) > 1:
                order = shuffled(order, f"{seed}/{self.id}/{repetition}")
            for row in order:
                steps += rows[row]
        return steps


class _Estimate(NamedTuple):
    """Times and costs of a cell that do not depend on its instance type."""

    expected_s: float
    ready_within_s: float
    deadline_s: int
    poll_s: int
    instance_s: Amount  # how long an instance exists
    orchestration: Cost  # Step Functions, Lambda and S3
    between_zones: Cost
    volumes: Cost
    volume_hours_usd: tuple[float, float]  # one measured volume, one work volume
    file_system: Cost  # while the cell runs
    charges_by_use: tuple[Charge, ...]  # the part of `file_system` that grows with bytes and requests
    by_use: Cost  # their cost


def plan(
    checked: CheckedMatrix,
    *,
    region: str = "us-east-1",
    prices: PriceBook | None = None,
    earlier: Mapping[str, Earlier] | None = None,
    run: str = "",
) -> Plan:
    """Return the plan of a matrix in `region` for the run of this name. The same matrix and seed give the same plan.

    Without a seed each run derives its own from its name. If all runs had the same order, its effect on the results
    would be the same in each run and stay hidden.

    `earlier` has the cells of the resumed run by `fingerprint`. Cells that were measured stay in the plan with their
    ids and in their order, but take no time and cost nothing.
    """
    matrix = checked.matrix
    book = (prices or published_prices()).for_region(region)
    seed = derived_seed(matrix, run) if matrix.seed is None else matrix.seed
    named = _named_cells(checked)
    for cell in named if earlier else []:
        cell.earlier = (earlier or {}).get(cell.fingerprint, cell.earlier)
    groups = _in_order(named, seed, is_random=matrix.order == "random")
    warnings = [warning_of(problem) for problem in checked.warnings]
    planned_cells: list[PlannedCell] = []
    file_systems: list[PlannedFileSystem] = []
    for group in groups:
        cells, file_system = _plan_file_system(matrix, group, seed, book)
        planned_cells += cells
        file_systems.append(file_system)
        slowest_s = max(cell.poll_s for cell in cells)
        if slowest_s > MAX_POLL_S:
            message = f"its cells fill the history of an execution, so they are polled every {slowest_s} s only"
            warnings.append(
                {"path": "repetitions", "value": matrix.repetitions, "message": f"{file_system.id}: {message}"}
            )
    planned_images = _images(matrix, named, book)
    baking_s = max((images.BAKE_S.expected for image in planned_images if image.is_baked), default=0.0)
    durations_s = [(group[0].launch, planned.expected_s) for group, planned in zip(groups, file_systems, strict=True)]
    expected_s = _makespan_s(durations_s, matrix.max_concurrent_file_systems) + baking_s
    fresh = [cell for cell in planned_cells if not cell.taken_from]
    deadline_s = _run_deadline_s(matrix, groups, planned_cells)
    if deadline_s < expected_s:
        message = f"the run is expected to take {expected_s / 3600:.1f} h; what is not measured by then is given up"
        warnings.append({"path": "deadlineHours", "value": matrix.deadline_hours, "message": message})
    cost = sum((cell.cost for cell in planned_cells), Cost())
    cost += sum((file_system.cost for file_system in file_systems), Cost())
    cost += sum((image.cost for image in planned_images), Cost())
    warnings += book.warnings()
    # Warnings of a refused run or skipped cell come before other warnings.
    warnings[:0] = budget.warnings(matrix.budget_usd, cost, planned_cells)
    # Each storage with each type once, for any number of workloads, sizes and launches.
    pairs = {
        (cell.combination.storage.fingerprint, cell.combination.fleet.instance_type): cell for cell in _fresh(named)
    }
    attached = [] if matrix.emulate else [volumes for cell in pairs.values() for volumes in cell.attached]
    warnings += instance_ebs.warnings(attached, instance_ebs.known_limits()) + instance_ebs.unknown(attached)
    if not matrix.emulate:
        helped = [cell.fleet["count"] for cell in _fresh(named) if "mount.efs" in needed_tools.of_storage(cell.storage)]
        warnings += images.warnings(planned_images, max(helped, default=0))
    return Plan(
        name=matrix.name,
        seed=seed,
        cells=planned_cells,
        file_systems=file_systems,
        images=planned_images,
        instances=sum(cell.fleet["count"] for cell in fresh),
        instance_hours=sum(cell.fleet["count"] * cell.expected_s for cell in fresh) / 3600,
        expected_s=expected_s + AROUND_THE_RUN_S / 30,
        deadline_s=deadline_s,
        cost=cost,
        is_emulated=bool(matrix.emulate),
        assumptions=[
            *assumptions(matrix, book, {file_system.storage["type"] for file_system in file_systems}, planned_images),
            *of_order(matrix, len(groups), expected_s),
            *instance_ebs.describe_block(attached),
            *budget.assumptions(matrix.budget_usd, cost),
        ],
        warnings=warnings,
    )


def derived_seed(matrix: Matrix, run: str) -> int:
    """Return a seed from the run's name and the measured parts of the matrix, without `UNMEASURED` such as budget."""
    document = matrix.to_document()
    # Earlier versions had no `launches` and launched once: the seed of such a matrix stays the same.
    single = ("launches", 1)
    measured = {name: value for name, value in document.items() if name not in UNMEASURED and (name, value) != single}
    text = json.dumps(measured, sort_keys=True) + run
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:4])


def shuffled(items: Sequence[Any], seed: int | str) -> list[Any]:
    """Return the items in a random order that depends on the seed only."""
    _CHANCE.seed(str(seed))
    # `sample` of all items draws them in the opposite order, and takes twice the time for a few.
    order = list(items)
    _CHANCE.shuffle(order)
    return order[::-1]


def _named_cells(checked: CheckedMatrix) -> list[_Cell]:
    """Return the cells as written, with their ids, launch by launch."""
    matrix, combinations = checked.matrix, checked.cells
    storage_ids = _ids([combination.storage for combination in combinations], marked_slug if matrix.emulate else str)
    workload_ids = _ids([combination.workload for combination in combinations])
    workloads = {combination.workload.fingerprint: combination.workload for combination in combinations}
    points = {key: _points(workload) for key, workload in workloads.items()}
    rows = {key: _rows(points[key], workload, matrix.repetitions) for key, workload in workloads.items()}
    takes: dict[tuple[str, str, int], tuple[Footprint, Work]] = {}
    os = (matrix.image or Image()).os
    cells = []
    for launch in range(1, matrix.launches + 1):
        for combination in combinations:
            of_workload, of_storage = combination.workload.fingerprint, combination.storage.fingerprint
            storage = storage_ids[of_storage]
            workload, fleet = workload_ids[of_workload], combination.fleet.slug
            joined = cell_id(storage, workload, fleet) if matrix.launches > 1 else None
            file_system = launch_id(storage, launch) if joined else storage
            # Fleets of one size have the same times for all instance types, and so do all launches.
            alike = of_workload, of_storage, combination.fleet.count
            if alike not in takes:
                footprint = _footprint(combination, points[of_workload])
                takes[alike] = footprint, _work(combination, footprint, points[of_workload], matrix.repetitions)
            cells.append(
                _Cell(
                    combination,
                    cell_id(file_system, workload, fleet),
                    file_system,
                    workload,
                    points[of_workload],
                    matrix.repetitions,
                    rows[of_workload],
                    *takes[alike],
                    os,
                    launch,
                    joined,
                    matrix.emulate,
                )
            )
    return cells


def _footprint(combination: Combination, points: list[Point]) -> Footprint:
    """Return the footprint of one instance for all points once. Stored bytes are the largest of a point."""
    workload, storage, count = combination.workload, combination.storage, combination.fleet.count
    each = [workload.footprint(point["params"], storage, count) for point in points]
    return Footprint(
        seconds=sum(footprint.seconds for footprint in each),
        read_bytes=sum(footprint.read_bytes for footprint in each),
        written_bytes=sum(footprint.written_bytes for footprint in each),
        stored_bytes=max(footprint.stored_bytes for footprint in each),
        read_requests=sum(footprint.read_requests for footprint in each),
        write_requests=sum(footprint.put_requests for footprint in each),
    )


def _work(combination: Combination, footprint: Footprint, points: list[Point], repetitions: int) -> Work:
    """Return the work of one instance. On its own storage it first writes its disks full and fills the cache."""
    workload, storage = combination.workload, combination.storage
    filling_s = 0.0 if storage.is_shared else workload.populate_seconds + storage.precondition_s
    seconds = footprint.seconds * repetitions + _after_credits_s(combination, points, repetitions)
    return Work(seconds, len(points) * repetitions, combination.fleet.count, filling_s)


def _after_credits_s(combination: Combination, points: list[Point], repetitions: int) -> float:
    """Return the further seconds of steps that move bytes as fast as the storage's burst, once its credits have ended.

    Their balance lasts over all steps of a cell. A step of a given time takes no longer: it moves less. Nor does one
    whose time the matrix expects.
    """
    workload, storage, count = combination.workload, combination.storage, combination.fleet.count
    if not storage.bursts or hasattr(workload, "expected_seconds"):
        return 0.0
    each = [workload.footprint(point["params"], storage, count) for point in points]
    sharing, kept_gib = (count if storage.is_shared else 1), max(step.stored_bytes for step in each) * count / 2**30
    for burst in storage.bursts_keeping(kept_gib):
        if burst.counts != "bytes/s" or burst.credits is None:
            continue
        bound = [
            step
            for point, step in zip(points, each, strict=True)
            if not (point["params"].get("options") or {}).get("time_based")
            and (step.read_bytes + step.written_bytes) * sharing >= HELD * storage.bandwidth_bytes_per_s * step.seconds
        ]
        moved = sum(step.read_bytes + step.written_bytes for step in bound) * sharing * repetitions
        at_burst_s = sum(step.seconds for step in bound) * repetitions
        # t = lasts + (work - rate * lasts) / sustained
        if at_burst_s and (rate := moved / at_burst_s) > burst.sustained:
            lasts_s = min(at_burst_s, burst.credits / (rate - burst.sustained))
            return lasts_s + (moved - rate * lasts_s) / burst.sustained - at_burst_s
    return 0.0


def _points(workload: Workload) -> list[Point]:
    return [{"id": f"p{i:02d}", "params": params} for i, params in enumerate(workload.points(), start=1)]


def _rows(points: list[Point], workload: Workload, repetitions: int) -> list[list[list[Step]]]:
    """Return the steps of each repetition in rows. A row keeps the phases of one piece of work in their order."""
    length = workload.points_in_a_row
    starts = range(0, len(points), length)
    return [
        [[{"point": point["id"], "repetition": repetition} for point in points[at : at + length]] for at in starts]
        for repetition in range(1, repetitions + 1)
    ]


def _images(matrix: Matrix, cells: list[_Cell], book: PriceBook) -> list[PlannedImage]:
    """Return the images of the cells that are not yet measured: one for each architecture."""
    image = matrix.image or Image()
    by_architecture: dict[str, list[_Cell]] = {}
    for cell in _fresh(cells):
        by_architecture.setdefault(cell.combination.fleet.architecture, []).append(cell)
    planned_images = []
    for architecture, group in by_architecture.items():
        tools: set[str] = set()
        # Each storage with each workload once, for any number of fleets.
        alike = {(cell.combination.storage.fingerprint, cell.combination.workload.fingerprint): cell for cell in group}
        for cell in alike.values():
            storage, workload = cell.combination.storage, cell.combination.workload
            params = [point["params"] for point in cell.points]
            tools |= needed_tools.of_cell(storage.document, workload.document, params)
            tools |= needed_tools.of_work_volume() if cell.work_volume else set()
        containers = [name for cell in group for name in cell.combination.workload.containers]
        recipe = images.recipe(image, architecture, tools, containers)
        planned_images.append(images.planned(recipe, image, book))
    return planned_images


def _ids(parts: Sequence[Storage] | Sequence[Workload], mark: Callable[[str], str] = str) -> dict[str, str]:
    """Return a readable unique id for each storage or workload, by its fingerprint."""
    different = {part.fingerprint: part for part in parts}
    slugs = {fingerprint: mark(part.name or part.slug) for fingerprint, part in different.items()}
    return dict(zip(slugs, unique_slugs([(slug, fingerprint) for fingerprint, slug in slugs.items()]), strict=True))


def _in_order(cells: list[_Cell], seed: int, *, is_random: bool) -> list[list[_Cell]]:
    """Return the cells of each file system in the order of execution, launch by launch.

    All file systems of a launch use one order of workloads and fleets. So they measure the same at about the same time,
    and a change from hour to hour affects all compared storages.
    """
    groups: dict[str, list[_Cell]] = {}
    for cell in cells:
        groups.setdefault(cell.file_system, []).append(cell)
    if not is_random:
        return list(groups.values())
    blocks: dict[int, list[str]] = {}
    for name, group in groups.items():
        blocks.setdefault(group[0].launch, []).append(name)
    ordered = []
    for launch, block in blocks.items():
        comparable = list(dict.fromkeys(cell.work_and_fleet for name in block for cell in groups[name]))
        place = {each: number for number, each in enumerate(shuffled(comparable, f"{seed}/{launch}/cells"))}
        for name in shuffled(block, _seed_of_block(seed, launch)):
            numbered = [(place[cell.work_and_fleet], cell) for cell in groups[name]]
            ordered.append([cell for _, cell in sorted(numbered, key=itemgetter(0))])
    return ordered


def _seed_of_block(seed: int, launch: int) -> int | str:
    """Return the seed for the order of a launch's file systems. The first launch uses the run's own seed."""
    return seed if launch == 1 else f"{seed}/{launch}"


def _makespan_s(durations_s: Sequence[tuple[int, float]], at_once: int) -> float:
    """Return the end of the last file system in seconds. `durations_s` are (launch, seconds); launches run in turn."""
    launches: dict[int, list[float]] = {}
    for launch, duration_s in durations_s:
        launches.setdefault(launch, []).append(duration_s)
    return sum(makespan_s(of_launch_s, at_once) for of_launch_s in launches.values())


def _plan_file_system(
    matrix: Matrix, group: list[_Cell], seed: int, book: PriceBook
) -> tuple[list[PlannedCell], PlannedFileSystem]:
    """Plan the cells of one storage, and its file system for the cells that are not yet measured."""
    fresh = _fresh(group)
    planned, file_system = _plan_fresh(matrix, fresh or group, seed, book)
    by_id = {cell.id: cell for cell in planned}
    if len(fresh) == len(group):
        return planned, file_system
    if not fresh:
        nothing = replace(file_system, cells=[], populate=None, expected_s=0.0, cost=Cost(), reserve_usd=0.0, by_use=[])
        return [_taken(by_id[cell.id], cell.earlier) for cell in group], nothing
    for cell in group:
        if cell.id not in by_id:
            [like_fresh], _ = _plan_fresh(matrix, [cell], seed, book)
            by_id[cell.id] = _taken(like_fresh, cell.earlier)
    return [by_id[cell.id] for cell in group], file_system


def _fresh(group: list[_Cell]) -> list[_Cell]:
    return [cell for cell in group if not cell.earlier.taken_from]


def _taken(cell: PlannedCell, earlier: Earlier) -> PlannedCell:
    """Return the cell without time and cost, because an earlier run has its result."""
    free = Cost()
    return replace(cell, cost=free, shared_cost=free, metered_cost=free, taken_from=earlier.taken_from)


def _plan_fresh(
    matrix: Matrix, group: list[_Cell], seed: int, book: PriceBook
) -> tuple[list[PlannedCell], PlannedFileSystem]:
    least_s = least_poll_s([cell.work for cell in group])
    if least_s is None:  # the rules have refused it already
        raise AssertionError(f"{group[0].file_system} cannot be polled often enough")
    storage = group[0].combination.storage
    stored_bytes = _stored_bytes(group)
    known: dict[tuple[str, int, str], _Estimate] = {}
    cells = []
    used: dict[str, Amount] = {}
    for cell in group:
        # Fleets of one size take the same time; their placement determines the traffic between zones.
        key = cell.workload, cell.combination.fleet.count, str(cell.combination.fleet.placement)
        if key not in known:
            known[key] = _estimate(cell, least_s, book, stored_bytes)
        cells.append(_plan_cell(cell, known[key], seed, book, is_random=matrix.order == "random"))
        for name, amount in known[key].charges_by_use:
            used[name] = used.get(name, NOTHING).and_also(amount)
    populate, filling_s, populate_cost = _populate(group, book)
    creation_s, most_creation_s = _creation_s(storage)
    around_s = creation_s + filling_s
    most_around_s = most_creation_s + 3 * filling_s
    # All prices are per second or per byte, so the costs add up: around the cells, and while each of them runs.
    around = file_system_cost(book, storage, _usage(Amount(around_s / 2, around_s, most_around_s), [], stored_bytes))
    around += populate_cost
    file_system = PlannedFileSystem(
        id=group[0].file_system,
        launch=group[0].launch if group[0].joined else None,
        storage=group[0].storage,
        cells=[cell.id for cell in cells],
        populate=populate,
        expected_s=around_s + sum(cell.expected_s for cell in cells),
        cost=sum((cell.shared_cost for cell in cells), around),
        hour_usd=file_system_cost(book, storage, _usage(Amount.exactly(HOUR_S), [], stored_bytes)).expected,
        reserve_usd=around.high,
        by_use=[_use(Charge(name, amount), book) for name, amount in used.items()],
        assumed_bytes_per_s=max(cell.combination.workload.assumed_bytes_per_s for cell in group),
    )
    return cells, file_system


def _use(charge: Charge, book: PriceBook) -> PlanUse:
    """Return a storage's charge by bytes or requests as JSON."""
    price = book.price(charge.name)
    return {
        "charge": charge.name,
        "unit": price.unit,
        "amount": round(charge.amount.expected, 4),
        "unit_usd": price.usd,
        "cost_usd": charge_cost(book, charge).to_document(),
    }


def _creation_s(storage: Storage) -> tuple[float, float]:
    """Return (expected, most) seconds for creating and deleting a storage. An existing one takes none."""
    return (0.0, 0.0) if storage.existing_id else (storage.create_and_delete_s, storage.create_and_delete_most_s)


def _estimate(cell: _Cell, least_poll_s: int, book: PriceBook, stored_bytes: float) -> _Estimate:
    fleet, storage, work = cell.combination.fleet, cell.combination.storage, cell.work
    deadline_s, poll_s = math.ceil(work.deadline_s), work.poll_s(least_poll_s)
    cell_s = Amount(work.least_s, work.expected_s, deadline_s)
    instance_s = cell_s.plus(SHUTDOWN_S)
    polls = instance_s.times(1 / poll_s)
    if work.syncs_between_points:
        polls = Amount(polls.low, polls.expected + 1, polls.high + EARLY_LOOKS)
    usage = _usage(cell_s, [cell], stored_bytes)
    by_use = tuple(charge for charge in storage.charges(replace(usage, seconds=NOTHING)) if charge.amount.high)
    return _Estimate(
        expected_s=work.expected_s,
        ready_within_s=work.ready_within_s,
        deadline_s=deadline_s,
        poll_s=poll_s,
        instance_s=instance_s,
        orchestration=orchestration_cost(
            book, poll_turns=polls, steps=work.steps, instances=fleet.count, each_s=instance_s
        ),
        between_zones=_crossing_cost(cell, book),
        volumes=volumes_cost(book, storage, fleet.count * storage.volumes, instance_s),
        volume_hours_usd=volume_hours(book, storage, cell.work_volume),
        file_system=file_system_cost(book, storage, usage),
        charges_by_use=by_use,
        by_use=sum((charge_cost(book, charge) for charge in by_use), Cost()),
    )


def _plan_cell(cell: _Cell, estimate: _Estimate, seed: int, book: PriceBook, *, is_random: bool) -> PlannedCell:
    fleet, storage, volume = cell.combination.fleet, cell.combination.storage, cell.work_volume
    instances = instances_cost(
        book, fleet.instance_type, fleet.count, estimate.instance_s, is_spot=fleet.spot, work_volume=volume
    )
    return PlannedCell(
        id=cell.id,
        file_system=cell.file_system,
        storage=cell.storage,
        workload=cell.combination.workload.document,
        fleet=cell.fleet,
        image=cell.image,
        points=cell.points,
        steps=cell.steps(seed, is_random=is_random),
        expected_s=estimate.expected_s,
        ready_within_s=estimate.ready_within_s,
        deadline_s=estimate.deadline_s,
        poll_s=estimate.poll_s,
        cost=instances + (estimate.orchestration + estimate.between_zones) + estimate.volumes,
        rates=machine_rates(book, fleet.instance_type, estimate.volume_hours_usd, is_spot=fleet.spot),
        work_volume=volume,
        shared_cost=estimate.file_system,
        metered_cost=estimate.orchestration + estimate.by_use + estimate.between_zones,
        launch=cell.launch if cell.joined else None,
        joined=cell.joined,
        attempts=cell.earlier.attempts,
        emulation=truth(storage, cell.emulate) if cell.emulate else None,
    )


def _populate(group: list[_Cell], book: PriceBook) -> tuple[Populate | None, float, Cost]:
    """Return how a shared file system's cache is filled, the seconds, and the cost of the instances that fill it."""
    for cell in group:
        combination = cell.combination
        work_s = combination.workload.populate_seconds
        if combination.storage.is_shared and work_s:
            each_s = Amount(PREPARE_S / 2 + work_s / 2, PREPARE_S + work_s, 900 + WORK_FACTOR * work_s)
            count = how_many(combination.storage.document)
            cost = instances_cost(book, combination.fleet.instance_type, count, each_s, work_volume=cell.work_volume)
            return {"cell": cell.id, "workload": combination.workload.document}, PREPARE_S + work_s, cost
    return None, 0.0, Cost()


def _usage(seconds: Amount, moving: list[_Cell], stored_bytes: float) -> Usage:
    """Return the use of a file system during `seconds`, in which the cells of `moving` read and write."""
    read = written = got = put = 0.0
    for cell in moving:
        times = cell.combination.fleet.count * cell.repetitions
        read += times * cell.footprint.read_bytes
        written += times * cell.footprint.written_bytes
        got += times * cell.footprint.read_requests
        put += times * cell.footprint.put_requests
    requests = Amount.exactly(got), Amount.exactly(put)
    return Usage(seconds, _guessed(read), _guessed(written), _guessed(stored_bytes), *requests)


def _crossing_cost(cell: _Cell, book: PriceBook) -> Cost:
    """Return the cost of traffic between Availability Zones, for instances outside of the file system's zone."""
    combination = cell.combination
    away = placing.cross_zone_share(combination.fleet.placement, combination.storage, combination.fleet.count)
    if not away.high:
        return Cost()
    usage = _usage(Amount.exactly(0.0), [cell], 0.0)
    gib = usage.read_bytes.expected + usage.written_bytes.expected
    moved = _guessed(gib / 2**30)
    crossing = Amount(moved.low * away.low, moved.expected * away.expected, moved.high * away.high)
    return book.price("between_zones_gib").of(crossing)


def _stored_bytes(group: list[_Cell]) -> float:
    """Return the most bytes that one of these cells stores on the file system."""
    return max(cell.combination.fleet.count * cell.footprint.stored_bytes for cell in group)


def _guessed(amount: float) -> Amount:
    """Return an estimated amount of bytes: half of it to twice."""
    return Amount(amount / 2, amount, amount * 2)


def _run_deadline_s(matrix: Matrix, groups: list[list[_Cell]], cells: list[PlannedCell]) -> int:
    """Return the seconds after which the run is ended: `deadlineHours`, or when every cell has reached its deadline.

    At most MAX_HOURS, which is before the execution times out and the data expires.
    """
    if matrix.deadline_hours is not None:
        return math.ceil(matrix.deadline_hours * 3600)
    deadline_of = {cell.id: cell.deadline_s for cell in cells}
    durations_s = []
    for group in filter(None, map(_fresh, groups)):
        storage = group[0].combination.storage
        filling_s = max(cell.combination.workload.populate_seconds for cell in group) if storage.is_shared else 0.0
        most_s = _creation_s(storage)[1] + 900 + WORK_FACTOR * filling_s
        durations_s.append((group[0].launch, most_s + sum(deadline_of[cell.id] for cell in group)))
    baking_s = images.BAKE_S.high if matrix.image and matrix.image.bake and durations_s else 0.0
    needed_s = _makespan_s(durations_s, matrix.max_concurrent_file_systems) + baking_s + AROUND_THE_RUN_S
    return math.ceil(min(needed_s, MAX_HOURS * 3600))
