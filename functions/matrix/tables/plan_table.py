"""The table of what a plan costs: storages by fleets."""

import json
from collections.abc import Iterable, Sequence

from matrix.input.storage_names import brief_names
from matrix.tables.table import Table, figures
from matrix.terms.documents.plan import PlanCell, PlanDocument, PlanFileSystem
from matrix.terms.names import describe_placement
from matrix.terms.quantities import ABSENT, cents


def plan_table(plan: PlanDocument, in_order: Sequence[str], sizes: Sequence[int], *, is_first: bool = True) -> Table:
    """Return the costs: a row for each storage and kind of fleet on it, a column for each of these sizes of fleets.

    Storages are JSON with sorted keys, in the order of the rows. Only the first of several such tables has a title.
    """
    # The models of storages need pydantic: a quarter of a second for which `matrix --help` must not wait.
    from matrix.storages.models import is_shared

    heads = ("Storage", *figures("By hours", "By use", *(f"{size:,}" for size in sizes)))
    rows: list[tuple[object, ...]] = []
    storages = {system["id"]: json.dumps(system["storage"], sort_keys=True) for system in plan["file_systems"]}
    for text, name in brief_names((text, json.loads(text)) for text in in_order).items():
        systems = [system for system in plan["file_systems"] if storages[system["id"]] == text]
        used = sum(use["cost_usd"]["expected"] for system in systems for use in system.get("by_use") or [])
        by_hours = sum(system["cost_usd"]["expected"] for system in systems) - used
        # Disks of instances are part of the cell's price, because they end with the instances.
        is_apart = any(is_shared(system["storage"]) or system.get("populate") for system in systems)
        shown = (
            cents(max(0.0, by_hours)) if is_apart else "included",
            f"{cents(used)}{assumed_mark(systems)}" if used else ABSENT,
        )
        for kind, costs in _costs([cell for cell in plan["cells"] if storages[cell["file_system"]] == text], plan):
            rows.append((f"{name}{kind}", *shown, *(cents(costs.get(size)) for size in sizes)))
            shown = ("", "")
    rows += [
        (f"baking {image['id']}", cents(image["cost_usd"]["expected"]), *[""] * (1 + len(sizes)))
        for image in plan["images"]
        if image["bake"]
    ]
    return Table.of(_title(plan) if is_first else "", heads, rows)


def _title(plan: PlanDocument) -> str:
    workloads = len({json.dumps(cell["workload"], sort_keys=True) for cell in plan["cells"]})
    together = f", {workloads} workloads together" if workloads > 1 else ""
    types = _instance_types(plan)
    each = types[0] if len(types) == 1 else "instances"
    return f"Expected cost: each storage, and by the number of {each} on it{together}"


def assumed_mark(systems: Iterable[PlanFileSystem]) -> str:
    return " *" if any("assumed_bytes_per_s" in system for system in systems) else ""


def _instance_types(plan: PlanDocument) -> list[str]:
    return list(dict.fromkeys(cell["fleet"]["instanceType"] for cell in plan["cells"]))


def _costs(planned: list[PlanCell], plan: PlanDocument) -> list[tuple[str, dict[int, float]]]:
    """Add up the expected costs by number of instances, over workloads and launches, for each kind of fleet."""
    is_typed = len(_instance_types(plan)) > 1
    kinds: dict[str, dict[int, float]] = {}
    for cell in planned:
        fleet = cell["fleet"]
        words = [
            fleet["instanceType"] if is_typed else "",
            describe_placement(fleet),
            "Spot" if fleet.get("spot") else "",
        ]
        costs = kinds.setdefault("".join(f", {word}" for word in words if word), {})
        costs[fleet["count"]] = costs.get(fleet["count"], 0.0) + cell["cost_usd"]["expected"]
    return sorted(kinds.items())
