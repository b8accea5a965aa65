"""A plan: every cell in the order of execution, with its steps, duration and cost."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from matrix.plan.images import PlannedImage
from matrix.price.book import CellRates, Cost
from matrix.terms.charges import ROOT_VOLUME_GIB
from matrix.terms.documents.parts import Attempt, Emulation, Fleet, Part, Point, Source, Step, Volume
from matrix.terms.documents.plan import PlanCell, PlanDocument, PlanFileSystem, PlanUse, PlanWarning, Populate
from matrix.terms.problems import Problem, Weight


def warning_of(problem: Problem) -> PlanWarning:
    """Return a problem that stops no run as one of a plan's warnings."""
    if problem.weight is None:
        raise ValueError(f"{problem} stops the run")
    warning: PlanWarning = {
        "path": problem.path,
        "value": problem.value,
        "message": f"{problem.rule}; {problem.fix}",
        "weight": problem.weight,
    }
    if problem.code:
        warning["code"] = problem.code
    return warning


def apart(warnings: Iterable[PlanWarning], intended: Mapping[str, str]) -> tuple[list[PlanWarning], list[str]]:
    """Return the warnings as they weigh, and as assumptions those that are intended, by their code and the reason."""
    order, kept, assumptions = list(Weight), [], []
    for warning in warnings:
        if reason := intended.get(warning.get("code", "")):
            assumptions.append(f"intended ({reason}): {warning['path']}: {warning['message']}")
        else:
            kept.append(warning)
    return sorted(kept, key=lambda warning: order.index(Weight(warning["weight"]))), assumptions


@dataclass(frozen=True)
class PlannedCell:
    """One cell: its storage, workload, fleet, steps, deadline and cost."""

    id: str
    file_system: str
    storage: Part
    workload: Part
    fleet: Fleet
    image: str  # id of the image that its instances boot
    points: list[Point]
    steps: list[Step]
    expected_s: float
    ready_within_s: float
    deadline_s: int
    poll_s: int
    cost: Cost
    rates: CellRates
    shared_cost: Cost  # of its file system while it runs; counted there, not here
    metered_cost: Cost  # the part of both that is billed by use and not by the hour
    by_use: list[PlanUse]  # its parts for bytes and requests that the storage meters
    work_volume: Volume | None = None  # of each instance, for data that is not on the storage
    launch: int | None = None  # number of the launch, from 1, if there are several
    joined: str | None = None  # the cell in which they are joined
    reused_from: Source | None = None  # the earlier run and cell whose result it has; then it is not measured
    emulation: Emulation | None = None  # known properties of its storage, if that is emulated
    attempts: list[Attempt] = field(default_factory=list)  # uploads of earlier runs without a valid result

    @property
    def reserve_usd(self) -> float:
        """US dollars that the budget must have left before the cell starts: its worst case."""
        return self.cost.high + self.shared_cost.high

    def to_document(self) -> PlanCell:
        """Return the cell as JSON."""
        document: PlanCell = {
            "id": self.id,
            "file_system": self.file_system,
            "storage": self.storage,
            "workload": self.workload,
            "fleet": self.fleet,
            "image": self.image,
            "points": self.points,
            "steps": self.steps,
            "expected_s": round(self.expected_s, 1),
            "ready_within_s": self.ready_within_s,
            "deadline_s": self.deadline_s,
            "root_volume_gib": ROOT_VOLUME_GIB,
            "poll_s": self.poll_s,
            "cost_usd": self.cost.to_document(),
            "reserve_usd": round(self.reserve_usd, 4),
            "metered_usd": self.metered_cost.to_document(),
            "rates_usd": self.rates.to_document(),
        }
        if self.by_use:
            document["by_use"] = self.by_use
        if self.work_volume:
            document["work_volume"] = self.work_volume
        if self.launch is not None and self.joined is not None:
            document["launch"] = self.launch
            document["joined"] = self.joined
        if self.emulation:
            document["emulation"] = self.emulation
        if self.reused_from:
            document["taken_from"] = self.reused_from
        if self.attempts:
            document["attempts"] = self.attempts
        return document


@dataclass(frozen=True)
class PlannedFileSystem:
    """The file system that the cells of one storage share. For EBS none is created, but its cells still run in turn."""

    id: str
    storage: Part
    cells: list[str]
    populate: Populate | None
    expected_s: float
    most_s: float  # until all of its cells have reached their deadlines
    cost: Cost
    hour_usd: float  # cost per hour of its existence
    reserve_usd: float  # worst case of creating, populating and deleting it; the rest is in its cells' reserves
    launch: int | None = None  # which of several it is for, from 1
    assumed_bytes_per_s: float = 0.0  # that the use of its cells rests on; 0: the workloads determine their bytes

    def to_document(self) -> PlanFileSystem:
        """Return the file system as JSON."""
        document: PlanFileSystem = {
            "id": self.id,
            "storage": self.storage,
            "cells": self.cells,
            "populate": self.populate,
            "expected_s": round(self.expected_s, 1),
            "cost_usd": self.cost.to_document(),
            "reserve_usd": round(self.reserve_usd, 4),
            "rates_usd": {"hour": round(self.hour_usd, 8)},
        }
        if self.launch is not None:
            document["launch"] = self.launch
        if self.assumed_bytes_per_s:
            document["assumed_bytes_per_s"] = self.assumed_bytes_per_s
        return document


@dataclass(frozen=True)
class Plan:
    """A plan of a whole run; `deadline_s` is how many seconds after its start the run is ended."""

    name: str
    seed: int
    cells: list[PlannedCell]
    file_systems: list[PlannedFileSystem]
    images: list[PlannedImage]
    instances: int
    instance_hours: float
    expected_s: float
    deadline_s: int
    cost: Cost
    is_emulated: bool
    assumptions: list[str]
    warnings: list[PlanWarning]
    doubtful_prices: list[str]

    def to_document(self) -> PlanDocument:
        """Return the plan as JSON, as far as it is known before a run: Plan matrix adds the facts of the run."""
        document: PlanDocument = {
            "schema": 1,
            "name": self.name,
            "seed": self.seed,
            "cells": [cell.to_document() for cell in self.cells],
            "file_systems": [file_system.to_document() for file_system in self.file_systems],
            "images": [image.to_document() for image in self.images],
            "totals": {
                "cells": len(self.cells),
                "points": sum(len(cell.points) for cell in self.cells),
                "steps": sum(len(cell.steps) for cell in self.cells),
                "instances": self.instances,
                "instance_hours": round(self.instance_hours, 2),
                "expected_s": round(self.expected_s, 1),
                "deadline_s": self.deadline_s,
                "cost_usd": self.cost.to_document(),
            },
            "assumptions": self.assumptions,
            "warnings": self.warnings,
        }
        if self.doubtful_prices:
            document["doubtful_prices"] = self.doubtful_prices
        if self.is_emulated:
            document["emulated"] = True
        if taken_over := sum(cell.reused_from is not None for cell in self.cells):
            document["totals"]["taken_over"] = taken_over
        return document
