"""A plan as tables: created and launched resources, duration and cost."""

import json
import math
from collections.abc import Iterable, Iterator, Sequence

from rich.console import Console
from rich.text import Text

from cli.messages import terminal
from cli.messages.errors import CommandError, ExitCode
from cli.tables import account_tables, rich_tables
from cli.tables.account_tables import Account
from matrix.input.storage_names import brief_names
from matrix.tables.table import Table, figures
from matrix.terms.documents.parts import CostRange
from matrix.terms.documents.plan import PlanCell, PlanDocument, PlanFileSystem, PlanUse
from matrix.terms.grouping import grouped
from matrix.terms.names import describe_fleet, describe_placement
from matrix.terms.quantities import ABSENT, cents, count_of, number, rough_duration
from matrix.terms.sentences import first_of

# The path of warnings about the budget.
BUDGET = "budgetUsd"
# So many sizes of fleets fit beside each other in 80 columns.
MAX_SIZES = 5
# Places of a warning that are named before the others are counted.
MAX_NAMED = 3
# Units of usage-based charges, by the end of a price's name; S3 has one price for PUT and LIST.
USED = {"_read_gib": "GiB read", "_write_gib": "GiB written", "_put": "PUT or LIST requests", "_get": "GET requests"}


def money_range(cost: CostRange) -> str:
    """Return low, expected and high as text: `$0.12 (0.10–0.20)`."""
    low, high = cents(cost["low"]).removeprefix("$"), cents(cost["high"]).removeprefix("$")
    return f"{cents(cost['expected'])} ({low}–{high})"


def show(
    console: Console, plan: PlanDocument, storages: Sequence[str], account: Account, *, is_whole: bool = False
) -> None:
    """Print the refusal if there is one, the sums, the costs, the warnings and the quotas.

    `storages` are the matrix's, in its order, as JSON with sorted keys. With `is_whole` it prints all sizes of fleets,
    the assumptions, the requests for quotas and the cells too.
    """
    console.print(Text(plan["name"], "bold"))
    if refused := refusal(plan):
        terminal.print_wrapped(console, Text(f"✗ {refused}; {refused.advice}", "bold red"))
    for line in totals(plan):
        terminal.print_wrapped(console, line)
    console.print()
    sizes = sorted({cell["fleet"]["count"] for cell in plan["cells"]})
    shown = sizes if is_whole else _selected(sizes)
    for first in range(0, len(shown), MAX_SIZES):
        rich_tables.show(console, _costs_table(plan, storages, shown[first : first + MAX_SIZES], is_first=first == 0))
    if not is_whole and len(sizes) > MAX_SIZES:
        console.print(f"other sizes ({len(sizes) - MAX_SIZES}): --all")
    for line in use_lines(plan):
        terminal.print_wrapped(console, line)
    _show_list(console, "Warnings", list(warning_lines(plan)), "yellow")
    if is_whole:
        _show_list(console, "Assumptions", plan.get("assumptions") or [])
        console.print()
        console.print(Text("Cells, in the order of the run: their steps, time, and cost (low–high)", "bold"))
        for row in cells(plan):
            terminal.print_wrapped(console, row)
    # Emulated storages use no quota of an account.
    if not plan.get("emulated"):
        console.print()
        account_tables.show(console, plan, account, is_whole=is_whole)
    if not is_whole:
        assumptions = len(plan.get("assumptions") or [])
        terminal.print_wrapped(console, f"{assumptions} assumptions, quotas, and each cell: add --all")


def refusal(plan: PlanDocument) -> CommandError | None:
    """Return the error of a run that is refused for its budget; None if it would start."""
    expected = plan["totals"]["cost_usd"]["expected"]
    budgets = [warning["value"] for warning in plan.get("warnings") or [] if warning["path"] == BUDGET]
    if not budgets or expected <= budgets[0]:
        return None
    message = f"this run would be refused: {cents(expected)} expected, budgetUsd is {cents(budgets[0])}"
    return CommandError(message, "raise budgetUsd, or measure less", ExitCode.BAD_INPUT)


def warning_lines(plan: PlanDocument) -> Iterator[str]:
    """Yield each warning once, with all places that it is about; not the refusal, which comes first."""
    places: dict[str, list[str]] = {}
    for warning in plan.get("warnings") or []:
        if warning["path"] != BUDGET or not refusal(plan):
            places.setdefault(warning["message"], []).append(warning["path"])
    for message, paths in places.items():
        yield f"{first_of(list(dict.fromkeys(paths)), MAX_NAMED)}: {message}"


