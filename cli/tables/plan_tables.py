"""A plan as tables: created and launched resources, duration and cost."""

import json
from collections.abc import Iterable, Iterator

from rich.console import Console
from rich.table import Table
from rich.text import Text

from cli.messages import terminal
from cli.tables import account_tables
from cli.tables.account_tables import Account
from cli.tables.rich_tables import add_figures, new_table
from matrix.input.storage_names import brief_names
from matrix.terms.documents.parts import CostRange
from matrix.terms.documents.plan import PlanCell, PlanDocument, PlanFileSystem, PlanUse
from matrix.terms.names import describe_fleet, describe_placement
from matrix.terms.quantities import ABSENT, number, rough_duration
from matrix.terms.sentences import warning_text

# Smaller amounts get more digits than whole cents.
CENTS_MATTER = 0.1
# Units of usage-based charges, by the end of a price's name; S3 has one price for PUT and LIST.
USED = {"_read_gib": "GiB read", "_write_gib": "GiB written", "_put": "PUT or LIST requests", "_get": "GET requests"}


def money(cost: float | None) -> str:
    """Return an amount of US dollars as text."""
    if cost is None:
        return "–"
    return f"${cost:,.2f}" if cost >= CENTS_MATTER or cost == 0 else f"${cost:.3f}"


def money_range(cost: CostRange) -> str:
    """Return low, expected and high as text: `$0.12 (0.10–0.20)`."""
    low, high = money(cost["low"]).removeprefix("$"), money(cost["high"]).removeprefix("$")
    return f"{money(cost['expected'])} ({low}–{high})"


def show(console: Console, plan: PlanDocument, account: Account, *, is_whole: bool = False) -> None:
    """Print the sums and the grid of costs, the needed quotas, the warnings and the assumptions.

    With `is_whole` every cell too.
    """
    console.print(Text(plan["name"], "bold"))
    for line in totals(plan):
        terminal.print_wrapped(console, line)
    console.print()
    terminal.print_wrapped(console, Text(_grid_title(plan), "bold"))
    console.print(grid(plan))
    for line in use_lines(plan):
        terminal.print_wrapped(console, line)
    if is_whole:
        console.print()
        console.print(Text("Cells, in the order of the run: their steps, time, and cost (low–high)", "bold"))
        for row in cells(plan):
            terminal.print_wrapped(console, row)
    # Emulated storages use no quota of an account.
    if not plan.get("emulated"):
        console.print()
        account_tables.show(console, plan, account)
    _show_list(console, "Warnings", [warning_text(warning) for warning in plan.get("warnings") or []], "yellow")
    _show_list(console, "Assumptions", plan.get("assumptions") or [])
    if not is_whole:
        console.print()
        terminal.print_wrapped(console, "Each cell with its steps, time and cost: add --all")


def _grid_title(plan: PlanDocument) -> str:
    workloads = len({json.dumps(cell["workload"], sort_keys=True) for cell in plan["cells"]})
    together = f", {workloads} workloads together" if workloads > 1 else ""
    types = _instance_types(plan)
    each = f" of {types[0]}" if len(types) == 1 else ""
    by_use = " and by its bytes and requests" if _charges_by_use(plan) else ""
    return (
        f"Expected cost in US dollars: each storage by the hours that it exists{by_use}, and so many "
        f"instances{each}{together}"
    )


def _charges_by_use(plan: PlanDocument) -> bool:
    return any(system.get("by_use") for system in plan["file_systems"])


def grid(plan: PlanDocument) -> Table:
    """Build the costs: a row for each storage and kind of fleet on it, a column for each number of instances."""
    table = new_table("Storage")
    sizes = sorted({cell["fleet"]["count"] for cell in plan["cells"]})
    by_use = _charges_by_use(plan)
    add_figures(table, "By hours", *(["By bytes, requests"] if by_use else []), *(f"{size} ×" for size in sizes))
    # The models of storages need pydantic: a quarter of a second for which `matrix --help` must not wait.
    from matrix.storages.models import is_shared

    storages = {system["id"]: json.dumps(system["storage"], sort_keys=True) for system in plan["file_systems"]}
    names = brief_names((text, json.loads(text)) for text in storages.values())
    for text, name in names.items():
        systems = [system for system in plan["file_systems"] if storages[system["id"]] == text]
        used = sum(use["cost_usd"]["expected"] for system in systems for use in system.get("by_use") or [])
        by_hours = sum(system["cost_usd"]["expected"] for system in systems) - used
        # Disks of instances are part of the cell's price, because they end with the instances.
        is_apart = any(is_shared(system["storage"]) or system.get("populate") for system in systems)
        shown = [money(max(0.0, by_hours)).removeprefix("$") if is_apart else "with fleet"]
        if by_use:
            shown.append(f"{money(used).removeprefix('$')}{_assumed_mark(systems)}" if used else ABSENT)
        for kind, costs in _costs([cell for cell in plan["cells"] if storages[cell["file_system"]] == text], plan):
            figures = [money(costs.get(size)).removeprefix("$") for size in sizes]
            table.add_row(Text(f"{name}{kind}"), *shown, *figures)
            shown = [""] * len(shown)
    for image in plan["images"]:
        if image["bake"]:
            table.add_row(Text(f"baking {image['id']}"), money(image["cost_usd"]["expected"]).removeprefix("$"))
    return table


