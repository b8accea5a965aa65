"""A plan as tables: what will be created and launched, how long it takes, what it costs."""

from rich.console import Console
from rich.table import Table
from rich.text import Text

from matrix.input.storage_names import storage_label
from matrix.terms.documents.parts import CostRange
from matrix.terms.documents.plan import PlanDocument
from matrix.terms.figures import number, rough_duration
from matrix.terms.names import fleet_words
from matrix.terms.sentences import warning_text

# Smaller amounts are written with more digits than whole cents.
CENTS_MATTER = 0.1
NARROW = 100
# The other columns leave this much for a cell's name.
ROOM_FOR_NAME = 34


def money(cost: float | None) -> str:
    """Write an amount of US dollars."""
    if cost is None:
        return "–"
    return f"${cost:,.2f}" if cost >= CENTS_MATTER or cost == 0 else f"${cost:.3f}"


def money_range(cost: CostRange) -> str:
    """Write low, expected and high: `$0.12 (0.10–0.20)`."""
    low, high = money(cost["low"]).removeprefix("$"), money(cost["high"]).removeprefix("$")
    return f"{money(cost['expected'])} ({low}–{high})"


def show(console: Console, plan: PlanDocument) -> None:
    """Print the whole plan."""
    console.print(Text(plan["name"], "bold"))
    console.print()
    console.print(file_systems(plan))
    console.print()
    console.print(cells(plan, console.width))
    console.print()
    for line in totals(plan):
        console.print(line)
    _show_list(console, "Assumptions", plan.get("assumptions") or [])
    _show_list(console, "Warnings", [warning_text(warning) for warning in plan.get("warnings") or []], "yellow")


def file_systems(plan: PlanDocument) -> Table:
    """One row per file system."""
    # The models of storages need pydantic: a quarter of a second that `matrix --help` does not wait for.
    from matrix.input.storages import is_shared

    table = _table()
    table.add_column("File system", overflow="fold", ratio=2)
    table.add_column("Storage", overflow="fold", ratio=4)
    table.add_column("Cells", justify="right", no_wrap=True)
    table.add_column("Cost (low–high)", justify="right", no_wrap=True)
    for system in plan["file_systems"]:
        name = system["id"] + (" + cache" if system.get("populate") else "")
        # Disks of instances are part of the cell's price, since they end with the instances.
        is_cells_own = not is_shared(system["storage"]) and not system.get("populate")
        cost = "with its cells" if is_cells_own else money_range(system["cost_usd"])
        table.add_row(name, storage_label(system["storage"]), str(len(system["cells"])), cost)
    return table


def cells(plan: PlanDocument, width: int) -> Table:
    """Build a row for each cell, in the order of the run; long names stand below the name of their file system."""
    table = _table()
    is_grouped = width < NARROW + max(len(cell["id"]) for cell in plan["cells"]) - ROOM_FOR_NAME
    system = ""
    table.add_column("Cell", overflow="fold")
    for head in ("Points", "Steps", "Instances", "Time", "Cost (low–high)"):
        # On a narrow terminal two columns go: the steps imply the points, and the name has the instances.
        if width >= NARROW or head not in ("Points", "Instances"):
            table.add_column(head, justify="right", no_wrap=True)
    for cell in plan["cells"]:
        points, fleet = [str(len(cell["points"]))], [fleet_words(cell["fleet"])]
        if width < NARROW:
            points, fleet = [], []
        if is_grouped and system != cell["file_system"]:
            system = cell["file_system"]
            table.add_row(Text(system, "bold"))
        name = f"  {cell['id'].removeprefix(f'{system}.')}" if is_grouped else cell["id"]
        steps, expected = str(len(cell["steps"])), rough_duration(cell["expected_s"])
        table.add_row(name, *points, steps, *fleet, expected, money_range(cell["cost_usd"]))
    return table


def totals(plan: PlanDocument) -> list[str]:
    """Build the sums, with the cost of the run."""
    whole = plan["totals"]
    launches = max(system.get("launch", 1) for system in plan["file_systems"])
    each = f" in {launches} launches, one after the other" if launches > 1 else ""
    return [
        f"In all: {whole['cells']} cells{each}, {whole['points']} points, {whole['steps']} steps, "
        f"{whole['instances']} instances ({number(whole['instance_hours'])} instance hours)",
        f"Time:   about {rough_duration(whole['expected_s'])}",
        f"Cost:   {cost_sentence(plan)} on AWS",
    ]


def cost_sentence(plan: PlanDocument) -> str:
    """Say what a run costs on AWS: `$3.20 (expected; between $1.10 and $9.80)`."""
    cost = plan["totals"]["cost_usd"]
    return f"{money(cost['expected'])} (expected; between {money(cost['low'])} and {money(cost['high'])})"


def _table() -> Table:
    return Table(box=None, padding=(0, 2, 0, 0), header_style="bold", pad_edge=False)


def _show_list(console: Console, title: str, lines: list[str], style: str = "") -> None:
    if not lines:
        return
    console.print()
    console.print(Text(title, f"bold {style}".strip()))
    grid = Table.grid(padding=(0, 1))
    grid.add_column()
    grid.add_column(overflow="fold")
    for line in lines:
        grid.add_row("-", line)
    console.print(grid)