def _selected(sizes: Sequence[int]) -> Sequence[int]:
    """Return at most MAX_SIZES sizes: the smallest, the largest, and some at equal steps between them."""
    last = len(sizes) - 1
    return [sizes[round(i * last / (MAX_SIZES - 1))] for i in range(MAX_SIZES)] if last >= MAX_SIZES else sizes


def _costs_table(plan: PlanDocument, in_order: Sequence[str], sizes: Sequence[int], *, is_first: bool = True) -> Table:
    """The costs: a row for each storage and kind of fleet on it, a column for each of these sizes of fleets.

    Storages are JSON with sorted keys, in the order of the rows. Only the first of several such tables has a title.
    """
    # The models of storages need pydantic: a quarter of a second for which `matrix --help` must not wait.
    from matrix.storages.models import is_shared

    heads = ("Storage", *figures("By hours", "By use", *(f"{size:,}" for size in sizes)))
    rows: list[tuple[object, ...]] = []
    storages = {system["id"]: json.dumps(system["storage"], sort_keys=True) for system in plan["file_systems"]}
    for text, name in brief_names((text, json.loads(text)) for text in in_order).items():
        systems = [system for system in plan["file_systems"] if storages[system["id"]] == text]
        cells = [cell for cell in plan["cells"] if storages[cell["file_system"]] == text]
        used = sum(use["cost_usd"]["expected"] for cell in cells for use in cell.get("by_use", []))
        by_hours = sum(system["cost_usd"]["expected"] for system in systems) - used
        # Disks of instances are part of the cell's price, because they end with the instances.
        is_apart = any(is_shared(system["storage"]) or system.get("populate") for system in systems)
        shown = (
            cents(max(0.0, by_hours)) if is_apart else "included",
            f"{cents(used)}{_assumed_mark(systems)}" if used else ABSENT,
        )
        for kind, costs in _costs(cells, plan):
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


def use_lines(plan: PlanDocument) -> Iterator[str]:
    """Yield a line for each storage that charges by bytes or requests, with amount and price; then their source."""
    storages = _storage_names(plan)
    cells = grouped((storages[cell["file_system"]], cell) for cell in plan["cells"] if "by_use" in cell)
    for name, of_storage in cells.items():
        systems = [system for system in plan["file_systems"] if storages[system["id"]] == name]
        uses: dict[str, PlanUse] = {}
        for use in (use for cell in of_storage for use in cell["by_use"]):
            amount = use["amount"] + (uses[use["charge"]]["amount"] if use["charge"] in uses else 0.0)
            uses[use["charge"]] = {**use, "amount": amount}
        yield f"{name}: {', '.join(map(_describe_use, uses.values()))}{_assumed_mark(systems)}"
    assumed = {system["assumed_bytes_per_s"] for system in plan["file_systems"] if "assumed_bytes_per_s" in system}
    if assumed:
        yield (
            f"* assumed: each instance reads {max(assumed) / 1e6:g} MB/s and writes {max(assumed) / 1e6:g} MB/s while "
            "your command runs; high counts as many as AWS allows"
        )


def _describe_use(use: PlanUse) -> str:
    """Return an amount with its price: `131 GiB read at $0.03`, `677,376 PUT requests at $5 per million`."""
    unit = next((words for end, words in USED.items() if use["charge"].endswith(end)), use["unit"])
    usd = use["unit_usd"]["expected"]
    price = f"${1e6 * usd:g} per million" if unit.endswith("requests") else f"${usd:g}"
    return f"{number(use['amount'])} {unit} at {price}"


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
        steps = f"{count_of(count, 'step')} of {count_of(points, 'point')}"
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
        f"Cost:  {cost_sentence(plan)} on AWS",
        f"Time:  about {rough_duration(60 * math.ceil(whole['expected_s'] / 60)).removesuffix(' 00s')}",
        f"Cells: {whole['cells']:,}{each}, with {count_of(whole['points'], 'test point')} and"
        f" {count_of(whole['steps'], 'step')}, on {count_of(whole['instances'], 'instance')}, together"
        f" {number(whole['instance_hours'])} hours",
    ]


def cost_sentence(plan: PlanDocument) -> str:
    """Return the cost of a run on AWS as text: `$3.20 expected, between $1.10 and $9.80`."""
    cost = plan["totals"]["cost_usd"]
    return f"{cents(cost['expected'])} expected, between {cents(cost['low'])} and {cents(cost['high'])}"


def _show_list(console: Console, title: str, lines: list[str], style: str = "") -> None:
    if not lines:
        return
    console.print()
    console.print(Text(title, f"bold {style}".strip()))
    for line in lines:
        terminal.print_wrapped(console, f"- {line}")
