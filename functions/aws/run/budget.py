"""The budget of a running run: reserve the worst case before each part starts, then settle it by the real cost."""

from aws.records import table
from aws.records.plans import file_system_of
from aws.stack.clock import now
from matrix.run import receipt
from matrix.run.admission import over_budget, too_late
from matrix.terms.documents.parts import CostRange
from matrix.terms.documents.plan import PlanCell, PlanDocument, PlanFileSystem, PlanImage


def admit_cell(run: str, plan: PlanDocument, cell: PlanCell) -> None:
    """Reserve a cell's worst case. Raises DeadlinePassed or OverBudget if it may not start."""
    _admit(run, plan, _cell_name(cell["id"]), needs_s=cell["expected_s"], needs_usd=cell["reserve_usd"])


def admit_file_system(run: str, plan: PlanDocument, file_system: PlanFileSystem) -> None:
    """Set the worst case of creating and deleting a file system aside. Raises DeadlinePassed or OverBudget.

    It is too late when not even its shortest cell can end in time: the file system would then be of no use.
    """
    name = file_system["id"]
    shortest_s = min(cell["expected_s"] for cell in plan["cells"] if cell["id"] in file_system["cells"])
    _admit(run, plan, _file_system_name(name), needs_s=shortest_s, needs_usd=file_system["reserve_usd"])


def admit_image(run: str, plan: PlanDocument, image: PlanImage) -> None:
    """Reserve the worst case of baking an image. Raises DeadlinePassed or OverBudget if it may not start."""
    _admit(run, plan, _image_name(image), needs_s=image["expected_s"], needs_usd=image["reserve_usd"])


def settle_image(run: str, plan: PlanDocument, image: PlanImage) -> None:
    """Replace an image's reservation by its builder's cost until now: 0 where an earlier run baked the image."""
    own = table.resources(run, receipt.BUILDERS, image["id"])
    table.settle(run, _image_name(image), receipt.cost_usd(own, plan, now()))


def _admit(run: str, plan: PlanDocument, name: str, *, needs_s: float, needs_usd: float) -> None:
    refusal = too_late(needs_s=needs_s, now=now(), deadline_at=plan["deadline_at"])
    if refusal:
        raise refusal
    budget_usd = plan["budget_usd"]
    if not table.reserve(run, name, needs_usd, budget_usd) and budget_usd is not None:
        committed_usd = float((table.run_row(run) or {})["committed_usd"])
        raise over_budget(needs_usd=needs_usd, committed_usd=committed_usd, budget_usd=budget_usd)


def settle_cell(run: str, plan: PlanDocument, cell: PlanCell, metered_usd: CostRange) -> None:
    """Replace a cell's reservation by the cost so far of its instances, volumes and hours on the file system.

    AWS reports usage-based costs too late, so these count with the most that they may be.
    """
    at = now()
    rows = table.resources(run, cell["file_system"], cell["id"])
    spent_usd = receipt.cost_usd(rows, plan, at) + metered_usd["high"]
    file_system = file_system_of(plan, cell["file_system"])
    spent_usd += _hours_of_cell(run, cell["id"], at) * file_system["rates_usd"]["hour"]
    table.settle(run, _cell_name(cell["id"]), spent_usd, metered_usd["expected"])


def settle_file_system(run: str, plan: PlanDocument, file_system: PlanFileSystem) -> None:
    """Replace a file system's reservation by its cost until now, less the hours that its cells have settled."""
    at, name = now(), file_system["id"]
    own = [row for row in table.resources(run, name) if row.get("cell") in (None, receipt.CACHE)]
    cells_h = sum(_hours_of_cell(run, cell, at) for cell in file_system["cells"])
    paid_usd = cells_h * file_system["rates_usd"]["hour"] if own else 0.0
    table.settle(run, _file_system_name(name), max(0.0, receipt.cost_usd(own, plan, at) - paid_usd))


def _hours_of_cell(run: str, cell: str, now: float) -> float:
    row = table.cell_row(run, cell)
    started_at = row.get("started_at")
    return 0.0 if started_at is None else (float(row.get("finished_at", now)) - float(started_at)) / 3600


def _image_name(image: PlanImage) -> str:
    return f"image {image['id']}"


def _cell_name(cell: str) -> str:
    return f"cell {cell}"


def _file_system_name(file_system: str) -> str:
    return f"file system {file_system}"
