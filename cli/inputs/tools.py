"""List the tools that a plan needs and this machine lacks, before a local run starts."""

from collections.abc import Callable

from agent.programs import containers, tools
from matrix.terms.documents.plan import PlanDocument


def needed(plan: PlanDocument) -> dict[str, list[str]]:
    """Return the tools that a plan's cells need where storages are folders, each with the ids of these cells."""
    # The models of storages need pydantic: a quarter of a second that `matrix --help` does not wait for.
    from matrix.plan import needed_tools

    cells: dict[str, list[str]] = {}
    for cell in plan["cells"]:
        for tool in sorted(needed_tools.of_cell_in_folder(cell)):
            cells.setdefault(tool, []).append(cell["id"])
    return cells


def missing(plan: PlanDocument, has: Callable[[str], bool] | None = None) -> list[str]:
    """Return a sentence for each tool that is needed and not here, with the packages that have it."""
    look_up = has or is_here
    return [
        f"{len(cells)} of {len(plan['cells'])} cells will fail: {tools.explain_missing(tool)}"
        for tool, cells in needed(plan).items()
        if not look_up(tool)
    ]


def is_here(tool: str) -> bool:
    """Return whether an agent would find the tool on this machine."""
    return any(map(tools.is_present, containers.ENGINES if tool == "docker" else (tool,)))