def use_lines(plan: PlanDocument) -> Iterator[str]:
    """Yield a line for each storage that charges by bytes or requests, with amount and price; then their source."""
    storages = _storage_names(plan)
    by_name: dict[str, list[PlanFileSystem]] = {}
    for system in plan["file_systems"]:
        if system.get("by_use"):
            by_name.setdefault(storages[system["id"]], []).append(system)
    for name, systems in by_name.items():
        uses: dict[str, PlanUse] = {}
        for use in (use for system in systems for use in system["by_use"]):
            amount = use["amount"] + (uses[use["charge"]]["amount"] if use["charge"] in uses else 0.0)
            uses[use["charge"]] = {**use, "amount": amount}
        yield f"{name}: {', '.join(map(_describe_use, uses.values()))}{_assumed_mark(systems)}"
    assumed = {system["assumed_bytes_per_s"] for system in plan["file_systems"] if "assumed_bytes_per_s" in system}
    if assumed:
        yield (
            f"* assumed: each instance reads {max(assumed) / 1e6:g} MB/s and writes {max(assumed) / 1e6:g} MB/s while "
            "your command runs; no budget caps what it moves beyond that"
        )


def _describe_use(use: PlanUse) -> str:
    """Return an amount with its price: `131 GiB read at $0.03`, `677,376 PUT requests at $5 per million`."""
    unit = next((words for end, words in USED.items() if use["charge"].endswith(end)), use["unit"])
    price = f"${1e6 * use['unit_usd']:g} per million" if unit.endswith("requests") else f"${use['unit_usd']:g}"
    return f"{number(use['amount'])} {unit} at {price}"


def _assumed_mark(systems: Iterable[PlanFileSystem]) -> str:
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


def cells(plan: PlanDocument) -> Iterator[Text]:
    """Yield a line for each file system and each of its cells."""
    own = {system["id"]: system for system in plan["file_systems"]}
    names = _storage_names(plan)
    before = ""
    for cell in plan["cells"]:
        system = own[cell["file_system"]]
        if system["id"] != before:
            before = system["id"]
            populated = ", with a cache to fill" if system.get("populate") else ""
            yield Text.assemble((system["id"], "bold"), f"  {names[system['id']]}{populated}")
        count, points = len(cell["steps"]), len(cell["points"])
        steps = f"{count} step{'' if count == 1 else 's'} of {points} point{'' if points == 1 else 's'}"
        time, cost = rough_duration(cell["expected_s"]), money_range(cell["cost_usd"])
        yield Text(f"  {cell['id']}: {describe_fleet(cell['fleet'])}, {steps}, {time}, {cost}")


def _storage_names(plan: PlanDocument) -> dict[str, str]:
    """Return the name of each file system's storage; launches of one storage have own file systems and one name."""
    storages = {system["id"]: json.dumps(system["storage"], sort_keys=True) for system in plan["file_systems"]}
    names = brief_names((text, json.loads(text)) for text in storages.values())
    return {system: names[text] for system, text in storages.items()}


def totals(plan: PlanDocument) -> list[str]:
    """Build the sums, the cost of the run first."""
    whole = plan["totals"]
    launches = max(system.get("launch", 1) for system in plan["file_systems"])
    each = f" in {launches} launches, one after the other" if launches > 1 else ""
    return [
        f"Cost:   {cost_sentence(plan)} on AWS",
        f"Time:   about {rough_duration(whole['expected_s'])}",
        f"In all: {whole['cells']} cells{each}, {whole['points']} points, {whole['steps']} steps, "
        f"{whole['instances']} instances ({number(whole['instance_hours'])} instance hours)",
    ]


def cost_sentence(plan: PlanDocument) -> str:
    """Return the cost of a run on AWS as text: `$3.20 (expected; between $1.10 and $9.80)`."""
    cost = plan["totals"]["cost_usd"]
    return f"{money(cost['expected'])} (expected; between {money(cost['low'])} and {money(cost['high'])})"


def _show_list(console: Console, title: str, lines: list[str], style: str = "") -> None:
    if not lines:
        return
    console.print()
    console.print(Text(title, f"bold {style}".strip()))
    for line in lines:
        terminal.print_wrapped(console, f"- {line}")
